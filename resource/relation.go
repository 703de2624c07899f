package resource

// Relations: the items that are related to the items of a page, in one call of the store. Called by
// protocols with Resource.Follow. It calls package keys, list_cursor.go and read.go.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/keys"
	"github.com/stoa-go/stoa/resource/internal/mistakes"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/tx"
)

// relation is a [Relation] without its type parameter.
type relation struct {
	Name, Target, By string
	Through, To      string
	Many             bool
	Limit            int

	// The source of the keys. If both are nil the key is the id of the item.
	field  *keys.Reader
	keysOf func(v any) []string
	// names has the fields of a composite key, and is nil for others.
	names []string
}

// eraseRelation returns rel without its type parameter, with its defaults.
func eraseRelation[T any](c *core, rel Relation[T]) *relation {
	out := &relation{
		Name:   rel.Name,
		Target: rel.Target,
		By:     rel.By,
		Many:   rel.Many || rel.By != "",
		Limit:  rel.Limit,

		Through: rel.Through, To: rel.To,
	}
	switch {
	case !out.Many:
		out.Limit = 1
	case out.Limit == 0:
		out.Limit = 20
	}
	if rel.Keys != nil {
		out.keysOf = func(v any) []string { return rel.Keys(v.(*T)) }
	}
	if names := strings.Split(rel.Field, ","); len(names) > 1 {
		out.keysOf, out.names = compositeKey(c.typ, names), names
	} else if rel.Field != "" {
		out.field = keys.NewReader(c.typ.Field(rel.Field))
	}
	return out
}

// compositeKey returns a function that returns the id of an item of the target from the
// values of the named fields. There is none if one of them is null, empty or omitted.
func compositeKey(typ *schema.Type, names []string) func(v any) []string {
	fields := make([]*schema.Field, len(names))
	for i, name := range names {
		fields[i] = typ.Field(name)
	}
	return func(v any) []string {
		texts := make([]string, len(fields))
		for i, f := range fields {
			if !(f.OmitZero || f.OmitEmpty) || f.Nullable || !f.IsZero(v) {
				texts[i] = f.Text(v)
			}
		}
		if id := schema.JoinKey(texts); id != "" {
			return []string{id}
		}
		return nil
	}
}

// link is a relation with its target in a catalog.
type link struct {
	*relation
	target *Resource
	by     *keys.Reader // of the field By; nil without
	// through replaces by for a relation with Through.
	through *through
	// steps is nil if lists cannot be filtered through the relation.
	steps []*hop
	// paths has the fields of the target for each use of paths, by their names in its projection.
	paths [pathUses]map[string]*relatedField
}

// Follow returns the items that a relation of a bound resource leads to from all entries of from. It takes
// one call of the target's collection if that is a [MultiGetter] or, for Relation.By, a [BatchLister], and
// otherwise one call for each key. For Relation.Through it is one call of the target if that is a [Joiner]
// and the id of the links consists of both ends, and otherwise one of each of the two collections. The
// entries must be from r; an entry may be repeated. columns are the JSON names of the target's fields that
// the caller needs, a hint like query.Query.Fields; nil means all.
//
// The page has each item that was found and that the caller may see once, in no particular order.
// [Page.Ends] returns which of them belong to which entry. The page has no cursors. An unknown
// relation is an error.
func (r *Resource) Follow(
	ctx context.Context, relation string, from []Entry, columns []string,
) (Page, error) {
	ctx = r.inCatalog(ctx)
	l, err := r.boundRelation(relation)
	if err != nil {
		return Page{}, err
	}
	switch t := l.through; {
	case t == nil:
		return l.follow(ctx, from, columns)
	case t.joined == nil || !t.sorted:
		return t.follow(ctx, from, columns)
	}
	return l.followHidden(ctx, from, columns)
}

// boundRelation returns a relation of a bound resource. The error of an unknown one is a mistake of the
// program.
func (r *Resource) boundRelation(name string) (*link, error) {
	if l := r.env.relations[name]; l != nil {
		return l, nil
	}
	if r.env.context == nil {
		return nil, r.unbound()
	}
	return nil, fmt.Errorf("resource: %s has no relation %q in this catalog", r.Name(), name)
}

