package patch

import "bytes"

// equal reports whether two values are equal by RFC 6902 section 4.6.
func (n *node) equal(other *node) bool {
	if n.tree == nil && other.tree == nil && bytes.Equal(n.text, other.text) {
		return true
	}
	// Canonical texts that differ are different scalars, but for numbers: 1.0 and 1.
	a, b := n.open(), other.open()
	if a == nil || b == nil {
		return a == nil && b == nil && equalNumbers(n.text, other.text)
	}
	if a.object != b.object || len(a.nodes) != len(b.nodes) {
		return false
	}
	if a.object {
		return equalMembers(a, b)
	}
	for i := range a.nodes {
		if !a.nodes[i].equal(b.nodes[i]) {
			return false
		}
	}
	return true
}

// equalMembers compares two objects with as many members each, in whatever order. No name occurs twice, so it is
// enough that b has each of a.
func equalMembers(a, b *tree) bool {
	var places map[string]int // made at the first member that is elsewhere in b
	for i, name := range a.names {
		j := i
		if !bytes.Equal(name, b.names[i]) {
			if places == nil {
				places = b.places()
			}
			var ok bool
			if j, ok = places[string(name)]; !ok {
				return false
			}
		}
		if !a.nodes[i].equal(b.nodes[j]) {
			return false
		}
	}
	return true
}

// places returns the position of every name, so that large objects are not compared name by name.
func (t *tree) places() map[string]int {
	places := make(map[string]int, len(t.names))
	for i, name := range t.names {
		places[string(name)] = i
	}
	return places
}
