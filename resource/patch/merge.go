package patch

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
	p := &Patch{text: text, limits: l.withDefaults()}
	if depthOf(text) > p.limits.Depth {
		return nil,
			tooLarge(codeDepth, "", "a merge patch must not be nested deeper than %d levels", p.limits.Depth)
	}
	p.merge = newMergePatch(text)
	return p, nil
}

// mergePatch is a parsed merge patch.
type mergePatch struct {
	text      []byte
	members   []mergeMember  // of an object, in order; nil for any other value
	positions map[string]int // of the members, by name
}

// mergeMember is a member of a patch that is an object. A nil patch removes the member.
type mergeMember struct {
	name  []byte
	patch *mergePatch
}

// newMergePatch parses a canonical text.
func newMergePatch(text []byte) *mergePatch {
	m := &mergePatch{text: text}
	if text[0] != '{' {
		// An array replaces the target, and a null in it at any depth is a value (RFC 7396 section
		// 2).
		return m
	}
	m.members, m.positions = []mergeMember{}, map[string]int{}
	for name, value := range members(text) { // canonicalPatch has rejected duplicate names
		m.positions[string(name)] = len(m.members)
		member := mergeMember{name: name}
		if value[0] != 'n' {
			member.patch = newMergePatch(value)
		}
		m.members = append(m.members, member)
	}
	return m
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
		i, ok := m.positions[string(name)]
		switch {
		case !ok:
			dst = append(appendName(dst, begin, name), value...) // not in the patch
			continue
		case m.members[i].patch != nil:
			dst = m.members[i].patch.appendTo(appendName(dst, begin, name), value)
		}
		seen[i] = true
	}
	for i, member := range m.members {
		if !seen[i] && member.patch != nil {
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
