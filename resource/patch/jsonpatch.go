package patch

import "github.com/go-json-experiment/json/jsontext"

// ParseJSONPatch parses a JSON Patch (RFC 6902). It checks everything that does not depend on a
// document: the JSON syntax, the members of each operation, and the syntax of each pointer. Every
// error is an [*Error] of kind [Malformed] or, if the patch exceeds l, [TooLarge].
func ParseJSONPatch(data []byte, l Limits) (*Patch, error) {
	text, e := canonicalPatch(data)
	if e != nil {
		return nil, e
	}
	if text[0] != '[' {
		return nil, malformed(codeType, "", "a JSON Patch must be an array of operations")
	}
	p := &Patch{text: text, limits: l.withDefaults()}
	for element := range elements(text) {
		if len(p.ops) == p.limits.Ops {
			return nil,
				tooLarge(codeOperations, "", "a JSON Patch must have at most %d operations", p.limits.Ops)
		}
		op, e := parseOperation(element, p.limits.Depth)
		if e != nil {
			e.Operation = len(p.ops)
			return nil, e
		}
		p.ops = append(p.ops, op)
	}
	return p, nil
}

// ParseMembers parses a JSON object as a patch that sets each of its members as a whole: contrary to a merge
// patch, an object replaces another one, and null is a value. Errors are those of [ParseJSONPatch].
func ParseMembers(object []byte, l Limits) (*Patch, error) {
	text, e := canonicalPatch(object)
	if e != nil {
		return nil, e
	}
	if text[0] != '{' {
		return nil, malformed(codeType, "", "the patch must be an object")
	}
	p := &Patch{text: text, limits: l.withDefaults()}
	for name, value := range members(text) {
		op := operation{verb: "add"}
		op.path, _ = parsePointer(string(jsontext.Pointer("").AppendToken(unquote(name)))) // is valid
		if op.value, e = valueMember(value, op.path.text, p.limits.Depth); e != nil {
			return nil, e
		}
		p.ops = append(p.ops, op)
	}
	return p, nil
}

// operation is one validated element of a JSON Patch.
type operation struct {
	verb  string // add, remove, replace, move, copy or test
	path  pointer
	from  pointer // of move and copy
	value []byte  // of add, replace and test
}

// rawOperation has the texts of the members of an operation; nil means absent. Other members are
// ignored, as RFC 6902 section 4 requires.
type rawOperation struct {
	op, path, from, value []byte
}

// splitOperation selects the members by name. Names are case-sensitive: "Op" is not "op".
func splitOperation(object []byte) rawOperation {
	var raw rawOperation
	for name, value := range members(object) {
		switch string(name) {
		case `"op"`:
			raw.op = value
		case `"path"`:
			raw.path = value
		case `"from"`:
			raw.from = value
		case `"value"`:
			raw.value = value
		}
	}
	return raw
}

// parseOperation parses and checks one operation. It checks "op" first, then "path", then the
// members that the operation requires, so that the error describes the first mistake.
func parseOperation(text []byte, depth int) (operation, *Error) {
	if text[0] != '{' {
		return operation{}, malformed(codeType, "", "an operation must be an object")
	}
	raw := splitOperation(text)
	verb, e := stringMember("op", raw.op)
	if e != nil {
		return operation{}, e
	}
	op := operation{verb: verb}
	if op.path, e = pointerMember("path", raw.path, depth); e != nil {
		return operation{}, e
	}
	switch verb {
	case "add", "replace", "test":
		op.value, e = valueMember(raw.value, op.path.text, depth)
	case "move", "copy":
		op.from, e = pointerMember("from", raw.from, depth)
	case "remove":
		// It has no members besides path.
	default:
		e = malformed(codeOp, "", "op must be add, remove, replace, move, copy or test, not %s",
			quoted(verb))
	}
	if e == nil && verb == "move" && op.path.within(op.from) {
		// RFC 6902 section 4.4. It is impossible in every document, so the patch is malformed.
		e = malformed(codeOwnChild, op.path.text, "path must not be inside from")
	}
	return op, e
}

// stringMember returns the value of a required string member. A nil text means that it is absent.
func stringMember(name string, text []byte) (string, *Error) {
	if text == nil {
		return "", malformed(codeRequired, "", "%s is required", name)
	}
	if text[0] != '"' {
		return "", malformed(codeType, "", "%s must be a string", name)
	}
	return unquote(text), nil
}

// pointerMember parses a required member that is a JSON Pointer. It limits the number of tokens to
// depth, because copies into ever deeper places would otherwise double the depth of the document
// each.
func pointerMember(name string, text []byte, depth int) (pointer, *Error) {
	s, e := stringMember(name, text)
	if e != nil {
		return pointer{}, e
	}
	p, e := parsePointer(s)
	if e == nil && len(p.tokens) > depth {
		e = tooLarge(codeDepth, s, "%s must have at most %d reference tokens", name, depth)
	}
	return p, e
}

// valueMember returns the text of the required member "value". nil means that it is absent, which
// differs from the value null.
func valueMember(text []byte, path string, depth int) ([]byte, *Error) {
	if text == nil {
		return nil, malformed(codeRequired, path, "value is required")
	}
	if depthOf(text) > depth {
		return nil, tooLarge(codeDepth, path, "value must not be nested deeper than %d levels", depth)
	}
	return text, nil
}
