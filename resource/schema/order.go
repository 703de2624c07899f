package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// inOrder merges the violations of shape, which are the first of found, with those of constraints. A constraint says
// nothing where the value is of the wrong shape or missing, so those at or below a violation of shape are left out.
func (t *Type) inOrder(found []Violation, shapes int) Violations {
	// There may be many of both, so each pointer walks up its own few levels and not along a list.
	shaped := make(map[string]bool, shapes)
	for _, v := range found[:shapes] {
		shaped[v.Pointer] = true
	}
	type ranked struct {
		Violation
		rank []rank
	}
	var all []ranked
	for i, v := range found {
		if i < shapes || !covered(v.Pointer, shaped) && (v.Code != codeUnique || !covers(v.Pointer, found[:shapes])) {
			all = append(all, ranked{v, t.rankOf(v.Pointer)})
		}
	}
	// Stable, so that violations at one place stay in the order in which they were found.
	slices.SortStableFunc(all, func(a, b ranked) int {
		return slices.CompareFunc(a.rank, b.rank, rank.compare)
	})
	ordered := make(Violations, len(all))
	for i := range all {
		ordered[i] = all[i].Violation
	}
	return ordered
}

// covered reports whether the pointer or one above it is in the set.
func covered(pointer string, shaped map[string]bool) bool {
	for !shaped[pointer] {
		if pointer == "" {
			return false
		}
		pointer = pointer[:strings.LastIndexByte(pointer, '/')]
	}
	return true
}

// covers reports whether one of the violations is below the pointer. Elements that could not be read are zero, so they
// are equal and were not meant to be.
func covers(pointer string, shapes []Violation) bool {
	return slices.ContainsFunc(shapes, func(v Violation) bool { return strings.HasPrefix(v.Pointer, pointer+"/") })
}

// rank is where one token of a pointer comes among its siblings: by place in a struct or an array, by name in a map.
// Unknown members come last, in the order of the document.
type rank struct {
	place int
	name  string
}

// compare puts places before names; siblings have either all of them a name or none.
func (r rank) compare(other rank) int {
	return cmp.Or(cmp.Compare(r.place, other.place), strings.Compare(r.name, other.name))
}

// rankOf follows a pointer through the type. It ends early where the type does not know what follows, at an unknown
// member or inside any JSON.
func (t *Type) rankOf(pointer string) []rank {
	var ranks []rank
	for token := range jsontext.Pointer(pointer).Tokens() {
		var r rank
		if t == nil {
			break
		}
		switch t.op {
		case opObject:
			f := t.byName[token]
			if f == nil {
				return append(ranks, rank{place: len(t.Fields)})
			}
			r.place, t = f.place, f.Type
		case opMap:
			r.name, t = token, t.Elem
		default:
			r.place, _ = strconv.Atoi(token)
			t = t.Elem
		}
		ranks = append(ranks, r)
	}
	return ranks
}
