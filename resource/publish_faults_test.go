package resource_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// spoilt is a log that fails while err is set, after it has appended.
type spoilt struct {
	*feed.Memory
	err error
}

func (s *spoilt) Append(ctx context.Context, events ...*feed.Event) error {
	return errors.Join(s.Memory.Append(ctx, events...), s.err)
}

// letterCalls are writes of each kind, for a postbox with the letter "old".
var letterCalls = []struct {
	line, content string
}{
	{"create", `{"id":"new","text":"x"}`},
	{"put new", `{"text":"x"}`},
	{"put old", `{"text":"x"}`},
	{"patch old", `{"text":"x"}`},
	{"delete old", ""},
	{"batch", operations(`{"op":"create","value":{"id":"new","text":"x"}}`, `{"op":"delete","id":"old"}`)},
	{"import", `{"id":"new","text":"x"}` + "\n" + `{"id":"old","text":"x"}`},
	{"import atomic", `{"id":"new","text":"x"}` + "\n" + `{"id":"old","text":"x"}`},
}

// TestLogFails: if the log shares the transaction, a write fails with its event. Otherwise the
// write succeeds.
func TestLogFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		kind problem.Kind
	}{
		{"for a reason of its own", errors.New("disk full, says /var/log"), problem.Internal},
		{"for now", fmt.Errorf("%w: /var/log", tx.ErrUnavailable), problem.Unavailable},
		{"as a store does for now", fmt.Errorf("%w: /var/log", resource.ErrUnavailable), problem.Unavailable},
		{"in words of collections", errors.Join(resource.ErrExists, resource.ErrGone, resource.ErrNotFound), problem.Internal},
		{"as if others were faster", resource.ErrStale, problem.Internal},
	}
	for _, tt := range tests {
		for _, call := range letterCalls {
			for _, shared := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/shared=%v", tt.name, call.line, shared), func(t *testing.T) {
					t.Parallel()
					b := newPostbox(t, "shared")
					log := &spoilt{Memory: b.log.(*feed.Memory)}
					if !shared {
						log.Memory = feed.NewMemory(nil)
					}
					b.log = log
					after := 0
					b.opts.After = func(context.Context, resource.Op, *letter, *letter) { after++ }
					b.open(t)
					create(t, b.letters, `{"id":"old","text":"o"}`)
					b.wantEvents(t, `created old null -> {"id":"old","text":"o"}`)
					log.err, after = tt.err, 0
					a := do(t.Context(), t, b.letters, call.line, call.content)
					list := texts(t, b.letters, "text")
					if !shared {
						wantDone(t, a)
						same(t, "hooks that ran", true, after > 0)
						same(t, "the log of the library says so", true, strings.Contains(b.said.String(), "event not appended"))
						same(t, "and nothing of the items", false, strings.Contains(b.said.String(), `"x"`))
						return
					}
					d := wantProblem(t, a, tt.kind)
					same(t, "the problem says nothing of the log", false, strings.Contains(d.Detail, "/var"))
					same(t, "letters", []string{"o"}, list)
					same(t, "hooks that ran", 0, after)
					log.err = nil
					b.wantEvents(t)
					// the log works again
					wantDone(t, do(t.Context(), t, b.letters, call.line, call.content))
				})
			}
		}
	}
}

// TestEventAfterDisconnect: a committed write is reported even if the client has disconnected.
func TestEventAfterDisconnect(t *testing.T) {
	t.Parallel()
	for log := range logsOf(nil) {
		t.Run(log, func(t *testing.T) {
			t.Parallel()
			b := newPostbox(t, log)
			ctx, goAway := context.WithCancel(t.Context())
			insert := b.ops.Insert
			b.ops.Insert = func(ctx context.Context, id string, v letter) (resource.Item[letter], error) {
				defer goAway()
				return insert(ctx, id, v)
			}
			b.open(t)
			_, _, err := b.letters.Put(ctx, "a", []byte(`{"text":"x"}`), nil)
			_, gone := b.store.Get(t.Context(), "a")
			if gone == nil {
				b.wantEvents(t, `created a null -> {"id":"a","text":"x"}`)
				return
			}
			same(t, "a log that shares the transaction", "shared", log)
			same(t, "the client is told", true, errors.Is(err, context.Canceled))
			b.wantEvents(t)
		})
	}
}

