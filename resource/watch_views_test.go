package resource_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

// TestWatchContracts: a write through one contract is reported in all of them, in the
// representation of each.
func TestWatchContracts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := feed.New(feed.NewMemory(nil), nil)
		defer f.Close()
		hub := resource.New("orders", memory.New[purchase](nil), &resource.Options[purchase]{Samples: purchaseSamples()})
		v11, v10 := purchaseViews(hub, func(v11, _ *resource.ViewOptions) { v11.Where = query.Where("status", query.Ne, "cancelled") })
		for _, r := range []*resource.Resource{hub, v11, v10} {
			resource.NewCatalog(&resource.CatalogOptions{Feed: f}, r)
		}
		start, err := v10.Position(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v10.Create(t.Context(), []byte(`{"itemId":7,"qty":2}`), nil); err != nil {
			t.Fatal(err)
		}
		for _, doc := range []string{`{"status":"paid","note":"soon"}`, `{"status":"cancelled"}`} {
			if _, err := hub.Patch(t.Context(), "1", mergePatch(t, doc), nil); err != nil {
				t.Fatal(err)
			}
		}
		const zero = `"createdAt":"0001-01-01T00:00:00Z"`
		wantHeard(t, hub, hub.Watch(t.Context(), start, query.Filter{}),
			`created 1 - {"id":1,"status":"placed","lines":[{"itemId":7,"qty":2}],"note":null,`+zero+`}`,
			`updated 1 {"id":1,"status":"placed","lines":[{"itemId":7,"qty":2}],"note":null,`+zero+`} `+
				`{"id":1,"status":"paid","lines":[{"itemId":7,"qty":2}],"note":"soon",`+zero+`}`,
			`updated 1 {"id":1,"status":"paid","lines":[{"itemId":7,"qty":2}],"note":"soon",`+zero+`} `+
				`{"id":1,"status":"cancelled","lines":[{"itemId":7,"qty":2}],"note":"soon",`+zero+`}`)
		wantHeard(t, v11, v11.Watch(t.Context(), start, query.Filter{}),
			`created 1 - {"id":1,"status":"placed","itemId":7,"qty":2,"note":null}`,
			`updated 1 {"id":1,"status":"placed","itemId":7,"qty":2,"note":null} {"id":1,"status":"paid","itemId":7,"qty":2,"note":"soon"}`,
			`deleted 1 - -`)
		wantHeard(t, v10, v10.Watch(t.Context(), start, query.Where("status", query.Eq, "paid")),
			`created 1 - {"id":1,"status":"paid","itemId":7,"qty":2}`,
			`deleted 1 - -`)
	})
}

// TestRule162HiddenUpdates: a view does not report a change of what it hides, unless the caller has not
// seen the item before. The revision of an event is that of the item in the view.
func TestRule162HiddenUpdates(t *testing.T) {
	t.Parallel()
	large := func(ctx context.Context, op resource.Op, before, _ *thing) error {
		if op == resource.OpGet && before.N < 0 && !isRoot(ctx) {
			return resource.ErrForbidden
		}
		return nil
	}
	watched(t, &resource.Options[thing]{Authorize: large}, func(t *testing.T, r rig) {
		view := nameView(r.Resource, nil)
		for i, name := range []string{"a", "a", "b", "b", "b", "b"} {
			r.put(t, "1", name, []int{0, 1, 1, -1, -2, 2}[i])
		}
		events := []string{`created 1 - {"id":"1","name":"a"}`, `updated 1 {"id":"1","name":"a"} {"id":"1","name":"b"}`,
			`deleted 1 - -`, `created 1 - {"id":"1","name":"b"}`}
		wantHeard(t, view, view.Watch(t.Context(), r.start, query.Filter{}), events...)
		wantHeard(t, view, view.WatchItem(t.Context(), "1", r.start), events...)
		item, err := view.Get(t.Context(), "1")
		if err != nil {
			t.Fatal(err)
		}
		var revs []string
		for c, err := range view.Watch(t.Context(), r.start, query.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			if c.After != nil {
				revs = append(revs, c.Rev, string(c.After.Rev))
			}
			if len(revs) == 6 {
				break
			}
		}
		if diff := cmp.Diff([]string{string(item.Rev), string(item.Rev)}, revs[4:]); diff != "" {
			t.Errorf("revision (-want +got):\n%s", diff)
		}
	})
}

