package resourcetest_test

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/tx"
)

// thing has one field of every sort that stores treat differently.
type thing struct {
	ID      string            `json:"id"`
	Name    string            `json:"name"`
	Color   string            `json:"color" enum:"red,green,blue"`
	Size    int64             `json:"size"`
	Ratio   float64           `json:"ratio"`
	Note    *string           `json:"note"`
	Born    time.Time         `json:"born"`
	Ends    *time.Time        `json:"ends"`
	Done    bool              `json:"done"`
	Tags    []string          `json:"tags"`
	Price   string            `json:"price,omitempty" format:"decimal"`
	Lasts   string            `json:"lasts,omitempty" format:"duration"`
	Labels  map[string]string `json:"labels"`
	Place   *place            `json:"place"`
	Serial  string            `json:"serial" unique:"true"`
	Code    string            `json:"code" unique:"color,done"`
	Created time.Time         `json:"created" readOnly:"true"`
	Added   time.Time         `json:"added" set:"created"`
	Edited  *time.Time        `json:"edited" set:"modified"`
}

type place struct {
	Lat float64   `json:"lat" minimum:"-90" maximum:"90"`
	Alt []float64 `json:"alt"`
}

// clone copies all that two things could share.
func (v thing) clone() thing {
	v.Tags = slices.Clone(v.Tags)
	v.Labels = maps.Clone(v.Labels)
	if v.Note != nil {
		note := *v.Note
		v.Note = &note
	}
	if v.Ends != nil {
		ends := *v.Ends
		v.Ends = &ends
	}
	if v.Edited != nil {
		edited := *v.Edited
		v.Edited = &edited
	}
	if v.Place != nil {
		place := *v.Place
		place.Alt = slices.Clone(place.Alt)
		v.Place = &place
	}
	return v
}

// thingSupport is what the reference answers.
var thingSupport = query.Support{
	Filter: map[string][]query.Op{
		"name":  {query.Eq, query.Ne, query.In, query.NotIn, query.Contains, query.StartsWith, query.Lt, query.Gte},
		"color": {query.Eq, query.In},
		"size":  {query.Eq, query.Ne, query.Lt, query.Lte, query.Gt, query.Gte},
		"note":  {query.Eq, query.Ne, query.NotIn, query.Contains, query.IsNull},
		"born":  {query.Eq, query.Gt, query.Lte},
		"done":  {query.Eq, query.Ne},
		"price": {query.Eq, query.Lt},
		"lasts": {query.Eq, query.Gte},
		"tags":  {query.Contains, query.IsNull},
	},
	Sort:  []string{"name", "size", "note", "ends", "done", "price", "lasts"},
	Group: []string{"color", "note", "done", "size", "price"},
	Aggregate: map[string][]query.Func{
		"size": query.Funcs()[1:], "ratio": query.Funcs()[1:], "price": query.Funcs()[1:],
		"name": {query.Distinct, query.Min}, "note": {query.Distinct, query.Max}, "ends": {query.Min, query.Max},
	},
	Search: []string{"name", "note"},
}

// table is the reference, a small and correct collection with all capabilities. bug selects a bug
// of this copy. Bugs that can be implemented by a wrapper are in mutant_test.go.
type table struct {
	mu lock // held for the length of a call, or of a whole transaction
	state
	before    state // restored by a rollback
	recreates bool  // deleted ids can be inserted again
	bug       string
}

// state is what a rollback restores.
type state struct {
	rows    map[string]resource.Item[thing]
	deleted map[string]time.Time
	graves  map[string]thing // the values of deleted items
	last    int
	writes  int                   // a revision that is rolled back is issued again
	changes []*feed.Change[thing] // the change with index n has Seq n+1
}

func (s state) clone() state {
	return state{maps.Clone(s.rows), maps.Clone(s.deleted), maps.Clone(s.graves), s.last, s.writes,
		slices.Clip(s.changes)}
}

func newTable(bug string) *table {
	return &table{
		state: state{rows: map[string]resource.Item[thing]{}, deleted: map[string]time.Time{},
			graves: map[string]thing{}},
		mu: make(lock, 1), recreates: true, bug: bug,
	}
}

// lock is a mutex. A goroutine that waits for it is durably blocked, so that the clock of
// testing/synctest can advance.
type lock chan struct{}

