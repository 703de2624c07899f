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
	a, b := formOf(d.before, before), formOf(d.after, after)
	s := schemas{openAPI: d, place: place, dir: dir}
	_, refA := resolve(d.before, asSchema(before))
	_, refB := resolve(d.after, asSchema(after))
	if refA != "" && refB != "" { // otherwise the place decides about null, and not the component
		s.place = placeOf(place, a, b)
	}
	_, had := enumOf(a.object)
	_, has := enumOf(b.object)
	nullable := func(o object) bool { return o["type"] == nil || slices.Contains(typesOf(o), "null") }
	byEnum := nullable(a.object) && nullable(b.object) // the types do not differ in null
	switch {
	case a.null == b.null:
	case had && has && byEnum:
		s.values(requestEnumNarrowed, "the value null", a.null, b.null, "null")
	case had != has && byEnum, anyType(a.object), anyType(b.object): // the enum or the type is reported
	default:
		s.values(requestTypeNarrowed, "null", a.null, b.null, "null")
	}
	s.place = placeOf(place, a, b)
	s.compareForms(a, b)
}

// placeOf returns the name of the component if both schemas are one with equal conditions beside it. Its
// differences are then reported once, however many operations use it.
func placeOf(place string, a, b form) string {
	name, ok := strings.CutPrefix(b.name, "#/components/schemas/")
	if ok && a.name != "" && a.beside == b.beside {
		return name
	}
	return place
}

// compareForms compares the values except null.
func (s *schemas) compareForms(a, b form) {
	switch {
	case (a.followed || b.followed) && s.seenBefore(s.dir, a.id(), b.id()):
	case hasBranches(a.object) || hasBranches(b.object):
		s.compareAlternatives(a.alternatives(s.before), b.alternatives(s.after))
	default:
		s.compareKeywords(a.object, b.object)
	}
}

// anyType reports whether a schema has no type.
func anyType(o object) bool { return o["type"] == nil && !hasBranches(o) }

func hasBranches(o object) bool { return o["anyOf"] != nil || o["oneOf"] != nil }

// asSchema converts the schemas true and false to objects.
func asSchema(v any) object {
	if v == false {
		return object{"not": object{}}
	}
	o, _ := v.(object)
	return o
}

// schemas compares two schemas at one place.
type schemas struct {
	*openAPI
	place string
	dir   direction
}

// key identifies a branch by its constant members, otherwise by its reference or content.
func (f form) key() string {
	properties, _ := f.object["properties"].(object)
	var constants []string
	for _, name := range sorted(properties) {
		if p, ok := properties[name].(object); ok && p["const"] != nil {
			constants = append(constants, name+"="+canonical(p["const"]))
		}
	}
	if len(constants) > 0 {
		return strings.Join(constants, ", ")
	}
	return cmp.Or(f.name, canonical(f.object))
}

// id identifies the schema in its document.
func (f form) id() string {
	if f.name == "" {
		return canonical(f.value)
	}
	return f.name + f.beside
}

func (f form) types() string { return join(valueTypes(f.object)) }

func anySlice(list []string) []any {
	all := make([]any, len(list))
	for i, v := range list {
		all[i] = v
	}
	return all
}

// compareAlternatives pairs branches by their keys, then by their types in their order. If one is left on
// both sides, it has changed.
func (s *schemas) compareAlternatives(before, after []form) {
	compare := func(a, b form) {
		pair := *s
		pair.place = placeOf(s.place, a, b)
		pair.compareForms(a, b)
	}
	for _, key := range []func(form) string{form.key, form.types} {
		var left []form
		for _, a := range before {
			i := slices.IndexFunc(after, func(b form) bool { return key(a) == key(b) })
			if i < 0 {
				left = append(left, a)
				continue
			}
			compare(a, after[i])
			after = slices.Delete(after, i, i+1)
		}
		before = left
	}
	anyValue := func(f form) bool { return isAny(f.object) }
	wasAny, all := slices.ContainsFunc(before, anyValue), slices.ContainsFunc(after, anyValue)
	switch {
	case len(before) == 1 && len(after) == 1:
		compare(before[0], after[0])
		return
	case wasAny || all:
		s.changed(requestTypeNarrowed, "alternatives", presence(all), presence(wasAny), wasAny, all)
		return
	}
	for _, a := range before {
		s.values(requestTypeNarrowed, a.label(), true, false, a.label())
	}
	for _, b := range after {
		s.values(requestTypeNarrowed, b.label(), false, true, b.label())
	}
}

