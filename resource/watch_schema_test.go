package resource_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
)

// Two releases of a program over one table and one log, as during a rolling deployment.
type (
	oldNote struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	newNote struct {
		ID   string  `json:"id"`
		Text string  `json:"text"`
		Due  *string `json:"due"`
	}
)

// notes is a table. A release does not change columns that it does not have.
type notes struct {
	mu   sync.Mutex
	revs int
	rows map[string]noteRow
}

type noteRow struct {
	rev     resource.Rev
	columns map[string]jsontext.Value
}

// release is a table as a collection of one release.
type release[T any] struct{ *notes }

func (r release[T]) item(id string) (item resource.Item[T], err error) {
	row, ok := r.rows[id]
	if !ok {
		return item, resource.ErrNotFound
	}
	doc, err := json.Marshal(row.columns)
	if err == nil {
		err = json.Unmarshal(doc, &item.Value)
	}
	item.ID, item.Rev = id, row.rev
	return item, err
}

func (r release[T]) Get(_ context.Context, id string) (resource.Item[T], error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.item(id)
}

func (r release[T]) List(_ context.Context, q query.Query) iter.Seq2[resource.Item[T], error] {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []resource.Item[T]
	for _, id := range slices.Sorted(maps.Keys(r.rows)) {
		if item, err := r.item(id); err == nil {
			all = append(all, item)
		}
	}
	return memory.List(all, q)
}

// store writes the columns of one release.
func (r release[T]) store(id string, v T) (item resource.Item[T], err error) {
	doc, err := json.Marshal(v)
	if err != nil {
		return item, err
	}
	columns := maps.Clone(r.rows[id].columns)
	if err := json.Unmarshal(doc, &columns); err != nil {
		return item, err
	}
	r.revs++
	r.rows[id] = noteRow{resource.Rev(strconv.Itoa(r.revs)), columns}
	return r.item(id)
}

func (r release[T]) Insert(_ context.Context, id string, v T) (resource.Item[T], error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.rows[id]; ok {
		return resource.Item[T]{}, resource.ErrExists
	}
	return r.store(id, v)
}

func (r release[T]) Replace(_ context.Context, id string, rev resource.Rev, v T) (resource.Item[T], error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch row, ok := r.rows[id]; {
	case !ok:
		return resource.Item[T]{}, resource.ErrNotFound
	case row.rev != rev:
		return resource.Item[T]{}, resource.ErrStale
	}
	return r.store(id, v)
}

func (r release[T]) Delete(_ context.Context, id string, rev resource.Rev) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch row, ok := r.rows[id]; {
	case !ok:
		return resource.ErrNotFound
	case row.rev != rev:
		return resource.ErrStale
	}
	delete(r.rows, id)
	return nil
}

// withoutSchema is a log of events that do not name their schema: the control.
type withoutSchema struct{ *feed.Memory }

func (l withoutSchema) Append(ctx context.Context, events ...*feed.Event) error {
	for _, e := range events {
		e.Schema = ""
	}
	return l.Memory.Append(ctx, events...)
}

// deployment is both releases, with a feed each.
type deployment struct{ old, new *resource.Resource }

func deploy(t *testing.T, control bool, opts *resource.Options[newNote]) (d deployment) {
	t.Helper()
	table := &notes{rows: map[string]noteRow{}}
	memoryLog := feed.NewMemory(nil)
	log := feed.Log(memoryLog)
	if control {
		log = withoutSchema{memoryLog}
	}
	serve := func(r *resource.Resource) *resource.Resource {
		f := feed.New(log, nil)
		t.Cleanup(func() { f.Close() })
		resource.NewCatalog(&resource.CatalogOptions{Feed: f}, r)
		return r
	}
	d.old = serve(resource.New("notes", release[oldNote]{table}, &resource.Options[oldNote]{Public: true}))
	d.new = serve(resource.New("notes", release[newNote]{table}, opts))
	return d
}

func (d deployment) put(t *testing.T, r *resource.Resource, id, doc string) {
	t.Helper()
	if _, _, err := r.Put(t.Context(), id, []byte(doc), nil); err != nil {
		t.Fatal(err)
	}
}

// view is what a subscriber knows.
type view struct {
	r      *resource.Resource
	filter query.Filter
	items  map[string]string
	kinds  []string
	err    error
}

