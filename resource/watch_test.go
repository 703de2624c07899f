package resource_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
)

// rig is a resource with a Feed, in the time of a bubble.
type rig struct {
	*resource.Resource
	log   *feed.Memory
	feed  *feed.Feed
	start feed.Cursor
}

// watched runs a test with a resource of things that has a feed.
func watched(t *testing.T, opts *resource.Options[thing], fn func(t *testing.T, r rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, opts)
		defer r.feed.Close()
		fn(t, r)
	})
}

func newRig(t testing.TB, opts *resource.Options[thing]) rig {
	db := memory.NewDB()
	r := rig{log: feed.NewMemory(&feed.MemoryOptions{Runner: db})}
	// so that many subscribers are slower than the ring buffer
	r.feed = feed.New(r.log, &feed.Options{BufferEvents: 8})
	r.Resource = resource.New("things", memory.New(&memory.Options[thing]{DB: db}), opts)
	r.serve(t, r.Resource)
	r.start = r.head(t)
	return r
}

// serve makes a catalog of one part with the feed, in addition to the catalog of the parent of a
// view.
func (r rig) serve(t testing.TB, part resource.Part) {
	resource.NewCatalog(&resource.CatalogOptions{Feed: r.feed}, part)
}

func (r rig) head(t testing.TB) feed.Cursor {
	t.Helper()
	at, err := r.log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func (r rig) put(t testing.TB, id, name string, n int) resource.Entry {
	t.Helper()
	e, _, err := r.Put(asRoot(t), id, fmt.Appendf(nil, `{"id":%q,"name":%q,"n":%d}`, id, name, n), nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (r rig) delete(t testing.TB, id string) {
	t.Helper()
	if _, err := r.Delete(asRoot(t), id, nil); err != nil {
		t.Fatal(err)
	}
}

// asRoot returns the context of a caller that the policies of these tests do not restrict.
func asRoot(t testing.TB) context.Context { return context.WithValue(t.Context(), rootKey{}, true) }

type rootKey struct{}

func isRoot(ctx context.Context) bool { return ctx.Value(rootKey{}) != nil }

type changes = iter.Seq2[*feed.Change[resource.Entry], error]

// collect returns the events until the second bookmark, which follows when there is no event for half
// a minute.
func collect(t testing.TB, r *resource.Resource, seq changes) (got []string, err error) {
	t.Helper()
	var last feed.Cursor
	marks := 0
	for c, err := range seq {
		if err != nil {
			return got, err
		}
		if c.Kind == feed.Bookmark {
			if marks++; marks == 2 {
				return got, nil
			}
			if len(got) > 0 {
				t.Errorf("the first bookmark comes behind %s", got)
			}
			last = c.Cursor
			continue
		}
		if marks == 0 || c.Cursor.Seq <= last.Seq {
			t.Errorf("%v %s at %v, behind %v", c.Kind, c.ID, c.Cursor, last)
		}
		last = c.Cursor
		got = append(got, line(t, r, c))
	}
	return got, nil
}

// line formats a change: its kind, its id, and the item before and after.
func line(t testing.TB, r *resource.Resource, c *feed.Change[resource.Entry]) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprint(&b, c.Kind, " ", c.ID)
	for _, e := range []*resource.Entry{c.Before, c.After} {
		if e == nil {
			b.WriteString(" -")
			continue
		}
		doc, err := r.Type().Append(nil, e.Value)
		if err != nil || e.ID != c.ID {
			t.Errorf("%s of %s: %v", e.ID, c.ID, err)
		}
		fmt.Fprintf(&b, " %s", doc)
	}
	return b.String()
}

func wantHeard(t testing.TB, r *resource.Resource, seq changes, want ...string) {
	t.Helper()
	got, err := collect(t, r, seq)
	if err != nil {
		t.Errorf("Watch: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is heard (-want +got):\n%s", diff)
	}
}

// onlyIn has four ways to hide the things with another name than "in".
func onlyIn() map[string]*resource.Options[thing] {
	refuse := func(err error) func(context.Context, resource.Op, *thing, *thing) error {
		return func(ctx context.Context, op resource.Op, before, _ *thing) error {
			if op == resource.OpGet && before.Name != "in" && !isRoot(ctx) {
				return fmt.Errorf("policy: %w", err)
			}
			return nil
		}
	}
	return map[string]*resource.Options[thing]{
		"filter": nil,
		"where":  nil,
		"scope": {Scope: func(ctx context.Context) (query.Filter, error) {
			if isRoot(ctx) {
				return query.Filter{}, nil
			}
			return query.Where("name", query.Eq, "in"), nil
		}},
		"forbidden": {Authorize: refuse(resource.ErrForbidden)},
		"not found": {Authorize: refuse(resource.ErrNotFound)},
	}
}

// TestWatchTransitions: an item that becomes visible is reported as created, and one that is no
// longer visible as deleted, whatever the reason.
func TestWatchTransitions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		writes []string // the next name of the item; "" deletes it
		want   []string
	}{
		{"created in", []string{"in"}, []string{`created 1 - {"id":"1","name":"in","n":0}`}},
		{"created out", []string{"out"}, nil},
		{"in to in", []string{"in", "in"}, []string{`created 1 - {"id":"1","name":"in","n":0}`,
			`updated 1 {"id":"1","name":"in","n":0} {"id":"1","name":"in","n":1}`}},
		{"in to out", []string{"in", "out"}, []string{`created 1 - {"id":"1","name":"in","n":0}`, `deleted 1 - -`}},
		{"out to in", []string{"out", "in"}, []string{`created 1 - {"id":"1","name":"in","n":1}`}},
		{"out to out", []string{"out", "out"}, nil},
		{"deleted in", []string{"in", ""}, []string{`created 1 - {"id":"1","name":"in","n":0}`, `deleted 1 - -`}},
		{"deleted out", []string{"out", ""}, nil},
		{"in, out and deleted", []string{"in", "out", ""}, []string{`created 1 - {"id":"1","name":"in","n":0}`, `deleted 1 - -`}},
		{"and back", []string{"in", "out", "in"}, []string{`created 1 - {"id":"1","name":"in","n":0}`, `deleted 1 - -`,
			`created 1 - {"id":"1","name":"in","n":2}`}},
	}
	for how, opts := range onlyIn() {
		for _, tt := range tests {
			t.Run(how+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				watched(t, opts, func(t *testing.T, r rig) {
					view, filter := r.Resource, query.Filter{}
					switch in := query.Where("name", query.Eq, "in"); how {
					case "filter":
						filter = in
					case "where":
						same := func(v thing) (thing, error) { return v, nil }
						back := func(v, _ thing) (thing, error) { return v, nil }
						view = resource.View(r.Resource, same, back, &resource.ViewOptions{Name: "in", Where: in})
					}
					for n, name := range tt.writes {
						if name == "" {
							r.delete(t, "1")
							continue
						}
						r.put(t, "1", name, n)
					}
					wantHeard(t, view, view.Watch(t.Context(), r.start, filter), tt.want...)
					if how != "filter" {
						wantHeard(t, view, view.WatchItem(t.Context(), "1", r.start), tt.want...)
						wantHeard(t, view, view.WatchItem(t.Context(), "2", r.start))
					}
				})
			})
		}
	}
}

