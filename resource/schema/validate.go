package schema

import (
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Validate checks v, a pointer to a value of the Go type, against the constraints of its fields and returns all
// violations, up to a thousand, in the order of the schema.
//
// Read-only fields are the server's own and are not checked. A field that is zero is not checked either if it may be
// missing from what is written (omitzero, omitempty) or is a nil pointer, unless it is required. Lengths are counted in
// code points. Of the formats, date-time, date, time, email, uuid, uri, hostname, ipv4 and ipv6 are checked; others are
// documentation. A value of another type has no violations.
func (t *Type) Validate(v any) []Violation {
	value, err := t.target(v)
	if err != nil || !t.constrained {
		return nil
	}
	var c checker
	c.value(t, value, nil)
	return c.found
}

// checker collects the violations of one value.
type checker struct {
	found []Violation
	skip  []*Field // fields of the outermost object that are not checked
}

// path leads to a value; it is turned into a pointer only where there is something wrong.
type path struct {
	outer *path
	name  string
	index int // where name is empty and not a name
}

// pointer returns the path as in RFC 6901.
func (p *path) pointer() string {
	return string(p.append(nil))
}

func (p *path) append(dst []byte) []byte {
	if p == nil {
		return dst
	}
	dst = append(p.outer.append(dst), '/')
	if p.index >= 0 {
		return strconv.AppendInt(dst, int64(p.index), 10)
	}
	for i := range len(p.name) {
		switch p.name[i] {
		case '~':
			dst = append(dst, "~0"...)
		case '/':
			dst = append(dst, "~1"...)
		default:
			dst = append(dst, p.name[i])
		}
	}
	return dst
}

func (c *checker) add(p *path, code, detail string) {
	if len(c.found) < maxViolations {
		c.found = append(c.found, Violation{p.pointer(), code, detail})
	}
}

// value checks what a value is composed of.
func (c *checker) value(t *Type, v reflect.Value, p *path) {
	switch {
	case !t.constrained:
	case t.op == opObject:
		for _, f := range t.Fields {
			if !f.ReadOnly && (f.checked || f.Type.constrained) && (p != nil || !slices.Contains(c.skip, f)) {
				c.field(f, f.in(v), &path{p, f.Name, -1})
			}
		}
	default:
		c.elements(nil, t, v, p)
	}
}

// field checks the value of a field against its constraints, and what it is composed of.
func (c *checker) field(f *Field, v reflect.Value, p *path) {
	if f.optional() && f.isOmitted(v) {
		return
	}
	if f.pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if f.Type.Elem == nil {
		if f.checked {
			c.scalar(f, f.Type, v, p)
		}
		c.value(f.Type, v, p)
		return
	}
	c.items(f, v.Len(), p)
	if f.Unique && !f.Type.distinct(v) {
		c.add(p, codeUnique, "must not have equal elements")
	}
	if f.checked || f.Type.constrained {
		c.elements(f, f.Type, v, p)
	}
}

// isOmitted reports whether an optional field says by its value that there is none.
func (f *Field) isOmitted(v reflect.Value) bool {
	switch {
	case f.Nullable:
		return v.IsNil()
	case f.OmitZero:
		return f.isZero(v)
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}

func (c *checker) items(f *Field, n int, p *path) {
	if f.MinItems != nil && n < *f.MinItems {
		c.add(p, codeMinItems, "must have at least "+count(*f.MinItems, "element"))
	}
	if f.MaxItems != nil && n > *f.MaxItems {
		c.add(p, codeMaxItems, "must have at most "+count(*f.MaxItems, "element"))
	}
}

// elements checks the elements of the array or map v of type t, against the constraints of f as well if there is one.
func (c *checker) elements(f *Field, t *Type, v reflect.Value, p *path) {
	if t.op != opMap {
		for i := range v.Len() {
			c.element(f, t, v.Index(i), &path{p, "", i})
		}
		return
	}
	// A map that cannot be written is found out about when it is written.
	entries, _ := t.entries(v)
	for _, e := range entries {
		c.element(f, t, e.value, &path{p, e.name, -1})
	}
}

func (c *checker) element(f *Field, t *Type, v reflect.Value, p *path) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if f != nil && f.checked {
		c.scalar(f, t.Elem, v, p)
	}
	c.value(t.Elem, v, p)
}

// scalar checks a value of type t, which is addressable, against the constraints of f on values.
func (c *checker) scalar(f *Field, t *Type, v reflect.Value, p *path) {
	switch t.op {
	case opString:
		c.text(f, v.String(), p)
	case opText:
		text, err := appendText(nil, v)
		if err == nil {
			c.text(f, string(text), p)
		}
	case opInt, opUint, opFloat:
		c.number(f, t, v, p)
	}
}

func (c *checker) text(f *Field, s string, p *path) {
	if f.MinLength != nil || f.MaxLength != nil {
		n := utf8.RuneCountInString(s)
		if f.MinLength != nil && n < *f.MinLength {
			c.add(p, codeMinLength, "must be at least "+count(*f.MinLength, "character")+" long")
		}
		if f.MaxLength != nil && n > *f.MaxLength {
			c.add(p, codeMaxLength, "must be at most "+count(*f.MaxLength, "character")+" long")
		}
	}
	if f.Pattern != nil && !f.Pattern.MatchString(s) {
		c.add(p, codePattern, "must match the pattern "+f.Pattern.String())
	}
	if f.Enum != nil && !slices.Contains(f.Enum, any(s)) {
		c.add(p, codeEnum, "must be "+oneOf(f.Enum))
	}
	if f.check != nil && !f.check(s) {
		c.add(p, codeFormat, "must be "+wantedFormat(f.Format))
	}
}

func (c *checker) number(f *Field, t *Type, v reflect.Value, p *path) {
	var b bound
	switch t.op {
	case opInt:
		b.i = v.Int()
	case opUint:
		b.u = v.Uint()
	default:
		b.f = v.Float()
	}
	if f.min != nil && b.compare(f.min) < 0 {
		c.add(p, codeMinimum, "must be at least "+f.Minimum)
	}
	if f.max != nil && b.compare(f.max) > 0 {
		c.add(p, codeMaximum, "must be at most "+f.Maximum)
	}
	if f.Enum != nil && !slices.Contains(f.Enum, t.canonical(v)) {
		c.add(p, codeEnum, "must be "+oneOf(f.Enum))
	}
}

// distinct reports whether no two elements of the array are written alike.
func (t *Type) distinct(v reflect.Value) bool {
	seen := make(map[string]bool, v.Len())
	var buf []byte
	for i := range v.Len() {
		var err error
		if buf, err = t.appendElem(buf[:0], v.Index(i), writing{full: true}); err != nil {
			continue // found out about when it is written
		}
		if seen[string(buf)] {
			return false
		}
		seen[string(buf)] = true
	}
	return true
}

// count writes a number of things.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}
