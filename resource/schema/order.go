package schema

// The order in which violations are reported: that of the document, with each place once.

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// This file sorts violations, which the decoder finds in the order of the document, and the checker
// in the order of the schema.

// sortViolations sorts the violations in the order of the schema. The first decodeErrors of found
// were added while decoding: values of the wrong type, and absent members. Violations of
// constraints at or below these values are meaningless and are dropped.
func (t *Type) sortViolations(found []Violation, decodeErrors int) Violations {
	// A set, because there may be many violations of both sorts.
	invalid := make(map[string]bool, decodeErrors)
	for _, v := range found[:decodeErrors] {
		invalid[v.Pointer] = true
	}
	type ranked struct {
		Violation
		rank []sortKey
	}
	var all []ranked
	for i, v := range found {
		if i < decodeErrors || !isCoveredBy(v.Pointer, invalid) &&
			(v.Code != codeUnique || !coversAny(v.Pointer, found[:decodeErrors])) {
			all = append(all, ranked{v, t.sortKeyOf(v.Pointer)})
		}
	}
	// Violations of the same value remain in the order in which they were found.
	slices.SortStableFunc(all, func(a, b ranked) int {
		return slices.CompareFunc(a.rank, b.rank, sortKey.compare)
	})
	ordered := make(Violations, len(all))
	for i := range all {
		ordered[i] = all[i].Violation
	}
	return ordered
}

// isCoveredBy reports whether the set contains the pointer or a prefix of it.
func isCoveredBy(pointer string, invalid map[string]bool) bool {
	for !invalid[pointer] {
		if pointer == "" {
			return false
		}
		pointer = pointer[:strings.LastIndexByte(pointer, '/')]
	}
	return true
}

// coversAny reports whether one of the violations is below the pointer. Elements that could not be
// decoded are zero and therefore equal, which must not be reported as a violation of unique.
func coversAny(pointer string, list []Violation) bool {
	return slices.ContainsFunc(list,
		func(v Violation) bool { return strings.HasPrefix(v.Pointer, pointer+"/") })
}

// sortKey is the position of one token of a pointer among its siblings: the index in a struct or an
// array, or the name in a map. Unknown members are last, in the order of the document.
type sortKey struct {
	position int
	name     string
}

// compare compares two keys of siblings, which have either an index or a name.
func (r sortKey) compare(other sortKey) int {
	return cmp.Or(cmp.Compare(r.position, other.position), strings.Compare(r.name, other.name))
}

// sortKeyOf returns the keys of the tokens of a pointer. It stops at an unknown member and inside
// values of any JSON type.
func (t *Type) sortKeyOf(pointer string) []sortKey {
	var ranks []sortKey
	for token := range jsontext.Pointer(pointer).Tokens() {
		var r sortKey
		if t == nil {
			break
		}
		switch t.op {
		case opObject:
			f := t.byName[token]
			if f == nil {
				return append(ranks, sortKey{position: len(t.Fields)})
			}
			r.position, t = f.position, f.Type
		case opMap:
			r.name, t = token, t.Elem
		default:
			// The index of an element. For any JSON the type has no elements, and the next token
			// ends the loop.
			r.position, _ = strconv.Atoi(token)
			t = t.Elem
		}
		ranks = append(ranks, r)
	}
	return ranks
}
