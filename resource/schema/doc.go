// Package schema reflects a Go type once into what the library needs to know about it.
//
// Its nouns are a [Type], one reflected Go type; a [Field] of it, with the constraints that its struct tags state; and
// a [Violation], one place where a value breaks them. From one Type come the JSON that is written, the JSON that is
// read, validation, and the OpenAPI and GraphQL descriptions, so that these cannot disagree:
//
//	type Place struct {
//		ID      string  `json:"id" readOnly:"true"`
//		Name    string  `json:"name" required:"true" minLength:"1" maxLength:"200" doc:"As its people write it."`
//		Country string  `json:"country" pattern:"^[A-Z]{2}$"`
//		Note    *string `json:"note"`
//	}
//
//	place := schema.For[Place]()
//	b, err := place.Append(nil, &p) // what go-json-experiment/json writes, byte for byte
//	v, err := place.Decode(body, &schema.DecodeOptions{Mode: schema.Create})
package schema
