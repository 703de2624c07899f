package schema

// The decoder for objects. It fills in the Go struct in three steps: copy the base, set defaults,
// and decode the members that are present. Members that are absent or read-only are then checked.

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// decodeObject decodes an object into the struct v. base is the current value, or the zero Value.
//
// v starts as a copy of base, and clearWritable resets the fields that the document decides. The
// other fields keep their values. Therefore fields that are not part of the JSON need no special
// treatment.
func (d *decoder) decodeObject(t *Type, v, base reflect.Value) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if err := d.enter(); err != nil {
		return err
	}
	var seen bitset
	// The copy is shallow. Everything that the document can change is reset or replaced, never
	// modified in place, because other goroutines may be reading base.
	if base.IsValid() {
		v.Set(base)
		if d.depth == 1 {
			seen = d.kept
		}
		d.clearWritable(t, v, &seen)
	}
	// Before the members are decoded, which overwrite the defaults.
	if t.defaults && d.opts.Mode != Patched && d.opts.Mode != Stored {
		d.setDefaults(t, v, base.IsValid())
	}
	if err := d.beginKey(t, v, base); err != nil {
		return err
	}
	for next, names := 0, 0; d.PeekKind() != '}'; names++ {
		// Compare the name in the input buffer, because reading it as a token would allocate a
		// string.
		raw, err := d.ReadValue()
		if err != nil {
			return err
		}
		if names == d.maxNames {
			return d.tooMany()
		}
		i := t.indexOf(raw, next)
		if i < 0 {
			if err := d.skipUnknown(t, raw); err != nil {
				return err
			}
			continue
		}
		seen.add(i)
		next = i + 1
		if err := d.decodeMember(t.Fields[i], v, base); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if d.opts.Mode != Stored {
		d.checkAbsent(t, base, &seen)
		d.endKey(t, v)
	}
	d.depth--
	return nil
}

// indexOf returns the index of the field with the quoted name, or -1. It tries the field at next
// first, because clients usually send members in the order in which they received them.
func (t *Type) indexOf(quoted []byte, next int) int {
	name := quoted[1 : len(quoted)-1]
	if next < len(t.Fields) && t.Fields[next].Name == string(name) {
		return next
	}
	f := t.byName[string(name)]
	if f == nil && slices.Contains(name, '\\') {
		unquoted, _ := jsontext.AppendUnquote(nil, quoted) // validated by ReadValue
		f = t.byName[string(unquoted)]
	}
	if f == nil {
		return -1
	}
	return f.position
}

// skipUnknown skips the value of an unknown member and adds a violation. If the name differs from
// that of a field only in case, the detail suggests the field. The value is read first, so that
// StackPointer refers to the member.
func (d *decoder) skipUnknown(t *Type, quoted []byte) error {
	name, _ := jsontext.AppendUnquote(nil, quoted)
	if err := d.skipValue(); err != nil {
		return err
	}
	if d.opts.allowUnknown() {
		return nil
	}
	predicate := "is not a member of this object"
	for _, f := range t.Fields {
		if strings.EqualFold(f.Name, string(name)) {
			predicate += "; did you mean " + strconv.Quote(f.Name) + "?"
		}
	}
	d.add(codeUnknown, predicate)
	return nil
}

// isReadOnly reports whether the field of the current object is read-only. DecodeOptions.ReadOnly
// applies to the outermost object only, even if objects inside it have the same type.
func (d *decoder) isReadOnly(f *Field) bool {
	return f.ReadOnly || d.depth == 1 && len(d.readOnly) > 0 && slices.Contains(d.readOnly, f)
}

// clearWritable resets the fields of the struct v that the document decides, which are those that are
// not in kept. v is a copy of base, so slices, maps and pointers are dropped and not reused.
func (d *decoder) clearWritable(t *Type, v reflect.Value, kept *bitset) {
	for i, f := range t.Fields {
		switch {
		case kept.has(i):
			d.unshare(f, f.in(v))
		case d.isReadOnly(f), f.WriteOnly && d.opts.Mode == Replace:
			// Clients do not receive writeOnly members, so their absence does not mean removal.
		case f.inPlace():
			d.clearWritable(f.Type, f.in(v), &bitset{})
		default:
			f.in(v).SetZero()
		}
	}
}

// setDefaults sets the defaults in the struct v, except in fields that keep the value of a base. It
// leaves out structs that may be absent, because a default would make them present; decodeObject sets
// the defaults of those that the document has.
func (d *decoder) setDefaults(t *Type, v reflect.Value, based bool) {
	for _, f := range t.Fields {
		switch {
		case based && (d.isReadOnly(f) || f.WriteOnly && d.opts.Mode == Replace):
		case f.Default != nil:
			f.setDefault(f.in(v))
		case f.inPlace() && f.Type.defaults && !f.optional():
			d.setDefaults(f.Type, f.in(v), based)
		}
	}
}

// decodeMember decodes the value of a field of the struct s.
func (d *decoder) decodeMember(f *Field, s, base reflect.Value) error {
	v := f.in(s)
	var was reflect.Value
	if base.IsValid() {
		was = f.in(base)
	}
	if d.isKey(f) {
		return d.decodeKey(f, s)
	}
	if d.isReadOnly(f) {
		return d.decodeReadOnly(f, v, was)
	}
	if f.WriteOnly && !f.inPlace() {
		v.SetZero() // v must not share memory with base
	}
	before := len(d.found)
	if err := d.decodeField(f, v, was); err != nil {
		return err
	}
	if f.StoreDefault && f.zeroInvalid && len(d.found) == before {
		d.checkZero(f, v, was)
	}
	return nil
}