// TestUnwritableEvents: JSON cannot represent the item that the store returned.
func TestUnwritableEvents(t *testing.T) {
	t.Parallel()
	type measure struct {
		ID    string  `json:"id"`
		Value float64 `json:"value"`
	}
	for _, shared := range []bool{true, false} {
		t.Run(fmt.Sprintf("shared=%v", shared), func(t *testing.T) {
			t.Parallel()
			db := memory.NewDB()
			store := memory.New(&memory.Options[measure]{DB: db})
			ops := resource.OpsOf(store)
			insert := ops.Insert
			ops.Insert = func(ctx context.Context, id string, v measure) (resource.Item[measure], error) {
				v.Value = math.NaN()
				return insert(ctx, id, v)
			}
			b := newPostbox(t, "none")
			if shared {
				b.log = feed.NewMemory(&feed.MemoryOptions{Runner: db})
			}
			measures := ops.Resource("measures", nil)
			b.parts = append(b.parts, measures)
			b.open(t)
			_, err := measures.Create(t.Context(), []byte(`{"id":"a"}`), nil)
			_, gone := store.Get(t.Context(), "a")
			same(t, "an internal error", shared, err != nil && resource.Problem(err).Kind == problem.Internal)
			same(t, "nothing was stored", shared, errors.Is(gone, resource.ErrNotFound))
			same(t, "the log of the library says that it was not told", !shared, strings.Contains(b.said.String(), "event not appended"))
			b.wantEvents(t)
		})
	}
}

// TestLostEventsOfBatch: if a store does not return the items that it has just stored, that
// is an error, and no partial events are published.
func TestLostEventsOfBatch(t *testing.T) {
	t.Parallel()
	b := newPostbox(t, "shared")
	getMany := b.ops.GetMany
	b.ops.GetMany = func(ctx context.Context, ids []string) iter.Seq2[resource.Item[letter], error] {
		return func(yield func(resource.Item[letter], error) bool) {
			for item, err := range getMany(ctx, ids) {
				if item.ID != "b" && !yield(item, err) {
					return
				}
			}
		}
	}
	b.open(t)
	a := do(t.Context(), t, b.letters, "import import", `{"id":"a","text":"x"}`+"\n"+`{"id":"b","text":"x"}`)
	wantProblem(t, a, problem.Internal)
	b.wantEvents(t)
	same(t, "letters", []string(nil), texts(t, b.letters, "text"))
}

// TestEventsWithSeparateTombstones: item, tombstone and event are written together or not at all.
func TestEventsWithSeparateTombstones(t *testing.T) {
	t.Parallel()
	b := newPostbox(t, "shared")
	b.ops.Deleted = nil
	b.ops = b.ops.WithTombstones(memory.NewTombstones(), true)
	b.open(t)
	create(t, b.letters, `{"id":"a","text":"x"}`)
	wantStatus(t, do(t.Context(), t, b.letters, "delete a", ""), http.StatusNoContent)
	wantStatus(t, do(t.Context(), t, b.letters, "create", `{"id":"a","text":"x"}`), http.StatusConflict)
	wantStatus(t, do(t.Context(), t, b.letters, "put a", `{"text":"y"}`), http.StatusCreated)
	b.wantEvents(t, `created a null -> {"id":"a","text":"x"}`, `deleted a {"id":"a","text":"x"} -> null`,
		`created a null -> {"id":"a","text":"y"}`)
}

// TestNoEvents: resources that opt out have no events.
func TestNoEvents(t *testing.T) {
	t.Parallel()
	b := newPostbox(t, "shared")
	b.opts.NoEvents = true
	b.open(t)
	create(t, b.letters, `{"id":"a","text":"x"}`)
	wantStatus(t, do(t.Context(), t, b.letters, "delete a", ""), http.StatusNoContent)
	b.wantEvents(t)
	same(t, "one can listen", false, b.letters.Watches())
}

