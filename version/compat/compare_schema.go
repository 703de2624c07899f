package compat

// Schemas of two OpenAPI documents (JSON Schema 2020-12). Called by compare_openapi.go.

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// schemaPair is a comparison of two components that has been made already. It makes the comparison of
// recursive schemas finite, and reports each difference once.
type schemaPair struct {
	dir           direction
	before, after string
}

// compareSchema compares two schemas. Those of requests may become wider, those of responses narrower.
func (d *openAPI) compareSchema(place string, dir direction, before, after any) {
	a, refA := resolve(d.before, asSchema(before))
	b, refB := resolve(d.after, asSchema(after))
	if refA != "" && refB != "" {
		if d.seenBefore(dir, refA, refB) {
			return
		}
	}
	if name, ok := strings.CutPrefix(refB, "#/components/schemas/"); ok && refA != "" {
		place = name
	}
	s := schemas{openAPI: d, place: place, dir: dir}
	x, nullX := s.alternatives(d.before, a, refA)
	y, nullY := s.alternatives(d.after, b, refB)
	if nullX != nullY && !anyType(a) && !anyType(b) {
		s.values(requestTypeNarrowed, "null", nullX && !nullY, nullY && !nullX, "null")
	}
	switch {
	case len(x) != 1 || len(y) != 1:
		s.compareAlternatives(x, y)
	case x[0].branch || y[0].branch:
		d.compareSchema(place, dir, x[0].value, y[0].value)
	default:
		s.compareKeywords(x[0].object, y[0].object)
	}
	if hasBranches(a) && hasBranches(b) {
		s.compareKeywords(a, b) // the keywords beside the branches
	}
}

// anyType reports whether a schema has no type, so that null is valid. The comparison of the types
// and of enum then reports a difference.
func anyType(o object) bool { return o["type"] == nil && !hasBranches(o) }

func hasBranches(o object) bool { return o["anyOf"] != nil || o["oneOf"] != nil }

// asSchema converts the schemas true and false to objects.
func asSchema(v any) any {
	switch v {
	case true:
		return object{}
	case false:
		return object{"not": object{}}
	}
	return v
}

// schemas compares two schemas at one place.
type schemas struct {
	*openAPI
	place string
	dir   direction
}

// alternative is one branch of anyOf or oneOf, or a whole schema.
type alternative struct {
	object
	value  any    // with its reference
	ref    string // its reference
	branch bool   // of anyOf or oneOf
}

// alternatives returns the branches of a schema without the type null, and whether null is valid. A
// schema without anyOf and oneOf is the only branch.
func (s *schemas) alternatives(document, o object, ref string) (all []alternative, null bool) {
	for _, keyword := range []string{"anyOf", "oneOf"} {
		list, ok := o[keyword].([]any)
		if !ok {
			continue
		}
		for _, v := range list {
			branch, ref := resolve(document, asSchema(v))
			if isNull(branch) {
				null = true
				continue
			}
			all = append(all, alternative{branch, v, ref, true})
		}
		if len(all) > 0 {
			return all, null
		}
	}
	types := stringsOf(o["type"])
	if slices.Contains(types, "null") && len(types) > 1 {
		o = maps.Clone(o)
		rest := slices.DeleteFunc(types, func(t string) bool { return t == "null" })
		if o["type"] = anySlice(rest); len(rest) == 1 {
			o["type"] = rest[0]
		}
		null = true
	}
	return []alternative{{o, o, ref, false}}, null
}

func isNull(o object) bool { return o["type"] == "null" }

// key identifies a branch by its constant members, otherwise by its reference or content.
func (a alternative) key() string {
	properties, _ := a.object["properties"].(object)
	var constants []string
	for _, name := range sorted(properties) {
		if p, ok := properties[name].(object); ok && p["const"] != nil {
			constants = append(constants, name+"="+canonical(p["const"]))
		}
	}
	if len(constants) > 0 {
		return strings.Join(constants, ", ")
	}
	if a.ref != "" {
		return a.ref
	}
	return canonical(a.object)
}

func anySlice(list []string) []any {
	all := make([]any, len(list))
	for i, v := range list {
		all[i] = v
	}
	return all
}

