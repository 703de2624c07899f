package schema

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// object reads the members of an object into the struct v. base is what is there now, or the zero Value.
//
// v begins as a copy of base of which all is cleared that the document decides. What stays is what a client cannot see or
// cannot change. So there is no list of what to keep, and a field that somebody adds to the Go struct is kept by itself.
func (d *decoder) object(t *Type, v, base reflect.Value) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if err := d.enter(); err != nil {
		return err
	}
	if base.IsValid() {
		v.Set(base)
		d.clear(t, v)
	}
	if t.defaults && d.opts.Mode != Patched && d.opts.Mode != Stored {
		d.fill(t, v, base.IsValid())
	}
	var seen bitset
	for next, names := 0, 0; d.PeekKind() != '}'; names++ {
		// The raw name is compared where it stands in the input; to read it as a token would make a string of it.
		raw, err := d.ReadValue()
		if err != nil {
			return err
		}
		if names == d.maxNames {
			return d.tooMany()
		}
		i := t.indexOf(raw, next)
		if i < 0 {
			if err := d.unknown(t, raw); err != nil {
				return err
			}
			continue
		}
		seen.add(i)
		next = i + 1
		if err := d.member(t.Fields[i], v, base); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if d.opts.Mode != Stored {
		d.absent(t, base, &seen)
	}
	d.depth--
	return nil
}

// indexOf returns the index of the field with the name, which is quoted, or -1. Clients tend to send members in the
// order in which they got them, so the next field is tried first.
func (t *Type) indexOf(quoted []byte, next int) int {
	name := quoted[1 : len(quoted)-1]
	if next < len(t.Fields) && t.Fields[next].Name == string(name) {
		return next
	}
	f := t.byName[string(name)]
	if f == nil && slices.Contains(name, '\\') {
		unquoted, _ := jsontext.AppendUnquote(nil, quoted) // was validated by the reader
		f = t.byName[string(unquoted)]
	}
	if f == nil {
		return -1
	}
	return f.place
}

// unknown notes a member that the type does not have. The hint is for the misspelling that is hardest to see; a name that
// differs in more than case is not guessed at.
func (d *decoder) unknown(t *Type, quoted []byte) error {
	name, _ := jsontext.AppendUnquote(nil, quoted)
	if err := d.skip(); err != nil {
		return err
	}
	if d.opts.allowUnknown() {
		return nil
	}
	detail := "there is no such member"
	for _, f := range t.Fields {
		if strings.EqualFold(f.Name, string(name)) {
			detail += "; did you mean " + strconv.Quote(f.Name) + "?"
		}
	}
	d.add(codeUnknown, detail)
	return nil
}

// isReadOnly reports whether the client may not decide about the field of the object that is being read. What the
// options add concerns the outermost object, even if there are others of its type inside.
func (d *decoder) isReadOnly(f *Field) bool {
	return f.ReadOnly || d.depth == 1 && len(d.readOnly) > 0 && slices.Contains(d.readOnly, f)
}

// clear resets what a document decides about in the struct v, which is a copy of what is there now. Its slices, maps and
// pointers are dropped and not reused, because they are still those of the base.
func (d *decoder) clear(t *Type, v reflect.Value) {
	for _, f := range t.Fields {
		switch {
		case d.isReadOnly(f), f.WriteOnly && d.opts.Mode == Replace:
			// A client that puts back what it got does not have the writeOnly members, and does not mean to remove them.
		case f.inPlace():
			d.clear(f.Type, f.in(v))
		default:
			f.in(v).SetZero()
		}
	}
}

// fill sets the defaults in the struct v, except where something was kept.
func (d *decoder) fill(t *Type, v reflect.Value, based bool) {
	for _, f := range t.Fields {
		switch {
		case based && (d.isReadOnly(f) || f.WriteOnly && d.opts.Mode == Replace):
		case f.Default != nil:
			f.setDefault(f.in(v))
		case f.inPlace() && f.Type.defaults:
			d.fill(f.Type, f.in(v), based)
		}
	}
}

