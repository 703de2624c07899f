package schema

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

// Mode says what a document is read for, which decides about members that are absent or read-only.
type Mode uint8

// The modes.
const (
	// Create reads a new value: absent members get their default, and a read-only member is a violation.
	Create Mode = iota
	// Replace reads the whole of a value that exists: absent members get their default, a read-only member must be what
	// it was, and what a client cannot see stays as it is in DecodeOptions.Base.
	Replace
	// Patched reads what a patch made of [Type.AppendFull]: no defaults, an absent member was removed, and a read-only
	// member must be there and be what it was.
	Patched
	// Stored reads what [Type.Append] wrote, perhaps when the Go type was another: in a log, or in a cache. Nobody has to be
	// told what is wrong with it, so the schema is not asked: read-only members are read as any other, what is absent or null
	// is zero, unknown members are ignored, and bounds, patterns and the like mean nothing. What has no place in the Go type,
	// such as a string where a number is wanted, is still a violation. Base, ReadOnly, Filled and AllowUnknown mean nothing.
	Stored
)

// DecodeOptions adjust [Type.Decode]. The zero value reads a new value strictly.
type DecodeOptions struct {
	Mode Mode
	// Base points to the value that is there now, for Replace and Patched. It is not changed. Without it these modes
	// start from the zero value.
	Base any
	// ReadOnly names further fields, by JSON name, that are read-only here: the id, where the store chooses it. Names
	// that the type does not have are ignored.
	ReadOnly []string
	// Filled names fields, by JSON name, that the caller fills in where the document leaves them out: then they are neither
	// required nor checked. Names that the type does not have are ignored.
	Filled []string
	// AllowUnknown ignores unknown members; else each is a violation.
	AllowUnknown bool
	// MaxDepth is how deep objects and arrays may nest; 0 means 64, and for Stored as deep as can be written.
	MaxDepth int
	// MaxNames is how many members an object may have; 0 means 1000, and for Stored any number.
	MaxNames int
}

// Decode reads JSON into a new value of the Go type and validates it. v is a pointer to that type, or nil with an error.
//
// The error is a [*SyntaxError] if data is not acceptable JSON at all, and [Violations] if it is and breaks the schema.
// These are all there are, up to a thousand, in the order of the schema; a member of the wrong shape has no others.
//
// What the modes keep of Base: fields that JSON cannot see (unexported, or json:"-"), read-only fields, and for Replace
// also writeOnly fields that are absent. This holds for the struct itself, for structs inside it, behind pointers and in
// maps. Elements of arrays have no identity, so they are new values that know only what the document says; a read-only
// member in one of them must be as in some element of the array that is there now. Read-only members in arrays of
// arrays have nothing to be compared with and must be zero.
//
// The new value shares no memory with data, and with Base only what the fields it keeps refer to.
//
// Member names are compared exactly. An integer field accepts every JSON number that is an integer, like 1.0 or 1e2.
// A member that is null and one that is absent leave the same nil in a Go pointer: they differ in that a required
// member may be null and not absent, and that an absent one gets its default. A field that must tell them apart later
// needs a type with JSON methods. In fields of type any, integers beyond 2^53 become a jsontext.Value, so that they
// keep their digits.
func (t *Type) Decode(data []byte, opts *DecodeOptions) (v any, err error) {
	if opts == nil {
		opts = &strictly
	}
	base, err := t.base(opts)
	if err != nil {
		return nil, err
	}
	d := decoders.Get().(*decoder)
	defer d.release()
	d.begin(t, data, opts)
	fresh := reflect.New(t.GoType)
	if err := d.document(t, fresh.Elem(), base); err != nil {
		return nil, d.syntaxError(data, err)
	}
	if t.constrained && opts.Mode != Stored {
		d.checker.found, d.checker.skip = d.found, d.readOnly
		d.checker.value(t, fresh.Elem())
		d.found = d.checker.found
	}
	if len(d.found) > 0 {
		return nil, t.inOrder(d.found, d.shapes)
	}
	return fresh.Interface(), nil
}

func (o *DecodeOptions) allowUnknown() bool { return o.AllowUnknown || o.Mode == Stored }

// strictly are the options of those who give none. Nobody writes to them.
var strictly DecodeOptions

// base returns the value that is there now, or the zero Value.
func (t *Type) base(opts *DecodeOptions) (reflect.Value, error) {
	if opts.Base == nil || opts.Mode == Create || opts.Mode == Stored {
		return reflect.Value{}, nil
	}
	return t.target(opts.Base)
}

// decoder reads one document. Its found are the violations of shape, those that make validation of the value in their
// place meaningless; it goes on after each of them.
type decoder struct {
	*jsontext.Decoder
	input    bytes.Buffer
	opts     *DecodeOptions
	readOnly []*Field // DecodeOptions.ReadOnly
	maxDepth int
	maxNames int
	depth    int
	claim    claim
	found    []Violation
	shapes   int     // how many of found are of shape, when others are added
	tries    int     // how many elements were compared for their read-only members
	counts   []int   // for limits
	checker  checker // for its path
	scratch  []byte  // for unquote
}

var decoders = sync.Pool{New: func() any {
	d := new(decoder)
	d.Decoder = jsontext.NewDecoder(&d.input)
	return d
}}