// compareAlternatives pairs branches by their keys. If one is left on both sides, it has changed.
func (s *schemas) compareAlternatives(before, after []alternative) {
	var left, added []alternative
	for _, a := range before {
		i := slices.IndexFunc(after, func(b alternative) bool { return a.key() == b.key() })
		if i < 0 {
			left = append(left, a)
			continue
		}
		s.compareSchema(s.place, s.dir, a.value, after[i].value)
	}
	for _, b := range after {
		if !slices.ContainsFunc(before, func(a alternative) bool { return a.key() == b.key() }) {
			added = append(added, b)
		}
	}
	if len(left) == 1 && len(added) == 1 {
		s.compareSchema(s.place, s.dir, left[0].value, added[0].value)
		return
	}
	for _, a := range left {
		s.values(requestTypeNarrowed, a.name(), true, false, a.name())
	}
	for _, b := range added {
		s.values(requestTypeNarrowed, b.name(), false, true, b.name())
	}
}

// name describes a branch in texts.
func (a alternative) name() string {
	key := a.key()
	if strings.HasPrefix(key, "{") {
		return "the alternative " + canonical(a.object["type"])
	}
	return "the alternative " + key[strings.LastIndexByte(key, '/')+1:]
}

// pairs are the four kinds of a change of values, by the kind for narrowed requests.
var pairs = map[Kind][4]Kind{ // request narrowed, widened, response narrowed, widened
	requestTypeNarrowed: {requestTypeNarrowed, requestTypeWidened, responseTypeNarrowed, responseTypeWidened},
	requestEnumNarrowed: {requestEnumNarrowed, requestEnumWidened, responseEnumNarrowed, responseEnumWidened},
	requestLimitNarrowed: {requestLimitNarrowed, requestLimitWidened, responseLimitNarrowed,
		responseLimitWidened},
	requestSyntaxNarrowed: {requestSyntaxNarrowed, requestSyntaxWidened, responseSyntaxNarrowed,
		responseSyntaxWidened},
}

// values reports that a set of valid values lost or gained one.
func (s *schemas) values(family Kind, what string, narrowed, widened bool, value string) {
	kinds := pairs[family]
	switch {
	case narrowed && !widened:
		s.add(s.dir.pick(kinds[0], kinds[2]), s.place, value, "",
			s.dir.sentence("Requests no longer allow ", "Responses no longer contain ")+what+".")
	case widened && !narrowed:
		s.add(s.dir.pick(kinds[1], kinds[3]), s.place, "", value,
			s.dir.sentence("Requests allow ", "Responses can contain ")+what+".")
	}
}

// changed reports a keyword with two values.
func (s *schemas) changed(family Kind, keyword, before, after string, narrowed, widened bool) {
	kinds := pairs[family]
	kind := s.dir.pick(kinds[0], kinds[3]) // the breaking one
	switch {
	case narrowed && !widened:
		kind = s.dir.pick(kinds[0], kinds[2])
	case widened && !narrowed:
		kind = s.dir.pick(kinds[1], kinds[3])
	}
	text := s.dir.sentence("In requests, ", "In responses, ") + keyword
	switch {
	case before == "":
		text += " " + after + " was added."
	case after == "":
		text += " " + before + " was removed."
	default:
		text += " changed from " + before + " to " + after + "."
	}
	s.add(kind, s.place, before, after, text)
}

// compareKeywords compares two schemas without alternatives, keyword by keyword.
func (s *schemas) compareKeywords(a, b object) {
	s.compareTypes(a, b)
	s.compareEnums(a, b)
	s.compareExtensible(a, b)
	for _, keyword := range limits {
		s.compareLimit(keyword, a, b)
	}
	s.compareSyntax(a, b)
	s.compareDefault(a, b)
	s.compareMembers(a, b)
	s.compareNested(a, b)
	s.compareOther(a, b)
}

// typesOf returns the types of a schema; nil means all. An integer is a number.
func typesOf(o object) []string {
	if t, ok := o["type"].(string); ok {
		return []string{t}
	}
	return stringsOf(o["type"])
}

func (s *schemas) compareTypes(a, b object) {
	before, after := typesOf(a), typesOf(b)
	narrowed, widened := narrows(before, after), narrows(after, before)
	if narrowed || widened {
		s.changed(requestTypeNarrowed, "type", join(before), join(after), narrowed, widened)
	}
}

// narrows reports whether before has a type that after excludes.
func narrows(before, after []string) bool {
	if after == nil {
		return false
	}
	if before == nil {
		return true
	}
	return slices.ContainsFunc(before, func(t string) bool {
		return !slices.Contains(after, t) && !(t == "integer" && slices.Contains(after, "number"))
	})
}

// enumOf returns the values of enum or const as JSON; ok is false if all values are valid. The value
// null is compared with the types.
func enumOf(o object) (values []string, ok bool) {
	if v, ok := o["const"]; ok {
		return []string{canonical(v)}, true
	}
	list, ok := o["enum"].([]any)
	for _, v := range list {
		if v != nil {
			values = append(values, canonical(v))
		}
	}
	return values, ok
}