func (l lock) Lock()   { l <- struct{}{} }
func (l lock) Unlock() { <-l }

// enter waits for the table, unless ctx belongs to the transaction that has it.
func (t *table) enter(ctx context.Context) (leave func()) {
	if t.inTx(ctx) && t.bug != "transactions do not lock" {
		return func() {}
	}
	t.mu.Lock()
	return t.mu.Unlock
}

// inTx reports whether ctx belongs to a transaction.
func (t *table) inTx(ctx context.Context) bool {
	return tx.ActiveFor(ctx, t) || ctx.Value(unannounced{}) != nil
}

// unannounced is the key of a context with a transaction that only the table finds, which is a bug.
type unannounced struct{}

// gap unlocks the table between a read and a write, if that is the bug.
func (t *table) gap(bug string) {
	if t.bug == bug {
		t.mu.Unlock()
		giveWay()
		t.mu.Lock()
	}
}

// giveWay lets all other goroutines run as far as they can. The mutants run in a bubble of
// testing/synctest, where this is deterministic and takes no time: a sleep ends only when all other
// goroutines are blocked, including those that sleep for less, as the kit does. So all goroutines
// that can enter a gap have entered it before the first one continues.
func giveWay() { time.Sleep(giving) }

const giving = 100 * time.Microsecond

func (t *table) find(id string) (resource.Item[thing], error) {
	it, ok := t.rows[id]
	switch {
	case ok:
		it.Value = it.Value.clone()
		return it, nil
	case !t.deleted[id].IsZero():
		return it, resource.ErrGone
	}
	return it, resource.ErrNotFound
}

// checkSerial looks whether another item has the same serial number.
func (t *table) checkSerial(id string, v thing) error {
	for other, it := range t.rows {
		if it.Value.Serial == v.Serial && other != id {
			return resource.Taken("serial")
		}
		same := it.Value.Color == v.Color && it.Value.Done == v.Done || t.bug == "a list of unique fields is its first field"
		if it.Value.Code == v.Code && same && other != id && t.bug != "a list of unique fields is not checked" {
			return resource.Taken("code")
		}
	}
	t.gap("unique is checked without a lock")
	return nil
}

func (t *table) write(id string, v thing) resource.Item[thing] {
	t.writes++
	it := resource.Item[thing]{ID: id, Rev: resource.Rev(strconv.Itoa(t.writes)), Modified: time.Now(), Value: v}
	it.Value.ID = id
	if t.bug == "the revision restarts at 1 after a deletion" {
		writes, _ := strconv.Atoi(string(t.rows[id].Rev))
		it.Rev = resource.Rev(strconv.Itoa(writes + 1))
	}
	if t.bug != "keeps the caller's value" {
		it.Value = it.Value.clone()
	}
	if old, ok := t.rows[id]; ok {
		t.recordChange(feed.Updated, it, &old.Value, &it.Value)
	} else {
		t.recordChange(feed.Created, it, nil, &it.Value)
	}
	t.rows[id] = it
	it.Value = it.Value.clone()
	return it
}

func (t *table) Get(ctx context.Context, id string) (resource.Item[thing], error) {
	defer t.enter(ctx)()
	it, err := t.find(id)
	if len(id)%2 == 1 {
		it.Value.ID = "" // Item.ID is sufficient
	}
	return it, err
}

func (t *table) List(ctx context.Context, q query.Query) iter.Seq2[resource.Item[thing], error] {
	return func(yield func(resource.Item[thing], error) bool) {
		leave := t.enter(ctx)
		items := slices.Collect(maps.Values(t.rows))
		for i := range items {
			items[i].Value = items[i].Value.clone()
		}
		if t.bug != "a stopped list keeps the lock" {
			leave()
			leave = func() {}
		}
		for it, err := range memory.List(items, q) {
			if ctx.Err() != nil {
				yield(resource.Item[thing]{}, ctx.Err())
				return
			}
			if !yield(it, err) {
				return
			}
		}
		leave()
	}
}

func (t *table) Search(ctx context.Context, q query.Query) iter.Seq2[resource.Item[thing], error] {
	return func(yield func(resource.Item[thing], error) bool) {
		var items []resource.Item[thing]
		for it, err := range t.List(ctx, query.Query{}) {
			if err != nil {
				yield(resource.Item[thing]{}, err)
				return
			}
			items = append(items, it)
		}
		for it, err := range memory.Search(items, q) {
			if !yield(it, err) {
				return
			}
		}
	}
}

