package patch

// ParseJSONPatch reads a JSON Patch (RFC 6902). It checks all that can be known without a document: the gate, the
// members of every operation, and the syntax of every pointer. Every error is an [*Error]: Malformed, or TooLarge
// where the patch is beyond l.
func ParseJSONPatch(data []byte, l Limits) (*Patch, error) {
	text, e := gate(data)
	if e != nil {
		return nil, e
	}
	if text[0] != '[' {
		return nil, malformed(codeType, "", "a JSON Patch is an array of operations")
	}
	p := &Patch{limits: l.orDefault()}
	for element := range elements(text) {
		if len(p.ops) == p.limits.Ops {
			return nil, tooLarge(codeOperations, "", "a JSON Patch has at most %d operations", p.limits.Ops)
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

// operation is one element of a JSON Patch.
// Everything in it has been checked, so that applying it meets only what the document can do wrong.
type operation struct {
	verb  string // one of the six
	path  pointer
	from  pointer // of move and copy
	value []byte  // of add, replace and test
}

// rawOperation holds the texts of the members that an operation may have; nil is absent. All others are ignored, as
// RFC 6902 section 4 demands.
type rawOperation struct {
	op, path, from, value []byte
}

// splitOperation picks the members by their exact names: "Op" is not "op".
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

// parseOperation checks in the order in which a person reads an operation: what, where, and with what.
func parseOperation(text []byte, depth int) (operation, *Error) {
	if text[0] != '{' {
		return operation{}, malformed(codeType, "", "an operation is an object")
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
		// Its path is all there is to it.
	default:
		e = malformed(codeOp, "", "no operation is named %s", quoted(verb))
	}
	if e == nil && verb == "move" && op.path.within(op.from) {
		// RFC 6902 section 4.4: true of every document, so the patch is wrong and not the state.
		e = malformed(codeOwnChild, op.path.text, "a value cannot be moved into itself")
	}
	return op, e
}

// stringMember returns the characters of a member that has to be a string. A nil text is a member that is missing.
func stringMember(name string, text []byte) (string, *Error) {
	if text == nil {
		return "", malformed(codeRequired, "", "the member %q is missing", name)
	}
	if text[0] != '"' {
		return "", malformed(codeType, "", "the member %q is not a string", name)
	}
	return unquote(text), nil
}

// pointerMember bounds the depth of a pointer as well: nothing that a patch builds may be deeper, and a chain of copies
// into ever deeper places would double the depth of a document with each.
func pointerMember(name string, text []byte, depth int) (pointer, *Error) {
	s, e := stringMember(name, text)
	if e != nil {
		return pointer{}, e
	}
	p, e := parsePointer(s)
	if e == nil && len(p.tokens) > depth {
		e = tooLarge(codeDepth, s, "a pointer has at most %d tokens", depth)
	}
	return p, e
}

// valueMember tells a missing value, nil, from the value null, which is a value as good as any.
func valueMember(text []byte, path string, depth int) ([]byte, *Error) {
	if text == nil {
		return nil, malformed(codeRequired, path, "the member %q is missing", "value")
	}
	if depthOf(text) > depth {
		return nil, tooLarge(codeDepth, path, "a value is nested at most %d deep", depth)
	}
	return text, nil
}
