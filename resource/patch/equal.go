package patch

import "bytes"

// equal reports whether two values are equal (RFC 6902 section 4.6). Canonical texts that differ
// can still be equal for numbers (1.0 and 1) and for objects with a different order of members.
func (n *node) equal(other *node) bool {
	if n.tree == nil && other.tree == nil && bytes.Equal(n.text, other.text) {
		return true
	}
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

// equalMembers compares two objects with the same number of members, in any order. Names are
// unique, so it is enough to find each member of a in b.
func equalMembers(a, b *tree) bool {
	var positions map[string]int // built for the first member that has another position in b
	for i, name := range a.names {
		j := i
		if !bytes.Equal(name, b.names[i]) {
			if positions == nil {
				positions = b.positions()
			}
			var ok bool
			if j, ok = positions[string(name)]; !ok {
				return false
			}
		}
		if !a.nodes[i].equal(b.nodes[j]) {
			return false
		}
	}
	return true
}

// positions returns the position of each name, to compare large objects in linear time.
func (t *tree) positions() map[string]int {
	positions := make(map[string]int, len(t.names))
	for i, name := range t.names {
		positions[string(name)] = i
	}
	return positions
}
