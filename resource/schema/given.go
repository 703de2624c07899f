package schema

// Values that clients give in place of others: new objects get their defaults, and objects and elements
// that clients send back keep the members that clients cannot see. Called by package resource for PUT and
// by package patch. It works on JSON, so that the decoder reports a violation at its place in the document.

import (
	"bytes"
	"iter"
	"reflect"

	"github.com/go-json-experiment/json/jsontext"
)

// maxGivenDepth is the nesting of types up to which values are completed. It limits the work for a document.
const maxGivenDepth = 64

// Complete returns doc, the JSON of a value of t, with the members that a client leaves out. before is the
// output of [Type.AppendFull] for the current value. An object in place of another one keeps its writeOnly
// members. A new object gets its defaults, and so does one in place of another.
//
// Elements of arrays have no place of their own. An element with the visible members of an element
// before is that element, at any index; with the tag key an element with an equal key is, too. It keeps
// writeOnly and readOnly members, and the defaults that the encoding omits stay omitted. Other elements are
// new.
//
// If patched is true then doc is the result of a patch for before. An object in place of another one is then
// complete: an absent member was removed.
//
// Complete returns doc if it is not valid JSON. It does not modify its arguments.
func (t *Type) Complete(doc, before []byte, patched bool) []byte {
	if !t.renews {
		return doc
	}
	text, err := jsontext.AppendFormat(nil, doc)
	if err != nil {
		return doc // the decoder reports the error
	}
	g := given{fresh: fillAll}
	if !patched {
		g = given{fresh: fillAll, old: fillAll, keep: true}
	}
	return t.complete(make([]byte, 0, len(text)+len(before)), text, before, nil, g)
}

// Completes reports whether [Type.Complete] can change a document that replaces the whole value.
func (t *Type) Completes() bool { return t.renews && t.secret }

// given determines which absent members complete adds to objects.
type given struct {
	fresh, old filling // defaults of new objects, and of those in place of others
	keep       bool    // writeOnly members of the object before
	keepRead   bool    // readOnly members of the object before
	depth      int
}

// filling determines which absent members get their default.
type filling uint8

const (
	fillNone  filling = iota
	fillShown         // members that the encoding never omits
	fillAll
)

// complete appends doc with the members that g determines. before is nil for a new value. Both are without
// white space between tokens. key is the tag of the array.
func (t *Type) complete(dst, doc, before []byte, key *Field, g given) []byte {
	g.depth++
	adds := t.secret || t.preset || g.keepRead && t.readOnly
	switch {
	case !adds || g.depth > maxGivenDepth || bytes.Equal(doc, before):
	case t.op == opObject && doc[0] == '{':
		return t.completeObject(dst, doc, before, g)
	case t.op == opMap && doc[0] == '{':
		return t.completeMap(dst, doc, before, g)
	case t.Kind == Array && doc[0] == '[':
		elems, old := elementsOf(doc), [][]byte(nil)
		if len(before) > 0 && before[0] == '[' {
			old = elementsOf(before)
		}
		dst = append(dst, '[')
		for i, elem := range t.completeElems(elems, old, key, g.depth) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, elem...)
		}
		return append(dst, ']')
	}
	return append(dst, doc...)
}

// completeObject is complete for an object.
func (t *Type) completeObject(dst, doc, before []byte, g given) []byte {
	fill, isNew := g.old, len(before) == 0 || before[0] != '{'
	if isNew {
		fill, before = g.fresh, []byte("{}")
	}
	was := make([][]byte, len(t.Fields))
	next := 0
	for name, value := range children(before) {
		if i := t.indexOf(name, next); i >= 0 {
			was[i], next = value, i+1
		}
	}
	var seen bitset
	dst = append(dst, '{')
	begin := len(dst)
	next = 0
	for name, value := range children(doc) {
		dst = append(append(comma(dst, begin), name...), ':')
		i := t.indexOf(name, next)
		if i < 0 || t.Fields[i].ReadOnly {
			dst = append(dst, value...)
		} else {
			f := t.Fields[i]
			dst = f.Type.complete(dst, value, was[i], f.elemKey, g)
		}
		if i >= 0 {
			seen.add(i)
			next = i + 1
		}
	}
	for i, f := range t.Fields {
		if !seen.has(i) {
			dst = f.completeAbsent(dst, begin, was[i], isNew, fill, g)
		}
	}
	return append(dst, '}')
}