// TestWatchDeletedHasOnlyID: a deletion has only the id, whether the item was deleted or became
// invisible.
func TestWatchDeletedHasOnlyID(t *testing.T) {
	t.Parallel()
	watched(t, nil, func(t *testing.T, r rig) {
		r.put(t, "1", "in", 0)
		r.put(t, "2", "in", 0)
		at := r.head(t)
		r.put(t, "1", "out", 0)
		r.delete(t, "2")
		n := 0
		for c, err := range r.Watch(t.Context(), at, query.Where("name", query.Eq, "in")) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Kind == feed.Bookmark {
				continue
			}
			if n++; c.Kind != feed.Deleted || c.Rev != "" || c.Before != nil || c.After != nil || c.ID == "" || c.Time.IsZero() {
				t.Errorf("%+v, want no more than the id", c)
			}
			if n == 2 {
				return
			}
		}
	})
}

// TestWatchRev: the revision is that of Get, so the entity tag is the same.
func TestWatchRev(t *testing.T) {
	t.Parallel()
	watched(t, nil, func(t *testing.T, r rig) {
		r.put(t, "1", "a", 0)
		r.put(t, "1", "a", 1)
		var last *feed.Change[resource.Entry]
		for c, err := range r.Watch(t.Context(), r.start, query.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			if last = c; c.Kind == feed.Updated {
				break
			}
		}
		e, err := r.Get(t.Context(), "1")
		if err != nil {
			t.Fatal(err)
		}
		if last.Rev != string(e.Rev) || last.After.Rev != e.Rev || r.ETag(last.After) != r.ETag(&e) || r.ETag(&e) == "" {
			t.Errorf("the revision is %q, the tag %s, want %q and %s", last.Rev, r.ETag(last.After), e.Rev, r.ETag(&e))
		}
		if last.Before.Rev != "" {
			t.Errorf("Before has the revision %q, which the event does not know", last.Before.Rev)
		}
	})
}