// watch subscribes until the context of the test ends.
func watch(ctx context.Context, t *testing.T, r *resource.Resource, f query.Filter) *view {
	t.Helper()
	return watchAfter(ctx, t, r, f, feed.Cursor{})
}

func watchAfter(ctx context.Context, t *testing.T, r *resource.Resource, f query.Filter, after feed.Cursor) *view {
	t.Helper()
	v := &view{r: r, filter: f, items: map[string]string{}}
	go func() {
		for c, err := range r.Watch(ctx, after, f) {
			if err != nil {
				v.err = err
				return
			}
			switch c.Kind {
			case feed.Created, feed.Updated:
				v.items[c.ID] = document(r, c.After)
			case feed.Deleted:
				delete(v.items, c.ID)
			default:
				continue
			}
			v.kinds = append(v.kinds, c.Kind.String()+" "+c.ID+" "+v.items[c.ID])
		}
	}()
	settle()
	return v
}

// settle lets all subscribers receive all events. A feed reads the log when its program has written,
// and otherwise after its poll interval.
func settle() {
	time.Sleep(time.Second)
	synctest.Wait()
}

func document(r *resource.Resource, e *resource.Entry) string {
	doc, err := r.Type().Append(nil, e.Value)
	if err != nil {
		return err.Error()
	}
	return string(doc)
}

// list returns what the subscriber would list now.
func (v *view) list(t *testing.T) map[string]string {
	t.Helper()
	items := map[string]string{}
	for _, id := range []string{"1", "2", "3", "4", "5"} {
		e, err := v.r.Get(t.Context(), id)
		if err == nil && (v.filter.IsZero() || query.Match(v.filter, func(name string) any {
			return v.r.Type().Field(name).Get(e.Value)
		})) {
			items[id] = document(v.r, &e)
		}
	}
	return items
}

// TestWatchOtherSchema covers the events of a release that does not have a field.
func TestWatchOtherSchema(t *testing.T) {
	t.Parallel()
	friday := query.Where("due", query.Eq, "friday")
	public := &resource.Options[newNote]{Public: true}
	authorize := &resource.Options[newNote]{
		Authorize: func(_ context.Context, _ resource.Op, before, _ *newNote) error {
			if before != nil && before.Due != nil && *before.Due == "secret" {
				return resource.ErrForbidden
			}
			return nil
		},
	}
	tests := []struct {
		name    string
		opts    *resource.Options[newNote]
		filter  query.Filter
		write   func(t *testing.T, d deployment)
		want    []string
		wantErr string
	}{
		{name: "a field that the writer does not have", opts: public,
			write: func(t *testing.T, d deployment) { d.put(t, d.old, "1", `{"text":"b"}`) },
			want:  []string{`updated 1 {"id":"1","text":"b","due":"friday"}`}},
		{name: "a filter by that field", opts: public, filter: friday,
			write: func(t *testing.T, d deployment) { d.put(t, d.old, "1", `{"text":"b"}`) },
			want:  []string{`updated 1 {"id":"1","text":"b","due":"friday"}`}},
		{name: "deleted, with a filter by that field", opts: public, filter: friday,
			write: func(t *testing.T, d deployment) {
				if _, err := d.old.Delete(t.Context(), "1", nil); err != nil {
					t.Fatal(err)
				}
			},
			want: []string{"deleted 1 "}},
		{name: "deleted, with a filter by a field that the writer has", opts: public,
			filter: query.Where("text", query.Eq, "z"),
			write: func(t *testing.T, d deployment) {
				if _, err := d.old.Delete(t.Context(), "1", nil); err != nil {
					t.Fatal(err)
				}
			}},
		{name: "deleted, with a policy", opts: authorize,
			write: func(t *testing.T, d deployment) {
				if _, err := d.old.Delete(t.Context(), "1", nil); err != nil {
					t.Fatal(err)
				}
			},
			wantErr: "list notes: " + feed.ErrExpired.Error() +
				": policy may need fields that the writer of the event did not have"},
		{name: "a policy, and a newer item that it hides", opts: authorize,
			filter: query.Where("text", query.Eq, "a"),
			write: func(t *testing.T, d deployment) {
				d.put(t, d.old, "1", `{"text":"b"}`)
				d.put(t, d.new, "1", `{"text":"b","due":"secret"}`)
			},
			wantErr: "list notes: " + feed.ErrExpired.Error() +
				": policy may need fields that the writer of the event did not have"},
		{name: "a policy, and a newer item that it shows", opts: authorize,
			write: func(t *testing.T, d deployment) {
				d.put(t, d.old, "1", `{"text":"b"}`)
				d.put(t, d.new, "1", `{"text":"c","due":"friday"}`)
			},
			want: []string{
				`created 1 {"id":"1","text":"c","due":"friday"}`, `updated 1 {"id":"1","text":"c","due":"friday"}`,
			}},
		{name: "a policy that reads that field", opts: authorize,
			write: func(t *testing.T, d deployment) {
				d.put(t, d.new, "1", `{"text":"b","due":"secret"}`)
				d.put(t, d.old, "1", `{"text":"c"}`)
			},
			want: []string{"deleted 1 "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				d := deploy(t, false, tt.opts)
				d.put(t, d.new, "1", `{"text":"a","due":"friday"}`)
				after, err := d.new.Position(ctx, 0)
				if err != nil {
					t.Fatal(err)
				}
				tt.write(t, d) // first, because events are compared with the items that are stored
				v := watchAfter(ctx, t, d.new, tt.filter, after)
				if diff := cmp.Diff(tt.want, v.kinds); diff != "" {
					t.Errorf("changes (-want +got):\n%s", diff)
				}
				got := ""
				if v.err != nil {
					got = v.err.Error()
				}
				if diff := cmp.Diff(tt.wantErr, got); diff != "" {
					t.Errorf("error (-want +got):\n%s", diff)
				}
				cancel()
				synctest.Wait()
			})
		})
	}
}

