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
//
// # Struct tags
//
// The tag json is that of go-json-experiment/json: a name, and the options omitzero, omitempty, string and embed. Its
// options format and case are refused. Besides:
//
//	doc:"..."                         what the field is for
//	deprecated:"..."                  why, and what to use instead
//	default:"..."                     the value of an absent member; for scalars
//	example:"..."                     a value for documentation; JSON, if the field is not a scalar
//	required:"true"                   a document without the member is refused
//	readOnly:"true"                   the server decides the value; clients may send it back unchanged
//	writeOnly:"true"                  clients may set the value and never see it
//	unique:"true"                     no two elements of an array are equal; of a scalar, no two items of a collection
//	minLength:"1" maxLength:"200"     of a string, in code points
//	minItems:"1" maxItems:"9"         of an array or a map
//	minimum:"0" maximum:"100"         of a number, inclusive and exact
//	pattern:"^[a-z]+$"                of a string, in the syntax of package regexp
//	enum:"open,done"                  the values that there are, separated by commas; for strings and numbers
//	format:"email"                    of a string; see [Type.Validate] for those that are checked
//
// On an array or a map, format, pattern, enum and the bounds of length and number concern each element. A tag that
// cannot apply, or is nearly spelled like one of these, is an error of [Of] that names the field and the tag.
//
// # Go types
//
// Structs are objects, with the fields of embedded structs in their place; slices and arrays are arrays; maps with keys
// that are strings, integers or have text methods are objects; []byte is base64; time.Time is an RFC 3339 date-time. A
// pointer means that null is allowed. A type with the methods MarshalText and UnmarshalText is a string, and one with
// JSON methods, like the type any, may be any JSON and is left to go-json-experiment/json. What such a value holds is
// written as it is: the tags of a struct inside of it are not looked at.
package schema
