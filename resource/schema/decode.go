package schema

// Decoding: JSON text to values, in one pass that collects every violation. validate.go then checks
// the constraints of the decoded value.

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// This file decodes documents: Decode takes a decoder from the pool, decodes the document by the
// Type, and validates the value with a checker. The decoder methods for objects are in
// decode_object.go, and those for other values in decode_value.go. They add violations and
// continue; they return an error only if the document is not valid JSON or exceeds a limit.

// Mode determines how [Type.Decode] handles members that are absent or read-only.
type Mode uint8

// The modes of [Type.Decode].
const (
	// Create decodes a new value. Absent members get their default. Read-only members are
	// violations.
	Create Mode = iota
	// Replace decodes a complete new state of the value DecodeOptions.Base. Absent members get
	// their default. Read-only members must equal those of Base. Fields that clients cannot see are
	// copied from Base.
	Replace
	// Patched decodes the result of applying a patch to the output of [Type.AppendFull]. There are no
	// defaults, which [Type.Complete] has added: an absent member was removed by the patch. Read-only
	// members must be present and equal those of DecodeOptions.Base.
	Patched
	// Stored decodes output of [Type.Append] from a log or a cache, possibly of an earlier version
	// of the Go type. Constraints are not checked: read-only members are decoded like others,
	// absent members and null become zero values, and unknown members are ignored. Values of the
	// wrong JSON type are still violations. The options Base, ReadOnly, Filled and AllowUnknown are
	// ignored.
	Stored
)

// DecodeOptions are the options of [Type.Decode]. The zero value decodes a new value strictly.
type DecodeOptions struct {
	// Mode determines how absent and read-only members are handled. Default [Create].
	Mode Mode
	// Base is a pointer to the current value, for Replace and Patched. It is not modified. Nil
	// means the zero value.
	Base any
	// ReadOnly lists the JSON names of additional read-only fields, such as an id that the store
	// generates. Unknown names are ignored.
	ReadOnly []string
	// Filled lists the JSON names of fields that the caller sets if they are absent. They are
	// neither required nor checked if absent. Unknown names are ignored.
	Filled []string
	// Key is a pointer to a value with the id that a new value gets, for Create and types with the
	// tag id. Members of the key that are absent are copied from it, and others must equal it. Nil
	// means that the document decides.
	Key any
	// AllowUnknown ignores unknown members. By default each of them is a violation.
	AllowUnknown bool
	// MaxDepth is the maximum nesting depth of objects and arrays. Default 64, and for Stored the
	// maximum depth of [Type.Append].
	MaxDepth int
	// MaxNames is the maximum number of members of an object. Default 1000, and for Stored no
	// limit.
	MaxNames int
}

// Decode decodes JSON into a new value of the Go type and validates it. v is a pointer to that
// type. If err is not nil, v is nil.
//
// If data is not valid JSON or exceeds a limit of opts, the error is a [*SyntaxError]. If data
// violates the schema, the error is [Violations], with all violations up to 1,000 in the order of
// the schema. A member of the wrong JSON type has no other violations. Other errors mean that
// opts.Base is not a pointer to the Go type. A nil opts is equivalent to the zero value.
//
// With a Base, Replace and Patched keep the fields that are not part of the JSON (unexported, or json:"-")
// and read-only fields. Replace also keeps absent writeOnly fields. This applies to the struct itself, to
// structs and pointers to structs inside it, and to map values. Array elements are always new values:
// [Type.Complete] adds to the document what they keep. Their read-only members must equal those of any
// element of the array in Base. Read-only members in nested arrays must be zero.
//
// The new value shares no memory with data. It shares memory with Base only through the fields that
// it keeps.
//
// Member names are case-sensitive. Integer fields accept every JSON number with an integer value,
// such as 1.0 and 1e2. A pointer field is nil if the member is null or absent; a required member
// may be null but not absent, and only an absent member gets its default. To distinguish the two
// later, use a type with JSON methods. Integers beyond 2^53 in fields of type any become a
// jsontext.Value, which preserves their digits.
func (t *Type) Decode(data []byte, opts *DecodeOptions) (v any, err error) {
	if opts == nil {
		opts = &defaultDecodeOptions
	}
	base, err := t.baseValue(opts)
	if err != nil {
		return nil, err
	}
	d := decoders.Get().(*decoder)
	defer d.recycle()
	d.begin(t, data, opts)
	fresh := reflect.New(t.GoType)
	if err := d.decodeDocument(t, fresh.Elem(), base); err != nil {
		return nil, d.syntaxError(data, err)
	}
	if t.constrained && opts.Mode != Stored {
		d.checker.found, d.checker.skip = d.found, d.readOnly
		d.checker.checkValue(t, fresh.Elem())
		d.found = d.checker.found
	}
	if len(d.found) > 0 {
		return nil, t.sortViolations(d.found, d.decodeErrors)
	}
	return fresh.Interface(), nil
}