func (t *table) ListJSON(ctx context.Context, q query.Query) iter.Seq2[resource.ItemJSON, error] {
	typ := schema.For[thing]()
	encode := typ.Append
	if q.Fields != nil {
		selection, err := typ.Select(q.Fields)
		if err != nil {
			return func(yield func(resource.ItemJSON, error) bool) { yield(resource.ItemJSON{}, err) }
		}
		encode = selection.Append
	}
	return func(yield func(resource.ItemJSON, error) bool) {
		for it, err := range t.List(ctx, q) {
			text, failed := encode(nil, &it.Value)
			err = cmp.Or(err, failed)
			if !yield(resource.ItemJSON{ID: it.ID, Rev: it.Rev, Modified: it.Modified, JSON: text}, err) || err != nil {
				return
			}
		}
	}
}

func (t *table) ListRevisions(ctx context.Context, q query.Query) iter.Seq2[resource.Revision, error] {
	return func(yield func(resource.Revision, error) bool) {
		for it, err := range t.List(ctx, q) {
			if !yield(resource.Revision{ID: it.ID, Rev: it.Rev, Modified: it.Modified}, err) {
				return
			}
		}
	}
}

func (t *table) GetRevision(ctx context.Context, id string) (resource.Revision, error) {
	it, err := t.Get(ctx, id)
	if t.bug == "getrevision does not use the transaction" && tx.ActiveFor(ctx, t) {
		if before, ok := t.before.rows[id]; ok {
			it, err = before, nil
		}
	}
	return resource.Revision{ID: id, Rev: it.Rev, Modified: it.Modified}, err
}

func (t *table) Create(ctx context.Context, v thing) (resource.Item[thing], error) {
	defer t.enter(ctx)()
	if err := ctx.Err(); err != nil {
		return resource.Item[thing]{}, err
	}
	id := t.free()
	if err := t.checkSerial(id, v); err != nil {
		return resource.Item[thing]{}, err
	}
	t.gap("two creations use one id")
	t.last++
	return t.write(id, v), nil
}

// free returns an id that was never used.
func (t *table) free() string {
	if t.bug == "the id of the last item is used again" {
		t.last = len(t.rows)
	}
	for {
		id := strconv.Itoa(t.last + 1)
		_, err := t.find(id)
		if errors.Is(err, resource.ErrNotFound) || t.bug == "create overwrites inserted items" ||
			t.bug == "the id of the last item is used again" && err != nil {
			return id
		}
		t.last++
	}
}

func (t *table) Insert(ctx context.Context, id string, v thing) (resource.Item[thing], error) {
	defer t.enter(ctx)()
	if err := ctx.Err(); err != nil {
		return resource.Item[thing]{}, err
	}
	_, err := t.find(id)
	switch {
	case err == nil:
		return resource.Item[thing]{}, resource.ErrExists
	case errors.Is(err, resource.ErrGone) && !t.recreates:
		return resource.Item[thing]{}, err
	}
	if err := t.checkSerial(id, v); err != nil {
		return resource.Item[thing]{}, err
	}
	t.gap("insert checks without a lock")
	delete(t.deleted, id)
	delete(t.graves, id)
	return t.write(id, v), nil
}

func (t *table) InsertMany(ctx context.Context, items []resource.Item[thing]) error {
	defer t.enter(ctx)()
	before := t.state.clone()
	for _, it := range items {
		_, err := t.find(it.ID)
		switch {
		case err == nil:
			err = resource.ErrExists
		case errors.Is(err, resource.ErrNotFound):
			err = t.checkSerial(it.ID, it.Value)
		}
		if err != nil {
			t.state = before
			return err
		}
		t.write(it.ID, it.Value)
	}
	return nil
}

func (t *table) Replace(ctx context.Context, id string, expect resource.Rev, v thing) (resource.Item[thing], error) {
	if t.bug == "delete checks without a lock" {
		time.Sleep(giving / 2) // after all calls of Delete have read the item and before any of them has deleted it
	}
	defer t.enter(ctx)()
	it, err := t.check(ctx, id, expect)
	if err != nil {
		return it, err
	}
	if err := t.checkSerial(id, v); err != nil {
		return resource.Item[thing]{}, err
	}
	t.gap("replace checks without a lock")
	return t.write(id, v), nil
}