// TestWatchCurrentRights: visibility is decided when the event is sent.
func TestWatchCurrentRights(t *testing.T) {
	t.Parallel()
	allowed := "a"
	opts := &resource.Options[thing]{Authorize: func(ctx context.Context, op resource.Op, before, _ *thing) error {
		if op == resource.OpGet && !isRoot(ctx) && before.Name != allowed {
			return resource.ErrForbidden
		}
		return nil
	}}
	watched(t, opts, func(t *testing.T, r rig) {
		next, stop := iter.Pull2(r.Watch(t.Context(), r.start, query.Filter{}))
		defer stop()
		want := func(want string) {
			t.Helper()
			c, err, ok := next()
			if err != nil || !ok {
				t.Fatalf("%v, %v", err, ok)
			}
			if got := line(t, r.Resource, c); got != want {
				t.Errorf("heard %s, want %s", got, want)
			}
		}
		want("bookmark  - -")
		r.put(t, "1", "a", 1)
		r.put(t, "2", "b", 1)
		r.put(t, "1", "a", 2)
		want(`created 1 - {"id":"1","name":"a","n":1}`)
		want(`updated 1 {"id":"1","name":"a","n":1} {"id":"1","name":"a","n":2}`)
		allowed = "b"
		r.put(t, "1", "a", 3)
		r.put(t, "2", "b", 2)
		want(`updated 2 {"id":"2","name":"b","n":1} {"id":"2","name":"b","n":2}`)
		allowed = "a"
		r.delete(t, "2")
		r.delete(t, "1")
		want(`deleted 1 - -`)
	})
}

