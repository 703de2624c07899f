package resource

// Filters, sort keys and groups through relations: what can be asked of related items, and the conditions
// and keys that a store gets in place of their names. Called by list_query.go, list_aggregate.go and
// bound.go. It calls list_cursor.go.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
)

// Limits of a relation between collections that do not join. The keys of the related items that match
// become an In.
const (
	maxRelatedKeys  = 1000
	maxRelatedItems = 10_000 // that are read for the keys of all relations of a filter
)

// hop is a step from the items of one resource to those of another, by equal values of fields.
type hop struct {
	relation string
	owner    *core
	target   *Resource
	own, by  []string // names in the collections
	list     bool     // the field own is a list of keys
	key      string   // the field with the keys of links; empty for other steps
	join     *query.Join
}

// newHop returns a step, with the join if the store of owner can read the items of target.
func newHop(relation string, owner *core, target *Resource, own, by []string, key string) *hop {
	h := &hop{relation: relation, owner: owner, target: target, own: own, by: by, key: key}
	h.list = owner.typ.Field(own[0]).Type.Kind == schema.Array
	joiner, to := owner.ops.joiner, target.core.ops.joiner
	// If Authorize hides items, they must be read.
	hides := target.core.ops.authorize != nil && !target.core.scopeComplete
	if joiner == nil || to == nil || hides || !h.comparesValues() {
		return h
	}
	if j := (&query.Join{Field: own, By: by, Target: to, Key: key}); joiner.Joins(j) {
		h.join = j
	}
	return h
}

// comparesValues reports whether a store can compare the values of the fields. Relations compare texts,
// so the number 5 and the string "5" are the same key, but not equal values.
func (h *hop) comparesValues() bool {
	for i, name := range h.own {
		own, by := h.owner.typ.Field(name), h.target.core.typ.Field(h.by[i])
		if own.Key != nil || own.Type.Kind != by.Type.Kind || own.IsDecimal() != by.IsDecimal() ||
			own.IsDuration() != by.IsDuration() || isTime(own) != isTime(by) {
			return false
		}
	}
	return true
}

// isTime reports whether the values of a field are times.
func isTime(f *schema.Field) bool { return f.Type.Format == "date-time" }

// hops returns the steps of a relation, two with Through. It is nil if a function returns the keys.
func (l *link) hops(r *Resource) []*hop {
	own := []string{r.core.id.Name}
	switch {
	case l.names != nil:
		own = l.names
	case l.keysOf != nil:
		return nil
	case l.field != nil:
		own = []string{l.field.Field.Name}
	}
	switch {
	case l.through != nil:
		join := l.through.join.target
		return []*hop{newHop(l.Name, r.core, join, own, []string{l.By}, ""),
			newHop(l.Name, join.core, l.target, []string{l.To}, idNames(l.target.core, []string{l.To}), "")}
	case l.By != "":
		return []*hop{newHop(l.Name, r.core, l.target, own, []string{l.By}, "")}
	}
	return []*hop{newHop(l.Name, r.core, l.target, own, idNames(l.target.core, own), "")}
}

// idNames returns the fields of the id of c that own refers to: those of the key, or the id.
func idNames(c *core, own []string) []string {
	if len(own) > 1 {
		return c.key
	}
	return []string{c.id.Name}
}

// mistake returns why filters cannot use the step, or "".
func (h *hop) mistake() string {
	if h.join != nil {
		return ""
	}
	op := query.In
	if h.list {
		op = query.Contains
	}
	for _, name := range h.own {
		if !slices.Contains(h.owner.query.Filter[name], op) {
			return fmt.Sprintf("declare %q of %s for the operator %s in Options.Query, because its "+
				"collection does not join that of %s", name, h.owner.name, op, h.target.Name())
		}
	}
	return ""
}

// resolveRelations replaces the conditions on related items of a filter, which is in the names of the
// collection, by conditions for the store.
func (r *Resource) resolveRelations(ctx context.Context, f query.Filter) (query.Filter, error) {
	if f.IsZero() || !hasRelation(f) {
		return f, nil
	}
	if r.env.context == nil {
		return f, r.unbound()
	}
	if ctx.Value(relatedLimitKey{}) == nil {
		left := maxRelatedItems
		ctx = context.WithValue(ctx, relatedLimitKey{}, &left)
	}
	return f.Map(func(term query.Filter) (query.Filter, error) {
		if term.Op != query.SomeOp {
			return term, nil
		}
		l := r.env.relations[term.Field]
		if l == nil || l.steps == nil || len(term.Filters) != 1 {
			return term, &query.Error{Parameter: term.Field, Code: "unsupportedFilter",
				Detail: fmt.Sprintf("cannot filter through the relation %q", term.Field)}
		}
		q, err := l.target.storeQuery(ctx, query.Query{Filter: term.Filters[0]})
		if e := (*query.Error)(nil); errors.As(err, &e) && e.Code == tooMany {
			inner := *e
			inner.Parameter = term.Field + "." + e.Parameter
			return term, &inner
		}
		for i := len(l.steps) - 1; i >= 0 && err == nil; i-- {
			if i < len(l.steps)-1 { // the items of Through
				var links query.Query
				if links, err = l.steps[i].target.storeQuery(ctx, query.Query{}); err != nil {
					break
				}
				q.Filter = query.And(q.Filter, links.Filter)
			}
			q.Filter, err = l.steps[i].filter(ctx, q.Filter)
		}
		return q.Filter, err
	})
}

