package compat

// Two GraphQL schemas. Called by Compare.

import (
	"slices"
	"strings"
)

// graphQL compares two schemas.
type graphQL struct {
	*comparison
	before, after *sdlSchema
	output        map[string]bool // types that responses contain, in either schema
}

// add records a change. Its sentence begins with GraphQL.
func (g *graphQL) add(kind Kind, place, before, after, text string) {
	g.comparison.add(kind, place, before, after, "GraphQL: "+strings.ToLower(text[:1])+text[1:])
}

func (c *comparison) compareSDL(before, after string) {
	g := &graphQL{comparison: c, output: map[string]bool{}}
	var err error
	if g.before, err = parseSDL(before); err != nil {
		return // normalizeSDL has accepted it
	}
	if g.after, err = parseSDL(after); err != nil {
		return
	}
	for _, s := range []*sdlSchema{g.before, g.after} {
		for _, t := range s.types {
			if t.kind != "type" && t.kind != "interface" {
				continue
			}
			for _, f := range t.fields {
				g.output[baseType(f.typ)] = true
			}
		}
	}
	g.compareRoots()
	for _, name := range sorted(g.before.directives) {
		g.compareDirective("@"+name, g.before.directives[name], g.after.directives[name])
	}
	for _, name := range sorted(g.after.directives) {
		if g.before.directives[name] == nil {
			g.add(directiveAdded, "@"+name, "", "@"+name, "The directive was added.")
		}
	}
	for _, name := range sorted(g.before.types) {
		g.compareType(name, g.before.types[name], g.after.types[name])
	}
	for _, name := range sorted(g.after.types) {
		if g.before.types[name] == nil {
			g.add(typeAdded, name, "", g.after.types[name].kind, "The type was added.")
		}
	}
}

// baseType returns the name in a type reference.
func baseType(ref string) string { return strings.Trim(ref, "[]!") }

func (g *graphQL) compareRoots() {
	for _, root := range sorted(g.before.roots) {
		was, is := g.before.roots[root], g.after.roots[root]
		switch {
		case is == "":
			g.add(operationTypeRemoved, "schema."+root, was, "", "The operation type was removed.")
		case was != is:
			g.add(operationTypeRemoved, "schema."+root, was, is, "The type was renamed.")
		}
	}
	for _, root := range sorted(g.after.roots) {
		if g.before.roots[root] == "" {
			g.add(operationTypeAdded, "schema."+root, "", g.after.roots[root],
				"The operation type was added.")
		}
	}
}

func (g *graphQL) compareDirective(name string, a, b *sdlDirective) {
	if b == nil {
		g.add(directiveRemoved, name, name, "", "The directive was removed.")
		return
	}
	for _, v := range lost(a.locations, b.locations) {
		g.add(directiveNarrowed, name, v, "", "It is not allowed on "+v+".")
	}
	for _, v := range lost(b.locations, a.locations) {
		g.add(directiveWidened, name, "", v, "It is allowed on "+v+".")
	}
	switch {
	case a.repeatable && !b.repeatable:
		g.add(directiveNarrowed, name, "repeatable", "", "It is not repeatable.")
	case b.repeatable && !a.repeatable:
		g.add(directiveWidened, name, "", "repeatable", "It is repeatable.")
	}
	g.compareInputs(name, ofArgument, a.args, b.args)
}

func (g *graphQL) compareType(name string, a, b *sdlType) {
	if b == nil {
		g.add(typeRemoved, name, a.kind, "", "The type was removed.")
		return
	}
	if a.kind != b.kind {
		g.add(typeChanged, name, a.kind, b.kind, "The kind changed from "+a.kind+" to "+b.kind+".")
		return
	}
	was, is := join(declared(a.applied)), join(declared(b.applied))
	if was != is {
		g.add(typeChanged, name, was, is, "The directives of the type changed.")
	}
	for _, v := range lost(a.interfaces, b.interfaces) {
		g.add(interfaceRemoved, name, v, "", "The type no longer implements "+v+".")
	}
	for _, v := range lost(b.interfaces, a.interfaces) {
		g.add(interfaceAdded, name, "", v, "The type implements "+v+".")
	}
	for _, v := range lost(a.members, b.members) {
		g.add(unionMemberRemoved, name, v, "", "The union no longer contains "+v+".")
	}
	for _, v := range lost(b.members, a.members) {
		g.add(unionMemberAdded, name, "", v, "The union contains "+v+".")
	}
	switch a.kind {
	case "enum":
		g.compareEnum(name, a, b)
	case "input":
		g.compareInputs(name, ofInput, a.fields, b.fields)
	default:
		g.compareFields(name, a, b)
	}
}

// declared returns the directives of a type that clients observe.
func declared(applied []string) (all []string) {
	for _, d := range applied {
		if strings.HasPrefix(d, "@oneOf") || strings.HasPrefix(d, "@specifiedBy") {
			all = append(all, d)
		}
	}
	slices.Sort(all)
	return all
}

func (g *graphQL) compareEnum(name string, a, b *sdlType) {
	before, after := byName(a.fields), byName(b.fields)
	for _, v := range sorted(before) {
		if after[v] == nil {
			g.add(enumValueRemoved, name+"."+v, v, "", "The value was removed.")
			continue
		}
		g.compareDeprecated(name+"."+v, before[v], after[v])
	}
	for _, v := range sorted(after) {
		switch {
		case before[v] != nil:
		case g.output[name]:
			g.add(enumValueAdded, name+"."+v, "", v, "Responses can contain a further value.")
		default:
			g.add(inputEnumValueAdded, name+"."+v, "", v, "Requests can contain a further value.")
		}
	}
}

