package schema

// JSON Merge Patches without the document: only the members that a patch names are decoded. Called by
// package resource for PATCH. It calls the decoder with a document of the members that may change.

import (
	"math"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Merge returns the value that a JSON Merge Patch (RFC 7396) makes of opts.Base. The value is the one
// that [Type.Decode] returns in the mode [Patched] for the patched output of [Type.AppendFull] after
// [Type.Complete]. Merge takes less time, because it copies unnamed members that are strings, numbers,
// booleans and times.
//
// patch is valid JSON without white space between tokens. size limits the patched document, in bytes.
// v is a pointer to a new value of the Go type, valid and independent of Base as that of Decode. The
// options are those of Decode; Merge ignores Mode.
//
// ok is false if the patch has to be applied to the document: if it contains an object or an unknown
// member, if the result may exceed size, and if the result is not valid. The caller then learns the
// error from Decode.
func (t *Type) Merge(patch []byte, size int64, opts *DecodeOptions) (v any, ok bool) {
	base, err := t.target(opts.Base)
	if err != nil || t.op != opObject {
		return nil, false
	}
	d := decoders.Get().(*decoder)
	defer d.recycle()
	m := merge{t: t, base: base, doc: d.merged[:0], limit: size}
	if !m.addPatch(patch) || !m.addRest() {
		return nil, false
	}
	d.merged = m.doc
	d.begin(t, m.doc, opts)
	d.opts.Mode, d.kept = Patched, m.kept
	if len(t.Fields) > d.maxNames { // the document could have so many
		return nil, false
	}
	fresh := reflect.New(t.GoType)
	if d.decodeDocument(t, fresh.Elem(), base) != nil || len(d.found) > 0 {
		return nil, false
	}
	if t.constrained {
		d.checker.skip = d.readOnly
		d.checker.checkValue(t, fresh.Elem())
	}
	if len(d.checker.found) > 0 {
		return nil, false
	}
	return fresh.Interface(), true
}

// merge makes the document that Merge decodes: the members of the patch, and those of the base that do
// not stay as they are if they are encoded and decoded.
type merge struct {
	t     *Type
	base  reflect.Value
	doc   []byte // begins with a comma in place of the brace, until addRest has added all members
	named bitset // the fields that the patch names
	kept  bitset // the fields that keep the value of the base
	limit int64  // the size that is left, at least
}

// addPatch adds the members of a patch, except those that it removes. It returns false for an object as
// a value, because that is merged with the value of the base or not valid.
func (m *merge) addPatch(patch []byte) bool {
	if len(patch) < len("{}") || patch[0] != '{' {
		return false
	}
	i := 1
	for next := 0; patch[i] != '}'; {
		name, value := nextMember(patch[i:])
		if value == nil {
			return false
		}
		at := m.t.indexOf(name, next)
		if at < 0 || value[0] == '{' {
			return false
		}
		m.named.add(at)
		next = at + 1
		if value[0] != 'n' {
			m.doc = append(append(append(m.doc, ','), name...), ':')
			m.doc = m.appendGiven(m.t.Fields[at], value)
		}
		if i += len(name) + len(":") + len(value); patch[i] == ',' {
			i++
		}
		if i == len(patch) {
			return false
		}
	}
	return i == len(patch)-1
}

// appendGiven appends the value that the patch has for a field, an array or a scalar.
func (m *merge) appendGiven(f *Field, value []byte) []byte {
	if value[0] != '[' || !f.Type.renews || !jsontext.Value(value).IsValid() {
		return append(m.doc, value...)
	}
	before, err := f.appendValue(nil, f.in(m.base), encodeState{full: true, depth: 1})
	if err != nil {
		before = nil // addRest reports that there is no document
	}
	return f.Type.complete(m.doc, value, before, f.elemKey, given{fresh: fillAll})
}

// nextMember returns the quoted name and the value of the member that text begins with. value is nil if
// there is white space, or if text is not a member that is followed by another one or a brace.
func nextMember(text []byte) (name, value []byte) {
	if text[0] != '"' {
		return nil, nil
	}
	colon := stringEnd(text) + 1
	if colon+1 >= len(text) || text[colon] != ':' {
		return nil, nil
	}
	name, value = text[:colon], text[colon+1:]
	if value[0] <= ' ' || value[0] == ',' || value[0] == '}' {
		return nil, nil
	}
	for i, depth := 0, 0; i < len(value); i++ {
		switch value[i] {
		case '"':
			i += stringEnd(value[i:])
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth < 0 || depth == 0 && value[i] == ',' {
			return name, value[:i:i]
		}
	}
	return nil, nil
}

// addRest adds the fields that the patch does not name, unless they are kept. It returns false if a field
// of the base cannot be encoded, because then the base has no document.
func (m *merge) addRest() bool {
	for i, f := range m.t.Fields {
		size, named := f.keptSize(f.in(m.base)), m.named.has(i)
		switch {
		case size >= 0 && !named:
			m.kept.add(i)
			m.limit -= int64(len(f.label) + size)
		case size >= 0:
		case f.plain != opJSON:
			return false // it has no JSON, such as a number that is not finite
		default:
			doc, err := f.appendWithName(m.doc, m.base, encodeState{full: true, depth: 1})
			if err != nil {
				return false
			}
			if !named {
				m.doc = doc
			}
		}
	}
	if m.limit -= int64(len(m.doc) + len("{}")); m.limit < 0 {
		return false
	}
	if len(m.doc) == 0 {
		m.doc = append(m.doc, '{')
	}
	m.doc[0] = '{'
	m.doc = append(m.doc, '}')
	return true
}

// numberSize is an upper bound of the size of a number, a boolean, a time or null in JSON.
const numberSize = 40

// keptSize returns an upper bound of the size of the JSON value of a field. It returns -1 if encoding and
// decoding would change the value, or if it is not valid as a member of the document.
func (f *Field) keptSize(v reflect.Value) int {
	if f.OmitZero && f.isZero(v) || f.OmitEmpty && f.isEmpty(v) {
		if v.IsZero() { // as an absent member is decoded
			return 0
		}
		return -1
	}
	if f.pointer {
		if v.IsNil() {
			return numberSize
		}
		v = v.Elem()
	}
	switch f.Type.op {
	case opString:
		if s := v.String(); utf8.ValidString(s) {
			return len(`""`) + len(`\u0000`)*len(s)
		}
	case opInt, opUint, opBool:
		return numberSize
	case opFloat:
		if x := v.Float(); !math.IsNaN(x) && !math.IsInf(x, 0) {
			return numberSize
		}
	case opTime:
		if isCanonicalTime(timeIn(v)) {
			return numberSize
		}
	}
	return -1
}

// isEmpty reports whether omitempty omits the field, as far as the Go value of a keptSize shows it.
func (f *Field) isEmpty(v reflect.Value) bool {
	if f.pointer {
		return v.IsNil() || f.Type.op == opString && v.Elem().Len() == 0
	}
	switch f.Type.op {
	case opString, opSlice, opMap, opBytes:
		return v.Len() == 0
	}
	return false
}

// isCanonicalTime reports whether t is the time that its JSON is decoded to, and not only the same
// instant: in UTC, without a reading of the monotonic clock, and in the years of RFC 3339.
func isCanonicalTime(t *time.Time) bool {
	return *t == t.Round(0) && t.Location() == time.UTC && t.Year() >= 1 && t.Year() <= 9999
}

// unshare copies the value that a kept field points to, because the decoded value must not share it with
// the base. Read-only fields are shared, as those that are decoded.
func (d *decoder) unshare(f *Field, v reflect.Value) {
	if f.pointer && !v.IsNil() && !d.isReadOnly(f) {
		own := reflect.New(f.Type.GoType)
		own.Elem().Set(v.Elem())
		v.Set(own)
	}
}