// member reads the value of a field of the struct s.
func (d *decoder) member(f *Field, s, base reflect.Value) error {
	v := f.in(s)
	var was reflect.Value
	if base.IsValid() {
		was = f.in(base)
	}
	if d.isReadOnly(f) {
		return d.readOnlyMember(f, v, was)
	}
	if f.WriteOnly && !f.inPlace() {
		v.SetZero() // what was kept is still that of the base
	}
	return d.fieldValue(f, v, was)
}

// fieldValue reads the value of a field into v. What is behind a pointer is always new, and never that of the base, which
// others may be reading.
func (d *decoder) fieldValue(f *Field, v, was reflect.Value) error {
	if f.pointer {
		if d.PeekKind() == 'n' {
			v.SetZero()
			return d.skip()
		}
		v.Set(reflect.New(f.Type.GoType))
		v = v.Elem()
		if was.IsValid() {
			was = was.Elem()
		}
	}
	if f.Quoted {
		return d.quoted(f.Type, v)
	}
	return d.value(f.Type, v, was)
}

// readOnlyMember reads a member that must be what it was. For a new value it must not be there at all.
func (d *decoder) readOnlyMember(f *Field, v, was reflect.Value) error {
	if d.claim != claimNothing {
		return d.fieldValue(f, v, was)
	}
	if d.opts.Mode == Create {
		// Even an equal value is refused: there is nothing that it could be equal to.
		if err := d.skip(); err != nil {
			return err
		}
		d.add(codeReadOnly, "is decided by the server and cannot be given")
		return nil
	}
	given := reflect.New(v.Type()).Elem()
	if !was.IsValid() {
		was = reflect.New(v.Type()).Elem()
	}
	// Read aside, so that the value keeps what it has. If the member is of the wrong shape, that it may not be changed is
	// all that its sender needs to know.
	before := len(d.found)
	d.claim = claimAll
	err := d.fieldValue(f, given, was)
	d.claim = claimNothing
	if err != nil {
		return err
	}
	if len(d.found) > before || !f.equal(given, was) {
		d.found = d.found[:before]
		d.add(codeReadOnly, "is decided by the server and cannot be changed")
	}
	return nil
}

// absent notes the members that should have been there, after the end of the object.
func (d *decoder) absent(t *Type, base reflect.Value, seen *bitset) {
	for i, f := range t.Fields {
		if seen.has(i) {
			continue
		}
		switch {
		case d.depth == 1 && slices.Contains(d.opts.Filled, f.Name):
			d.readOnly = append(d.readOnly, f) // nothing is read any more; what is left is to check the others
		case d.isReadOnly(f):
			// A patch begins with all members there, so one that is gone was removed on purpose.
			if d.opts.Mode == Patched && base.IsValid() && d.claim == claimNothing && f.isWritten(base) {
				d.addAt(d.pointerTo(f), codeReadOnly, "is decided by the server and cannot be removed")
			}
		case !f.Required, f.WriteOnly && d.opts.Mode == Replace && base.IsValid():
		default:
			d.addAt(d.pointerTo(f), codeRequired, "is required")
		}
	}
}

// pointerTo returns the pointer of a member of the object that was read last.
func (d *decoder) pointerTo(f *Field) string {
	return string(d.StackPointer().AppendToken(f.Name))
}

// isWritten reports whether the field of the struct s is not omitted.
func (f *Field) isWritten(s reflect.Value) bool {
	v := f.in(s)
	if f.OmitZero && f.isZero(v) {
		return false
	}
	if !f.OmitEmpty {
		return true
	}
	out, err := f.append(nil, v, writing{full: true})
	return err != nil || !isEmpty(out)
}

// setDefault sets the Go field to the default.
func (f *Field) setDefault(v reflect.Value) {
	if f.pointer {
		v.Set(reflect.New(f.Type.GoType))
		v = v.Elem()
	}
	// Registration has set a value from the same text without an error.
	_ = f.Type.set(v, f.defaultText)
}

// bitset is a set of small numbers, without allocation for those below 64.
type bitset struct {
	low  uint64
	high []uint64
}

// add puts i into the set.
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