// completeAbsent appends the member of an object, which begins at dst[begin], for a field that the client has
// left out. was is the value before, or nil.
func (f *Field) completeAbsent(dst []byte, begin int, was []byte, isNew bool, fill filling, g given) []byte {
	var value []byte
	switch {
	case f.WriteOnly && !isNew:
		if g.keep {
			value = was
		}
	case f.ReadOnly:
		if g.keepRead {
			value = was
		}
	case f.Default != nil:
		if fill == fillAll || fill == fillShown && !f.OmitZero && !f.OmitEmpty {
			value = f.appendDefault(nil)
		}
	case f.inPlace() && !f.Type.requires():
		// The object is part of the one that it is in. If it required a member, it would not be valid.
		// If it may be absent, a default would make it present.
		if f.optional() {
			fill, g.old = fillNone, fillNone
		}
		g.fresh = fill
		if value = f.Type.complete(nil, []byte("{}"), was, nil, g); len(value) == len("{}") {
			value = nil
		}
	}
	if value == nil {
		return dst
	}
	dst, _ = jsontext.AppendQuote(comma(dst, begin), f.Name) // valid UTF-8, see Type.add
	return append(append(dst, ':'), value...)
}

// requires reports whether an object without members is not valid.
func (t *Type) requires() bool {
	for _, f := range t.Fields {
		if f.Required || f.inPlace() && f.Type.requires() {
			return true
		}
	}
	return false
}

// appendDefault appends the JSON of the default.
func (f *Field) appendDefault(dst []byte) []byte {
	t := f.Type.GoType
	if f.pointer {
		t = reflect.PointerTo(t)
	}
	v := reflect.New(t).Elem()
	f.setDefault(v)
	dst, err := f.appendValue(dst, v, encodeState{full: true})
	if err != nil { // of a method of the Go type, which the decoder calls, too
		return nil
	}
	return dst
}

// completeMap is complete for a map. A value is in place of the one with its name.
func (t *Type) completeMap(dst, doc, before []byte, g given) []byte {
	was := map[string][]byte{}
	if len(before) > 0 && before[0] == '{' {
		for name, value := range children(before) {
			was[string(name)] = value
		}
	}
	dst = append(dst, '{')
	begin := len(dst)
	for name, value := range children(doc) {
		dst = append(append(comma(dst, begin), name...), ':')
		dst = t.Elem.complete(dst, value, was[string(name)], nil, g)
	}
	return append(dst, '}')
}

// completeElems returns the completed elements of an array. Nil elements stay nil: those in elems are not
// completed, and those in before belong to none of elems.
func (t *Type) completeElems(elems, before [][]byte, key *Field, depth int) [][]byte {
	of, fill := t.matchElems(elems, before, key)
	completed := make([][]byte, len(elems))
	for i, elem := range elems {
		g := given{fresh: fillAll, depth: depth}
		var was []byte
		if of[i] >= 0 {
			was = before[of[i]]
			g.old, g.keep, g.keepRead = fill[i], true, true
		}
		if elem != nil {
			completed[i] = t.Elem.complete(nil, elem, was, nil, g)
		}
	}
	return completed
}