func (s *schemas) compareEnums(a, b object) {
	before, had := enumOf(a)
	after, has := enumOf(b)
	switch {
	case had && has:
		for _, v := range lost(before, after) {
			s.values(requestEnumNarrowed, "the value "+v, true, false, v)
		}
		for _, v := range lost(after, before) {
			s.values(requestEnumNarrowed, "the value "+v, false, true, v)
		}
	case has:
		s.changed(requestEnumNarrowed, "enum", "", join(after), true, false)
	case had:
		s.changed(requestEnumNarrowed, "enum", join(before), "", false, true)
	}
}

// compareExtensible compares x-extensible-enum: readers must expect further values. Stoa uses
// it for problem types.
func (s *schemas) compareExtensible(a, b object) {
	s.compareProblems(s.place, stringsOf(a["x-extensible-enum"]), stringsOf(b["x-extensible-enum"]))
}

// limit is a keyword that bounds a number, a length or a count.
type limit struct {
	keyword string
	lower   bool
	zero    bool // absent means zero
}

var limits = []limit{
	{"minimum", true, false}, {"exclusiveMinimum", true, false},
	{"minLength", true, true}, {"minItems", true, true}, {"minProperties", true, true},
	{"maximum", false, false}, {"exclusiveMaximum", false, false},
	{"maxLength", false, false}, {"maxItems", false, false}, {"maxProperties", false, false},
}

func (s *schemas) compareLimit(l limit, a, b object) {
	if a[l.keyword] == nil && b[l.keyword] == nil {
		return
	}
	x, y := numberOf(a[l.keyword]), numberOf(b[l.keyword])
	if l.zero {
		if x != nil && x.Sign() == 0 {
			x = nil
		}
		if y != nil && y.Sign() == 0 {
			y = nil
		}
	}
	var order int // of the bounds; positive if after is greater
	switch {
	case x == nil && y == nil:
		return
	case x == nil:
		s.changed(requestLimitNarrowed, l.keyword, "", text(b[l.keyword]), true, false)
		return
	case y == nil:
		s.changed(requestLimitNarrowed, l.keyword, text(a[l.keyword]), "", false, true)
		return
	default:
		order = y.Cmp(x)
	}
	if order != 0 {
		narrowed := (order > 0) == l.lower
		s.changed(requestLimitNarrowed, l.keyword, text(a[l.keyword]), text(b[l.keyword]), narrowed,
			!narrowed)
	}
}

// numberOf returns a JSON number; nil if v is none.
func numberOf(v any) *big.Float {
	const precision = 256 // more than int64 and float64
	if f, _, err := big.ParseFloat(text(v), 10, precision, big.ToNearestEven); err == nil {
		return f
	}
	return nil
}

// text returns a value as it is shown: strings and numbers as they are, others as JSON.
func text(v any) string {
	if v == nil {
		return ""
	}
	if s, ok := v.(string); ok {
		return s
	}
	return canonical(v)
}

// compareSyntax compares keywords of which it cannot decide which one allows more: any change breaks.
func (s *schemas) compareSyntax(a, b object) {
	for _, keyword := range []string{"pattern", "format", "multipleOf", "contentEncoding",
		"contentMediaType", "contentSchema"} {
		before, after := text(a[keyword]), text(b[keyword])
		if before != after {
			s.changed(requestSyntaxNarrowed, keyword, before, after, before == "", after == "")
		}
	}
	before, after := a["uniqueItems"] == true, b["uniqueItems"] == true
	if before != after {
		s.values(requestSyntaxNarrowed, "repeated items", after, before, "repeated items")
	}
}

// compareDefault compares defaults of what the client sends. In responses they mean nothing.
func (s *schemas) compareDefault(a, b object) {
	before, after := "", ""
	if v, ok := a["default"]; ok {
		before = canonical(v)
	}
	if v, ok := b["default"]; ok {
		after = canonical(v)
	}
	if s.dir == response || before == after {
		return
	}
	sentence := "The default changed from " + before + " to " + after + "."
	switch {
	case before == "":
		sentence = "The default " + after + " was added."
	case after == "":
		sentence = "The default " + before + " was removed."
	}
	s.add(defaultChanged, s.place, before, after, sentence)
}

// members returns the members that a value in this direction can have.
func (s *schemas) members(document, o object) map[string]any {
	all := map[string]any{}
	properties, _ := o["properties"].(object)
	for name, v := range properties {
		p, _ := resolve(document, asSchema(v))
		local, _ := v.(object)
		hidden := map[direction]string{request: "readOnly", response: "writeOnly"}[s.dir]
		if p[hidden] != true && local[hidden] != true {
			all[name] = v
		}
	}
	return all
}

