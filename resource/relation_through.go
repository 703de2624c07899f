package resource

// Relations to many over a resource that has an item for each link. Called by relation.go, and by
// catalog_link.go, which finds the resources. It calls relation.go.

import (
	"context"
	"fmt"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/keys"
)

// through is the middle of a relation with Through.
type through struct {
	join *link // from the items to those of Through
	to   *link // from the items of Through to the target
	// order has the positions of the ids of both ends in the key of Through: 0 is By and 1 is To. It is
	// nil if the id of Through does not consist of the two, so that a link has no known id, and if a new
	// item of Through needs another member.
	order []int
}

// throughMistake returns why the fields of a relation contradict Through, or "". The text follows the
// name of the relation.
func throughMistake(through, by, to string) string {
	switch {
	case through == "" && to != "":
		return " has To, which needs Through"
	case through != "" && (by == "" || to == ""):
		return " has Through, which needs By and To, the fields of both ids"
	}
	return ""
}

// byReader returns the reader of the field By of a resource. It panics if the resource does not
// declare the field for query.Eq, or if it is a composite id, which no column holds.
func byReader(at string, r *Resource, by string) *keys.Reader {
	f := r.core.typ.Field(by) // a view may hide or rename it
	if f == nil || !slices.Contains(r.core.query.Filter[by], query.Eq) {
		panic(fmt.Sprintf("%s%s does not declare %q for query.Eq", at, r.Name(), by))
	}
	if f.Key != nil {
		panic(fmt.Sprintf("%sBy names %q of %s, which is a composite id; name one of its fields",
			at, by, r.Name()))
	}
	return keys.NewReader(f)
}

// linkOrder returns the order of by and to in a key, and nil if it has other fields.
func linkOrder(key []string, by, to string) []int {
	switch {
	case slices.Equal(key, []string{by, to}):
		return []int{0, 1}
	case slices.Equal(key, []string{to, by}):
		return []int{1, 0}
	}
	return nil
}

// follow returns the targets of all entries of from, with one list of the items of Through and one
// request for the targets.
func (t *through) follow(ctx context.Context, from []Entry, columns []string) (Page, error) {
	rows, err := t.join.follow(ctx, from, []string{t.to.field.Field.Name})
	if err != nil {
		return Page{}, err
	}
	defer rows.Release()
	p, err := t.to.follow(ctx, rows.Entries, columns)
	if err != nil {
		return Page{}, err
	}
	p.lists = make([][]int32, len(from))
	for i := range from {
		for _, row := range rows.Ends(i) {
			for _, end := range p.Ends(int(row)) {
				if !slices.Contains(p.lists[i], end) {
					p.lists[i] = append(p.lists[i], end)
				}
			}
		}
	}
	p.joined = true
	return p, nil
}