// allowUnknown reports whether unknown members are ignored.
func (o *DecodeOptions) allowUnknown() bool { return o.AllowUnknown || o.Mode == Stored }

// defaultDecodeOptions are the options for a nil *DecodeOptions. They are never modified.
var defaultDecodeOptions DecodeOptions

// baseValue returns the value that opts.Base points to, or the zero Value.
func (t *Type) baseValue(opts *DecodeOptions) (reflect.Value, error) {
	if opts.Base == nil || opts.Mode == Create || opts.Mode == Stored {
		return reflect.Value{}, nil
	}
	return t.target(opts.Base)
}

// decoder decodes one document. found has the violations that make validation of a value
// meaningless, such as a wrong JSON type. Decoding continues after a violation.
type decoder struct {
	*jsontext.Decoder
	input         bytes.Buffer
	opts          DecodeOptions // a copy, so that those of the caller stay on its stack
	readOnly      []*Field      // DecodeOptions.ReadOnly, and absent fields of DecodeOptions.Filled
	maxDepth      int
	maxNames      int
	depth         int
	readOnlyCheck readOnlyCheck
	found         []Violation
	decodeErrors  int     // length of found before validation
	comparisons   int     // of read-only members of array elements, for maxComparisons
	counts        []int   // buffer of checkLimits
	checker       checker // reused for its buffer path
	scratch       []byte  // buffer of unquote
	kept          bitset  // of Merge: fields of the outermost object that are not in the document
	merged        []byte  // buffer of Merge

	id      *Field        // of the type with the tag id that is decoded; nil if it has none
	fixed   reflect.Value // the value with the key of the document, or the zero Value
	givenID []string      // the member of the id, if the key is not fixed
}

// decoders is a pool of decoders.
var decoders = sync.Pool{New: func() any {
	d := new(decoder)
	d.Decoder = jsontext.NewDecoder(&d.input)
	return d
}}

// begin prepares the decoder for a document.
func (d *decoder) begin(t *Type, data []byte, opts *DecodeOptions) {
	// jsontext reads a bytes.Buffer in place, so this does not copy data.
	d.input = *bytes.NewBuffer(data)
	d.Reset(&d.input)
	d.opts = *opts
	depth, names := 64, 1000
	if opts.Mode == Stored {
		depth, names = maxEncodeDepth, math.MaxInt
		d.readOnlyCheck = checkOuter // read-only members are not compared
	}
	d.maxDepth, d.maxNames = cmp.Or(opts.MaxDepth, depth), cmp.Or(opts.MaxNames, names)
	for _, name := range opts.ReadOnly {
		if f := t.byName[name]; f != nil {
			d.readOnly = append(d.readOnly, f)
		}
	}
}

// recycle returns the decoder to the pool. The jsontext.Decoder still refers to the document until
// it is reset for the next one.
func (d *decoder) recycle() {
	d.input = bytes.Buffer{}
	d.opts, d.found = DecodeOptions{}, nil
	d.id, d.fixed, d.givenID = nil, reflect.Value{}, nil
	d.checker.found, d.checker.skip, d.checker.path = nil, nil, d.checker.path[:0]
	d.readOnly = d.readOnly[:0]
	d.depth, d.readOnlyCheck, d.decodeErrors, d.comparisons = 0, checkNow, 0, 0
	if cap(d.scratch) > 64<<10 {
		d.scratch = nil // do not retain the memory of a large document
	}
	if d.kept = (bitset{}); cap(d.merged) > 64<<10 {
		d.merged = nil
	}
	decoders.Put(d)
}

// decodeDocument decodes the document, which must be exactly one JSON value.
func (d *decoder) decodeDocument(t *Type, v, base reflect.Value) error {
	if bytes.HasPrefix(d.input.Bytes(), []byte("\ufeff")) {
		return &SyntaxError{Code: "encoding", Detail: "the document begins with a byte order mark"}
	}
	// A null document is a wrong type too, because "must not be null" would be misleading here.
	if kind := d.PeekKind(); t.op == opObject && kind != '{' && kind != 0 {
		raw, err := d.ReadValue()
		if err != nil {
			return err
		}
		if err := d.checkLimits(raw); err != nil {
			return err
		}
		d.add(codeType, "must be an object")
	} else if err := d.decodeValue(t, v, base); err != nil {
		return err
	}
	d.decodeErrors = len(d.found)
	// Reject content after the value: a second value could be a request that a proxy has not
	// checked.
	offset := d.InputOffset()
	if _, err := d.ReadToken(); err != io.EOF {
		return &SyntaxError{Offset: offset, Code: "trailing",
			Detail: "unexpected content after the JSON value"}
	}
	return nil
}

