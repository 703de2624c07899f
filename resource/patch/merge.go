package patch

import (
	"bytes"
	"slices"
)

// ParseMergePatch parses a JSON Merge Patch (RFC 7396). Every JSON value is a valid merge patch: an
// object changes the members that it contains and removes those with the value null, and any other
// value replaces the document. A merge patch therefore cannot set a member to null or change a
// single array element; use a JSON Patch for that.
//
// Every error is an [*Error] of kind [Malformed] or, if the patch is nested deeper than l allows,
// [TooLarge]. Its Operation is -1.
func ParseMergePatch(data []byte, l Limits) (*Patch, error) {
	text, e := canonicalPatch(data)
	if e != nil {
		e.Operation = -1
		return nil, e
	}
	p := &Patch{text: text, limits: l.withDefaults(), merge: true}
	if depthOf(text) > p.limits.Depth {
		return nil,
			tooLarge(codeDepth, "", "a merge patch must not be nested deeper than %d levels", p.limits.Depth)
	}
	return p, nil
}

// Merge returns the text of a JSON Merge Patch, and the largest size in bytes that the patched document
// may have. A caller that has a document in another form can apply the patch to that. ok is false for any
// other patch, and for the result of [Invalid]. The caller must not modify text.
func (p *Patch) Merge() (text []byte, size int64, ok bool) {
	return p.text, p.limits.Size, p.merge
}

// mergePatch is a parsed merge patch.
type mergePatch struct {
	text      []byte
	members   []mergeMember  // of an object, in order; nil for any other value
	positions map[string]int // of the members, by name; nil if they are few
}

// mergeMember is a member of a patch that is an object.
type mergeMember struct {
	name    []byte
	removes bool
	patch   mergePatch // unless removes is set
}

// fewMembers is the number of members that are found faster without a map.
const fewMembers = 8

// newMergePatch parses a canonical text.
func newMergePatch(text []byte) mergePatch {
	m := mergePatch{text: text}
	if text[0] != '{' {
		// An array replaces the target, and a null in it at any depth is a value (RFC 7396 section
		// 2).
		return m
	}
	m.members = []mergeMember{}
	for name, value := range members(text) { // canonicalPatch has rejected duplicate names
		member := mergeMember{name: name, removes: value[0] == 'n'}
		if !member.removes {
			member.patch = newMergePatch(value)
		}
		m.members = append(m.members, member)
	}
	if len(m.members) > fewMembers {
		m.positions = make(map[string]int, len(m.members))
		for i, member := range m.members {
			m.positions[string(member.name)] = i
		}
	}
	return m
}

// find returns the position of the member with the quoted name, or -1.
func (m *mergePatch) find(name []byte) int {
	if m.positions == nil {
		return slices.IndexFunc(m.members, func(o mergeMember) bool { return bytes.Equal(o.name, name) })
	}
	if i, ok := m.positions[string(name)]; ok {
		return i
	}
	return -1
}

// noMembers is the target of a patch for a value that does not exist or is not an object.
const noMembers = "{}"

// appendTo appends the result of applying m to target.
func (m *mergePatch) appendTo(dst, target []byte) []byte {
	if m.members == nil {
		return append(dst, m.text...)
	}
	if target[0] != '{' {
		target = []byte(noMembers)
	}
	return m.merge(dst, target)
}

// merge appends the members of target with their patches applied, followed by the new members. It
// writes directly to dst, without parsing the target into another form.
func (m *mergePatch) merge(dst, target []byte) []byte {
	dst = append(dst, '{')
	begin := len(dst)
	seen := make([]bool, len(m.members))
	for name, value := range members(target) {
		i := m.find(name)
		switch {
		case i < 0:
			dst = append(appendName(dst, begin, name), value...) // not in the patch
			continue
		case !m.members[i].removes:
			dst = m.members[i].patch.appendTo(appendName(dst, begin, name), value)
		}
		seen[i] = true
	}
	for i := range m.members {
		if member := &m.members[i]; !seen[i] && !member.removes {
			// An object is merged into an empty one here, because its nulls are not values.
			dst = member.patch.appendTo(appendName(dst, begin, member.name), []byte(noMembers))
		}
	}
	return append(dst, '}')
}

// appendName appends the name of a member to the object that begins before dst[begin].
func appendName(dst []byte, begin int, name []byte) []byte {
	if len(dst) > begin {
		dst = append(dst, ',')
	}
	return append(append(dst, name...), ':')
}
