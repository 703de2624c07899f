package schema

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxWritten is how deep written JSON may nest, as in package jsontext. What nests deeper is most likely a cycle.
const maxWritten = 10_000

var errTooDeep = errors.New("it nests too deep to be written; perhaps it points to itself")

// writing is how a value is written, and how deep in the document.
type writing struct {
	full  bool // with the writeOnly fields
	depth int
}

// deeper counts one more level. Only what is composed of others calls it, so the common scalar pays nothing for it.
func (w writing) deeper() (writing, error) {
	w.depth++
	if w.depth > maxWritten {
		return w, errTooDeep
	}
	return w, nil
}

// Append appends v, a pointer to a value of the Go type, to dst as JSON.
//
// What is written is compact and deterministic, and byte for byte what go-json-experiment/json writes with its option
// Deterministic, except that fields marked writeOnly are left out. It fails where that fails: for NaN and infinities,
// invalid UTF-8, cycles, and methods that return an error. Then dst is returned with its old length.
//
// A pointer needs no allocation to become an any, so a list is written by calling Append with &items[i].
func (t *Type) Append(dst []byte, v any) ([]byte, error) {
	return t.appendTarget(dst, v, writing{})
}

// AppendFull is [Type.Append] with the writeOnly fields: the document to which a patch is applied. It is not for
// clients.
func (t *Type) AppendFull(dst []byte, v any) ([]byte, error) {
	return t.appendTarget(dst, v, writing{full: true})
}

// appendTarget is Append and AppendFull. On an error the caller gets back what it gave: half a document behind whatever
// was in dst already would be easy to send by mistake.
func (t *Type) appendTarget(dst []byte, v any, w writing) ([]byte, error) {
	value, err := t.target(v)
	if err != nil {
		return dst, err
	}
	out, err := t.append(dst, value, w)
	if err != nil {
		return dst, fmt.Errorf("schema: writing %s: %w", t.label(), err)
	}
	return out, nil
}

// AppendField appends the JSON value of one field of v, a pointer to a value of the Go type: the bare value, without its
// name. The value is written even where omitzero or omitempty would leave the member out, and even if it is writeOnly:
// who may ask for the field is the caller's business.
func (t *Type) AppendField(dst []byte, f *Field, v any) ([]byte, error) {
	value, err := t.target(v)
	if err == nil && f.owner != t.pointer {
		err = errNotItsField
	}
	if err != nil {
		return dst, err
	}
	out, err := f.append(dst, f.in(value), writing{})
	if err != nil {
		return dst, fmt.Errorf("schema: writing %s: %w", t.label(), err)
	}
	return out, nil
}

// label names the type for errors in logs.
func (t *Type) label() string {
	if t.Name != "" {
		return t.Name
	}
	return t.GoType.String()
}

// append appends v, which is addressable.
func (t *Type) append(dst []byte, v reflect.Value, w writing) ([]byte, error) {
	switch t.op {
	case opString:
		return appendString(dst, v.String())
	case opInt:
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case opUint:
		return strconv.AppendUint(dst, v.Uint(), 10), nil
	case opFloat:
		return appendFloat(dst, v.Float(), t.Bits)
	case opBool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case opTime:
		return appendTime(dst, timeIn(v))
	case opText:
		return appendQuotedText(dst, v)
	case opBytes:
		// Base64 has no character that JSON escapes.
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), v.Bytes())
		return append(dst, '"'), nil
	case opForeign:
		return appendForeign(dst, v)
	}
	w, err := w.deeper()
	if err != nil {
		return dst, err
	}
	switch t.op {
	case opObject:
		return appendMembers(dst, t.Fields, v, w)
	case opMap:
		return t.appendMap(dst, v, w)
	}
	return t.appendArray(dst, v, w)
}

// append appends the value of a field.
func (f *Field) append(dst []byte, v reflect.Value, w writing) ([]byte, error) {
	if f.pointer {
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		v = v.Elem()
	}
	if f.Quoted {
		// Only numbers are quoted, and they have nothing to escape.
		dst, err := f.Type.append(append(dst, '"'), v, w)
		return append(dst, '"'), err
	}
	return f.Type.append(dst, v, w)
}