// begin makes the decoder ready for a document.
func (d *decoder) begin(t *Type, data []byte, opts *DecodeOptions) {
	// A bytes.Buffer is read in place, so nothing is copied here.
	d.input = *bytes.NewBuffer(data)
	d.Reset(&d.input)
	d.opts = opts
	depth, names := 64, 1000
	if opts.Mode == Stored {
		depth, names = maxWritten, math.MaxInt
		d.claim = claimAll // nobody claims anything, so read-only members have nothing to be compared with
	}
	d.maxDepth, d.maxNames = cmp.Or(opts.MaxDepth, depth), cmp.Or(opts.MaxNames, names)
	for _, name := range opts.ReadOnly {
		if f := t.byName[name]; f != nil {
			d.readOnly = append(d.readOnly, f)
		}
	}
}

// release returns the decoder to the pool. The violations were handed out. The reader still refers to the document, and
// lets go of it with the next one, or when garbage collection empties the pool.
func (d *decoder) release() {
	d.input = bytes.Buffer{}
	d.opts, d.found = nil, nil
	d.checker.found, d.checker.skip, d.checker.path = nil, nil, d.checker.path[:0]
	d.readOnly = d.readOnly[:0]
	d.depth, d.claim, d.shapes, d.tries = 0, claimNothing, 0, 0
	if cap(d.scratch) > 64<<10 {
		d.scratch = nil // one large document should not cost memory for ever
	}
	decoders.Put(d)
}

// document reads the one value that data must be.
func (d *decoder) document(t *Type, v, base reflect.Value) error {
	if bytes.HasPrefix(d.input.Bytes(), []byte("\ufeff")) {
		return &SyntaxError{Code: "encoding", Detail: "the document begins with a byte order mark"}
	}
	// Null is of the wrong shape here too: "must not be null" would say that its author had meant to leave something out.
	if kind := d.PeekKind(); t.op == opObject && kind != '{' && kind != 0 {
		raw, err := d.ReadValue()
		if err != nil {
			return err
		}
		if err := d.limits(raw); err != nil {
			return err
		}
		d.add(codeType, "must be an object")
	} else if err := d.value(t, v, base); err != nil {
		return err
	}
	d.shapes = len(d.found)
	// A second value may be a request that an intermediary would not see, so it is refused, as is garbage.
	offset := d.InputOffset()
	if _, err := d.ReadToken(); err != io.EOF {
		return &SyntaxError{Offset: offset, Code: "trailing", Detail: "something follows the end of the JSON value"}
	}
	return nil
}

// add notes a violation at the value that was read last.
func (d *decoder) add(code, detail string) {
	d.addAt(string(d.StackPointer()), code, detail)
}

// addAt notes a violation at a pointer. The reading goes on after the last that is listed: a syntax error further on
// still decides that the answer is 400.
func (d *decoder) addAt(pointer, code, detail string) {
	if len(d.found) < maxViolations {
		d.found = append(d.found, Violation{pointer, code, detail})
	}
}

// enter counts one more level of nesting.
func (d *decoder) enter() error {
	d.depth++
	if d.depth > d.maxDepth {
		return d.tooDeep()
	}
	return nil
}

// tooDeep and tooMany end the reading at once, unlike violations: the limits are there to bound the work.
func (d *decoder) tooDeep() error {
	return d.refuse("depth", "objects and arrays nest deeper than "+strconv.Itoa(d.maxDepth)+" levels")
}

func (d *decoder) tooMany() error {
	return d.refuse("names", "an object has more than "+strconv.Itoa(d.maxNames)+" members")
}

// refuse returns the error for a document that is well-formed as far as it was read, and not acceptable.
func (d *decoder) refuse(code, detail string) error {
	return &SyntaxError{Offset: d.InputOffset(), Pointer: string(d.StackPointer()), Code: code, Detail: detail}
}

// skip reads a value that nobody wants, which must keep the limits all the same.
func (d *decoder) skip() error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	return d.limits(raw)
}

// limits checks depth and number of members inside a value that was read as a whole, and is well-formed therefore.
func (d *decoder) limits(raw []byte) error {
	if raw[0] != '{' && raw[0] != '[' {
		return nil
	}
	counts := d.counts[:0] // of colons, for each open object or array
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

// stringEnd returns the index of the quote that ends the string with which raw begins.
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

// syntaxError turns what the reader says into what a client is told.
func (d *decoder) syntaxError(data []byte, err error) error {
	// Nothing between here and where it was made wraps it.
	if own, ok := err.(*SyntaxError); ok {
		return own
	}
	e := &SyntaxError{Offset: d.InputOffset(), Code: "syntax", Detail: "the JSON ends too early"}
	if len(bytes.TrimLeft(data, " \t\r\n")) == 0 {
		e.Code, e.Detail = "empty", "there is no JSON value"
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
		e.Detail = "the member name " + strconv.Quote(syntactic.JSONPointer.LastToken()) + " stands there twice"
	case !utf8.Valid(data):
		// Package jsontext has no name for this error, but nothing else is wrong if it complains first.
		e.Code, e.Detail = "encoding", "the document is not valid UTF-8"
	case errors.Is(err, io.ErrUnexpectedEOF):
	default:
		e.Detail = "the JSON is malformed: " + syntactic.Err.Error()
		if isSurrogate(data, e.Offset) {
			e.Code, e.Detail = "encoding", "a \\u escape is half of a surrogate pair without the other half"
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
	return slices.Contains([]string{`\ud8`, `\ud9`, `\uda`, `\udb`, `\udc`, `\udd`, `\ude`, `\udf`}, string(escape))
}