func (t *table) Delete(ctx context.Context, id string, expect resource.Rev) error {
	defer t.enter(ctx)()
	if _, err := t.check(ctx, id, expect); err != nil {
		return err
	}
	t.gap("delete checks without a lock")
	it := t.rows[id]
	t.recordChange(feed.Deleted, it, &it.Value, nil)
	delete(t.rows, id)
	t.deleted[id], t.graves[id] = time.Now(), it.Value
	return nil
}

func (t *table) Restore(ctx context.Context, id string) (resource.Item[thing], error) {
	defer t.enter(ctx)()
	if err := ctx.Err(); err != nil {
		return resource.Item[thing]{}, err
	}
	it, err := t.find(id)
	was, kept := t.graves[id]
	switch {
	case err == nil && t.bug == "restore of an existing item succeeds":
		return it, nil
	case err == nil:
		return it, resource.ErrExists
	case !kept:
		return it, resource.ErrNotFound
	}
	if t.bug != "restore does not check unique values" {
		if err := t.checkSerial(id, was); err != nil {
			return resource.Item[thing]{}, err
		}
	}
	t.gap("restore checks without a lock")
	delete(t.deleted, id)
	delete(t.graves, id)
	it = t.write(id, was)
	if t.bug == "a restored item has another value" {
		it = t.write(id, thing{Serial: was.Serial, Code: was.Code})
	}
	return it, nil
}

// check is the comparison of a compare-and-swap.
func (t *table) check(ctx context.Context, id string, expect resource.Rev) (resource.Item[thing], error) {
	if err := ctx.Err(); err != nil {
		return resource.Item[thing]{}, err
	}
	it, err := t.find(id)
	if err == nil && it.Rev != expect {
		err = resource.ErrStale
	}
	return it, err
}

func (t *table) Deleted(ctx context.Context, id string) (time.Time, error) {
	defer t.enter(ctx)()
	if when, ok := t.deleted[id]; ok {
		return when, nil
	}
	return time.Time{}, resource.ErrNotFound
}