func (s *schemas) compareMembers(a, b object) {
	before, after := s.members(s.before, a), s.members(s.after, b)
	requiredA, requiredB := stringsOf(a["required"]), stringsOf(b["required"])
	for _, name := range sorted(before) {
		v, ok := after[name]
		at := s.place + "." + name
		if !ok {
			s.add(s.dir.pick(requestMemberRemoved, responseMemberRemoved), at, name, "",
				s.dir.sentence("Requests can no longer have the member.",
					"Responses no longer have the member."))
			continue
		}
		was, is := slices.Contains(requiredA, name), slices.Contains(requiredB, name)
		if was != is {
			s.compareRequired(at, is)
		}
		s.compareSchema(at, s.dir, before[name], v)
	}
	for _, name := range sorted(after) {
		if _, known := before[name]; known {
			continue
		}
		at := s.place + "." + name
		if s.dir == request && slices.Contains(requiredB, name) {
			s.add(requestMemberRequired, at, "", "required", "Requests must have the new member.")
			continue
		}
		s.add(s.dir.pick(requestMemberAdded, responseMemberAdded), at, "", name,
			s.dir.sentence("Requests can have the new member.", "Responses have the new member."))
	}
}

func (s *schemas) compareRequired(at string, required bool) {
	if required {
		s.add(s.dir.pick(requestMemberRequired, responseMemberRequired), at, "optional", "required",
			s.dir.sentence("Requests must have the member.", "Responses always have the member."))
		return
	}
	s.add(s.dir.pick(requestMemberOptional, responseMemberOptional), at, "required", "optional",
		s.dir.sentence("Requests need not have the member.", "Responses may lack the member."))
}

func (dir direction) sentence(forRequest, forResponse string) string {
	if dir == request {
		return forRequest
	}
	return forResponse
}

// compareNested compares the schemas of elements and of members without a name.
func (s *schemas) compareNested(a, b object) {
	for _, keyword := range []string{"items", "contains", "propertyNames"} {
		x, had := a[keyword]
		y, has := b[keyword]
		if had && has {
			s.compareSchema(s.place+"[]", s.dir, x, y)
		} else if had || has {
			s.changed(requestTypeNarrowed, keyword, presence(had), presence(has), has, had)
		}
	}
	x, y := a["additionalProperties"], b["additionalProperties"]
	was, is := openness(x), openness(y)
	if was > 0 && is > 0 && (was == 1 || is == 1) {
		s.compareSchema(s.place+".*", s.dir, cmp.Or[any](x, true), cmp.Or[any](y, true))
		return
	}
	if was == is {
		return
	}
	if s.dir == response { // clients must ignore members that they do not know
		if is < was {
			s.changed(requestTypeNarrowed, "additionalProperties", text(a["additionalProperties"]),
				text(b["additionalProperties"]), true, false)
		} else if is > was {
			s.add(responseMemberAdded, s.place+".*", "", "*", "Responses can have further members.")
		}
		return
	}
	s.changed(requestTypeNarrowed, "additionalProperties", text(a["additionalProperties"]),
		text(b["additionalProperties"]), is < was, is > was)
}

func presence(yes bool) string {
	if yes {
		return "present"
	}
	return ""
}

// openness orders values of additionalProperties: none, those of a schema, all.
func openness(v any) int {
	switch v := v.(type) {
	case bool:
		if !v {
			return 0
		}
	case object:
		if len(v) > 0 {
			return 1
		}
	}
	return 2
}

// compareOther compares keywords that it does not interpret. Adding one excludes values, removing one
// allows them, and any other difference may do both. The schemas of allOf are compared in pairs.
func (s *schemas) compareOther(a, b object) {
	x, _ := a["allOf"].([]any)
	y, _ := b["allOf"].([]any)
	if len(x) == len(y) {
		for i := range x {
			s.compareSchema(s.place, s.dir, x[i], y[i])
		}
	} else {
		s.changed(requestTypeNarrowed, "allOf", text(a["allOf"]), text(b["allOf"]), len(y) > len(x),
			len(x) > len(y))
	}
	for _, keyword := range []string{"not", "if", "then", "else", "dependentRequired", "dependentSchemas",
		"patternProperties", "unevaluatedProperties", "unevaluatedItems", "prefixItems", "minContains",
		"maxContains"} {
		before, after := text(a[keyword]), text(b[keyword])
		if before != after {
			s.changed(requestTypeNarrowed, keyword, before, after, before == "", after == "")
		}
	}
}