// unbound is the error of relations of a definition.
func (r *Resource) unbound() error {
	return fmt.Errorf("resource: relations of %s are those of a catalog; use the resource that "+
		"Catalog.Resource returns", r.Name())
}

// followHidden is followKeyed that releases the page after an error.
func (l *link) followHidden(ctx context.Context, from []Entry, columns []string) (Page, error) {
	p, err := l.followKeyed(ctx, from, columns)
	if err != nil {
		p.Release()
		return Page{}, l.target.wrap(OpList, "", err)
	}
	return p, nil
}

// GetMany returns the items with these ids in one call of the collection if that is a
// [MultiGetter], and otherwise in one call for each id. [Page.Ends] has for each index of ids the
// index of its item, and none if the item does not exist or is hidden from the caller. The caller
// must call [Page.Release].
func (r *Resource) GetMany(ctx context.Context, ids []string) (Page, error) {
	ctx = r.inCatalog(ctx)
	from := make([]Entry, len(ids))
	for i, id := range ids {
		from[i].ID = id
	}
	return (&link{relation: &relation{Limit: 1}, target: r}).follow(ctx, from, nil)
}

// Step is a relation of a bound resource to follow, with the result of [Resource.FollowTogether].
type Step struct {
	Resource *Resource
	Relation string
	From     []Entry

	Page Page
	Err  error
}

// LeadsByID reports whether a relation of a bound resource leads to items by their ids, in Relation.Field or
// Keys.
func (r *Resource) LeadsByID(relation string) bool {
	l := r.env.relations[relation]
	return l != nil && l.By == ""
}

// FollowTogether is [Resource.Follow] for several relations with [Resource.LeadsByID] that lead to r, in one
// call of its collection if that is a [MultiGetter]. An item to which several of them lead is read once, and
// its policy is evaluated once. The pages share memory, so they must be released together.
//
// An error may be that of a single item. Each relation is then followed separately, so that only those to the
// item fail. If the collection is unavailable or ctx is done, or in a transaction, which an error may have
// aborted, all steps have the error.
func (r *Resource) FollowTogether(ctx context.Context, steps []Step) {
	ctx = r.inCatalog(ctx)
	links, joins := make([]*link, len(steps)), make([]*keys.Join, len(steps))
	var ids []string
	wanted := map[string]bool{}
	for i, s := range steps {
		links[i] = s.Resource.env.relations[s.Relation]
		if !s.Resource.LeadsByID(s.Relation) || links[i].target != r {
			panic(fmt.Sprintf("resource: FollowTogether: the relation %q of %s does not lead by id to "+
				"%s", s.Relation, s.Resource.Name(), r.Name()))
		}
		var ask []string
		joins[i], ask = links[i].gather(s.From, links[i].Limit)
		for _, id := range ask {
			if !wanted[id] {
				wanted[id] = true
				ids = append(ids, id)
			}
		}
	}
	b := r.core.ops.newBuffer()
	err := r.core.limited(ctx, func(ctx context.Context) error {
		scope, err := r.fetchScoped(ctx, ids, b)
		for i, rows := 0, b.entries(); err == nil && i < len(rows); i++ {
			e, shown := &rows[i], false
			if !wanted[e.ID] {
				continue // the store returned an item that was not requested
			}
			wanted[e.ID] = false
			shown, err = r.showByID(ctx, e, &scope)
			for k, j := range joins {
				if slot, ok := j.Find(e.ID); ok && shown {
					j.Keep(slot)
					steps[k].Page.Entries = append(steps[k].Page.Entries, *e)
				}
			}
		}
		return err
	})
	separately := err != nil && ctx.Err() == nil && !errors.Is(err, ErrUnavailable) && !tx.Active(ctx)
	for i := range steps {
		s := &steps[i]
		switch {
		case err == nil:
			joins[i].Assign()
			s.Page.ends = joins[i]
		case separately:
			joins[i].Release()
			s.Page, s.Err = links[i].follow(ctx, s.From, nil)
		default:
			joins[i].Release()
			s.Page, s.Err = Page{}, r.wrap(OpGet, strings.Join(ids, ","), err)
		}
	}
	if err != nil {
		b.release()
	} else {
		steps[0].Page.buffer = b
	}
}

