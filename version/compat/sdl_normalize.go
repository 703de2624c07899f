package compat

// The form in which snapshots keep a GraphQL schema. Called by Record and Parse.

import (
	"slices"
	"strings"
)

// normalizeSDL returns a schema without descriptions, comments and reasons of deprecation, with sorted
// definitions. Fields, arguments and values keep their order, which introspection shows, but it has
// no meaning.
func normalizeSDL(text string) (string, error) {
	s, err := parseSDL(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("schema {\n")
	for _, root := range sorted(s.roots) {
		b.WriteString("  " + root + ": " + s.roots[root] + "\n")
	}
	b.WriteString("}\n")
	for _, name := range sorted(s.directives) {
		d := s.directives[name]
		b.WriteString("directive @" + name)
		writeArguments(&b, d.args)
		if d.repeatable {
			b.WriteString(" repeatable")
		}
		locations := slices.Sorted(slices.Values(d.locations))
		b.WriteString(" on " + strings.Join(locations, " | ") + "\n")
	}
	for _, name := range sorted(s.types) {
		writeType(&b, name, s.types[name])
	}
	return b.String(), nil
}

func writeType(b *strings.Builder, name string, t *sdlType) {
	b.WriteString(t.kind + " " + name)
	if len(t.interfaces) > 0 {
		b.WriteString(" implements " + strings.Join(slices.Sorted(slices.Values(t.interfaces)), " & "))
	}
	writeApplied(b, t.applied)
	if len(t.members) > 0 {
		b.WriteString(" = " + strings.Join(slices.Sorted(slices.Values(t.members)), " | "))
	}
	if len(t.fields) > 0 {
		b.WriteString(" {\n")
		for _, f := range t.fields {
			b.WriteString("  ")
			writeField(b, f)
			b.WriteString("\n")
		}
		b.WriteString("}")
	}
	b.WriteString("\n")
}

func writeField(b *strings.Builder, f *sdlField) {
	b.WriteString(f.name)
	writeArguments(b, f.args)
	if f.typ != "" {
		b.WriteString(": " + f.typ)
	}
	if f.hasDefault {
		b.WriteString(" = " + f.initial)
	}
	writeApplied(b, f.applied)
}

func writeArguments(b *strings.Builder, args []*sdlField) {
	if len(args) == 0 {
		return
	}
	b.WriteString("(")
	for i, a := range args {
		if i > 0 {
			b.WriteString(", ")
		}
		writeField(b, a)
	}
	b.WriteString(")")
}

func writeApplied(b *strings.Builder, applied []string) {
	for _, d := range applied {
		if strings.HasPrefix(d, "@deprecated") {
			d = "@deprecated" // the reason is documentation
		}
		b.WriteString(" " + d)
	}
}
