package schema

// Mode says what a document is read for, which decides about members that are absent or read-only.
type Mode uint8

// The modes.
const (
	// Create reads a new value: absent members get their default, and a read-only member is a violation.
	Create Mode = iota
	// Replace reads the whole of a value that exists: absent members get their default, a read-only member must be what
	// it was, and what a client cannot see or set stays as it is in DecodeOptions.Base.
	Replace
	// Patched reads what a patch made of [Type.AppendFull]: no defaults, an absent member was removed, and a read-only
	// member must be there and be what it was.
	Patched
)

// DecodeOptions adjust [Type.Decode]. The zero value reads a new value strictly.
type DecodeOptions struct {
	Mode Mode
	// Base points to the value that is there now, for Replace and Patched. It is not changed.
	Base any
	// ReadOnly names further fields, by JSON name, that are read-only here: the id, where the store chooses it.
	ReadOnly []string
	// AllowUnknown ignores unknown members; else each is a violation.
	AllowUnknown bool
	// MaxDepth is how deep objects and arrays may nest; 0 means 64.
	MaxDepth int
	// MaxNames is how many members an object may have; 0 means 1000.
	MaxNames int
}

// Decode reads JSON into a new value of the Go type and validates it. v is a pointer to that type, or nil with an error.
//
// The error is a [*SyntaxError] if data is not acceptable JSON at all, and [Violations] with all that is wrong with it
// if it is.
func (t *Type) Decode(data []byte, opts *DecodeOptions) (v any, err error) { return nil, nil }

// Equal reports whether a and b, pointers to values of the Go type, have the same content: whether all fields that JSON
// can see, writeOnly ones included, have the same values. Times are equal if they are the same instant, and nil slices
// and maps equal empty ones.
func (t *Type) Equal(a, b any) bool { return false }

// Validate checks v, a pointer to a value of the Go type, against the constraints of its fields and returns all
// violations in the order of the schema. Read-only fields are the server's own and are not checked.
func (t *Type) Validate(v any) []Violation { return nil }
