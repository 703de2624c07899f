package schema

// The constraints of decoded values. Called after decode.go, and by the core after hooks.

import (
	"bytes"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query"
)

// This file checks values against constraints. Decode uses the checker after decoding, Validate for
// values that the application has set, and applyDefault for the defaults of fields.

// Validate checks v, a pointer to a value of the Go type, against the constraints of its fields. It
// returns all violations, up to 1,000, in the order of the schema. It returns nil if v is valid, is
// nil, or has another type.
//
// Read-only fields are not checked, because the server sets them. An optional field (omitzero,
// omitempty, default:"db" or a pointer, without required) is not checked if it is zero. [Type.Decode]
// checks a zero value of a field with default:"db" that a client has sent for an item that exists.
// Lengths are counted in code points. The package documentation lists the formats that are checked.
func (t *Type) Validate(v any) []Violation {
	value, err := t.target(v)
	if err != nil || !t.constrained {
		return nil
	}
	var c checker
	c.checkValue(t, value)
	return c.found
}

// checker collects the violations of one value.
type checker struct {
	found []Violation
	skip  []*Field // fields of the outermost object that are not checked
	path  []step   // of the current value
}

// step is one token of a pointer: an index if it is not negative, otherwise a name.
type step struct {
	name  string
	index int
}

// push appends a token to the path, and pop removes it.
func (c *checker) push(name string, index int) {
	c.path = append(c.path, step{name, index})
}

func (c *checker) pop() {
	c.path = c.path[:len(c.path)-1]
}

// add adds a violation at the current value. The predicate follows the name of the member.
func (c *checker) add(code, predicate string) {
	if len(c.found) < maxViolations {
		pointer := c.pointer()
		c.found = append(c.found, Violation{pointer, code, subject(pointer) + " " + predicate})
	}
}

// pointer returns the path as a JSON Pointer. It is called for violations only, so that valid
// values need no allocations.
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

// checkValue checks the fields or elements of a value.
func (c *checker) checkValue(t *Type, v reflect.Value) {
	switch {
	case !t.constrained:
	case t.op == opObject:
		for _, f := range t.Fields {
			if !f.ReadOnly && (f.checked || f.Type.constrained) &&
				(len(c.path) > 0 || !slices.Contains(c.skip, f)) {
				c.push(f.Name, -1)
				c.checkField(f, f.in(v))
				c.pop()
			}
		}
	default:
		c.checkElements(nil, t, v)
	}
}

// checkField checks the value of a field against its constraints, and then its members or elements.
// The order of the violations of one value is that of the checks, which tests and clients see.
func (c *checker) checkField(f *Field, v reflect.Value) {
	if f.optional() && f.isOmitted(v) {
		return
	}
	if f.pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	c.checkPresent(f, v)
}

// checkPresent is checkField for a value that is neither omitted nor null.
func (c *checker) checkPresent(f *Field, v reflect.Value) {
	// The constraints apply to the value itself or, if it has elements, to each of them.
	if f.Type.Elem == nil {
		if f.checked {
			c.checkScalar(f, f.Type, v)
		}
		c.checkValue(f.Type, v)
		return
	}
	c.checkItems(f, v.Len())
	if f.Unique && !f.Type.distinct(v) {
		c.add(codeUnique, "must not contain equal elements")
	}
	if f.checked || f.Type.constrained {
		c.checkElements(f, f.Type, v)
	}
}

// isOmitted reports whether an optional field has no value. For omitempty this includes zero
// numbers, which the encoding does not omit.
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

// checkItems checks the number of elements.
func (c *checker) checkItems(f *Field, n int) {
	if f.MinItems != nil && n < *f.MinItems {
		c.add(codeMinItems, "must have at least "+count(*f.MinItems, "element"))
	}
	if f.MaxItems != nil && n > *f.MaxItems {
		c.add(codeMaxItems, "must have at most "+count(*f.MaxItems, "element"))
	}
}

// checkElements checks the elements of the array or map v of type t, also against the constraints
// of f unless f is nil.
func (c *checker) checkElements(f *Field, t *Type, v reflect.Value) {
	if t.op != opMap {
		for i := range v.Len() {
			c.push("", i)
			c.checkElement(f, t, v.Index(i))
			c.pop()
		}
		return
	}
	// If the map cannot be encoded, Append reports the error.
	entries, _ := t.mapMembers(v)
	for _, e := range entries {
		c.push(e.name, -1)
		c.checkElement(f, t, e.value)
		c.pop()
	}
}

// checkElement checks an element against the constraints of f, and then its members or elements.
func (c *checker) checkElement(f *Field, t *Type, v reflect.Value) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if f != nil && f.checked {
		c.checkScalar(f, t.Elem, v)
	}
	c.checkValue(t.Elem, v)
}