// label describes a branch in texts.
func (f form) label() string {
	key := f.key()
	if strings.HasPrefix(key, "{") {
		return "the alternative " + canonical(f.object["type"])
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

// valueTypes returns the types without null.
func valueTypes(o object) []string {
	return slices.DeleteFunc(typesOf(o), func(t string) bool { return t == "null" })
}

// compareTypes compares the types except null. Two enums are compared by their values.
func (s *schemas) compareTypes(a, b object) {
	_, had := enumOf(a)
	_, has := enumOf(b)
	before, after := valueTypes(a), valueTypes(b)
	narrowed, widened := narrows(before, after), narrows(after, before)
	if (narrowed || widened) && !(had && has) {
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
// null is compared by compareSchema.
func enumOf(o object) (values []string, ok bool) {
	list, ok := o["enum"].([]any)
	if v, isConst := o["const"]; isConst {
		list, ok = []any{v}, true
	}
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
	keyword   string
	exclusive string // the keyword for the same limit without its value
	lower     bool
	zero      bool // absent means zero
}

var limits = []limit{
	{"minimum", "exclusiveMinimum", true, false}, {"maximum", "exclusiveMaximum", false, false},
	{"minLength", "", true, true}, {"minItems", "", true, true}, {"minProperties", "", true, true},
	{"maxLength", "", false, false}, {"maxItems", "", false, false}, {"maxProperties", "", false, false},
}

// of returns the stricter one of the two keywords, and its text. More than 0 is at least 1 for integers,
// otherwise at least the smallest number that decimals distinguish.
func (l limit) of(o object) (bound *big.Float, shown string) {
	bound, shown = numberOf(o[l.keyword]), text(o[l.keyword])
	if l.zero && bound != nil && bound.Sign() == 0 {
		return nil, ""
	}
	if open := numberOf(o[l.exclusive]); open != nil {
		step := big.NewFloat(1e-40)
		if slices.Equal(valueTypes(o), []string{"integer"}) {
			step = big.NewFloat(1)
		}
		if !l.lower {
			step.Neg(step)
		}
		if open.Add(open, step); bound == nil || (open.Cmp(bound) > 0) == l.lower {
			bound, shown = open, "exclusive "+text(o[l.exclusive])
		}
	}
	return bound, shown
}

func (s *schemas) compareLimit(l limit, a, b object) {
	x, before := l.of(a)
	y, after := l.of(b)
	switch {
	case x == nil && y == nil:
	case x == nil:
		s.changed(requestLimitNarrowed, l.keyword, "", after, true, false)
	case y == nil:
		s.changed(requestLimitNarrowed, l.keyword, before, "", false, true)
	case x.Cmp(y) != 0:
		narrowed := (y.Cmp(x) > 0) == l.lower
		s.changed(requestLimitNarrowed, l.keyword, before, after, narrowed, !narrowed)
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

// compareDefault compares defaults of what clients send. A value that had to be sent had no default for
// them.
func (d *openAPI) compareDefault(place string, before, after any) {
	x, had := formOf(d.before, before).object["default"]
	y, has := formOf(d.after, after).object["default"]
	was, is := canonical(x), canonical(y)
	if had == has && was == is {
		return
	}
	sentence := "The default changed from " + was + " to " + is + "."
	switch {
	case !had:
		was, sentence = "", "The default "+is+" was added."
	case !has:
		is, sentence = "", "The default "+was+" was removed."
	}
	d.add(defaultChanged, place, was, is, sentence)
}

// members returns the members that a value in this direction can have, and those that it must have.
func (s *schemas) members(document, o object) (all map[string]any, required map[string]bool) {
	all, required = map[string]any{}, map[string]bool{}
	for _, name := range stringsOf(o["required"]) {
		required[name] = true
	}
	properties, _ := o["properties"].(object)
	for name, v := range properties {
		hidden := map[direction]string{request: "readOnly", response: "writeOnly"}[s.dir]
		if formOf(document, v).object[hidden] == true {
			delete(required, name)
			continue
		}
		all[name] = v
	}
	return all, required
}

// compareMembers compares members. Those that are required only have no schema.
func (s *schemas) compareMembers(a, b object) {
	before, requiredA := s.members(s.before, a)
	after, requiredB := s.members(s.after, b)
	names := maps.Clone(requiredA)
	for _, all := range []map[string]any{before, after} {
		for name := range all {
			names[name] = true
		}
	}
	maps.Copy(names, requiredB)
	for _, name := range sorted(names) {
		at, was, is := s.place+"."+name, requiredA[name], requiredB[name]
		x, had := before[name]
		y, has := after[name]
		switch {
		case had && !has:
			s.add(s.dir.pick(requestMemberRemoved, responseMemberRemoved), at, name, "",
				s.dir.sentence("Requests can no longer have the member.",
					"Responses no longer have the member."))
			continue
		case has && !had && !was && is && s.dir == request:
			s.add(requestMemberRequired, at, "", "required", "Requests must have the new member.")
			continue
		case has && !had:
			s.add(s.dir.pick(requestMemberAdded, responseMemberAdded), at, "", name,
				s.dir.sentence("Requests can have the new member.", "Responses have the new member."))
			if was && !is {
				s.compareRequired(at, is)
			}
			continue
		case was != is:
			s.compareRequired(at, is)
		}
		if had && has {
			s.compareSchema(at, s.dir, x, y)
			if s.dir == request && !was {
				s.compareDefault(at, x, y)
			}
		}
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
		switch {
		case had && has:
			s.compareSchema(s.place+"[]", s.dir, x, y)
		case (had || has) && (keyword == "contains" || !isAny(cmp.Or(x, y))):
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

// isAny reports whether a schema excludes nothing.
func isAny(v any) bool {
	o, ok := v.(object)
	return v == true || ok && len(o) == 0
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
	x, y := listOf(a["allOf"]), listOf(b["allOf"])
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
		before, after := condition(keyword, a[keyword]), condition(keyword, b[keyword])
		if before != after {
			s.changed(requestTypeNarrowed, keyword, before, after, before == "", after == "")
		}
	}
}

// condition returns the text of a keyword; "" if it excludes nothing.
func condition(keyword string, v any) string {
	if isAny(v) && keyword != "not" && keyword != "if" {
		return ""
	}
	return text(v)
}
