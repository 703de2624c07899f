package patch

// Patching a document of which the client can read only a part.

import (
	"bytes"
	"fmt"
	"slices"
)

// ApplyVisible is [Patch.Apply] for a document of which the client can read only a part. full is the
// document and visible is the same without the hidden members, both as they are encoded by one
// encoder. The patch is applied to visible. The hidden members keep their values, unless the patched
// document has members of their names, and those of removed values are removed with them.
//
// Array elements have no names: those that are equal to an element before the patch keep its hidden
// members, at the same index if possible, and others are new values.
func (p *Patch) ApplyVisible(full, visible []byte) ([]byte, error) {
	changed, err := p.Apply(visible)
	if err != nil {
		return nil, err
	}
	if full, err = canonical(full); err != nil {
		return nil, fmt.Errorf("patch: invalid document: %w", err)
	}
	if visible, err = canonical(visible); err != nil {
		return nil, fmt.Errorf("patch: invalid document: %w", err)
	}
	return appendRestored(make([]byte, 0, len(full)+len(changed)), full, visible, changed), nil
}

// appendRestored appends changed with the hidden members of full. visible is full without them.
func appendRestored(dst, full, visible, changed []byte) []byte {
	switch {
	case bytes.Equal(visible, changed):
		return append(dst, full...)
	case full[0] == '{' && visible[0] == '{' && changed[0] == '{':
		return restoreObject(dst, full, visible, changed)
	case full[0] == '[' && visible[0] == '[' && changed[0] == '[':
		return restoreArray(dst, full, visible, changed)
	}
	return append(dst, changed...)
}

// restoreObject is appendRestored for three objects.
func restoreObject(dst, full, visible, changed []byte) []byte {
	before, after := newTexts(visible), newTexts(changed)
	whole := newTexts(full)
	dst = append(dst, '{')
	begin := len(dst)
	for name, value := range members(changed) {
		dst = appendName(dst, begin, name)
		if old, ok := before[string(name)]; ok {
			dst = appendRestored(dst, whole[string(name)], old, value)
			continue
		}
		dst = append(dst, value...)
	}
	for name, value := range members(full) {
		_, shown := before[string(name)]
		if _, written := after[string(name)]; !shown && !written {
			dst = append(appendName(dst, begin, name), value...)
		}
	}
	return append(dst, '}')
}

// newTexts returns the values of an object by quoted name.
func newTexts(object []byte) map[string][]byte {
	texts := map[string][]byte{}
	for name, value := range members(object) {
		texts[string(name)] = value
	}
	return texts
}

// restoreArray is appendRestored for three arrays. An element that is unchanged at its index is
// restored first, so that its hidden members do not move to an equal element. Of the others, equal
// elements are restored in their order.
func restoreArray(dst, full, visible, changed []byte) []byte {
	whole, before := slices.Collect(elements(full)), slices.Collect(elements(visible))
	after := slices.Collect(elements(changed))
	kept := func(i int) bool { return i < len(before) && i < len(after) && bytes.Equal(before[i], after[i]) }
	moved := map[string][]int{} // indexes of elements that are not kept, by value
	for i, value := range before {
		if !kept(i) {
			moved[string(value)] = append(moved[string(value)], i)
		}
	}
	dst = append(dst, '[')
	for i, value := range after {
		if i > 0 {
			dst = append(dst, ',')
		}
		if kept(i) {
			value = whole[i]
		} else if from := moved[string(value)]; len(from) > 0 {
			value, moved[string(value)] = whole[from[0]], from[1:]
		}
		dst = append(dst, value...)
	}
	return append(dst, ']')
}