// TestFeedsOfCatalogs: a resource has one Feed, even if several catalogs serve it.
func TestFeedsOfCatalogs(t *testing.T) {
	t.Parallel()
	b := newPostbox(t, "shared").open(t)
	one, other := feed.New(b.log, nil), feed.New(b.log, nil)
	defer one.Close()
	defer other.Close()
	letters := b.ops.Resource("letters", &b.opts)
	withFeed := func(f *feed.Feed, r *resource.Resource) { resource.NewCatalog(&resource.CatalogOptions{Feed: f}, r) }
	withFeed(nil, letters)
	same(t, "one can listen before there is a Feed", false, letters.Watches())
	withFeed(one, letters)
	withFeed(one, resource.View(letters, letterToV1, letterFromV1, nil))
	same(t, "one can listen", true, letters.Watches())
	create(t, letters, `{"id":"a","text":"x"}`)
	b.wantEvents(t, `created a null -> {"id":"a","text":"x"}`)
	defer func() {
		const want = "resource: letters is in two catalogs with different feeds"
		if got := fmt.Sprint(recover()); !strings.HasPrefix(got, want) {
			t.Errorf("panic %q, want %q", got, want)
		}
	}()
	withFeed(other, letters)
}

// TestReportOfFeeds: the part of the start-up report about events.
func TestReportOfFeeds(t *testing.T) {
	t.Parallel()
	allow := func(context.Context, resource.Op, *letter, *letter) error { return nil }
	db := memory.NewDB()
	ops := resource.OpsOf(memory.New(&memory.Options[letter]{DB: db}))
	bare, watcher := ops, ops
	bare.Transactions = nil
	watcher.Watch = func(context.Context, feed.Cursor) iter.Seq2[*feed.Change[letter], error] { return nil }
	elsewhere := resource.OpsOf(memory.New[letter](nil))
	const after = "after each write, and a crash in between loses the event: "
	tests := []struct {
		name string
		log  feed.Log
		ops  resource.Ops[letter]
		opts resource.Options[letter]
		want []string
	}{
		{"shared", logsOf(db)["shared"], ops, resource.Options[letter]{Public: true}, []string{"feed: in the transaction of each write"}},
		{"no log with transactions", logsOf(db)["none"], ops, resource.Options[letter]{Public: true},
			[]string{"feed: " + after + "the log has no transactions"}},
		{"no collection with transactions", logsOf(db)["shared"], bare, resource.Options[letter]{Public: true},
			[]string{"feed: " + after + "the collection has no transactions"}},
		{"two databases", logsOf(db)["shared"], elsewhere, resource.Options[letter]{Public: true},
			[]string{"feed: " + after + "the log is in another database"}},
		{"left out", logsOf(db)["shared"], ops, resource.Options[letter]{Public: true, NoEvents: true},
			[]string{"feed: none (Options.NoEvents)"}},
		{"of its own", logsOf(db)["shared"], watcher, resource.Options[letter]{Public: true}, []string{"feed: by the collection itself"}},
		{"of its own, and left out", logsOf(db)["shared"], watcher, resource.Options[letter]{Public: true, NoEvents: true},
			[]string{"feed: by the collection itself"}},
		{"policy", logsOf(db)["shared"], ops, resource.Options[letter]{Authorize: allow}, []string{"feed: in the transaction of each write",
			"weak: events do not have Secret Shelf, which are not in the JSON of items: Authorize sees zero values, and subscriptions fail if Scope names one"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := feed.New(tt.log, nil)
			defer f.Close()
			c := resource.NewCatalog(&resource.CatalogOptions{Feed: f}, tt.ops.Resource("letters", &tt.opts))
			var got []string
			for line := range strings.Lines(c.Report()) {
				if line = strings.TrimSpace(line); strings.HasPrefix(line, "feed:") || strings.Contains(line, "events do") {
					got = append(got, line)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
}