// TestWatchErrors: an error of policy ends the subscription, at its start, at a change or at a
// bookmark, and is returned.
func TestWatchErrors(t *testing.T) {
	t.Parallel()
	internal := errors.New("no rights today")
	tests := []struct {
		name    string
		opts    resource.Options[thing]
		writes  bool
		want    error
		changes int // number of changes with bookmarks, before the error
	}{
		{"scope at the start", resource.Options[thing]{Scope: after(0, resource.ErrUnauthenticated)}, false, resource.ErrUnauthenticated, 0},
		{"scope at the first bookmark", resource.Options[thing]{Scope: after(1, resource.ErrUnauthenticated)}, true, resource.ErrUnauthenticated, 0},
		{"scope at a change", resource.Options[thing]{Scope: after(2, resource.ErrUnauthenticated)}, true, resource.ErrUnauthenticated, 1},
		{"scope at a bookmark", resource.Options[thing]{Scope: after(2, resource.ErrUnauthenticated)}, false, resource.ErrUnauthenticated, 1},
		{"scope fails", resource.Options[thing]{Scope: after(3, internal)}, true, internal, 2},
		{"authorize", resource.Options[thing]{Authorize: refuses(resource.ErrUnauthenticated)}, true, resource.ErrUnauthenticated, 1},
		{"authorize fails", resource.Options[thing]{Authorize: refuses(internal)}, true, internal, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			watched(t, &tt.opts, func(t *testing.T, r rig) {
				if tt.writes {
					r.put(t, "1", "a", 0)
					r.put(t, "2", "a", 0)
				}
				n := 0
				for c, err := range r.Watch(t.Context(), r.start, query.Filter{}) {
					if err == nil {
						n++
						continue
					}
					var e *resource.Error
					if !errors.Is(err, tt.want) || !errors.As(err, &e) || e.Resource != "things" || c != nil {
						t.Errorf("%v, %v, want %v", c, err, tt.want)
					}
					if n != tt.changes {
						t.Errorf("%d changes before it, want %d", n, tt.changes)
					}
					return
				}
				t.Error("it has ended without an error")
			})
		})
	}
}

// after returns a Scope that fails after n calls for callers other than root, in addition to that of New.
func after(n int, err error) func(context.Context) (query.Filter, error) {
	n++
	return func(ctx context.Context) (query.Filter, error) {
		if isRoot(ctx) {
			return query.Filter{}, nil
		}
		n--
		if n < 0 {
			return query.Filter{}, fmt.Errorf("scope: %w", err)
		}
		return query.Filter{}, nil
	}
}

func refuses(err error) func(context.Context, resource.Op, *thing, *thing) error {
	return func(ctx context.Context, _ resource.Op, _, _ *thing) error {
		if isRoot(ctx) {
			return nil
		}
		return err
	}
}

// TestWatchEnds: a subscription ends without an error when its context ends, and with an error for
// reconnection when the Feed is closed.
func TestWatchEnds(t *testing.T) {
	t.Parallel()
	t.Run("context", func(t *testing.T) {
		t.Parallel()
		var stop context.CancelFunc
		opts := &resource.Options[thing]{Authorize: func(ctx context.Context, _ resource.Op, _, _ *thing) error {
			if isRoot(ctx) {
				return nil
			}
			stop() // as if the context ended while policy waits for a store
			return ctx.Err()
		}}
		watched(t, opts, func(t *testing.T, r rig) {
			for _, writes := range []bool{false, true} {
				var ctx context.Context
				ctx, stop = context.WithTimeout(t.Context(), time.Second)
				defer stop()
				if writes {
					r.put(t, "1", "a", 0)
				}
				for c, err := range r.Watch(ctx, r.start, query.Filter{}) {
					if err != nil || c.Kind != feed.Bookmark {
						t.Errorf("%v, %v, want a bookmark and the end", c, err)
					}
				}
			}
		})
	})
	t.Run("closed", func(t *testing.T) {
		t.Parallel()
		watched(t, nil, func(t *testing.T, r rig) {
			go func() {
				time.Sleep(time.Second)
				r.feed.Close()
			}()
			if _, err := collect(t, r.Resource, r.Watch(t.Context(), r.start, query.Filter{})); !errors.Is(err, feed.ErrClosed) {
				t.Errorf("Watch: %v, want ErrClosed", err)
			}
			if _, err := collect(t, r.Resource, r.WatchItem(t.Context(), "1", r.start)); !errors.Is(err, feed.ErrClosed) {
				t.Errorf("WatchItem: %v, want ErrClosed", err)
			}
		})
	})
	t.Run("expired", func(t *testing.T) {
		t.Parallel()
		watched(t, nil, func(t *testing.T, r rig) {
			other := feed.Cursor{Epoch: 1, Seq: 2, Mark: 3}
			if _, err := collect(t, r.Resource, r.Watch(t.Context(), other, query.Filter{})); !errors.Is(err, feed.ErrExpired) {
				t.Errorf("Watch: %v, want ErrExpired", err)
			}
		})
	})
	t.Run("no feed", func(t *testing.T) {
		t.Parallel()
		r := resource.New("things", memory.New[thing](nil), nil)
		_, err := collect(t, r, r.Watch(t.Context(), feed.Cursor{}, query.Filter{}))
		_, positionErr := r.Position(t.Context(), 0)
		if r.Watches() || err == nil || positionErr == nil || errors.Is(err, feed.ErrClosed) {
			t.Errorf("Watches: %v; Watch: %v; Position: %v, want internal errors", r.Watches(), err, positionErr)
		}
	})
	t.Run("unknown field", func(t *testing.T) {
		t.Parallel()
		watched(t, nil, func(t *testing.T, r rig) {
			type narrow struct {
				ID string `json:"id"`
			}
			view := resource.View(r.Resource, func(v thing) (narrow, error) { return narrow{v.ID}, nil },
				func(v narrow, base thing) (thing, error) { base.ID = v.ID; return base, nil }, nil)
			_, err := collect(t, view, view.Watch(t.Context(), r.start, query.Where("name", query.Eq, "in")))
			if err == nil {
				t.Error("a filter by a field that the view does not have was taken")
			}
		})
	})
}