// tooMany is the code of errors of filters that select too many related items.
const tooMany = "tooMany"

// relatedLimitKey is the key in the context of the number of items that can still be read for the keys
// of a filter, an *int.
type relatedLimitKey struct{}

// filter returns the condition on the items of the owner that one of the items of the target to which
// they lead matches f. f and the result are filters for the stores.
func (h *hop) filter(ctx context.Context, f query.Filter) (query.Filter, error) {
	if h.join == nil {
		return h.keyFilter(ctx, f)
	}
	all := []query.Filter{{Op: query.SomeOp, Field: h.relation, Value: h.join}}
	for i, name := range h.own {
		if by := h.target.core.typ.Field(h.by[i]); excludesZero(by) {
			f = query.And(f, query.Where(by.Name, query.Ne, 0))
		}
		switch own := h.owner.typ.Field(name); {
		case excludesZero(own):
			all = append(all, query.Where(name, query.Ne, 0))
		case h.mayBeEmpty(i):
			all = append(all, query.Where(name, query.Ne, ""))
		}
	}
	all[0].Filters = []query.Filter{f}
	return query.And(all...), nil
}

// mayBeEmpty reports whether both fields of a pair can have an empty string, which is no key. Ids and the
// fields of their keys are never empty.
func (h *hop) mayBeEmpty(i int) bool {
	own, target := h.owner.typ.Field(h.own[i]), h.target.core
	isText := own.Type.Kind == schema.String && !own.IsDecimal() && !own.IsDuration() && !isTime(own)
	return isText && h.own[i] != h.owner.id.Name && h.by[i] != target.id.Name &&
		!slices.Contains(target.key, h.by[i])
}

// isAbsentZero reports whether a zero in the field refers to no item.
func isAbsentZero(f *schema.Field) bool { return (f.OmitZero || f.OmitEmpty) && !f.Nullable }

// excludesZero reports whether the field is an integer in which a zero refers to no item.
func excludesZero(f *schema.Field) bool { return f.Type.Kind == schema.Integer && isAbsentZero(f) }

// keyFilter implements filter by the keys of the related items that match and that the caller may see.
func (h *hop) keyFilter(ctx context.Context, f query.Filter) (query.Filter, error) {
	var keys [][]any
	err := h.target.core.limited(ctx, func(ctx context.Context) (err error) {
		keys, err = h.keys(ctx, f)
		return err
	})
	if err != nil {
		return query.Filter{}, err
	}
	if len(h.own) == 1 && !h.list {
		values := make([]any, len(keys))
		for i, key := range keys {
			values[i] = key[0]
		}
		if len(values) == 0 {
			return query.Or(), nil
		}
		return h.owner.keyFilter(query.Filter{Op: query.In, Field: h.own[0], Value: values})
	}
	some := make([]query.Filter, len(keys))
	for i, key := range keys {
		all := make([]query.Filter, len(key))
		for j, v := range key {
			if h.list {
				all[j] = query.Where(h.own[j], query.Contains, v)
			} else {
				all[j] = query.Where(h.own[j], query.In, []any{v})
			}
		}
		some[i] = query.And(all...)
	}
	return query.Or(some...), nil
}

// keys returns the distinct keys of the items of the target that match f and that the caller may see,
// in the kinds of the fields of the owner.
func (h *hop) keys(ctx context.Context, f query.Filter) (keys [][]any, err error) {
	r := h.target
	w := &pageQuery{r: r, q: query.Query{Filter: f, Limit: exportPage}}
	w.left, _ = ctx.Value(relatedLimitKey{}).(*int)
	if !r.core.query.Natural {
		w.q.Sort = r.core.totalOrder(nil)
	}
	w.q.Fields = r.hint(query.Query{Fields: h.by, Sort: w.q.Sort})
	seen := make(map[string]bool)
	for {
		p, err := w.fetch(ctx)
		if errors.Is(err, errRowLimit) {
			return nil, h.tooMany("filters would read more than %d related items", maxRelatedItems)
		}
		if err != nil {
			return nil, err
		}
		for i := range p.Entries {
			text, key := h.keyOf(p.Entries[i].stored)
			if key != nil && !seen[text] {
				seen[text] = true
				keys = append(keys, key)
			}
		}
		p.Release()
		if len(keys) > maxRelatedKeys {
			return nil, h.tooMany("more than %d related items match", maxRelatedKeys)
		}
		if w.next == nil {
			return keys, nil
		}
		w.q.After, w.q.Token = w.next.Values, w.next.Token
	}
}