func (t *table) Count(ctx context.Context, q query.Query) (n int, err error) {
	for _, err = range t.List(ctx, q) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

func (t *table) Aggregate(ctx context.Context, a query.Aggregation) iter.Seq2[query.Group, error] {
	return func(yield func(query.Group, error) bool) {
		sum := query.NewSummary(a)
		for it, err := range t.List(ctx, query.Query{Filter: a.Filter, Search: a.Search}) {
			if err != nil {
				yield(query.Group{}, err)
				return
			}
			err := sum.Add(func(field string) any { return schema.For[thing]().Field(field).Get(&it.Value) })
			if err != nil {
				yield(query.Group{}, err)
				return
			}
		}
		groups, err := sum.Groups(ctx)
		if err != nil {
			yield(query.Group{}, err)
			return
		}
		for _, g := range groups {
			if !yield(g, nil) {
				return
			}
		}
	}
}

func (t *table) GetMany(ctx context.Context, ids []string) iter.Seq2[resource.Item[thing], error] {
	return func(yield func(resource.Item[thing], error) bool) {
		for _, id := range ids {
			it, err := t.Get(ctx, id)
			if err == nil && !yield(it, nil) {
				return
			}
		}
	}
}

func (t *table) ListByKeys(ctx context.Context, field string, keys []string, q query.Query,
) iter.Seq2[resource.Item[thing], error] {
	return func(yield func(resource.Item[thing], error) bool) {
		for _, key := range keys {
			value, err := schema.For[thing]().Field(field).Parse(key)
			if err != nil {
				continue
			}
			each := q
			each.Filter = query.And(q.Filter, query.Where(field, query.Eq, value))
			for it, err := range t.List(ctx, each) {
				if !yield(it, err) || err != nil {
					return
				}
			}
		}
	}
}

func (t *table) CountByKeys(
	ctx context.Context, field string, keys []string, q query.Query,
) (map[string]int, error) {
	counts := map[string]int{}
	for _, key := range keys {
		for _, err := range t.ListByKeys(ctx, field, []string{key}, query.Query{Filter: q.Filter}) {
			if err != nil {
				return nil, err
			}
			counts[key]++
		}
	}
	return counts, nil
}

func (t *table) Transactions() tx.Runner { return t }

// GetForUpdate is Get, because transactions are exclusive.
func (t *table) GetForUpdate(ctx context.Context, id string) (item, error) {
	if !tx.ActiveFor(ctx, t) {
		return item{}, errors.New("no transaction")
	}
	return t.Get(ctx, id)
}

// InTx locks the table for the transaction and restores a copy of it unless fn succeeds.
func (t *table) InTx(ctx context.Context, fn func(ctx context.Context) error) (err error) {
	if t.inTx(ctx) {
		err := fn(ctx)
		if t.bug == "an inner transaction commits" && err == nil {
			t.before = t.state.clone()
		}
		return err
	}
	leave := t.enter(ctx)
	before := t.state.clone()
	t.before = before
	if t.bug == "transactions do not lock" {
		leave()
		defer func() { t.mu.Lock(); defer t.mu.Unlock(); t.rollback(err, before) }()
	} else {
		defer leave()
		defer func() { t.rollback(err, t.before) }()
	}
	outer := ctx
	ctx, scope := tx.Begin(ctx, t)
	if t.bug == "a transaction is not in its context" {
		ctx = context.WithValue(outer, unannounced{}, true)
	}
	defer func() {
		if err != nil && t.bug != "AfterRollback does not run" {
			scope.Rollback()
		}
	}()
	if t.bug != "a panic commits" {
		err = errors.New("panicked") // unless fn returns
	}
	err = fn(ctx)
	if err == nil || t.bug == "AfterCommit runs after a rollback" {
		scope.Commit()
	}
	if t.bug == "AfterCommit runs twice" && err == nil {
		scope.Commit()
	}
	return err
}

// rollback restores a state if the transaction failed.
func (t *table) rollback(err error, to state) {
	if err == nil || t.bug == "a rollback keeps everything" {
		return
	}
	if t.bug == "a rollback keeps tombstones" {
		to.deleted = t.deleted
	}
	if t.bug == "a rolled back change is yielded" {
		to.changes = t.changes
	}
	t.state = to
}

// recordChange records a change in the state, so that a rollback removes it.
func (t *table) recordChange(kind feed.Kind, it resource.Item[thing], before, after *thing) {
	c := &feed.Change[thing]{Kind: kind, ID: it.ID, Rev: string(it.Rev), Cursor: feed.Cursor{Epoch: 1, Seq: uint64(len(t.changes) + 1)}}
	if before != nil {
		v := before.clone()
		c.Before = &v
	}
	if after != nil {
		v := after.clone()
		c.After = &v
	}
	t.changes = append(t.changes, c)
}

// Watch is that of feed.Watcher. It looks for something new again and again.
func (t *table) Watch(ctx context.Context, after feed.Cursor) iter.Seq2[*feed.Change[thing], error] {
	return func(yield func(*feed.Change[thing], error) bool) {
		at := after
		changes := t.changesAfter(0)
		switch {
		case at.IsZero():
			at = feed.Cursor{Epoch: 1, Seq: uint64(len(changes)), Mark: 1}
		case at.Epoch != 1 || at.Seq > uint64(len(changes)):
			yield(nil, feed.ErrExpired)
			return
		}
		if !yield(&feed.Change[thing]{Cursor: at}, nil) {
			return
		}
		wait := 50 * time.Microsecond
		for current := false; ctx.Err() == nil; wait = min(2*wait, time.Second) {
			for _, c := range t.changesAfter(at.Seq) {
				at = c.Cursor
				// Each subscriber receives a copy.
				if !yield(&feed.Change[thing]{Kind: c.Kind, ID: c.ID, Rev: c.Rev, Before: c.Before, After: c.After, Cursor: at}, nil) {
					return
				}
			}
			if !current && !yield(&feed.Change[thing]{Cursor: at}, nil) {
				return
			}
			current = true
			select {
			case <-time.After(wait):
			case <-ctx.Done():
			}
		}
	}
}

// changesAfter returns the changes after seq. It waits for the current transaction.
func (t *table) changesAfter(seq uint64) []*feed.Change[thing] {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changes[seq:]
}