// TestWatchBookmarks: a subscriber without events receives its position.
func TestWatchBookmarks(t *testing.T) {
	t.Parallel()
	watched(t, nil, func(t *testing.T, r rig) {
		r.put(t, "1", "out", 0)
		marks := 0
		for c, err := range r.Watch(t.Context(), r.start, query.Where("name", query.Eq, "in")) {
			if err != nil || c.Kind != feed.Bookmark || c.Before != nil || c.After != nil || c.ID != "" || c.Time.IsZero() {
				t.Fatalf("%+v, %v, want a bookmark", c, err)
			}
			if marks++; marks == 2 {
				if at := r.head(t); c.Cursor != at {
					t.Errorf("the bookmark is at %v, want %v", c.Cursor, at)
				}
				return
			}
		}
	})
}

// TestWatchBookmarksBeside: a subscriber that skips all events receives bookmarks as often as an
// idle one, and a subscriber with events receives fewer.
func TestWatchBookmarksBeside(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		value string // of what happens every ten seconds
		marks int    // in ten minutes, with the first
	}{
		{"nothing for it", "out", 21},
		{"all for it", "in", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			watched(t, nil, func(t *testing.T, r rig) {
				ctx, leave := context.WithTimeout(t.Context(), 10*time.Minute+time.Second)
				defer leave()
				go func() {
					for i := range 59 {
						time.Sleep(10 * time.Second)
						if _, _, err := r.Put(asRoot(t), strconv.Itoa(i), fmt.Appendf(nil, `{"id":"%d","name":%q}`, i, tt.value), nil); err != nil {
							t.Error(err)
						}
					}
				}()
				marks := 0
				for c, err := range r.Watch(ctx, r.start, query.Where("name", query.Eq, "in")) {
					if err != nil {
						t.Fatal(err)
					}
					if c.Kind == feed.Bookmark {
						marks++
					}
				}
				if marks != tt.marks {
					t.Errorf("%d bookmarks, want %d", marks, tt.marks)
				}
			})
		})
	}
}

// TestWatchPanics: a panic of policy propagates to the caller, and no goroutine or lock remains.
func TestWatchPanics(t *testing.T) {
	t.Parallel()
	opts := &resource.Options[thing]{Authorize: func(ctx context.Context, _ resource.Op, _, _ *thing) error {
		if !isRoot(ctx) {
			panic("policy")
		}
		return nil
	}}
	watched(t, opts, func(t *testing.T, r rig) {
		r.put(t, "1", "a", 0)
		defer func() {
			if got := recover(); got != "policy" {
				t.Errorf("recovered %v", got)
			}
		}()
		collect(t, r.Resource, r.Watch(t.Context(), r.start, query.Filter{}))
		t.Error("it went on")
	})
}
