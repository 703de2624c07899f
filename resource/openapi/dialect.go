package openapi

// Conversion of a document, which is generated as OpenAPI 3.1, to another version of OpenAPI. Called
// by newRendering in variant.go.

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// convert changes the document to a version of OpenAPI: 3.0, 3.1 or 3.2.
func (r *root) convert(version string) {
	for _, v := range patchVersions {
		if v.minor == version {
			r.OpenAPI = v.patch
		}
	}
	w := &walker{seen: map[any]bool{}}
	w.media = func(m *mediaType) {
		if version != "3.2" {
			m.ItemSchema = nil
		} else if m.ItemSchema != nil {
			m.Schema = nil // the text, which older versions have instead
		}
		// Raw bytes have no schema in 3.1, and the format binary in 3.0.
		if version == "3.0" && m.Schema == nil {
			m.Schema = &schemaObject{Type: typeNames{"string"}, Format: "binary"}
		}
	}
	w.schema = func(*schemaObject) {}
	if version == "3.0" {
		w.schema = toOpenAPI30
		if l := r.Info.License; l != nil { // the license belongs to the Options
			r.Info.License = &License{Name: l.Name, URL: l.URL}
		}
	}
	w.visitDocument(r)
}

// toOpenAPI30 changes a schema of JSON Schema 2020-12 to that of OpenAPI 3.0: null is the keyword
// nullable, keywords beside $ref are ignored, and const, examples, content and propertyNames are unknown.
func toOpenAPI30(s *schemaObject) {
	isNull := func(s *schemaObject) bool { return slices.Equal(s.Type, typeNames{"null"}) }
	if i := slices.IndexFunc(s.AnyOf, isNull); i >= 0 {
		s.Nullable = true
		if s.AnyOf = slices.Delete(slices.Clone(s.AnyOf), i, i+1); len(s.AnyOf) == 1 {
			s.AnyOf, s.AllOf = nil, s.AnyOf
			s.Type = typeNames{"object"} // nullable has no effect without a type (3.0.3)
		}
	}
	if i := slices.Index(s.Type, "null"); i >= 0 && len(s.Type) > 1 {
		s.Type, s.Nullable = slices.Delete(slices.Clone(s.Type), i, i+1), true
	}
	if s.Ref != "" {
		alone := schemaObject{Ref: s.Ref}
		if s.Ref = ""; !s.isZero() {
			s.AllOf = append(s.AllOf, &alone)
		} else {
			*s = alone
		}
	}
	if s.Const != nil {
		s.Const, s.Enum = nil, []jsontext.Value{s.Const}
	}
	if len(s.Examples) > 0 {
		s.Examples, s.Example = nil, s.Examples[0]
	}
	s.ContentEncoding, s.ContentMediaType, s.ContentSchema, s.PropertyNames = "", "", nil, nil
}

// isZero reports whether a schema has no keywords of those that occur beside $ref.
func (s *schemaObject) isZero() bool {
	return s.Description == "" && !s.Deprecated && !s.ReadOnly && !s.WriteOnly && s.Not == nil &&
		s.Default == nil && s.Examples == nil && !s.Nullable && s.AnyOf == nil
}

// walker visits the contents and the schemas of a document, each once, although several places may
// share one.
type walker struct {
	media  func(*mediaType)
	schema func(*schemaObject)
	seen   map[any]bool
}

func (w *walker) visitDocument(r *root) {
	for _, p := range r.Paths {
		w.visitParameters(p.value.Parameters)
		for _, op := range p.value.operations() {
			w.visitParameters(op.Parameters)
			if op.RequestBody != nil {
				w.visitContent(op.RequestBody.Content)
			}
			for _, res := range op.Responses {
				w.visitResponse(res.value)
			}
		}
	}
	for _, s := range r.Components.Schemas {
		w.visitSchema(s.value)
	}
	for _, res := range r.Components.Responses {
		w.visitResponse(res.value)
	}
	for _, p := range r.Components.Parameters {
		w.visitParameters([]*parameter{p.value})
	}
	for _, h := range r.Components.Headers {
		w.visitSchema(h.value.Schema)
	}
}

func (w *walker) visitParameters(list []*parameter) {
	for _, p := range list {
		w.visitSchema(p.Schema)
		w.visitContent(p.Content)
	}
}

func (w *walker) visitResponse(r *response) {
	w.visitContent(r.Content)
	for _, h := range r.Headers {
		w.visitSchema(h.value.Schema)
	}
}

func (w *walker) visitContent(c ordered[*mediaType]) {
	for _, m := range c {
		if !w.seen[m.value] {
			w.seen[m.value] = true
			w.media(m.value)
		}
		w.visitSchema(m.value.Schema)
		w.visitSchema(m.value.ItemSchema)
	}
}

// visitSchema visits a schema after the schemas in it. Schemas refer to each other by name, so the walk
// ends.
func (w *walker) visitSchema(s *schemaObject) {
	if s == nil || w.seen[s] {
		return
	}
	w.seen[s] = true
	for _, one := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf) {
		w.visitSchema(one)
	}
	for _, p := range s.Properties {
		w.visitSchema(p.value)
	}
	if more, ok := s.AdditionalProperties.(*schemaObject); ok {
		w.visitSchema(more)
	}
	w.visitSchema(s.Items)
	w.visitSchema(s.Not)
	w.visitSchema(s.ContentSchema)
	w.visitSchema(s.PropertyNames)
	w.schema(s)
}