// appendMembers appends an object of some of the fields of the struct s. Each label brings a comma along, and the first
// of them makes room for the brace.
//
// This is where a list spends its time. Most fields of most types are plain, so they are written here, without a call for
// each of them.
func appendMembers(dst []byte, fields []*Field, s reflect.Value, w writing) ([]byte, error) {
	start := len(dst)
	for _, f := range fields {
		var err error
		switch f.plain {
		case opString:
			text := s.Field(f.at).String()
			if isPlain(text) || isUnescaped(text) {
				dst = append(append(append(dst, f.label...), text...), '"')
				continue
			}
			dst, err = jsontext.AppendQuote(append(dst, f.label[:len(f.label)-1]...), text)
		case opInt:
			dst = strconv.AppendInt(append(dst, f.label...), s.Field(f.at).Int(), 10)
		case opFloat:
			dst, err = appendFloat(append(dst, f.label...), s.Field(f.at).Float(), f.Type.Bits)
		case opBool:
			dst = strconv.AppendBool(append(dst, f.label...), s.Field(f.at).Bool())
		default:
			dst, err = f.appendMember(dst, s, w)
		}
		if err != nil {
			return dst, fmt.Errorf("%s: %w", f.GoName, err)
		}
	}
	if len(dst) == start {
		return append(dst, '{', '}'), nil
	}
	dst[start] = '{'
	return append(dst, '}'), nil
}

// setLabel makes the label of the field, and finds out whether the field is plain: always there, and always one string,
// number or boolean. The label of a plain string has the opening quotation mark of the value, too.
func (f *Field) setLabel(quotedName []byte) {
	f.label = append(quotedName, ':')
	if f.pointer || f.Quoted || f.OmitZero || f.OmitEmpty || f.WriteOnly || len(f.Index) != 1 {
		return
	}
	switch f.Type.op {
	case opString:
		f.label = append(f.label, '"')
		f.plain = opString
	case opInt, opFloat, opBool:
		f.plain = f.Type.op
	}
}

// appendMember appends a field of the struct s with its name, or nothing if it is left out.
func (f *Field) appendMember(dst []byte, s reflect.Value, w writing) ([]byte, error) {
	if f.WriteOnly && !w.full {
		return dst, nil
	}
	v := f.in(s)
	if f.OmitZero && f.isZero(v) {
		return dst, nil
	}
	before := len(dst)
	dst = append(dst, f.label...)
	start := len(dst)
	dst, err := f.append(dst, v, w)
	// Whether a value is empty is seen best when it is written: a struct may be all omitted, and a method may write "".
	if err == nil && f.OmitEmpty && isEmpty(dst[start:]) {
		dst = dst[:before]
	}
	return dst, err
}

// isEmpty reports whether omitempty leaves a JSON value out.
func isEmpty(value []byte) bool {
	switch string(value) {
	case "null", `""`, "{}", "[]":
		return true
	}
	return false
}

// appendArray appends a slice or a Go array. A nil slice is an empty array: a client that maps over it need not ask.
func (t *Type) appendArray(dst []byte, v reflect.Value, w writing) ([]byte, error) {
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = t.appendElem(dst, v.Index(i), w); err != nil {
			return dst, fmt.Errorf("%d: %w", i, err)
		}
	}
	return append(dst, ']'), nil
}

// appendElem appends an element of an array or a map. That it is a pointer can be seen of the value, and not of its Type,
// which is that of what it points to.
func (t *Type) appendElem(dst []byte, v reflect.Value, w writing) ([]byte, error) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		v = v.Elem()
	}
	return t.Elem.append(dst, v, w)
}