type onlyName struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

var errNameless = errors.New("it has no name")

// nameView is a view without numbers. down fails for a thing without a name.
func nameView(r *resource.Resource, opts *resource.ViewOptions) *resource.Resource {
	down := func(v thing) (onlyName, error) {
		if v.Name == "" {
			return onlyName{}, errNameless
		}
		return onlyName{v.ID, v.Name}, nil
	}
	up := func(v onlyName, base thing) (thing, error) {
		base.ID, base.Name = v.ID, v.Name
		return base, nil
	}
	return resource.View(r, down, up, opts)
}

// TestWatchUnconvertible: a change that cannot be represented, or no longer be read, ends the
// subscription, so that the client lists again. It is never skipped. It is logged once for all
// subscribers, including those that read the log individually.
func TestWatchUnconvertible(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		write func(t *testing.T, r *rig)
		shape func(r *resource.Resource) *resource.Resource
		want  string // in the log
	}{
		{"the shape cannot show it", func(t *testing.T, r *rig) { r.put(t, "1", "", 0) },
			func(r *resource.Resource) *resource.Resource { return nameView(r, nil) }, "it has no name"},
		{"the shape cannot show how it was", func(t *testing.T, r *rig) {
			r.put(t, "1", "", 0)
			r.start = r.head(t)
			r.put(t, "1", "a", 0)
		}, func(r *resource.Resource) *resource.Resource { return nameView(r, nil) }, "it has no name"},
		{"the shape panics", func(t *testing.T, r *rig) { r.put(t, "1", "", 0) },
			func(r *resource.Resource) *resource.Resource {
				same := func(v thing) (thing, error) {
					if v.Name == "" {
						panic("it has no name")
					}
					return v, nil
				}
				return resource.View(r, same, func(v, _ thing) (thing, error) { return v, nil }, nil)
			}, "panic: it has no name"},
		{"it is of another type", func(t *testing.T, r *rig) {
			r.feed.Append(t.Context(), &feed.Event{Kind: feed.Created, Collection: "things", ID: "1", After: []byte(`{"id":"1","n":"text"}`)})
		}, func(r *resource.Resource) *resource.Resource { return r }, "n must be an integer"},
		{"it is no JSON", func(t *testing.T, r *rig) {
			r.feed.Append(t.Context(), &feed.Event{Kind: feed.Deleted, Collection: "things", ID: "1", Before: []byte(`{`)})
		}, func(r *resource.Resource) *resource.Resource { return r }, "event not sent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				r := newRig(t, nil)
				r.Resource = resource.New("things", memory.New[thing](nil), nil)
				resource.NewCatalog(&resource.CatalogOptions{Feed: r.feed, Logger: slog.New(slog.NewTextHandler(&log, nil))}, r.Resource)
				defer r.feed.Close()
				shape := tt.shape(r.Resource)
				tt.write(t, &r)
				for range 3 {
					got, err := collect(t, shape, shape.Watch(t.Context(), r.start, query.Filter{}))
					if !errors.Is(err, feed.ErrExpired) || len(got) > 0 {
						t.Errorf("heard %s, %v, want ErrExpired", got, err)
					}
					if d := resource.Problem(err); d.Kind != problem.CursorExpired {
						t.Errorf("the problem is %v, want CursorExpired", d)
					}
				}
				if lines := strings.Count(log.String(), "\n"); lines != 1 || !strings.Contains(log.String(), tt.want) {
					t.Errorf("logged %s, want one line with %q", &log, tt.want)
				}
				at, err := shape.Position(t.Context(), 0)
				if err != nil {
					t.Fatal(err)
				}
				r.put(t, "2", "b", 0)
				if got, err := collect(t, shape, shape.Watch(t.Context(), at, query.Filter{})); err != nil || len(got) != 1 {
					t.Errorf("who has listed anew heard %s, %v", got, err)
				}
			})
		})
	}
}

