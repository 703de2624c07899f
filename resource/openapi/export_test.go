package openapi

import (
	"github.com/go-json-experiment/json"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// Schemas returns documents in JSON Schema of the values of a type in a POST, in a PUT and in a response.
// A type that a test makes by reflection cannot be that of a resource.
func Schemas(t *schema.Type) (create, replace, response []byte, err error) {
	for _, to := range []struct {
		mode mode
		text *[]byte
	}{{created, &create}, {replaced, &replace}, {shown, &response}} {
		b := &builder{c: resource.NewCatalog(nil), full: true, names: names{}, models: map[model]string{},
			doc: &root{}}
		b.doc.Components.Schemas = ordered[*schemaObject]{}
		top := b.component(model{typ: t, mode: to.mode})
		*to.text, err = json.Marshal(struct {
			*schemaObject `json:",embed"`
			Components    components `json:"components"`
		}{top, b.doc.Components})
		if err != nil {
			return nil, nil, nil, err
		}
	}
	return create, replace, response, nil
}