// byName returns fields by their names.
func byName(fields []*sdlField) map[string]*sdlField {
	all := map[string]*sdlField{}
	for _, f := range fields {
		all[f.name] = f
	}
	return all
}

func (g *graphQL) compareDeprecated(place string, a, b *sdlField) {
	was, is := a.deprecated(), b.deprecated()
	switch {
	case is && !was:
		g.add(fieldDeprecated, place, "", "deprecated", "It is deprecated.")
	case was && !is:
		g.add(fieldDeprecated, place, "deprecated", "", "It is no longer deprecated.")
	}
}

func (f *sdlField) deprecated() bool {
	return slices.ContainsFunc(f.applied, func(d string) bool { return strings.HasPrefix(d, "@deprecated") })
}

func (g *graphQL) compareFields(name string, a, b *sdlType) {
	before, after := byName(a.fields), byName(b.fields)
	for _, field := range sorted(before) {
		p, q := before[field], after[field]
		place := name + "." + field
		if q == nil {
			g.add(fieldRemoved, place, p.typ, "", "The field was removed.")
			continue
		}
		if p.typ != q.typ {
			kind := fieldTypeChanged
			if narrower(q.typ, p.typ) {
				kind = fieldTypeNarrowed
			}
			g.add(kind, place, p.typ, q.typ, "The type changed from "+p.typ+" to "+q.typ+".")
		}
		g.compareDeprecated(place, p, q)
		g.compareInputs(place, ofArgument, p.args, q.args)
	}
	for _, field := range sorted(after) {
		if before[field] == nil {
			g.add(fieldAdded, name+"."+field, "", after[field].typ, "The field was added.")
		}
	}
}

// narrower reports whether each value of type a is also of type b: a is b, or not null where b may be.
func narrower(a, b string) bool {
	if inner, ok := strings.CutSuffix(b, "!"); ok {
		of, ok := strings.CutSuffix(a, "!")
		return ok && narrower(of, inner)
	}
	a = strings.TrimSuffix(a, "!")
	if strings.HasPrefix(a, "[") && strings.HasPrefix(b, "[") {
		return narrower(a[1:len(a)-1], b[1:len(b)-1])
	}
	return a == b
}

// inputKinds are the kinds of changes of arguments or of input fields.
type inputKinds struct {
	noun                                                 string
	removed, added, required, widened, changed, defaults Kind
}

var (
	ofArgument = &inputKinds{"argument", argumentRemoved, argumentAdded, argumentRequired,
		argumentTypeWidened, argumentTypeChanged, argumentDefaultChanged}
	ofInput = &inputKinds{"field", inputFieldRemoved, inputFieldAdded, inputFieldRequired,
		inputFieldTypeWidened, inputFieldTypeChanged, inputFieldDefaultChanged}
)

// required reports whether a request must have a value.
func (f *sdlField) required() bool { return strings.HasSuffix(f.typ, "!") && !f.hasDefault }

// compareInputs compares arguments or input fields.
func (g *graphQL) compareInputs(place string, kinds *inputKinds, a, b []*sdlField) {
	before, after := byName(a), byName(b)
	at := func(name string) string {
		if kinds == ofArgument {
			return place + "(" + name + ":)"
		}
		return place + "." + name
	}
	for _, name := range sorted(before) {
		p, q := before[name], after[name]
		if q == nil {
			g.add(kinds.removed, at(name), p.typ, "", "The "+kinds.noun+" was removed.")
			continue
		}
		g.compareInput(at(name), kinds, p, q)
	}
	for _, name := range sorted(after) {
		q := after[name]
		switch {
		case before[name] != nil:
		case q.required():
			g.add(kinds.required, at(name), "", q.typ, "A required "+kinds.noun+" was added.")
		default:
			g.add(kinds.added, at(name), "", q.typ, "An optional "+kinds.noun+" was added.")
		}
	}
}

func (g *graphQL) compareInput(place string, kinds *inputKinds, p, q *sdlField) {
	text := "The type changed from " + p.typ + " to " + q.typ + "."
	switch {
	case p.required() && !q.required() && narrower(p.typ, q.typ): // each request has a value
		g.add(kinds.widened, place, p.typ, q.typ, "The "+kinds.noun+" is optional.")
		g.compareDeprecated(place, p, q)
		return
	case p.typ == q.typ && p.required() == q.required():
	case p.typ != q.typ && narrower(p.typ, q.typ):
		g.add(kinds.widened, place, p.typ, q.typ, text)
	case !p.required() && q.required() && strings.TrimSuffix(p.typ, "!")+"!" == q.typ:
		g.add(kinds.required, place, p.typ, q.typ, "The "+kinds.noun+" is required.")
	default:
		g.add(kinds.changed, place, p.typ, q.typ, text)
	}
	if (p.hasDefault != q.hasDefault || p.initial != q.initial) && !q.required() {
		was, is := p.initial, q.initial
		text := "The default changed from " + was + " to " + is + "."
		switch {
		case !p.hasDefault:
			text = "The default " + is + " was added."
		case !q.hasDefault:
			text = "The default " + was + " was removed."
		}
		g.add(kinds.defaults, place, was, is, text)
	}
	g.compareDeprecated(place, p, q)
}
