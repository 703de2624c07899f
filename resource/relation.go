package resource

import "context"

// relation is a [Relation] with its type erased.
type relation struct {
	Name, Target, By string
	Many             bool
	Limit            int
	keys             func(v any) []string // nil: the id of the item
}

func eraseRelation[T any](rel Relation[T]) *relation {
	out := &relation{Name: rel.Name, Target: rel.Target, By: rel.By, Many: rel.Many || rel.By != "", Limit: rel.Limit}
	switch {
	case !out.Many:
		out.Limit = 1
	case out.Limit == 0:
		out.Limit = 20
	}
	if rel.Keys != nil {
		out.keys = func(v any) []string { return rel.Keys(v.(*T)) }
	}
	return out
}

// keysOf returns the keys of the relation for an item, each once. Where they are ids there are no more of them than the
// limit: a client may have written them, and each costs a read and a place in the answer.
func (rel *relation) keysOf(e *Entry) []string {
	if rel.keys == nil {
		return []string{e.ID}
	}
	var keys []string
	seen := map[string]bool{}
	for _, key := range rel.keys(e.hub) {
		if len(keys) == rel.Limit {
			break
		}
		if !seen[key] {
			seen[key] = true
			keys = append(keys, key)
		}
	}
	return keys
}

// link is a relation whose target has been found in a catalog.
type link struct {
	*relation
	target *Resource
}

// related are the ends of one link for a page of entries.
type related struct {
	link *link
	byID map[string]Entry
	by   map[string][]Entry
}

// follow resolves a link for all entries at once: one call of the target's collection, if it can.
func (l *link) follow(ctx context.Context, entries []Entry) (*related, error) {
	var keys []string
	for i := range entries {
		keys = append(keys, l.keysOf(&entries[i])...)
	}
	out := &related{link: l}
	var err error
	if l.By != "" {
		out.by, err = l.target.listByHub(ctx, l.By, keys, l.Limit)
	} else {
		out.byID, err = l.target.GetMany(ctx, keys)
	}
	return out, err
}

// of returns what is at the other end for one of the entries, in the order of its keys.
func (rel *related) of(e *Entry) []Entry {
	var out []Entry
	for _, key := range rel.link.keysOf(e) {
		if rel.link.By != "" {
			out = append(out, rel.by[key]...)
		} else if end, ok := rel.byID[key]; ok {
			out = append(out, end)
		}
	}
	return out
}
