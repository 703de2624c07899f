package patch

import "github.com/stoa-go/stoa/resource/schema"

// document is a JSON document to which the operations of a JSON Patch are applied in place. If an
// operation fails, Apply discards the document, so a patch is applied completely or not at all.
type document struct {
	root   *node
	size   int64 // of the canonical text of root, in bytes
	copied int64 // bytes duplicated by the copy operations so far
	limit  int64 // for size and for copied
	place  schema.Place
	typed  bool // place is that of a type
}

// newDocument returns a document with the canonical text. Its size limit is at least the size of
// text, so that a patch may shrink a document that is already too large.
func newDocument(text []byte, place schema.Place, limits Limits) *document {
	size := int64(len(text))
	return &document{root: &node{text: text}, size: size, limit: max(limits.withDefaults().Size, size),
		place: place, typed: place != schema.Place{}}
}

// applyOp applies one operation. If it fails, the operation may be applied partially, and d must be
// discarded.
func (d *document) applyOp(op *operation) *Error {
	switch op.verb {
	case "add":
		return d.add(op.path, &node{text: op.value, given: true}, int64(len(op.value)))
	case "remove":
		return d.remove(op.path)
	case "replace":
		return d.replace(op.path, &node{text: op.value, given: true})
	case "move":
		return d.move(op.from, op.path)
	case "copy":
		return d.copy(op.from, op.path)
	default:
		return d.test(op.path, &node{text: op.value})
	}
}

// parent returns the object or array that contains, or would contain, the value at the pointer, and
// the last token of the pointer. The pointer must not be empty.
func (d *document) parent(at pointer) (*tree, token, *Error) {
	last := len(at.tokens) - 1
	n := d.root
	for _, step := range at.tokens[:last] {
		t := n.open()
		if t == nil {
			return nil, token{}, missing(at.text)
		}
		i := t.find(step)
		if i < 0 {
			return nil, token{}, t.notFound(at, step)
		}
		n = t.nodes[i]
	}
	t := n.open()
	if t == nil {
		return nil, token{}, missing(at.text)
	}
	return t, at.tokens[last], nil
}

// find returns the value at the pointer.
func (d *document) find(at pointer) (*node, *Error) {
	if len(at.tokens) == 0 {
		return d.root, nil
	}
	t, last, e := d.parent(at)
	if e != nil {
		return nil, e
	}
	i := t.find(last)
	if i < 0 {
		return nil, t.notFound(at, last)
	}
	return t.nodes[i], nil
}

// add implements "add" (RFC 6902 section 4.1). It inserts n before the element at the pointer, or
// replaces the member if it exists. size is the size to add to that of the document for n itself:
// that of n, or 0 if n was already counted.
func (d *document) add(at pointer, n *node, size int64) *Error {
	if len(at.tokens) == 0 {
		return d.set(at, d.root, n, size)
	}
	t, last, e := d.parent(at)
	if e != nil {
		return e
	}
	i := t.find(last)
	if t.object && i >= 0 {
		return d.set(at, t.nodes[i], n, size)
	}
	switch {
	case t.object || last.index == endIndex:
		i = len(t.nodes)
	case last.index < 0 || last.index > len(t.nodes):
		return t.notFound(at, last)
	default:
		i = last.index
	}
	t.insert(i, last.name, n)
	return d.addSize(at, t.overhead(i)+size)
}

// set overwrites old with n. The position of old among its siblings does not change.
func (d *document) set(at pointer, old, n *node, size int64) *Error {
	growth := size - old.size()
	*old = *n
	return d.addSize(at, growth)
}

// replace implements "replace" (RFC 6902 section 4.3). Unlike add it requires an existing value,
// and overwrites an array element instead of inserting one.
func (d *document) replace(at pointer, n *node) *Error {
	old, e := d.find(at)
	if e != nil {
		return e
	}
	return d.set(at, old, n, n.size())
}

// remove implements "remove" (RFC 6902 section 4.2).
func (d *document) remove(at pointer) *Error {
	n, e := d.detach(at)
	if e == nil {
		d.size -= n.size()
	}
	return e
}

// detach removes the value at the pointer from its parent and returns it. The size of the document
// still includes the value, but no longer its name and separators.
func (d *document) detach(at pointer) (*node, *Error) {
	if len(at.tokens) == 0 {
		return nil, conflict(codeRoot, "", "the whole document cannot be removed")
	}
	t, last, e := d.parent(at)
	if e != nil {
		return nil, e
	}
	i := t.find(last)
	if i < 0 {
		return nil, t.notFound(at, last)
	}
	n := t.nodes[i]
	d.size -= t.overhead(i)
	t.remove(i)
	return n, nil
}

// move implements "move" (RFC 6902 section 4.4). A move to the same pointer changes nothing, not
// even the order of members. Otherwise move is detach and add. The size of the value stays counted,
// so it is not measured again, which matters if a patch moves a large value often.
func (d *document) move(from, to pointer) *Error {
	shown, e := d.readable(from)
	if e != nil || from.text == to.text {
		return e
	}
	inArray := d.withinArray(from, to)
	n, e := d.detach(from)
	if e != nil {
		return e
	}
	if n != shown && !inArray {
		d.size += shown.size() - n.size()
		n = shown
	}
	return d.add(to, n, 0)
}

// copy implements "copy" (RFC 6902 section 4.5). It adds a clone, so that later operations on one of the
// two do not change the other.
func (d *document) copy(from, to pointer) *Error {
	n, e := d.readable(from)
	if e != nil {
		return e
	}
	size := n.size()
	// The limit applies to the sum of all copies too. Otherwise a patch that copies and removes a
	// large value in turn would do much work with a small document.
	if d.copied += size; d.copied > d.limit {
		return tooLarge(codeSize, to.text, "a patch must not copy more than %d bytes", d.limit)
	}
	return d.add(to, n.clone(), size)
}

// test implements "test" (RFC 6902 section 4.6). It parses objects and arrays only if their texts
// differ. The parsed nodes stay in the document for later operations.
func (d *document) test(at pointer, want *node) *Error {
	n, e := d.readable(at)
	if e != nil {
		return e
	}
	if !n.equal(want) {
		return conflict(codeTest, at.text, "the value at %s differs from the tested value", quoted(at.text))
	}
	return nil
}

// addSize adds n, which may be negative, to the size of the document, and returns an error if the
// size exceeds the limit.
func (d *document) addSize(at pointer, n int64) *Error {
	if d.size += n; d.size > d.limit {
		return tooLarge(codeSize, at.text, "the patched document must not be larger than %d bytes", d.limit)
	}
	return nil
}

// missing returns the error for a path that does not exist in the document.
func missing(path string) *Error {
	return conflict(codeMissing, path, "the path %s does not exist", quoted(path))
}

// notFound returns the error for a token of the pointer at that has no value in t.
func (t *tree) notFound(at pointer, step token) *Error {
	if !t.object && step.index == noIndex {
		return conflict(codeIndex, at.text, "%s in the path %s is not an array index",
			quoted(unquote(step.name)), quoted(at.text))
	}
	return missing(at.text)
}
