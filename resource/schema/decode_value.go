package schema

// The decoder for all values except objects. Each function reads one JSON value completely, also if
// it adds a violation, so that decoding can continue after it.

import (
	"bytes"
	"encoding/base64"
	"errors"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// decodeValue decodes a value into v, which must be addressable. base is the current value, or the
// zero Value.
func (d *decoder) decodeValue(t *Type, v, base reflect.Value) error {
	// decodeScalar also adds the violation for an object or array type with another JSON value.
	switch t.op {
	case opJSON:
		return d.decodeJSON(v)
	case opObject, opMap:
		if d.PeekKind() != '{' {
			return d.decodeScalar(t, v)
		}
		if t.op == opObject {
			return d.decodeObject(t, v, base)
		}
		return d.decodeMap(t, v, base)
	case opSlice, opArray:
		if d.PeekKind() != '[' {
			return d.decodeScalar(t, v)
		}
		return d.decodeArray(t, v, base)
	}
	return d.decodeScalar(t, v)
}

// decodeScalar decodes a scalar, or adds a violation if the JSON type is wrong. raw is never empty:
// ReadValue returns at least one byte without an error.
func (d *decoder) decodeScalar(t *Type, v reflect.Value) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	switch raw[0] {
	case '"':
		if t.Kind == String {
			d.decodeText(t, v, d.unquote(raw))
			return nil
		}
	case 't', 'f':
		if t.op == opBool {
			v.SetBool(raw[0] == 't')
			return nil
		}
	case 'n':
		d.addNull()
		return nil
	case '{', '[':
		// The limits apply to invalid values too, because they bound the work per document.
		if err := d.checkLimits(raw); err != nil {
			return err
		}
	default:
		if t.Kind == Integer || t.Kind == Number {
			d.decodeNumber(t, v, raw)
			return nil
		}
	}
	d.add(codeType, "must be "+t.jsonTypeText())
	return nil
}

// addNull adds a violation for a null that is not valid. Stored documents may be older than the
// constraint.
func (d *decoder) addNull() {
	if d.opts.Mode != Stored {
		d.add(codeNull, "must not be null")
	}
}

// unquote returns the value of a JSON string. It is valid until the next call.
func (d *decoder) unquote(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	d.scratch, _ = jsontext.AppendUnquote(d.scratch[:0], raw) // validated by ReadValue
	return d.scratch
}

// decodeText sets v from the value of a JSON string, and checks the format of the Go type. The
// checker checks length and pattern later.
func (d *decoder) decodeText(t *Type, v reflect.Value, text []byte) {
	switch t.op {
	case opString:
		v.SetString(string(text))
	case opTime:
		parsed, err := parseTime(text)
		if err != nil {
			d.add(codeFormat, err.Error())
			return
		}
		// A zone can move a time out of the years that RFC 3339 and many stores can represent.
		if year := parsed.UTC().Year(); year < 0 || year > 9999 {
			d.add(codeRange, "must be in the years 0 to 9999, in UTC")
			return
		}
		*timeIn(v) = parsed
	case opBytes:
		d.decodeBytes(v, text)
	default:
		// The buffer is reused, which is safe because encoding.TextUnmarshaler must copy the text.
		if err := unmarshalText(v, text); err != nil {
			d.add(codeFormat, err.Error())
		}
	}
}

// decodeBytes decodes base64 with padding and without line breaks (RFC 4648 sections 3.2 and 3.3).
func (d *decoder) decodeBytes(v reflect.Value, text []byte) {
	decoded, err := base64.StdEncoding.AppendDecode(make([]byte, 0, base64.StdEncoding.DecodedLen(len(text))),
		text)
	switch {
	case err != nil, bytes.ContainsAny(text, "\r\n"):
		d.add(codeFormat, "must be base64 with padding")
	case v.Kind() == reflect.Slice:
		v.SetBytes(decoded)
	case len(decoded) != v.Len():
		d.add(codeFormat, "must be base64 of "+strconv.Itoa(v.Len())+" bytes")
	default:
		reflect.Copy(v, reflect.ValueOf(decoded))
	}
}

