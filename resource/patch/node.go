package patch

import (
	"bytes"
	"slices"
)

// node is a value of the document that a JSON Patch is changing. It stays text until an operation reaches into it, so
// that what no pointer names is never taken apart. Texts are shared between nodes and never written to.
type node struct {
	text []byte // never empty
	tree *tree  // not nil once the node is open; text then only tells object from array
}

// tree is an open object or array. It holds its nodes by pointer, because an insertion at the front moves all that
// follow: a thousand of them in an array of half a million elements take a third of the time that they would otherwise.
type tree struct {
	object bool
	names  [][]byte // of an object: the quoted name of each of nodes
	nodes  []*node
}

// open takes an object or array apart, and returns nil for a scalar.
func (n *node) open() *tree {
	if n.tree != nil {
		return n.tree
	}
	var names [][]byte
	var nodes []node
	switch n.text[0] {
	case '{':
		for name, value := range members(n.text) {
			names = append(names, name)
			nodes = append(nodes, node{text: value})
		}
	case '[':
		for value := range elements(n.text) {
			nodes = append(nodes, node{text: value})
		}
	default:
		return nil
	}
	n.tree = &tree{object: n.text[0] == '{', names: names, nodes: make([]*node, len(nodes))}
	for i := range nodes {
		n.tree.nodes[i] = &nodes[i]
	}
	return n.tree
}

// size returns how many bytes appendTo appends. It takes as long as there are open nodes below n, so that callers see to
// it that no node is measured again and again.
func (n *node) size() int64 {
	if n.tree == nil {
		return int64(len(n.text))
	}
	size := int64(2 + max(len(n.tree.nodes)-1, 0)) // brackets and commas
	for _, name := range n.tree.names {
		size += int64(len(name) + 1)
	}
	for _, child := range n.tree.nodes {
		size += child.size()
	}
	return size
}

// appendTo appends the canonical text of n.
func (n *node) appendTo(dst []byte) []byte {
	if n.tree == nil {
		return append(dst, n.text...)
	}
	opening, closing := byte('['), byte(']')
	if n.tree.object {
		opening, closing = '{', '}'
	}
	dst = append(dst, opening)
	for i, child := range n.tree.nodes {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.tree.object {
			dst = append(append(dst, n.tree.names[i]...), ':')
		}
		dst = child.appendTo(dst)
	}
	return append(dst, closing)
}

// find returns the position of what at names in t, or -1. It searches one by one: an index of names would have to be
// kept through insertions and removals, and most patches look at an object once.
func (t *tree) find(at token) int {
	if !t.object {
		if at.index >= 0 && at.index < len(t.nodes) {
			return at.index
		}
		return -1
	}
	return slices.IndexFunc(t.names, func(name []byte) bool { return bytes.Equal(name, at.name) })
}

// overhead returns how many bytes the node at i takes beside its value: its name, a colon and a comma.
func (t *tree) overhead(i int) int64 {
	size := 0
	if t.object {
		size += len(t.names[i]) + 1
	}
	if len(t.nodes) > 1 {
		size++
	}
	return int64(size)
}

// insert puts n at position i, before what is there. In an object name becomes its name.
func (t *tree) insert(i int, name []byte, n *node) {
	t.nodes = slices.Insert(t.nodes, i, n)
	if t.object {
		t.names = slices.Insert(t.names, i, name)
	}
}

// remove takes out what is at position i.
func (t *tree) remove(i int) {
	t.nodes = slices.Delete(t.nodes, i, i+1)
	if t.object {
		t.names = slices.Delete(t.names, i, i+1)
	}
}