// fetchScoped reads the items with these ids into b, and returns the scope of the caller.
func (r *Resource) fetchScoped(ctx context.Context, ids []string, b buffer) (scope query.Filter, err error) {
	if len(ids) == 0 {
		return scope, nil
	}
	if err := r.core.fetchMany(ctx, ids, b); err != nil {
		return scope, err
	}
	return r.core.scopeOf(ctx)
}

// showByID converts an item that was read by its id to the projection of r. It returns false if the caller
// may not see it.
func (r *Resource) showByID(ctx context.Context, e *Entry, scope *query.Filter) (bool, error) {
	err := r.core.visible(ctx, e, scope)
	if err == nil {
		err = r.projection.show(e)
	}
	switch {
	case errors.Is(err, ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	}
	r.projection.conceal(e, true)
	return true, nil
}

// follow reads the items related to those of a page in one call of the store. The returned page
// owns the buffer of the items until it is released.
func (l *link) follow(ctx context.Context, from []Entry, columns []string) (Page, error) {
	if l.By != "" && l.target.core.ops.authorize != nil {
		return l.followHidden(ctx, from, columns)
	}
	j, ask := l.gather(from, l.Limit)
	if len(ask) == 0 {
		j.Assign()
		return Page{ends: j}, nil
	}
	p := Page{buffer: l.target.core.ops.newBuffer(), ends: j}
	err := l.target.core.limited(ctx, func(ctx context.Context) (err error) {
		if l.By == "" {
			p.Entries, err = l.fetchByID(ctx, j, ask, p.buffer)
		} else {
			p.Entries, err = l.fetchBy(ctx, j, ask, columns, p.buffer)
		}
		return err
	})
	if err != nil {
		op, ids := OpList, ""
		if l.By == "" {
			op, ids = OpGet, strings.Join(ask, ",")
		}
		p.Release()
		return Page{}, l.target.wrap(op, ids, err)
	}
	j.Assign()
	return p, nil
}

// gather reads the keys of all entries, at most limit of each, and returns those to request from the
// target.
func (l *link) gather(from []Entry, limit int) (j *keys.Join, ask []string) {
	j = keys.NewJoin(len(from))
	for i := range from {
		switch {
		case l.field != nil:
			l.field.Read(j, from[i].stored)
		case l.keysOf != nil:
			j.Add(l.keysOf(from[i].stored)...)
		default:
			j.Add(from[i].ID)
		}
		j.EndItem()
	}
	valid := l.target.core.validID
	if l.By != "" {
		valid = l.canRefer
	}
	return j, j.Distinct(limit, valid)
}

// fetchByID reads the items with the keys as ids, and keeps those that the caller may see.
func (l *link) fetchByID(ctx context.Context, j *keys.Join, ask []string, b buffer) ([]Entry, error) {
	r := l.target
	scope, err := r.fetchScoped(ctx, ask, b)
	if err != nil {
		return nil, err
	}
	rows := b.entries()
	kept := rows[:0]
	for i := range rows {
		slot, ok := j.Find(rows[i].ID)
		if !ok || !j.HasRoom(slot, 1) {
			continue // the store returned an item that was not requested
		}
		shown, err := r.showByID(ctx, &rows[i], &scope)
		if err != nil {
			return nil, err
		}
		if shown {
			j.Keep(slot)
			kept = also(kept, rows, i)
		}
	}
	return kept, nil
}

// fetchBy reads the items with one of the keys in the field By.
func (l *link) fetchBy(ctx context.Context, j *keys.Join, ask, columns []string, b buffer) ([]Entry, error) {
	r := l.target
	w, err := r.newPageQuery(ctx, query.Query{Limit: l.Limit, Fields: columns})
	if err != nil {
		return nil, err
	}
	if w.q.Fields != nil && !slices.Contains(w.q.Fields, l.By) {
		w.q.Fields = append(w.q.Fields, l.By)
	}
	if err := r.core.fetchBy(ctx, l.By, ask, w.q, b); err != nil {
		return nil, err
	}
	rows, err := r.showAll(ctx, b.entries())
	if err != nil {
		return nil, err
	}
	kept := rows[:0]
	for i := range rows {
		if slot, ok := l.by.Find(j, rows[i].stored); ok && j.HasRoom(slot, l.Limit) {
			j.Keep(slot)
			kept = also(kept, rows, i)
		}
	}
	return kept, nil
}

// also appends rows[i] to kept, which is a prefix of rows. If all rows before it were kept, nothing
// is moved.
func also(kept, rows []Entry, i int) []Entry {
	if len(kept) == i {
		return rows[:i+1]
	}
	return append(kept, rows[i])
}

// Ends returns the indexes in Entries of the items that belong to index i of the entries that were
// passed to [Resource.Follow], in the order of the keys and at most Relation.Limit, to the ids passed to
// [Resource.GetMany], or to index i of the entries passed to [Resource.FollowPages]. The slice is valid
// until Release, and the caller must not change it.
// It is nil for other pages.
func (p *Page) Ends(i int) []int32 {
	switch {
	case p.joined:
		return p.lists[i]
	case p.ends == nil:
		return nil
	}
	return p.ends.Ends(i)
}

// keysMistake returns why a relation does not have exactly one source of keys, or "". The text
// follows the name of the relation.
func keysMistake[T any](typ *schema.Type, rel *Relation[T]) string {
	switch {
	case throughMistake(rel.Through, rel.By, rel.To) != "":
		return throughMistake(rel.Through, rel.By, rel.To)
	case rel.Keys == nil && rel.Field == "" && rel.By == "":
		return " needs Field, Keys or By"
	case rel.Keys != nil && rel.Field != "":
		return " has both Field and Keys; set one of them"
	case strings.Contains(rel.Field, ",") && (rel.Many || rel.By != ""):
		return ": several fields are the id of one item, so it cannot have Many or By"
	case rel.Field != "":
		for name := range strings.SplitSeq(rel.Field, ",") {
			if why := keys.Unfit(typ.Field(name), rel.Many || rel.By != ""); why != "" {
				return fmt.Sprintf(": Field names %q, %s", name, why)
			}
		}
	}
	return ""
}

// relationQueryMistakes returns which names of Options.Query.Relations are not among the relations, or are
// repeated.
func relationQueryMistakes[T any](o *Options[T]) (found []string) {
	for i, name := range o.Query.Relations {
		if slices.Contains(o.Query.Relations[:i], name) {
			found = append(found, fmt.Sprintf("Options.Query.Relations names %q twice; remove one", name))
			continue
		}
		if !slices.ContainsFunc(o.Relations, func(rel Relation[T]) bool { return rel.Name == name }) {
			found = append(found, fmt.Sprintf("Options.Query.Relations names %q, which is not the name of a "+
				"relation in Options.Relations", name))
		}
	}
	return found
}

// pathMistakes returns which paths of Options.Query.Sort or Group do not begin with a relation to one item.
func (o *Options[T]) pathMistakes(typ *schema.Type, use pathUse) (found []string) {
	list, names := use.declared(o.Query)
	for i, path := range names {
		if !isPath(path, typ) {
			continue
		}
		name, field, _ := strings.Cut(path, ".")
		at := slices.IndexFunc(o.Relations, func(rel Relation[T]) bool { return rel.Name == name })
		wrong := ""
		switch {
		case slices.Contains(names[:i], path):
			wrong = "twice; remove one"
		case use == pathGroup && mistakes.IsAggregateName(path):
			wrong = "which is the name of an aggregate; give the relation another name"
		case at < 0:
			wrong = fmt.Sprintf("but %q is not the name of a relation in Options.Relations", name)
		case o.Relations[at].Many || o.Relations[at].By != "":
			wrong = fmt.Sprintf("but %q is a relation to many items; it must be to one item", name)
		case o.Relations[at].Keys != nil:
			wrong = fmt.Sprintf("but the relation %q has a function Keys, and a path needs a Field", name)
		case field == "":
			wrong = "without the name of a field"
		}
		if wrong != "" {
			found = append(found, fmt.Sprintf("Options.Query.%s names %q, %s", list, path, wrong))
		}
	}
	return found
}