// add adds a violation at the value that was read last. The predicate follows the name of the
// member.
func (d *decoder) add(code, predicate string) {
	d.addAt(string(d.StackPointer()), code, predicate)
}

// addAt adds a violation at a pointer, up to maxViolations. Decoding continues after the last of
// them, because a syntax error in the rest has precedence (400 instead of 422).
func (d *decoder) addAt(pointer, code, predicate string) {
	if len(d.found) < maxViolations {
		d.found = append(d.found, Violation{pointer, code, subject(pointer) + " " + predicate})
	}
}

// enter increments the nesting depth.
func (d *decoder) enter() error {
	d.depth++
	if d.depth > d.maxDepth {
		return d.tooDeep()
	}
	return nil
}

// tooDeep returns the error for MaxDepth. Unlike a violation it ends the decoding, because the
// limit bounds the work per document.
func (d *decoder) tooDeep() error {
	detail := "objects and arrays are nested deeper than " + strconv.Itoa(d.maxDepth) + " levels"
	return d.syntaxErrorAt("depth", detail)
}

// tooMany returns the error for MaxNames. It ends the decoding too.
func (d *decoder) tooMany() error {
	return d.syntaxErrorAt("names", "an object has more than "+strconv.Itoa(d.maxNames)+" members")
}

// syntaxErrorAt returns an error at the current position of a document that exceeds a limit.
func (d *decoder) syntaxErrorAt(code, detail string) error {
	return &SyntaxError{Offset: d.InputOffset(), Pointer: string(d.StackPointer()), Code: code,
		Detail: detail}
}

// skipValue reads a value without decoding it, and checks the limits.
func (d *decoder) skipValue() error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	return d.checkLimits(raw)
}

// checkLimits checks depth and number of members of a complete value, which is valid JSON.
func (d *decoder) checkLimits(raw []byte) error {
	if raw[0] != '{' && raw[0] != '[' {
		return nil
	}
	counts := d.counts[:0] // number of colons, for each open object or array
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i += stringEnd(raw[i:])
		case '{', '[':
			counts = append(counts, 0)
			if d.depth+len(counts) > d.maxDepth {
				return d.tooDeep()
			}
		case '}', ']':
			counts = counts[:len(counts)-1]
		case ':':
			top := len(counts) - 1
			counts[top]++
			if counts[top] > d.maxNames {
				return d.tooMany()
			}
		}
	}
	d.counts = counts
	return nil
}

// stringEnd returns the index of the closing quotation mark of the string at the beginning of raw.
func stringEnd(raw []byte) int {
	for i := 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(raw) - 1
}

// syntaxError converts an error of jsontext into a SyntaxError for the client.
func (d *decoder) syntaxError(data []byte, err error) error {
	// The decoder does not wrap its own errors, so a type assertion is enough.
	if own, ok := err.(*SyntaxError); ok {
		return own
	}
	e := &SyntaxError{Offset: d.InputOffset(), Code: "syntax", Detail: "the JSON is incomplete"}
	if len(bytes.TrimLeft(data, " \t\r\n")) == 0 {
		e.Code, e.Detail = "empty", "the content is empty"
		return e
	}
	syntactic, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		return e
	}
	e.Offset, e.Pointer = syntactic.ByteOffset, string(syntactic.JSONPointer)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		e.Code = "duplicateName"
		e.Detail = "the member name " + strconv.Quote(syntactic.JSONPointer.LastToken()) +
			" occurs twice"
	case !utf8.Valid(data):
		// jsontext exports no error for invalid UTF-8. A document that also has another error
		// before the invalid bytes is reported as not valid UTF-8 too.
		e.Code, e.Detail = "encoding", "the document is not valid UTF-8"
	case errors.Is(err, io.ErrUnexpectedEOF):
	default:
		e.Detail = "the JSON is malformed: " + syntactic.Err.Error()
		if isSurrogate(data, e.Offset) {
			e.Code, e.Detail = "encoding", "a \\u escape is an unpaired surrogate"
		}
	}
	return e
}

// isSurrogate reports whether the escape at the offset is one half of a surrogate pair.
func isSurrogate(data []byte, offset int64) bool {
	if offset < 0 || offset+6 > int64(len(data)) {
		return false
	}
	escape := bytes.ToLower(data[offset : offset+4])
	return slices.Contains([]string{`\ud8`, `\ud9`, `\uda`, `\udb`, `\udc`, `\udd`, `\ude`, `\udf`},
		string(escape))
}