// decodeNumber sets v from a JSON number. It parses integers directly, because float64 would round
// those beyond 2^53.
func (d *decoder) decodeNumber(t *Type, v reflect.Value, raw []byte) {
	if t.op == opFloat {
		// A number with too many digits is rounded, as RFC 8259 section 6 allows. Only overflow is
		// an error.
		f, err := strconv.ParseFloat(string(raw), t.Bits)
		if err != nil {
			d.add(codeRange, "must be in the range of a "+strconv.Itoa(t.Bits)+"-bit floating-point number")
			return
		}
		v.SetFloat(f)
		return
	}
	n, err := parseInteger(raw)
	if errors.Is(err, errNotInteger) {
		d.add(codeType, "must be an integer")
		return
	}
	fits := false
	if t.Unsigned {
		var u uint64
		if u, fits = n.unsigned(t.Bits); fits {
			v.SetUint(u)
		}
	} else {
		var i int64
		if i, fits = n.signed(t.Bits); fits {
			v.SetInt(i)
		}
	}
	if err != nil || !fits {
		d.add(codeRange, "must be "+t.rangeText())
	}
}

// decodeQuoted decodes a number in a JSON string. An integer must be canonical, as in
// go-json-experiment/json: a pattern can describe its digits, but not all spellings of its value.
func (d *decoder) decodeQuoted(t *Type, v reflect.Value) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	switch raw[0] {
	case 'n':
		d.addNull()
	case '"':
		text := d.unquote(raw)
		if !isNumber(text) || t.op != opFloat && (bytes.ContainsAny(text, ".eE") || string(text) == "-0") {
			d.add(codeType, "must be a string that contains "+t.jsonTypeText())
			return nil
		}
		d.decodeNumber(t, v, text)
	default:
		d.add(codeType, "must be a string that contains "+t.jsonTypeText())
		return d.checkLimits(raw)
	}
	return nil
}

// jsonTypeText returns the JSON type with its article, for violations.
func (t *Type) jsonTypeText() string {
	switch t.Kind {
	case Object, Map, Array, Integer:
		return "an " + t.Kind.String()
	case Boolean:
		return "true or false"
	}
	return "a " + t.Kind.String()
}

// rangeText returns the range of an integer type, for violations.
func (t *Type) rangeText() string {
	if t.Unsigned {
		return "between 0 and " + strconv.FormatUint(^uint64(0)>>(64-t.Bits), 10)
	}
	most := int64(^uint64(0) >> (65 - t.Bits))
	return "between " + strconv.FormatInt(-most-1, 10) + " and " + strconv.FormatInt(most, 10)
}

// decodeJSON decodes the value with go-json-experiment/json. Error texts of its methods are not
// sent to clients, because they may contain internal details.
func (d *decoder) decodeJSON(v reflect.Value) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	if err := d.checkLimits(raw); err != nil {
		return err
	}
	err = json.Unmarshal(raw, v.Addr().Interface(), json.RejectUnknownMembers(!d.opts.allowUnknown()),
		json.WithUnmarshalers(exactIntegers))
	if err != nil {
		d.add(codeFormat, errNotValid.Error())
	}
	return nil
}

// maxExact is the magnitude up to which float64 represents all integers exactly.
const maxExact = 1 << 53

