package resource

// Relations to many over a resource that has an item for each link. Called by relation.go, and by
// bound.go, which finds the resources. It calls relation.go.

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
	// joined is how the target finds the links that lead to an item, if it is a [BatchLister] that joins
	// Through. It is nil if the links are read first.
	joined *query.Join
	// unjoined is why joined is nil.
	unjoined string
	// sorted reports that the links of an item are in the order of their targets, because their id consists
	// of both ends.
	sorted bool
}

// setJoined sets how the target finds the links.
func (t *through) setJoined(l *link) {
	target, join := l.target.core, t.join.target
	h := newHop(l.Name, target, join, []string{target.id.Name}, []string{l.To}, l.By)
	t.joined, t.unjoined = h.join, h.joinMistake()
	switch {
	case target.query.Natural:
		t.joined, t.unjoined = nil, "lists of "+target.name+" are in natural order"
	case target.ops.listByKeys == nil:
		t.joined, t.unjoined = nil, "the collection of "+target.name+" is not a BatchLister"
	}
	t.sorted = linkOrder(join.core.key, l.By, l.To) != nil
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

// followKeyed returns the targets of all entries of from in one call of the target, which has the field By or
// joins the links. The page must be released also after an error.
func (l *link) followKeyed(ctx context.Context, from []Entry, columns []string) (Page, error) {
	p := Page{joined: true, lists: make([][]int32, len(from))}
	j, ask := l.gather(from, l.Limit)
	defer j.Release()
	err := l.target.core.limited(ctx, func(ctx context.Context) error {
		k, err := l.byKeys(ctx)
		if err != nil {
			return err
		}
		w, err := l.target.newPageQuery(ctx, query.Query{Limit: l.Limit, Fields: columns})
		if err != nil {
			return err
		}
		read, err := k.read(ctx, j, k.canonical(ask), w.q, l.Limit, &p)
		if err != nil {
			return err
		}
		for i := range from {
			for _, slot := range j.Slots(i) {
				for _, end := range read[slot].ends {
					if len(p.lists[i]) < l.Limit && !slices.Contains(p.lists[i], end) {
						p.lists[i] = append(p.lists[i], end)
					}
				}
			}
		}
		return nil
	})
	return p, err
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
