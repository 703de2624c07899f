package schema

import (
	"bytes"
	"encoding/base64"
	"errors"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// value reads a value into v, which is addressable. base is what is there now, or the zero Value.
func (d *decoder) value(t *Type, v, base reflect.Value) error {
	// A value of the wrong shape goes to scalar, which says so, as what is wanted there does not look like it either.
	switch t.op {
	case opForeign:
		return d.foreign(v)
	case opObject, opMap:
		if d.PeekKind() != '{' {
			return d.scalar(t, v)
		}
		if t.op == opObject {
			return d.object(t, v, base)
		}
		return d.mapping(t, v, base)
	case opSlice, opArray:
		if d.PeekKind() != '[' {
			return d.scalar(t, v)
		}
		return d.array(t, v, base)
	}
	return d.scalar(t, v)
}

// scalar reads a value that is not composed of others, or notes that it is of the wrong shape.
func (d *decoder) scalar(t *Type, v reflect.Value) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	switch raw[0] {
	case '"':
		if t.Kind == String {
			d.text(t, v, d.unquote(raw))
			return nil
		}
	case 't', 'f':
		if t.op == opBool {
			v.SetBool(raw[0] == 't')
			return nil
		}
	case 'n':
		d.null()
		return nil
	case '{', '[':
		// The document is refused in the end, but reading what it should not have must be bounded too.
		if err := d.limits(raw); err != nil {
			return err
		}
	default:
		if t.Kind == Integer || t.Kind == Number {
			d.number(t, v, raw)
			return nil
		}
	}
	d.add(codeType, "must be "+t.wanted())
	return nil
}

// null notes a null where there must be a value. What is stored may be of a time when null was allowed.
func (d *decoder) null() {
	if d.opts.Mode != Stored {
		d.add(codeNull, "must not be null")
	}
}

// unquote returns the content of a JSON string. It is valid until the next call.
func (d *decoder) unquote(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	d.scratch, _ = jsontext.AppendUnquote(d.scratch[:0], raw) // was validated by the reader
	return d.scratch
}

// text sets v from the content of a JSON string. What the string breaks is about its format; its length and pattern are
// looked at later, on the value.
func (d *decoder) text(t *Type, v reflect.Value, text []byte) {
	switch t.op {
	case opString:
		v.SetString(string(text))
	case opTime:
		parsed, err := parseTime(text)
		if err != nil {
			d.add(codeFormat, err.Error())
			return
		}
		*timeIn(v) = parsed
	case opBytes:
		d.bytes(v, text)
	default:
		// The text is used again, and encoding.TextUnmarshaler asks its implementers to copy what they keep.
		if err := unmarshalText(v, text); err != nil {
			d.add(codeFormat, err.Error())
		}
	}
}