// exactIntegers decodes integers that float64 would round into a jsontext.Value if the Go type is
// any.
var exactIntegers = json.UnmarshalFromFunc(func(dec *jsontext.Decoder, v *any) error {
	if dec.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	// All packages of the library can encode a jsontext.Value, but not a *big.Int.
	if n, err := parseInteger(raw); errors.Is(err, errRange) || err == nil && n.magnitude > maxExact {
		*v = raw.Clone()
		return nil
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	*v = f
	return err
})

// decodeArray decodes an array.
func (d *decoder) decodeArray(t *Type, v, base reflect.Value) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if err := d.enter(); err != nil {
		return err
	}
	if t.op == opSlice {
		// Not nil, so that an empty array differs from an absent one.
		v.Set(reflect.MakeSlice(t.GoType, 0, 0))
	}
	outer := d.readOnlyCheck
	if outer == checkNow && t.Elem.readOnly && d.opts.Mode != Create {
		d.readOnlyCheck = checkInElem
	}
	known := baseElems{elem: t.Elem}
	if outer == checkNow {
		known.base = base
	}
	n := 0
	for ; d.PeekKind() != ']'; n++ {
		// Excess elements of a Go array are skipped, because the rest of the document must be valid
		// JSON.
		if t.op == opArray && n >= t.Len {
			if err := d.skipValue(); err != nil {
				return err
			}
			continue
		}
		// An invalid element becomes a zero value, so that the other elements keep their indexes.
		if t.op == opSlice {
			if n == v.Cap() {
				v.Grow(1)
			}
			v.SetLen(n + 1)
		}
		if err := d.decodeArrayElem(t, v.Index(n), &known); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	d.readOnlyCheck = outer
	d.depth--
	if t.op == opArray && n != t.Len {
		d.add(codeType, "must have exactly "+strconv.Itoa(t.Len)+" elements")
	}
	return nil
}

// decodeArrayElem decodes an element of an array, and compares its read-only members unless an
// enclosing value does.
func (d *decoder) decodeArrayElem(t *Type, v reflect.Value, known *baseElems) error {
	if err := d.decodeElem(t, v, reflect.Value{}); err != nil {
		return err
	}
	if d.readOnlyCheck == checkInElem && t.Elem.readOnly && !d.inBase(known, v) {
		d.add(codeReadOnly,
			"has read-only members that differ from those of every existing element")
	}
	return nil
}

// decodeElem decodes an element of an array or a map into v, which must be zero.
func (d *decoder) decodeElem(t *Type, v, base reflect.Value) error {
	if v.Kind() != reflect.Pointer {
		return d.decodeValue(t.Elem, v, base)
	}
	if d.PeekKind() == 'n' {
		return d.skipValue()
	}
	v.Set(reflect.New(t.Elem.GoType))
	if base.IsValid() {
		base = base.Elem()
	}
	return d.decodeValue(t.Elem, v.Elem(), base)
}

// decodeMap decodes an object into a map. The map is new, also in a patch: the document has all
// members that remain.
func (d *decoder) decodeMap(t *Type, v, base reflect.Value) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if err := d.enter(); err != nil {
		return err
	}
	v.Set(reflect.MakeMap(t.GoType))
	for names := 0; d.PeekKind() != '}'; names++ {
		raw, err := d.ReadValue()
		if err != nil {
			return err
		}
		if names == d.maxNames {
			return d.tooMany()
		}
		if err := d.decodeMapMember(t, v, base, string(d.unquote(raw))); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	d.depth--
	return nil
}

// decodeMapMember decodes a member of a map after its name.
func (d *decoder) decodeMapMember(t *Type, v, base reflect.Value, name string) error {
	key := reflect.New(t.GoType.Key()).Elem()
	if err := t.setKey(key, name); err != nil {
		if err := d.skipValue(); err != nil {
			return err
		}
		d.add(codeFormat, "has a member name that "+err.Error())
		return nil
	}
	// jsontext rejects equal names, but text methods may decode two names as the same key.
	if v.MapIndex(key).IsValid() {
		return d.syntaxErrorAt("duplicateName",
			"the member name "+strconv.Quote(name)+" is equivalent to another one in the object")
	}
	var was reflect.Value
	if base.IsValid() {
		was = t.lookup(base, key)
	}
	// Elements of a map are not addressable, so decode into a variable.
	elem := reflect.New(t.GoType.Elem()).Elem()
	if err := d.decodeElem(t, elem, was); err != nil {
		return err
	}
	if d.readOnlyCheck == checkInElem && t.Elem.readOnly && !d.inBase(&baseElems{elem: t.Elem}, elem) {
		d.add(codeReadOnly, "has read-only members, which must be omitted")
	}
	v.SetMapIndex(key, elem)
	return nil
}
