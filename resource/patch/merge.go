package patch

// ParseMergePatch reads a JSON Merge Patch (RFC 7396). Any JSON value is one: an object changes the members it names
// and removes those it gives as null, everything else takes the place of the document. A merge patch can therefore
// neither set a member to null nor change a single element of an array; JSON Patch does both.
//
// Every error is an [*Error]: Malformed, or TooLarge where the patch is nested deeper than l allows. An error of such a
// patch never names an operation.
func ParseMergePatch(data []byte, l Limits) (*Patch, error) {
	text, e := gate(data)
	if e != nil {
		e.Operation = -1
		return nil, e
	}
	p := &Patch{limits: l.orDefault()}
	if depthOf(text) > p.limits.Depth {
		return nil, tooLarge(codeDepth, "", "a merge patch is nested at most %d deep", p.limits.Depth)
	}
	p.merge = newMergePatch(text)
	return p, nil
}

// mergePatch is a merge patch taken apart.
type mergePatch struct {
	text    []byte
	members []mergeMember // of an object, in order; nil for any other value
	places  map[string]int
}

// mergeMember is a member of a patch that is an object. A nil patch removes the member.
type mergeMember struct {
	name  []byte
	patch *mergePatch
}

func newMergePatch(text []byte) *mergePatch {
	m := &mergePatch{text: text}
	if text[0] != '{' {
		// Arrays replace wholesale: a null inside one, at any depth, is a value (RFC 7396 section 2).
		return m
	}
	m.members, m.places = []mergeMember{}, map[string]int{}
	for name, value := range members(text) { // no name occurs twice: the gate has seen to it
		m.places[string(name)] = len(m.members)
		member := mergeMember{name: name}
		if value[0] != 'n' {
			member.patch = newMergePatch(value)
		}
		m.members = append(m.members, member)
	}
	return m
}

// noMembers is the target of a patch that meets none, or one that is not an object.
const noMembers = "{}"

// appendTo appends what m makes of target.
func (m *mergePatch) appendTo(dst, target []byte) []byte {
	if m.members == nil {
		return append(dst, m.text...)
	}
	if target[0] != '{' {
		target = []byte(noMembers)
	}
	return m.merge(dst, target)
}

// merge appends the members of target, each patched, and then the members that are new. It writes straight into the
// result; no part of the document is held in any other form.
func (m *mergePatch) merge(dst, target []byte) []byte {
	dst = append(dst, '{')
	begin := len(dst)
	met := make([]bool, len(m.members))
	for name, value := range members(target) {
		i, ok := m.places[string(name)]
		switch {
		case !ok:
			dst = append(appendName(dst, begin, name), value...) // the patch does not speak of it
			continue
		case m.members[i].patch != nil:
			dst = m.members[i].patch.appendTo(appendName(dst, begin, name), value)
		}
		met[i] = true
	}
	for i, member := range m.members {
		if !met[i] && member.patch != nil {
			// Also here an object is merged, into nothing: its nulls are orders and not values.
			dst = member.patch.appendTo(appendName(dst, begin, member.name), []byte(noMembers))
		}
	}
	return append(dst, '}')
}

// appendName appends the name of a member to an object whose members begin at dst[begin].
func appendName(dst []byte, begin int, name []byte) []byte {
	if len(dst) > begin {
		dst = append(dst, ',')
	}
	return append(append(dst, name...), ':')
}
