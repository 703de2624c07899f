package schema

import "reflect"

// readOnlyCheck determines when the read-only members of an object are compared with those of the
// base value. It is the state of a decoder.
type readOnlyCheck uint8

const (
	checkNow    readOnlyCheck = iota // when the member is decoded
	checkInElem                      // when the enclosing array element is decoded
	checkOuter                       // with the enclosing read-only member as a whole
)

// baseElems are the elements of the base array, with which read-only members of the decoded
// elements are compared. Elements have no identity: removing the first one moves all others, and
// clients send existing elements together with new ones. Therefore an element is valid if its
// read-only members equal those of any element of the base, or are zero.
type baseElems struct {
	elem *Type
	base reflect.Value // the array of the base value, or the zero Value
	next int           // index after the last match, where the search begins
}

// maxComparisons limits the comparisons per document, because an array with its elements in a
// different order takes quadratic time.
const maxComparisons = 1 << 20

// inBase reports whether the read-only members of an element of an array or a map are zero or equal
// those of an element of the base.
func (d *decoder) inBase(c *baseElems, v reflect.Value) bool {
	v = reflect.Indirect(v)
	if !v.IsValid() || c.elem.sameReadOnly(v, reflect.New(c.elem.GoType).Elem()) {
		return true
	}
	if !c.base.IsValid() {
		return false
	}
	// The search begins after the last match, so elements in the same order take one comparison
	// each.
	n := c.base.Len()
	for i := range n {
		if d.comparisons++; d.comparisons > maxComparisons {
			return false
		}
		at := (c.next + i) % n
		if other := reflect.Indirect(c.base.Index(at)); other.IsValid() && c.elem.sameReadOnly(v, other) {
			c.next = at + 1
			return true
		}
	}
	return false
}