// checkScalar checks a scalar of type t, which must be addressable, against the constraints of f.
func (c *checker) checkScalar(f *Field, t *Type, v reflect.Value) {
	switch t.op {
	case opString:
		c.checkText(f, v.String())
	case opText:
		text, err := appendText(nil, v)
		if err == nil {
			c.checkText(f, f.withoutExponent(string(text)))
		}
	case opInt, opUint, opFloat:
		c.checkNumber(f, t, v)
	}
}

// checkText checks a string. It reports all violations, so that clients can fix them at once.
func (c *checker) checkText(f *Field, s string) {
	if f.MinLength != nil || f.MaxLength != nil {
		n := utf8.RuneCountInString(s)
		if f.MinLength != nil && n < *f.MinLength {
			c.add(codeMinLength, "must be at least "+count(*f.MinLength, "character")+" long")
		}
		if f.MaxLength != nil && n > *f.MaxLength {
			c.add(codeMaxLength, "must be at most "+count(*f.MaxLength, "character")+" long")
		}
	}
	if f.Pattern != nil && !f.matchesPattern(s) {
		c.add(codePattern, "must match the pattern "+f.Pattern.String())
	}
	if f.Enum != nil && !f.allows(s) {
		c.add(codeEnum, "must be "+oneOf(f.Enum))
	}
	switch {
	case f.check == nil:
	case !f.check(s):
		c.add(codeFormat, "must be "+formatDetail(f.Format))
	case f.Precision > 0 || f.min != nil || f.max != nil:
		c.checkDecimal(f, s)
	}
}

// checkDecimal checks the digits and the limits of a decimal. It counts zeros at the end, because
// clients can check the same by the pattern of the OpenAPI document.
func (c *checker) checkDecimal(f *Field, s string) {
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	digits := len(strings.TrimPrefix(whole, "0"))
	if f.Precision > 0 && (digits > f.Precision-f.Scale || len(fraction) > f.Scale) {
		c.add(codePrecision, "must have "+digitsText(f.Precision, f.Scale))
	}
	d, _ := query.ParseDecimal(s) // check has accepted it
	c.checkBounds(f, bound{d: d})
}

// digitsText describes the digits of a decimal.
func digitsText(precision, scale int) string {
	before, after := "no digits except 0", "none"
	if precision > scale {
		before = "at most " + count(precision-scale, "digit")
	}
	if scale > 0 {
		after = "at most " + strconv.Itoa(scale)
	}
	return before + " before the decimal point and " + after + " after it"
}

// allows reports whether the enum has the value of a text.
func (f *Field) allows(s string) bool {
	var v any = f.Spell(s)
	if f.parseForm != nil {
		v, _ = f.parseForm(s)
	}
	return slices.Contains(f.allowed, v)
}

// checkNumber checks a number in the representation of its Go type.
func (c *checker) checkNumber(f *Field, t *Type, v reflect.Value) {
	var b bound
	switch t.op {
	case opInt:
		b.i = v.Int()
	case opUint:
		b.u = v.Uint()
	default:
		b.f = v.Float()
	}
	c.checkBounds(f, b)
	if f.Enum != nil && !slices.Contains(f.allowed, t.canonical(v)) {
		c.add(codeEnum, "must be "+oneOf(f.Enum))
	}
}

// checkBounds checks a number against minimum and maximum.
func (c *checker) checkBounds(f *Field, b bound) {
	if f.min != nil && b.compare(f.min) < 0 {
		c.add(codeMinimum, "must be at least "+f.Minimum)
	}
	if f.max != nil && b.compare(f.max) > 0 {
		c.add(codeMaximum, "must be at most "+f.Maximum)
	}
}

// distinct reports whether the encodings of all elements are different. It uses a map, because
// comparing all pairs would take quadratic time. Numbers are equal by value, as 0 and -0 are (JSON
// Schema 2020-12 Core, section 4.2.2).
func (t *Type) distinct(v reflect.Value) bool {
	seen := make(map[string]bool, v.Len())
	var buf []byte
	for i := range v.Len() {
		var err error
		if buf, err = t.appendElem(buf[:0], v.Index(i), encodeState{full: true}); err != nil {
			continue // Append reports the error
		}
		if t.Elem.op == opJSON || bytes.Contains(buf, []byte("-0")) {
			// A text that is not valid JSON is left as it is, and Append reports it.
			_ = (*jsontext.Value)(&buf).Canonicalize(jsontext.CanonicalizeRawInts(false))
		}
		if seen[string(buf)] {
			return false
		}
		seen[string(buf)] = true
	}
	return true
}

// count formats a number of things.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}
