package model

// Descriptions of elements for which the application has given none. Called by Reflect at the end:
// a generated text depends only on what contains the element. Clients show descriptions in editors
// and generated code, and linters of schemas require them.

import "github.com/stoa-go/stoa/resource/schema"

// typeDoc returns the description of a Go type, and "" if it has none. GraphQL has no deprecation of
// types, so the reason is a part of it.
func typeDoc(t *schema.Type) string {
	if t.Deprecated == "" {
		return t.Doc
	}
	return sentences(t.Doc, "Deprecated: "+t.Deprecated)
}

// describe adds the missing descriptions of a type and of its parts. Only custom fields keep theirs
// empty, because the package cannot know what they do.
func (t *Type) describe() {
	if t.Doc == "" {
		t.Doc = "The object `" + t.Name + "`."
	}
	for _, f := range t.Fields {
		if f.Member != nil {
			describe(&f.Doc, t.part(f.Name, f.Member))
		}
		for _, arg := range f.Args {
			describe(&arg.Doc, "The argument `"+arg.Name+"`")
		}
	}
	for _, in := range t.Inputs {
		describe(&in.Doc, t.part(in.Name, in.Member))
	}
	for _, v := range t.Values {
		describe(&v.Doc, "The value `"+v.Name+"`")
	}
}

// part describes a member of t, or the conditions on it in a filter. A filter has no Go type.
func (t *Type) part(name string, m *schema.Field) string {
	switch {
	case t.Resource == nil:
		return "The member `" + name + "` of the object `" + t.Name + "`"
	case t.Go == nil:
		return "The conditions on the member `" + name + "`"
	case m.Name == t.Resource.Describe().ID:
		return "The id of the item"
	}
	return "The member `" + name + "` of an item of `" + t.Resource.Name() + "`"
}

// describe sets a description to a sentence, unless it has one.
func describe(doc *string, text string) {
	if *doc == "" {
		*doc = text + "."
	}
}
