package patch

// document is a JSON document while the operations of a JSON Patch change it. When one of them fails, it is thrown
// away: that is how a patch is applied whole or not at all.
type document struct {
	root   *node
	size   int64 // of the text that root would be written as
	copied int64 // by all copy operations so far
	limit  int64
}

func newDocument(text []byte, limits Limits) *document {
	size := int64(len(text))
	return &document{root: &node{text: text}, size: size, limit: max(limits.orDefault().Size, size)}
}

// apply applies one operation. A failed operation may have been applied in part: d is of no further use.
func (d *document) apply(op *operation) *Error {
	switch op.verb {
	case "add":
		return d.add(op.path, &node{text: op.value}, int64(len(op.value)))
	case "remove":
		return d.remove(op.path)
	case "replace":
		return d.replace(op.path, &node{text: op.value})
	case "move":
		return d.move(op.from, op.path)
	case "copy":
		return d.copy(op.from, op.path)
	default:
		return d.test(op.path, &node{text: op.value})
	}
}

// parent returns the object or array that holds what at points to, or would hold it. The pointer is not empty.
func (d *document) parent(at pointer) (*tree, token, *Error) {
	last := len(at.tokens) - 1
	n := d.root
	for _, step := range at.tokens[:last] {
		t := n.open()
		if t == nil {
			return nil, token{}, missing(at)
		}
		i := t.find(step)
		if i < 0 {
			return nil, token{}, t.absent(at, step)
		}
		n = t.nodes[i]
	}
	t := n.open()
	if t == nil {
		return nil, token{}, missing(at)
	}
	return t, at.tokens[last], nil
}

// find returns what at points to.
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
		return nil, t.absent(at, last)
	}
	return t.nodes[i], nil
}

// add is RFC 6902 section 4.1: an element moves the later ones up, a member takes the place of one of its name. The
// document grows by size and what goes with it.
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
		return t.absent(at, last)
	default:
		i = last.index
	}
	t.insert(i, last.name, n) // an array has no use for the name
	return d.grow(at, t.overhead(i)+size)
}

// set overwrites a value that is there, and keeps its place among its siblings.
func (d *document) set(at pointer, old, n *node, size int64) *Error {
	by := size - old.size()
	*old = *n
	return d.grow(at, by)
}

// replace is add where something is there already (RFC 6902 section 4.3), which for an element is not an insertion.
func (d *document) replace(at pointer, n *node) *Error {
	old, e := d.find(at)
	if e != nil {
		return e
	}
	return d.set(at, old, n, n.size())
}

// remove measures what it removes; nothing is measured twice, because it is gone afterwards.
func (d *document) remove(at pointer) *Error {
	n, e := d.take(at)
	if e == nil {
		d.size -= n.size()
	}
	return e
}

// take takes out what at points to, and leaves its own size counted as part of the document.
func (d *document) take(at pointer) (*node, *Error) {
	if len(at.tokens) == 0 {
		return nil, conflict(codeRoot, "", "the whole document cannot be removed")
	}
	t, last, e := d.parent(at)
	if e != nil {
		return nil, e
	}
	i := t.find(last)
	if i < 0 {
		return nil, t.absent(at, last)
	}
	n := t.nodes[i]
	d.size -= t.overhead(i)
	t.remove(i)
	return n, nil
}

// move is a remove and an add. A value that stays where it is keeps its place among the members.
//
// What moves is not measured: a patch may move a large value often, and nothing would be learned.
func (d *document) move(from, to pointer) *Error {
	if from.text == to.text {
		_, e := d.find(from)
		return e
	}
	n, e := d.take(from)
	if e != nil {
		return e
	}
	return d.add(to, n, 0)
}

// copy adds the value at from as text, so that neither of the two changes with the other.
func (d *document) copy(from, to pointer) *Error {
	n, e := d.find(from)
	if e != nil {
		return e
	}
	size := n.size()
	// The sum is bounded as well as the document: a patch that copies and removes in turn has to end.
	if d.copied += size; d.copied > d.limit {
		return tooLarge(codeSize, to.text, "the patch would copy more than %d bytes", d.limit)
	}
	text := n.text
	if n.tree != nil {
		text = n.appendTo(make([]byte, 0, size))
	}
	return d.add(to, &node{text: text}, size)
}

// test opens what it compares and cannot compare as bytes, which later operations profit from.
func (d *document) test(at pointer, want *node) *Error {
	n, e := d.find(at)
	if e != nil {
		return e
	}
	if !n.equal(want) {
		return conflict(codeTest, at.text, "the value is not the one tested for")
	}
	return nil
}

// grow keeps count of the size of the document and refuses what is beyond the limit.
func (d *document) grow(at pointer, by int64) *Error {
	if d.size += by; d.size > d.limit {
		return tooLarge(codeSize, at.text, "the patched document would be larger than %d bytes", d.limit)
	}
	return nil
}

// missing says that at leads through a scalar or to nothing.
func missing(at pointer) *Error {
	return conflict(codeMissing, at.text, "the path does not exist")
}

// absent says why t holds nothing at step.
func (t *tree) absent(at pointer, step token) *Error {
	if !t.object && step.index == noIndex {
		return conflict(codeIndex, at.text, "%s is not an array index", quoted(unquote(step.name)))
	}
	return missing(at)
}
