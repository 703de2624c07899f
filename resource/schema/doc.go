// Package schema reflects a Go type into a description from which JSON encoding, decoding,
// validation, OpenAPI and GraphQL are derived, so that they cannot disagree.
//
// A [Type] describes a Go type, a [Field] describes a member of an object with the constraints of
// its struct tags, and a [Violation] describes an invalid value:
//
//	type Place struct {
//		ID      string  `json:"id" readOnly:"true"`
//		Name    string  `json:"name" required:"true" minLength:"1" maxLength:"200" doc:"The local name."`
//		Country string  `json:"country" pattern:"^[A-Z]{2}$"`
//		Note    *string `json:"note"`
//	}
//
//	place := schema.For[Place]()
//	b, err := place.Append(nil, &p) // the same bytes as go-json-experiment/json
//	v, err := place.Decode(body, &schema.DecodeOptions{Mode: schema.Create})
//
// # Struct tags
//
// The json tag is that of go-json-experiment/json: a name, and the options omitzero, omitempty,
// string and embed. The options format and case are not supported. The other tags are:
//
//	doc:"..."                         the description of the field
//	deprecated:"..."                  the reason, and the replacement
//	default:"..."                     the value of an absent member; scalars only
//	default:"db"                      the store sets an absent member of a new item; not in memory
//	example:"..."                     a value for documentation; JSON unless the field is a scalar
//	required:"true"                   a document without the member is invalid
//	readOnly:"true"                   the server sets the value; clients may send it back unchanged
//	writeOnly:"true"                  clients may set the value but never receive it
//	unique:"true"                     array elements are unique; for a scalar, unique in the collection
//	unique:"tenantId"                 a scalar is unique together with the fields of the list
//	id:"orderId,lineNo"               the id is computed from these fields; a readOnly string
//	key:"host"                        the member by which elements of an array that are sent back are known
//	set:"created"                     the time of the creation: time.Time or *time.Time
//	set:"modified"                    the time of the last write, also after the creation
//	set:"createdBy" set:"modifiedBy"  the principal of these writes: string or *string
//	minLength:"1" maxLength:"200"     length of a string in code points
//	minItems:"1" maxItems:"9"         number of elements of an array or a map
//	minimum:"0" maximum:"100"         limits of a number or a decimal, inclusive and exact
//	precision:"12,2"                  a decimal has at most 12 digits, 2 of them after the point
//	pattern:"^[a-z]+$"                pattern of a string, in the syntax of package regexp
//	enum:"open,done"                  the valid strings or numbers, separated by commas
//	format:"email"                    format of a string; see below for those that are checked
//
// A field with the tag set is readOnly: package resource sets it on each write.
//
// On an array or a map, format, pattern, enum and the limits of length and number apply to each
// element.
//
// A tag that does not apply to the type of its field is an error of [Of], and so are tags that no value
// satisfies together, and a value of an enum against another constraint. So is a tag within two
// edits of one of these, and validate or binding of other libraries: their constraints would not be
// enforced. The error lists all mistakes of the type, with the equivalent tags.
//
// # Formats
//
// These formats of strings are checked: date-time, date, time, time-local, decimal, duration, email,
// uuid, uri, hostname, ipv4 and ipv6.
//
// A decimal is an exact number of any size without an exponent, such as 12.50. Filters and sort
// orders compare it as a number, and responses have it as it is stored. A duration is as in ISO 8601,
// such as P1DT2H30M, and compared by its length; see [query.Duration]. A time-local is compared without
// zeros at the end of its fraction. Dates, times with an offset and UUIDs are compared as strings, so
// clients should write one offset. UUIDs are decoded in lower case, unless the item has the same one in
// another case. On a number, the format decimal is documentation.
//
// An operand of a filter has the format of its field, too; see [Field.ParseOperand].
//
// The other formats of JSON Schema and of the OpenAPI Format Registry are documentation: clients see
// them, and no value is rejected. Add a pattern, or a check in Options.Before of package resource.
// They are, for strings: idn-email, idn-hostname, uri-reference, uri-template, iri, iri-reference,
// json-pointer, relative-json-pointer, regex, base64url, binary, byte, char, commonmark,
// date-time-local, html, http-date, media-range, password, sf-binary, sf-boolean, sf-string and
// sf-token. For numbers and for strings: decimal128, double, double-int, float, int8, int16, int32,
// int64, sf-decimal, sf-integer, uint8, uint16, uint32, uint64 and unixtime. A format of an
// application begins with x-. Any other format is an error of [Of].
//
// # Descriptions
//
// Doc comments of types, fields and constants become descriptions for clients by a line in any file
// of their package:
//
//	//go:generate go run github.com/stoa-go/stoa/resource/schema/describe
//
// The command writes methods of [Describer] to descriptions_gen.go; see its documentation. The tags
// doc and deprecated have precedence over a comment. Identical unnamed struct types are one Type,
// which has the descriptions of the first of them that was reflected.
//
// # Go types
//
// Structs are objects, and the fields of embedded structs are members of the outer object. Slices
// and arrays are arrays. Maps are objects; their keys are strings, integers or types with text
// methods. []byte is a base64 string, and time.Time is an RFC 3339 date-time. A pointer means that
// null is valid. A number with the JSON option string is a JSON string, in which an integer has
// digits only. A type with the methods MarshalText and UnmarshalText is a string. A type with JSON
// methods, and the type any, can be any JSON value. They are encoded and decoded by
// go-json-experiment/json, without regard to struct tags of this package. A type with both is a
// string if the JSON of its zero value is the quoted text, such as decimal.Decimal of shopspring.
package schema