// TestWatchDownPanics: a panic in down has the effect of an error. A client that resumes from the
// same cursor meets the same panic again.
func TestWatchDownPanics(t *testing.T) {
	t.Parallel()
	watched(t, nil, func(t *testing.T, r rig) {
		view := resource.View(r.Resource, func(v thing) (thing, error) {
			if v.Name == "boom" {
				panic("down")
			}
			return v, nil
		}, func(v, _ thing) (thing, error) { return v, nil }, nil)
		r.put(t, "1", "boom", 0)
		for range 2 {
			got, err := collect(t, view, view.Watch(t.Context(), r.start, query.Filter{}))
			if !errors.Is(err, feed.ErrExpired) || len(got) > 0 {
				t.Errorf("heard %s, %v, want ErrExpired", got, err)
			}
		}
		at := r.head(t)
		r.put(t, "2", "a", 0)
		wantHeard(t, view, view.Watch(t.Context(), at, query.Filter{}), `created 2 - {"id":"2","name":"a","n":0}`)
	})
}

// clansman is a thing with a field that events do not have.
type clansman struct {
	ID   string `json:"id"`
	Clan string `json:"clan" writeOnly:"true"`
}

// TestWatchSecrets: if visibility depends on data that events do not have, the item is hidden from
// all subscribers.
func TestWatchSecrets(t *testing.T) {
	t.Parallel()
	not := query.Not(query.And(query.Where("id", query.Ne, ""), query.Where("clan", query.Eq, "others")))
	same := func(v clansman) (clansman, error) { return v, nil }
	merge := func(v, _ clansman) (clansman, error) { return v, nil }
	tests := []struct {
		name  string
		scope query.Filter
		where query.Filter
		asked query.Filter
	}{
		{"Scope", query.Where("clan", query.Ne, "others"), query.Filter{}, query.Filter{}},
		{"part of Scope", not, query.Filter{}, query.Filter{}},
		{"Where", query.Filter{}, not, query.Filter{}},
		{"filter", query.Filter{}, query.Filter{}, not},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFeed(t)
				store := memory.New[clansman](nil)
				opts := &resource.Options[clansman]{Scope: func(ctx context.Context) (query.Filter, error) {
					if isRoot(ctx) {
						return query.Filter{}, nil
					}
					return tt.scope, nil
				}}
				r := resource.New("clansmen", store, opts)
				resource.NewCatalog(&resource.CatalogOptions{Feed: f}, r)
				view := resource.View(r, same, merge, &resource.ViewOptions{Where: tt.where})
				if _, err := r.Create(asRoot(t), []byte(`{"id":"a","clan":"others"}`), nil); err != nil {
					t.Fatal(err)
				}
				for name, seq := range map[string]changes{
					"Watch": view.Watch(t.Context(), feed.Cursor{}, tt.asked), "WatchItem": view.WatchItem(t.Context(), "a", feed.Cursor{}),
				} {
					if name == "WatchItem" && !tt.asked.IsZero() {
						continue
					}
					got, err := collect(t, view, seq)
					if err == nil || resource.Problem(err).StatusCode() != http.StatusInternalServerError || len(got) > 0 {
						t.Errorf("%s: heard %s, %v, want an internal error", name, got, err)
					}
				}
			})
		})
	}
}

// TestWatchContentRev: without revisions of the store the revision of a change is computed from the
// content of the view, as with Get.
func TestWatchContentRev(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := feed.New(feed.NewMemory(nil), nil)
		defer f.Close()
		store := memory.New[thing](nil)
		ops := resource.Ops[thing]{List: store.List,
			Get: func(ctx context.Context, id string) (resource.Item[thing], error) {
				item, err := store.Get(ctx, id)
				item.Rev = ""
				return item, err
			},
			Create: func(ctx context.Context, v thing) (resource.Item[thing], error) {
				item, err := store.Create(ctx, v)
				item.Rev = ""
				return item, err
			}}
		r := ops.Resource("things", nil)
		resource.NewCatalog(&resource.CatalogOptions{Feed: f}, r)
		at, err := r.Position(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		made, err := r.Create(t.Context(), []byte(`{"name":"a"}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		e, err := r.Get(t.Context(), made.ID)
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range r.Watch(t.Context(), at, query.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Kind == feed.Created {
				if c.Rev == "" || c.Rev != string(e.Rev) || c.After.Rev != e.Rev {
					t.Errorf("the revision is %q, want %q", c.Rev, e.Rev)
				}
				break
			}
		}
	})
}
