package schema

// Places in documents, with what clients can read there. Called by package patch.

// Place is the place of a value in the documents of a [Type]. The zero Place is one of which the schema knows
// nothing, such as a value in a member of type any.
type Place struct {
	typ    *Type
	key    *Field // of an array, by the tag key
	secret bool
	omits  bool // the member has omitempty
}

// Place returns the place of the document. It is the zero Place if t has neither writeOnly fields nor
// defaults.
func (t *Type) Place() Place {
	if !t.secret && !t.preset {
		return Place{}
	}
	return Place{typ: t}
}

// At returns the place of a member of the value, by its JSON name in quotation marks, or of an element. The
// name of an element does not matter.
func (p Place) At(quoted []byte) Place {
	switch {
	case p.typ == nil:
	case p.typ.Elem != nil:
		return Place{typ: p.typ.Elem, secret: p.secret}
	case p.typ.op == opObject:
		if i := p.typ.indexOf(quoted, 0); i >= 0 {
			f := p.typ.Fields[i]
			return Place{f.Type, f.elemKey, p.secret || f.WriteOnly, f.OmitEmpty}
		}
	}
	return Place{secret: p.secret}
}

// Secret reports whether the value is that of a writeOnly member, or inside of one.
func (p Place) Secret() bool { return p.secret }

// HasSecrets reports whether a value at the place can have writeOnly members in it.
func (p Place) HasSecrets() bool { return p.typ != nil && p.typ.secret }

// AppendVisible appends a value without the writeOnly members in it. value is valid JSON without white space
// between tokens, as in the other methods.
func (p Place) AppendVisible(dst, value []byte) []byte {
	if p.typ == nil {
		return append(dst, value...)
	}
	return p.typ.appendVisible(dst, value)
}

// Complete returns a value that a client gives for this place, with the members that [Type.Complete] adds.
// before is the value at the place, or nil.
func (p Place) Complete(value, before []byte) []byte {
	if p.typ == nil {
		return value
	}
	return p.typ.complete(nil, value, before, p.key, given{fresh: fillAll, old: fillAll, keep: true})
}

// CompleteElems is Complete for elements that a client gives for an array at this place. before are all
// elements. A nil element in elems is not completed, and one in before
// belongs to none of elems.
func (p Place) CompleteElems(elems, before [][]byte) [][]byte {
	if p.typ == nil || p.typ.Elem == nil {
		return elems
	}
	return p.typ.completeElems(elems, before, p.key, 0)
}

// appendVisible appends doc, the JSON of a value of t, as [Type.Append] encodes it: without writeOnly
// members.
func (t *Type) appendVisible(dst, doc []byte) []byte {
	if !t.secret || doc[0] != '{' && doc[0] != '[' {
		return append(dst, doc...)
	}
	dst = append(dst, doc[0])
	begin := len(dst)
	for name, value := range children(doc) {
		p := Place{typ: t}.At(name)
		if p.secret {
			continue
		}
		before := len(dst)
		dst = comma(dst, begin)
		if name != nil {
			dst = append(append(dst, name...), ':')
		}
		start := len(dst)
		if dst = p.AppendVisible(dst, value); p.omits && isEmpty(dst[start:]) {
			dst = dst[:before]
		}
	}
	return append(dst, doc[len(doc)-1])
}
