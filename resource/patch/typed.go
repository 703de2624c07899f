package patch

// Patching the JSON of a value of a known type: writeOnly members stay hidden, and what the client gives
// is completed. Called by package resource. It calls package schema.

import (
	"fmt"

	"github.com/stoa-go/stoa/resource/schema"
)

// ApplyTo is [Patch.Apply] for the output of [schema.Type.AppendFull], of which clients cannot read the
// writeOnly members. [schema.Type.Complete] adds to the result what the client left out: new objects get
// their defaults, and objects and elements that the client sends back keep their writeOnly members.
//
// For a JSON Patch the completed values are those of "add" and "replace". The other operations do not
// reveal a writeOnly member: "test" compares without it, "copy" does not copy it, and "move" takes it along
// only to another index of the same array. A "test" of one, or one as the source of "copy" and "move", is a
// path that does not exist. For a [Format] see [Patch.ApplyVisible].
func (p *Patch) ApplyTo(t *schema.Type, full []byte) ([]byte, error) {
	switch {
	case p.format != nil:
		text, err := canonical(full)
		if err != nil {
			return nil, fmt.Errorf("patch: invalid document: %w", err)
		}
		changed, err := p.ApplyVisible(text, t.Place().AppendVisible(nil, text))
		if err != nil {
			return nil, err
		}
		return t.Complete(changed, text, true), nil
	case p.merge || p.err != nil:
		changed, err := p.Apply(full)
		if err != nil {
			return nil, err
		}
		return t.Complete(changed, full, true), nil
	}
	text, err := canonical(full)
	if err != nil {
		return nil, fmt.Errorf("patch: invalid document: %w", err)
	}
	changed, err := p.applyOps(text, t.Place())
	if err != nil {
		return nil, err
	}
	if e := p.checkResult(text, changed); e != nil {
		return nil, e
	}
	return changed, nil
}

// placeOf returns the place that a pointer refers to.
func (d *document) placeOf(at pointer) schema.Place {
	place := d.place
	for _, step := range at.tokens {
		place = place.At(step.name)
	}
	return place
}

// readable returns the value at a pointer without the members that clients cannot read.
func (d *document) readable(at pointer) (*node, *Error) {
	place := d.placeOf(at)
	if place.Secret() {
		return nil, missing(at.text)
	}
	n, e := d.find(at)
	if e != nil || !place.HasSecrets() {
		return n, e
	}
	return &node{text: place.AppendVisible(nil, n.appendTo(nil)), given: n.given}, nil
}

// withinArray reports whether both pointers refer to elements of one array.
func (d *document) withinArray(from, to pointer) bool {
	last := len(from.tokens) - 1
	if last < 0 || last != len(to.tokens)-1 {
		return false
	}
	array := pointer{tokens: from.tokens[:last]}
	for i, step := range array.tokens {
		if string(step.name) != string(to.tokens[i].name) {
			return false
		}
	}
	n, e := d.find(array)
	return e == nil && n.text[0] == '['
}

// complete completes the values in n that "add" and "replace" have given. before is the value at the place
// of n before the patch, or nil; nodes that are in it share its memory.
func (d *document) complete(n *node, place schema.Place, before []byte) {
	switch {
	case !d.typed:
	case n.given:
		*n = node{text: place.Complete(n.appendTo(nil), before)}
	case n.tree == nil: // as it was
	case n.tree.object:
		was := map[string][]byte{}
		if len(before) > 0 && before[0] == '{' {
			was = newTexts(before)
		}
		for i, child := range n.tree.nodes {
			d.complete(child, place.At(n.tree.names[i]), was[string(n.tree.names[i])])
		}
	default:
		d.completeElements(n.tree.nodes, place, before)
	}
}

// completeElements is complete for the elements of an array. Elements that were in it before are not matched,
// because they have their writeOnly members, unless the patch has removed those.
func (d *document) completeElements(nodes []*node, place schema.Place, before []byte) {
	var old [][]byte
	index := map[*byte]int{}
	if len(before) > 0 && before[0] == '[' {
		for elem := range elements(before) {
			index[&elem[0]] = len(old)
			old = append(old, elem)
		}
	}
	given, unused := make([][]byte, len(nodes)), append([][]byte(nil), old...)
	for i, child := range nodes {
		if child.given {
			given[i] = child.appendTo(nil)
			continue
		}
		var was []byte
		if j, ok := index[&child.text[0]]; ok {
			was, unused[j] = old[j], nil
		}
		d.complete(child, place.At(nil), was)
	}
	for i, elem := range place.CompleteElems(given, unused) {
		if elem != nil {
			*nodes[i] = node{text: elem}
		}
	}
}
