package openapi

import (
	"github.com/go-json-experiment/json"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// Schemas has documents in JSON Schema of the values of a type.
type Schemas struct{ Create, Replace, Patch, Response []byte }

// SchemasOf returns the documents of a type. A type that a test makes by reflection cannot be that of a
// resource.
func SchemasOf(t *schema.Type) (*Schemas, error) {
	out := &Schemas{}
	for mode, text := range map[mode]*[]byte{created: &out.Create, replaced: &out.Replace, patched: &out.Patch,
		shown: &out.Response} {
		b := &builder{c: resource.NewCatalog(nil), full: true, names: names{}, models: map[model]string{},
			doc: &root{}}
		b.doc.Components.Schemas = ordered[*schemaObject]{}
		top := b.component(model{typ: t, mode: mode})
		doc, err := json.Marshal(struct {
			*schemaObject `json:",embed"`
			Components    components `json:"components"`
		}{top, b.doc.Components})
		if err != nil {
			return nil, err
		}
		*text = doc
	}
	return out, nil
}