// tooMany returns the error of a filter that exceeds a limit.
func (h *hop) tooMany(format string, limit int) error {
	return &query.Error{Parameter: h.relation, Code: tooMany,
		Detail: fmt.Sprintf(format, limit) + "; use a more specific filter"}
}

// keyOf returns the key of an item of the target, as a text and as values of the fields of the owner.
// It is nil if no item of the owner can refer to it.
func (h *hop) keyOf(v any) (text string, key []any) {
	texts := make([]string, len(h.by))
	for i, name := range h.by {
		by, own := h.target.core.typ.Field(name), h.owner.typ.Field(h.own[i])
		if texts[i] = by.Text(v); texts[i] == "" || by.Get(v) == nil {
			return "", nil
		}
		value, err := own.Parse(texts[i])
		isZero := err == nil && query.Compare(query.Canonical(value), int64(0)) == 0
		if err != nil || isZero && (isAbsentZero(by) || isAbsentZero(own) && !h.list) {
			return "", nil
		}
		key = append(key, query.Canonical(value))
	}
	return schema.JoinKey(texts), key
}

// errStreamRelation rejects a filter through a relation for a stream: an event has its own item alone.
var errStreamRelation = &query.Error{Code: "unsupportedFilter",
	Detail: "a stream cannot be filtered through relations"}

// relatedField is a field of a related item that is a sort key, or by which items are grouped.
type relatedField struct {
	hop   *hop   // with a join
	field string // its name in the collection
}

// pathHop returns the step to the related item, the same for all filters and paths.
func (l *link) pathHop(r *Resource) *hop {
	for _, fields := range l.paths {
		for _, f := range fields {
			return f.hop
		}
	}
	if l.steps != nil {
		return l.steps[0]
	}
	return l.hops(r)[0]
}

// joinMistake returns why the store of the owner cannot read the items of the target, or "".
func (h *hop) joinMistake() string {
	owner, target := h.owner, h.target.core
	switch {
	case h.join != nil:
		return ""
	case owner.ops.joiner == nil:
		return "the collection of " + owner.name + " is not a Joiner, or Get or List of it is decorated"
	case target.ops.joiner == nil:
		return "the collection of " + target.name + " is not a Joiner, or Get or List of it is decorated"
	case target.ops.authorize != nil && !target.scopeComplete:
		return "Options.Authorize of " + target.name + " hides items one by one; hide them by " +
			"Options.Scope, and set Options.ScopeComplete"
	case !h.comparesValues():
		return fmt.Sprintf("%s of %s and %s of %s have different kinds", strings.Join(h.own, ","), owner.name,
			strings.Join(h.by, ","), target.name)
	}
	why := "the collection of " + owner.name + " does not join that of " + target.name
	if h.key != "" {
		why += " by " + h.key + "; tables need an index of it, one database and equal column types"
	}
	return why
}

// joinedKey converts a key that is a field of a related item. Items that the caller may not see are null,
// as is the field of no item. before are the converted keys before it.
func (r *Resource) joinedKey(
	ctx context.Context, use pathUse, key query.Order, before []query.Order,
) (query.Order, error) {
	if r.env.context == nil {
		return key, r.unbound()
	}
	relation, name, _ := strings.Cut(key.Field, ".")
	l := r.env.relations[relation]
	if l == nil || l.paths[use][name] == nil {
		return key, use.unsupported(key.Field)
	}
	h, field := l.paths[use][name].hop, l.paths[use][name].field
	key.Field = relation + "." + field
	key.Joined = &query.JoinedField{Join: h.join, Field: field}
	for _, other := range before {
		if other.Joined != nil && other.Joined.Join == h.join {
			key.Joined.Filter = other.Joined.Filter
			return key, nil
		}
	}
	seen, err := l.target.storeQuery(ctx, query.Query{})
	all := []query.Filter{seen.Filter}
	for i, own := range h.own { // the item with the id 0 is not related to an absent 0
		if excludesZero(h.owner.typ.Field(own)) {
			all = append(all, query.Where(h.by[i], query.Ne, 0))
		}
	}
	key.Joined.Filter = query.And(all...)
	return key, err
}
