package openapi

// Descriptions of types, members and enum values, from struct tags and doc comments; see
// schema.Description. Called by schemas.go and lookups.go.

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource/schema"
)

// describeModel returns the description of a type in a mode. It is empty if the type has none.
func describeModel(m *model) string {
	doc := m.typ.Doc
	if m.typ.Deprecated != "" {
		doc = sentences(doc, "Deprecated: "+m.typ.Deprecated)
	}
	if doc != "" && m.mode == patched {
		doc = sentences(doc, "All members are optional: an absent one keeps its value, and null removes one.")
	}
	return doc
}

// describeField returns the description of a field. It does not repeat the constraints that are
// keywords. A named type that is not a component, such as that of an enum, describes its fields.
func describeField(f *schema.Field) string {
	out := f.Doc
	if f.Type.Kind != schema.Object {
		out = cmp.Or(out, f.Type.Doc)
	}
	if f.Deprecated != "" {
		out = sentences(out, "Deprecated: "+f.Deprecated)
	}
	switch {
	case f.Unique && f.Comparable():
		out = sentences(out, "It is unique among all items.")
	case f.UniqueWith != nil:
		out = sentences(out, "It is unique together with "+strings.Join(f.UniqueWith, ", ")+".")
	}
	if _, ok := portable(f); !ok {
		out = sentences(out, "It must match the RE2 pattern `"+f.Pattern.String()+"`.")
	}
	if limits := textLimits(f); limits != "" {
		out = sentences(out, limits)
	}
	if f.Precision > 0 && f.Pattern != nil { // in place of the pattern of these digits
		out = sentences(out, fmt.Sprintf("The number has at most %d digits before the point and %d after it.",
			f.Precision-f.Scale, f.Scale))
	}
	if len(f.Enum) > 0 && hasSpellings(f) {
		var values []string
		for _, v := range f.Enum {
			values = append(values, "`"+strings.Trim(string(written(f, v)), `"`)+"`")
		}
		out = sentences(out, "The value equals one of "+strings.Join(values, ", ")+".")
	}
	return out
}

// indented matches the start of a line that is not empty, after the first.
var indented = regexp.MustCompile(`\n([^\n])`)

// enumList returns a list of the values of an enum with their descriptions, and "" if none of them
// has one. Tools show descriptions of oneOf and const, the keywords for that purpose, less often, and
// some generators make a type of each value.
func enumList(f *schema.Field) string {
	described := func(v any) bool { return f.EnumComment(v) != schema.Comment{} }
	if !slices.ContainsFunc(f.Enum, described) {
		return ""
	}
	var items []string
	for _, v := range f.Enum {
		c := f.EnumComment(v)
		if c.Deprecated != "" {
			c.Doc = sentences(c.Doc, "Deprecated: "+c.Deprecated)
		}
		value, _ := strings.CutPrefix(string(written(f, v)), `"`)
		item := "- `" + strings.TrimSuffix(value, `"`) + "`"
		if c.Doc != "" {
			item += ": " + indented.ReplaceAllString(c.Doc, "\n  $1")
		}
		items = append(items, item)
	}
	return strings.Join(items, "\n")
}

// withList appends a list to a description. Either may be empty.
func withList(description, list string) string {
	if description == "" || list == "" {
		return description + list
	}
	return description + "\n\n" + list
}

// sentences joins texts, each ended by a period. A text that ends with code gets a period too, even
// if the code ends with one. The text after one of several blocks is a paragraph of its own, because
// the last block may be a list or code.
func sentences(list ...string) string {
	var b strings.Builder
	separator := ""
	for _, s := range list {
		s = strings.TrimSpace(s)
		if s == "" {
			continue
		}
		b.WriteString(separator + s)
		if separator = " "; strings.Contains(s, "\n\n") {
			separator = "\n\n"
		} else if !strings.ContainsAny(s[len(s)-1:], ".!?:`") || strings.HasSuffix(s, "`") {
			b.WriteString(".")
		}
	}
	return b.String()
}