// TestWatchTwoReleases makes random writes by both releases. In the end each subscriber has what it
// would list. The control, events without a schema, differs.
func TestWatchTwoReleases(t *testing.T) {
	t.Parallel()
	for _, control := range []bool{false, true} {
		t.Run(fmt.Sprintf("control %t", control), func(t *testing.T) {
			t.Parallel()
			wrong := 0
			for seed := range uint64(30) {
				synctest.Test(t, func(t *testing.T) { wrong += twoReleases(t, control, seed) })
			}
			if control == (wrong == 0) {
				t.Errorf("%d views differ from the list", wrong)
			}
		})
	}
}

// twoReleases returns how many views differ from the list in the end.
func twoReleases(t *testing.T, control bool, seed uint64) (wrong int) {
	ctx, cancel := context.WithCancel(t.Context())
	defer synctest.Wait()
	defer cancel()
	d := deploy(t, control, &resource.Options[newNote]{Public: true})
	rng := rand.New(rand.NewPCG(seed, 1))
	var views []*view
	for _, f := range []query.Filter{{}, query.Where("text", query.Eq, "a")} {
		views = append(views, watch(ctx, t, d.old, f), watch(ctx, t, d.new, f))
	}
	for _, f := range []query.Filter{
		query.Where("due", query.Eq, "x"), query.Where("due", query.IsNull, true),
		query.Or(query.Where("due", query.Eq, "y"), query.Where("text", query.Eq, "b")),
	} {
		views = append(views, watch(ctx, t, d.new, f), watch(ctx, t, d.new, query.Not(f)))
	}
	for range 40 {
		id := strconv.Itoa(1 + rng.IntN(5))
		text := string(rune('a' + rng.IntN(3)))
		switch rng.IntN(5) {
		case 0, 1:
			d.put(t, d.old, id, fmt.Sprintf(`{"text":%q}`, text))
		case 2:
			d.put(t, d.new, id, fmt.Sprintf(`{"text":%q,"due":%q}`, text, string(rune('x'+rng.IntN(2)))))
		case 3:
			d.put(t, d.new, id, fmt.Sprintf(`{"text":%q}`, text))
		case 4:
			r := []*resource.Resource{d.old, d.new}[rng.IntN(2)]
			r.Delete(t.Context(), id, nil) // it may not exist
		}
		if rng.IntN(3) == 0 {
			settle() // otherwise subscribers read items that are newer than the event
		}
	}
	settle()
	for _, v := range views {
		if v.err != nil {
			t.Errorf("seed %d: %v", seed, v.err)
		}
		if diff := cmp.Diff(v.list(t), v.items); diff != "" {
			wrong++
			if !control {
				t.Errorf("seed %d: view with %+v (-list +view):\n%s", seed, v.filter, diff)
			}
		}
	}
	return wrong
}
