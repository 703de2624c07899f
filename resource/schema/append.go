package schema

// Append appends v, a pointer to a value of the Go type, to dst as JSON.
//
// What is written is compact and deterministic, and byte for byte what go-json-experiment/json writes with its option
// Deterministic, except that fields marked writeOnly are left out. It fails where that fails: for NaN and infinities,
// invalid UTF-8, cycles, and methods that return an error. Then dst is returned with its old length.
//
// A pointer needs no allocation to become an any, so a list is written by calling Append with &items[i].
func (t *Type) Append(dst []byte, v any) ([]byte, error) { return dst, nil }

// AppendFull is [Type.Append] with the writeOnly fields: the document to which a patch is applied. It is not for
// clients.
func (t *Type) AppendFull(dst []byte, v any) ([]byte, error) { return dst, nil }

// AppendField appends the JSON value of one field of v, a pointer to a value of the Go type: the bare value, without its
// name. The value is written even where omitzero or omitempty would leave the member out, and even if it is writeOnly:
// who may ask for the field is the caller's business.
func (t *Type) AppendField(dst []byte, f *Field, v any) ([]byte, error) { return dst, nil }

// Selection is some of the fields of an object, chosen by name. It is immutable and safe for concurrent use.
type Selection struct {
	fields []*Field
}

// Select chooses top-level fields by JSON name. The order of names does not matter and repetitions are ignored: a
// [Selection] writes in the order of the schema. A name that is unknown, and that of a writeOnly field, which cannot be
// told apart from one, is an error whose text is meant for clients.
func (t *Type) Select(names []string) (*Selection, error) { return nil, nil }

// Fields returns what was selected, in the order of the schema.
func (s *Selection) Fields() []*Field { return s.fields }

// Append appends the selected fields of v as [Type.Append] would write them.
func (s *Selection) Append(dst []byte, v any) ([]byte, error) { return dst, nil }
