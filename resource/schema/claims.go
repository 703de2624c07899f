package schema

import "reflect"

// claim says what is done with read-only members: whether the place where they stand is known, so that they can be
// compared at once.
type claim uint8

const (
	claimNothing claim = iota // compared at once
	claimElem                 // compared when the element of the array is complete
	claimAll                  // part of a read-only member, which is compared as a whole
)

// claims are the elements of an array, or none, whose read-only members new elements may have. Elements have no
// identity: a patch that removes the first moves all others, and a client that adds a line sends the old ones back with
// it.
type claims struct {
	elem *Type
	base reflect.Value // the array that is there now, or the zero Value
	next int           // where to look first: behind the last one found
}

// maxTries bounds the work for one document, as an array sent in an order of its own takes quadratic time.
const maxTries = 1 << 20

// holds reports whether the read-only members of an element of an array or a map are zero, or as they are known.
func (d *decoder) holds(c *claims, v reflect.Value) bool {
	v = reflect.Indirect(v)
	if !v.IsValid() || c.elem.sameReadOnly(v, reflect.New(c.elem.GoType).Elem()) {
		return true
	}
	if !c.base.IsValid() {
		return false
	}
	// Looking from where the last one was found, elements that stay in order cost one comparison each.
	n := c.base.Len()
	for i := range n {
		if d.tries++; d.tries > maxTries {
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