// checkZero checks an empty value that a document has for a field with the tag default:"db". Later the
// checker cannot distinguish it from an absent member, which the store sets. An item may keep the
// value that it has. In a new item a zero value is an absent one, but an empty array is not.
func (d *decoder) checkZero(f *Field, v, was reflect.Value) {
	if d.opts.Mode == Stored || !f.isOmitted(v) || d.opts.Mode == Create && v.IsZero() ||
		was.IsValid() && f.isOmitted(was) {
		return
	}
	var c checker
	c.checkPresent(f, v) // without elements, so that all violations are those of the member
	for _, bad := range c.found {
		d.add(bad.Code, strings.TrimPrefix(bad.Detail, subject("")+" "))
	}
}

// decodeField decodes the value of a field into v. It allocates a new value for a pointer, because
// other goroutines may be reading that of the base.
func (d *decoder) decodeField(f *Field, v, was reflect.Value) error {
	if f.pointer {
		if d.PeekKind() == 'n' {
			v.SetZero()
			return d.skipValue()
		}
		v.Set(reflect.New(f.Type.GoType))
		v = v.Elem()
		if was.IsValid() {
			// For a nil pointer this is the zero Value, which means no base.
			was = was.Elem()
		}
	}
	if f.Quoted {
		return d.decodeQuoted(f.Type, v)
	}
	if err := d.decodeValue(f.Type, v, was); err != nil || !f.lower || d.opts.Mode == Stored {
		return err
	}
	lowerUUIDs(v, was)
	return nil
}

// decodeReadOnly decodes a read-only member, which must equal that of the base. In a new value it
// must be absent. Clients may repeat it, because they usually send back what they received.
func (d *decoder) decodeReadOnly(f *Field, v, was reflect.Value) error {
	if d.readOnlyCheck != checkNow {
		return d.decodeField(f, v, was)
	}
	if d.opts.Mode == Create {
		// A new value has no base to compare with.
		if err := d.skipValue(); err != nil {
			return err
		}
		d.add(codeReadOnly, "is set by the server and must be omitted")
		return nil
	}
	given := reflect.New(v.Type()).Elem()
	if !was.IsValid() {
		was = reflect.New(v.Type()).Elem()
	}
	// Decode into a separate value, so that v keeps the value of the base. Replace all violations
	// inside the member by one that reports the change.
	before := len(d.found)
	d.readOnlyCheck = checkOuter
	err := d.decodeField(f, given, was)
	d.readOnlyCheck = checkNow
	if err != nil {
		return err
	}
	if len(d.found) > before || !f.equal(given, was) {
		d.found = d.found[:before]
		d.add(codeReadOnly, "is set by the server and must not be changed")
	}
	return nil
}

// checkAbsent adds the violations for absent members at the end of an object.
func (d *decoder) checkAbsent(t *Type, base reflect.Value, seen *bitset) {
	for i, f := range t.Fields {
		if seen.has(i) {
			continue
		}
		switch {
		case d.depth == 1 && slices.Contains(d.opts.Filled, f.Name):
			// The checker skips these fields. The members are decoded, so nothing else uses the
			// list.
			d.readOnly = append(d.readOnly, f)
		case d.isKey(f) && f != d.id && d.fixed.IsValid():
			if d.opts.Mode == Patched {
				d.addAt(d.pointerTo(f), codeImmutable, "is part of the id and must not be removed")
			}
		case d.isReadOnly(f):
			// A patch is applied to a document with all members, so it has removed the member.
			if d.opts.Mode == Patched && base.IsValid() && d.readOnlyCheck == checkNow && f.isWritten(base) {
				d.addAt(d.pointerTo(f), codeReadOnly, "is set by the server and must not be removed")
			}
		case d.opts.Mode == Replace && base.IsValid() && (f.WriteOnly || !f.Required && f.Type.secret):
			// The value may be that of the base. The checker decides.
		case f.NeedsValue():
			d.addAt(d.pointerTo(f), codeRequired, "is required")
		}
	}
}

// pointerTo returns the pointer to a member of the object that was read last.
func (d *decoder) pointerTo(f *Field) string {
	return string(d.StackPointer().AppendToken(f.Name))
}

// isWritten reports whether the encoding of the struct s contains the field.
func (f *Field) isWritten(s reflect.Value) bool {
	v := f.in(s)
	if f.OmitZero && f.isZero(v) {
		return false
	}
	if !f.OmitEmpty {
		return true
	}
	out, err := f.appendValue(nil, v, encodeState{full: true})
	return err != nil || !isEmpty(out)
}

// setDefault sets the Go field to the default.
func (f *Field) setDefault(v reflect.Value) {
	if f.pointer {
		v.Set(reflect.New(f.Type.GoType))
		v = v.Elem()
	}
	// applyDefault has parsed the same text without an error.
	_ = f.Type.setFromText(v, f.defaultText)
}

// bitset is a set of small integers. It does not allocate for integers below 64. Types with more
// fields are rare, and the set is needed for each object of a document.
type bitset struct {
	low  uint64
	high []uint64
}

// add adds i to the set.
func (s *bitset) add(i int) {
	if i < 64 {
		s.low |= 1 << i
		return
	}
	for len(s.high) <= i/64-1 {
		s.high = append(s.high, 0)
	}
	s.high[i/64-1] |= 1 << (i % 64)
}

// has reports whether i is in the set.
func (s *bitset) has(i int) bool {
	if i < 64 {
		return s.low&(1<<i) != 0
	}
	return i/64-1 < len(s.high) && s.high[i/64-1]&(1<<(i%64)) != 0
}