// matchElems returns for each element of an array the index of the same element before, or -1, and the
// defaults that it gets. Elements before that are equal differ in what clients cannot see, so of those
// the one at the same index is first, and then their order decides. An element before is used once.
func (t *Type) matchElems(elems, before [][]byte, key *Field) (of []int, fill []filling) {
	of, fill = make([]int, len(elems)), make([]filling, len(elems))
	for i := range of {
		of[i] = -1
	}
	if len(before) == 0 || !t.Elem.secret && !t.Elem.omits {
		return of, fill
	}
	old := make([]identity, len(before))
	for j, elem := range before {
		old[j] = t.Elem.identify(elem, fillNone, key)
	}
	// An element without a default is as the client has read it, or as a new one.
	shown, all := make([]identity, len(elems)), make([]identity, len(elems))
	for i, elem := range elems {
		shown[i], all[i] = t.Elem.identify(elem, fillShown, key), t.Elem.identify(elem, fillAll, key)
		if shown[i].reads { // these members decide
			shown[i].writable, all[i].writable = "", ""
		}
	}
	use := func(i, j int, f filling) {
		of[i], fill[i], old[j] = j, f, identity{}
	}
	for i := range min(len(elems), len(before)) {
		switch visible := old[i].visible; {
		case visible == "":
		case visible == shown[i].visible:
			use(i, i, fillShown)
		case visible == all[i].visible:
			use(i, i, fillAll)
		}
	}
	pair := func(given []identity, f filling, text func(*identity) string) {
		unused := map[string][]int{}
		for j := range old {
			k := text(&old[j])
			unused[k] = append(unused[k], j)
		}
		for i := range given {
			k := text(&given[i])
			if list := unused[k]; k != "" && of[i] < 0 && len(list) > 0 {
				use(i, list[0], f)
				unused[k] = list[1:]
			}
		}
	}
	visible := func(e *identity) string { return e.visible }
	pair(shown, fillShown, visible)
	pair(all, fillAll, visible)
	if t.Elem.readOnly { // clients may leave these members out, and in GraphQL cannot send them
		writable := func(e *identity) string { return e.writable }
		pair(shown, fillShown, writable)
		pair(all, fillAll, writable)
	}
	if key != nil {
		pair(all, fillAll, func(e *identity) string { return e.key })
	}
	return of, fill
}

// identity is what elements are compared by, as JSON. A text is empty if there is nothing to compare.
type identity struct {
	visible  string // without writeOnly members
	writable string // also without readOnly members
	reads    bool   // has readOnly members that are not zero
	key      string // of the tag key, unless it is zero
}

// identify returns the identity of an element with this JSON, which gets the defaults of fill.
func (t *Type) identify(elem []byte, fill filling, key *Field) (id identity) {
	if elem == nil {
		return identity{}
	}
	elem = t.complete(nil, elem, nil, nil, given{fresh: fill})
	v, err := t.Decode(elem, &DecodeOptions{Mode: Stored})
	if err != nil {
		return identity{} // null, or an element that is not valid
	}
	visible, err := t.Append(nil, v)
	if err != nil {
		return identity{}
	}
	id.visible = string(visible)
	if key != nil && !key.IsZero(v) {
		text, _ := t.AppendField(nil, key, v) // without an error in Append
		id.key = string(text)
	}
	if t.readOnly {
		s := reflect.ValueOf(v).Elem()
		id.reads = !t.sameReadOnly(s, reflect.New(t.GoType).Elem())
		t.clearReadOnly(s)
		visible, _ = t.Append(nil, v) // without an error above
		id.writable = string(visible)
	}
	return id
}

// clearReadOnly sets the readOnly fields of a struct to zero, including those of structs inside it.
func (t *Type) clearReadOnly(s reflect.Value) {
	for _, f := range t.Fields {
		v := f.in(s)
		if f.ReadOnly {
			v.SetZero()
			continue
		}
		if f.pointer && !v.IsNil() {
			v = v.Elem()
		}
		if f.Type.op == opObject && f.Type.readOnly && v.Kind() != reflect.Pointer {
			f.Type.clearReadOnly(v)
		}
	}
}

// comma appends a comma unless the object or array that begins at dst[begin] is empty.
func comma(dst []byte, begin int) []byte {
	if len(dst) > begin {
		return append(dst, ',')
	}
	return dst
}

// elementsOf returns the elements of an array.
func elementsOf(array []byte) (elems [][]byte) {
	for _, value := range children(array) {
		elems = append(elems, value)
	}
	return elems
}

// children yields the values in an object or array without white space between tokens, each with its quoted
// name or nil.
func children(text []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for i := 1; i < len(text)-1; i++ { // after a brace, a bracket or a comma
			var name []byte
			if text[0] == '{' {
				end := i + stringEnd(text[i:]) + 1
				name, i = text[i:end:end], end+1
			}
			end := valueEnd(text, i)
			if !yield(name, text[i:end:end]) {
				return
			}
			i = end
		}
	}
}

// valueEnd returns the end of the value that begins at text[i], in an object or array.
func valueEnd(text []byte, i int) int {
	for depth := 0; ; i++ {
		switch text[i] {
		case '"':
			i += stringEnd(text[i:])
		case '{', '[':
			depth++
		case '}', ']', ',':
			if depth == 0 {
				return i
			}
			if text[i] != ',' {
				depth--
			}
		}
	}
}
