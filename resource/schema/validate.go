package schema

import (
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
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
	c.value(t, value)
	return c.found
}

// checker collects the violations of one value.
type checker struct {
	found []Violation
	skip  []*Field // fields of the outermost object that are not checked
	path  []step   // to the value that is being checked
}

// step is one token of a pointer: a place in an array, or where that is negative, a name.
type step struct {
	name  string
	index int
}

// push moves the path on to a member or an element; pop moves it back.
func (c *checker) push(name string, index int) {
	c.path = append(c.path, step{name, index})
}

func (c *checker) pop() {
	c.path = c.path[:len(c.path)-1]
}

// add notes a violation at the value that is being checked.
func (c *checker) add(code, detail string) {
	if len(c.found) < maxViolations {
		c.found = append(c.found, Violation{c.pointer(), code, detail})
	}
}

// pointer returns the path as a JSON Pointer. It is only asked for where something is wrong, so that valid values cost no
// allocation.
func (c *checker) pointer() string {
	var p jsontext.Pointer
	for _, s := range c.path {
		if s.index >= 0 {
			p = p.AppendToken(strconv.Itoa(s.index))
		} else {
			p = p.AppendToken(s.name)
		}
	}
	return string(p)
}

// value checks what a value is composed of.
func (c *checker) value(t *Type, v reflect.Value) {
	switch {
	case !t.constrained:
	case t.op == opObject:
		for _, f := range t.Fields {
			if !f.ReadOnly && (f.checked || f.Type.constrained) && (len(c.path) > 0 || !slices.Contains(c.skip, f)) {
				c.push(f.Name, -1)
				c.field(f, f.in(v))
				c.pop()
			}
		}
	default:
		c.elements(nil, t, v)
	}
}

// field checks the value of a field against its constraints, and what it is composed of.
func (c *checker) field(f *Field, v reflect.Value) {
	if f.optional() && f.isOmitted(v) {
		return
	}
	if f.pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	// Without elements, the constraints are about the value; else about each element, which elements sees to.
	if f.Type.Elem == nil {
		if f.checked {
			c.scalar(f, f.Type, v)
		}
		c.value(f.Type, v)
		return
	}
	c.items(f, v.Len())
	if f.Unique && !f.Type.distinct(v) {
		c.add(codeUnique, "must not have equal elements")
	}
	if f.checked || f.Type.constrained {
		c.elements(f, f.Type, v)
	}
}

// isOmitted reports whether an optional field says by its value that there is none. For omitempty this is a little more
// than what is left out: a zero number is written, and still nobody gave it.
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

// items checks how many elements there are.
func (c *checker) items(f *Field, n int) {
	if f.MinItems != nil && n < *f.MinItems {
		c.add(codeMinItems, "must have at least "+count(*f.MinItems, "element"))
	}
	if f.MaxItems != nil && n > *f.MaxItems {
		c.add(codeMaxItems, "must have at most "+count(*f.MaxItems, "element"))
	}
}

// elements checks the elements of the array or map v of type t, against the constraints of f as well if there is one.
func (c *checker) elements(f *Field, t *Type, v reflect.Value) {
	if t.op != opMap {
		for i := range v.Len() {
			c.push("", i)
			c.element(f, t, v.Index(i))
			c.pop()
		}
		return
	}
	// A map that cannot be written is found out about when it is written.
	entries, _ := t.entries(v)
	for _, e := range entries {
		c.push(e.name, -1)
		c.element(f, t, e.value)
		c.pop()
	}
}

// element checks an element, against the constraints that the field has for its elements and against those inside of it.
func (c *checker) element(f *Field, t *Type, v reflect.Value) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if f != nil && f.checked {
		c.scalar(f, t.Elem, v)
	}
	c.value(t.Elem, v)
}

// scalar checks a value of type t, which is addressable, against the constraints of f on values.
func (c *checker) scalar(f *Field, t *Type, v reflect.Value) {
	switch t.op {
	case opString:
		c.text(f, v.String())
	case opText:
		text, err := appendText(nil, v)
		if err == nil {
			c.text(f, string(text))
		}
	case opInt, opUint, opFloat:
		c.number(f, t, v)
	}
}

// text checks a string against every constraint that the field has: a client that learns of all of them at once is done
// after one correction.
func (c *checker) text(f *Field, s string) {
	if f.MinLength != nil || f.MaxLength != nil {
		n := utf8.RuneCountInString(s)
		if f.MinLength != nil && n < *f.MinLength {
			c.add(codeMinLength, "must be at least "+count(*f.MinLength, "character")+" long")
		}
		if f.MaxLength != nil && n > *f.MaxLength {
			c.add(codeMaxLength, "must be at most "+count(*f.MaxLength, "character")+" long")
		}
	}
	if f.Pattern != nil && !f.Pattern.MatchString(s) {
		c.add(codePattern, "must match the pattern "+f.Pattern.String())
	}
	if f.Enum != nil && !slices.Contains(f.Enum, any(s)) {
		c.add(codeEnum, "must be "+oneOf(f.Enum))
	}
	if f.check != nil && !f.check(s) {
		c.add(codeFormat, "must be "+wantedFormat(f.Format))
	}
}

// number checks a number in the form of its Go type.
func (c *checker) number(f *Field, t *Type, v reflect.Value) {
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
		c.add(codeMinimum, "must be at least "+f.Minimum)
	}
	if f.max != nil && b.compare(f.max) > 0 {
		c.add(codeMaximum, "must be at most "+f.Maximum)
	}
	if f.Enum != nil && !slices.Contains(f.Enum, t.canonical(v)) {
		c.add(codeEnum, "must be "+oneOf(f.Enum))
	}
}

// distinct reports whether no two elements of the array are written alike. Text is compared by hash, where comparing each
// with each would give a long array quadratic time.
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