// bytes reads base64 with padding and without line breaks, RFC 4648 sections 3.2 and 3.3.
func (d *decoder) bytes(v reflect.Value, text []byte) {
	decoded, err := base64.StdEncoding.AppendDecode(make([]byte, 0, base64.StdEncoding.DecodedLen(len(text))), text)
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

// number sets v from a JSON number. Integers take no detour through float64, which would round those beyond 2^53.
func (d *decoder) number(t *Type, v reflect.Value, raw []byte) {
	if t.op == opFloat {
		f, err := strconv.ParseFloat(string(raw), t.Bits)
		if err != nil {
			d.add(codeRange, "is too large")
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

// quoted reads a number that is written as a string.
func (d *decoder) quoted(t *Type, v reflect.Value) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	switch raw[0] {
	case 'n':
		d.null()
	case '"':
		text := d.unquote(raw)
		if !isNumber(text) {
			d.add(codeType, "must be a string that holds "+t.wanted())
			return nil
		}
		d.number(t, v, text)
	default:
		d.add(codeType, "must be a string that holds "+t.wanted())
		return d.limits(raw)
	}
	return nil
}

// wanted says what is expected, for a client.
func (t *Type) wanted() string {
	switch t.Kind {
	case Object, Map, Array, Integer:
		return "an " + t.Kind.String()
	case Boolean:
		return "true or false"
	}
	return "a " + t.Kind.String()
}

// rangeText says which integers the type holds, for a client.
func (t *Type) rangeText() string {
	if t.Unsigned {
		return "between 0 and " + strconv.FormatUint(^uint64(0)>>(64-t.Bits), 10)
	}
	most := int64(^uint64(0) >> (65 - t.Bits))
	return "between " + strconv.FormatInt(-most-1, 10) + " and " + strconv.FormatInt(most, 10)
}

// foreign leaves the value to go-json-experiment/json. What a method has to say about it is not written for clients.
func (d *decoder) foreign(v reflect.Value) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	if err := d.limits(raw); err != nil {
		return err
	}
	err = json.Unmarshal(raw, v.Addr().Interface(), json.RejectUnknownMembers(!d.opts.allowUnknown()),
		json.WithUnmarshalers(exactIntegers))
	if err != nil {
		d.add(codeFormat, errNotValid.Error())
	}
	return nil
}

// maxExact is the largest number up to which float64 holds all integers.
const maxExact = 1 << 53

// exactIntegers keeps the digits of integers that float64 would round, where a value goes into an any.
var exactIntegers = json.UnmarshalFromFunc(func(dec *jsontext.Decoder, v *any) error {
	if dec.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	// JSON text is what all of this library can write again. A *big.Int would be a type that nobody expects in an any.
	if n, err := parseInteger(raw); errors.Is(err, errRange) || err == nil && n.magnitude > maxExact {
		*v = raw.Clone()
		return nil
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	*v = f
	return err
})

// array reads the elements of an array.
func (d *decoder) array(t *Type, v, base reflect.Value) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if err := d.enter(); err != nil {
		return err
	}
	if t.op == opSlice {
		// Not nil: what was given as empty stays apart from what was not given, for whoever looks.
		v.Set(reflect.MakeSlice(t.GoType, 0, 0))
	}
	outer := d.claim
	if outer == claimNothing && t.Elem.readOnly && d.opts.Mode != Create {
		d.claim = claimElem
	}
	known := claims{elem: t.Elem}
	if outer == claimNothing {
		known.base = base
	}
	n := 0
	for ; d.PeekKind() != ']'; n++ {
		// Elements that have no place are still read, as the JSON behind them must be well-formed.
		if t.op == opArray && n >= t.Len {
			if err := d.skip(); err != nil {
				return err
			}
			continue
		}
		// An element of the wrong shape takes its place as a zero, so that the indexes of the others stay right.
		if t.op == opSlice {
			if n == v.Cap() {
				v.Grow(1)
			}
			v.SetLen(n + 1)
		}
		if err := d.element(t, v.Index(n), &known); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	d.claim = outer
	d.depth--
	if t.op == opArray && n != t.Len {
		d.add(codeType, "must have exactly "+strconv.Itoa(t.Len)+" elements")
	}
	return nil
}

// element reads an element of an array, and compares its read-only members if nothing around it does.
func (d *decoder) element(t *Type, v reflect.Value, known *claims) error {
	if err := d.elem(t, v, reflect.Value{}); err != nil {
		return err
	}
	if d.claim == claimElem && t.Elem.readOnly && !d.holds(known, v) {
		d.add(codeReadOnly, "has members that are decided by the server and are those of no element that is there now")
	}
	return nil
}

// elem reads an element of an array or a map, which is zero now.
func (d *decoder) elem(t *Type, v, base reflect.Value) error {
	if v.Kind() != reflect.Pointer {
		return d.value(t.Elem, v, base)
	}
	if d.PeekKind() == 'n' {
		return d.skip()
	}
	v.Set(reflect.New(t.Elem.GoType))
	if base.IsValid() {
		base = base.Elem()
	}
	return d.value(t.Elem, v.Elem(), base)
}

// mapping reads the members of a map.
func (d *decoder) mapping(t *Type, v, base reflect.Value) error {
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
		if err := d.entry(t, v, base, string(d.unquote(raw))); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	d.depth--
	return nil
}

// entry reads one member of a map, whose name was read.
func (d *decoder) entry(t *Type, v, base reflect.Value, name string) error {
	key := reflect.New(t.GoType.Key()).Elem()
	if err := t.setKey(key, name); err != nil {
		if err := d.skip(); err != nil {
			return err
		}
		d.add(codeFormat, "has a member name that "+err.Error())
		return nil
	}
	// The reader has compared the names, but text methods may read two of them as one key.
	if v.MapIndex(key).IsValid() {
		return d.refuse("duplicateName", "the member name "+strconv.Quote(name)+" means the same as another")
	}
	var was reflect.Value
	if base.IsValid() {
		was = t.lookup(base, key)
	}
	elem := reflect.New(t.GoType.Elem()).Elem()
	if err := d.elem(t, elem, was); err != nil {
		return err
	}
	if d.claim == claimElem && t.Elem.readOnly && !d.holds(&claims{elem: t.Elem}, elem) {
		d.add(codeReadOnly, "has members that are decided by the server")
	}
	v.SetMapIndex(key, elem)
	return nil
}