// plainASCII are the bytes that a JSON string holds as they are.
var plainASCII = func() (plain [256]bool) {
	for c := ' '; c < 0x80; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// appendString appends a JSON string in its shortest form (RFC 8785, section 3.2.2.2), in which HTML is not escaped: the
// answer is not for a script element. Most strings are printable ASCII and are copied; package jsontext does the rest,
// and refuses invalid UTF-8.
func appendString(dst []byte, s string) ([]byte, error) {
	if !isPlain(s) && !isUnescaped(s) {
		return jsontext.AppendQuote(dst, s)
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"'), nil
}

// isUnescaped reports whether a string is valid UTF-8 with nothing in it that JSON escapes.
func isUnescaped(s string) bool {
	for i := range len(s) {
		if s[i] < utf8.RuneSelf && !plainASCII[s[i]] {
			return false
		}
	}
	return utf8.ValidString(s)
}

// isPlain reports whether a string stands in JSON as it is: it is printable ASCII without quotation marks and backslashes.
// It looks at eight bytes at a time, as every string of every answer passes here. The last eight may be seen twice.
func isPlain(s string) bool {
	if len(s) >= 8 {
		for i := 0; i < len(s)-8; i += 8 {
			if !arePlain(s[i : i+8]) {
				return false
			}
		}
		return arePlain(s[len(s)-8:])
	}
	for i := range len(s) {
		if !plainASCII[s[i]] {
			return false
		}
	}
	return true
}

// arePlain is isPlain for eight bytes.
func arePlain(s string) bool {
	const ones = 0x0101_0101_0101_0101
	w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	// Where no byte has its highest bit, a subtraction sets that of a byte only if it is less than what is taken away, or
	// one below it was, which decides the same.
	return (w|(w-ones*' ')|((w^ones*'"')-ones)|((w^ones*'\\')-ones))&(ones<<7) == 0
}

// appendFloat appends a number as ECMAScript prints it (RFC 8785, section 3.2.2.3), so that clients which parse and print
// it again send the same text back.
func appendFloat(dst []byte, f float64, bits int) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return dst, fmt.Errorf("%v is not a number that JSON has", f)
	}
	if bits == 64 {
		if out, ok := appendShortDecimal(dst, f); ok {
			return out, nil
		}
	}
	return jsontext.AppendFloat(dst, f, bits), nil
}

// appendShortDecimal appends f if it is a decimal of at most six places and fifteen digits, as prices, shares and
// coordinates are, in a third of the time that finding the shortest digits takes in general.
//
// It is the same text. Let n be the integer next to f*10^6. If n/10^6, which IEEE 754 rounds correctly, is f, then the
// decimal n*10^-6 is read as f. And no shorter one is: two decimals of up to fifteen digits are never the same float64.
func appendShortDecimal(dst []byte, f float64) ([]byte, bool) {
	const scale = 1e6
	a := math.Abs(f)
	if !(a >= 1/scale && a < 1e9) {
		return dst, false
	}
	n := uint64(a*scale + 0.5)
	if float64(n)/scale != a {
		return dst, false
	}
	if f < 0 {
		dst = append(dst, '-')
	}
	start := len(dst)
	if n < scale {
		n += scale // a one, which becomes the zero in front of the point
	}
	dst = strconv.AppendUint(dst, n, 10)
	if a < 1 {
		dst[start] = '0'
	}
	dst = append(dst, 0)
	point := len(dst) - 7
	copy(dst[point+1:], dst[point:])
	dst[point] = '.'
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return bytes.TrimSuffix(dst, []byte{'.'}), true
}

// appendQuotedText appends what the text methods of v write, as a JSON string.
func appendQuotedText(dst []byte, v reflect.Value) ([]byte, error) {
	// The text is written in place between quotes, on the guess that it needs no escapes.
	start := len(dst)
	dst, err := appendText(append(dst, '"'), v)
	if err != nil {
		return dst, err
	}
	text := dst[start+1:]
	for _, c := range text {
		if c < ' ' || c >= 0x80 || c == '"' || c == '\\' {
			return jsontext.AppendQuote(dst[:start], bytes.Clone(text))
		}
	}
	return append(dst, '"'), nil
}

// appendForeign leaves the value to go-json-experiment/json. This allocates, which a type that marshals itself mostly
// does anyway.
func appendForeign(dst []byte, v reflect.Value) ([]byte, error) {
	b, err := json.Marshal(v.Addr().Interface(), json.Deterministic(true))
	return append(dst, b...), err
}
