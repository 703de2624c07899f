package resource_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/tx"
)

// The types of the tests of events: letters, with a log of their writes.

type letter struct {
	ID     string `json:"id"`
	Text   string `json:"text" required:"true" minLength:"1" maxLength:"40"`
	Stars  int64  `json:"stars,omitzero"`
	Secret string `json:"secret,omitzero" writeOnly:"true"`
	Shelf  string `json:"-"`
}

// letterV1 is a letter of an older contract, without stars.
type letterV1 struct {
	ID   string `json:"id"`
	Body string `json:"body" required:"true"`
}

func letterToV1(l letter) (letterV1, error) { return letterV1{l.ID, l.Text}, nil }

func letterFromV1(v letterV1, base letter) (letter, error) {
	base.ID, base.Text = v.ID, v.Body
	return base, nil
}

// postbox is a collection of letters with a log.
type postbox struct {
	db    *memory.DB
	store *memory.Store[letter]
	log   feed.Log
	start feed.Cursor
	said  *bytes.Buffer // in the log of the library

	ops   resource.Ops[letter]
	opts  resource.Options[letter]
	once  *idempotency.Guard
	parts []resource.Part

	letters, v1 *resource.Resource
	catalog     *resource.Catalog
}

// logsOf returns logs for a database, by what they share with it.
func logsOf(db *memory.DB) map[string]feed.Log {
	return map[string]feed.Log{
		"shared":  feed.NewMemory(&feed.MemoryOptions{Runner: db}),
		"none":    feed.NewMemory(nil),
		"another": feed.NewMemory(&feed.MemoryOptions{Runner: memory.NewDB()}),
	}
}

// newPostbox returns one without letters. Call open next.
func newPostbox(t testing.TB, log string) *postbox {
	t.Helper()
	db := memory.NewDB()
	b := &postbox{db: db, log: logsOf(db)[log], said: &bytes.Buffer{}}
	made := 0
	b.store = memory.New(&memory.Options[letter]{DB: db, Now: func() time.Time { return modified }, Recreate: true,
		NewID: func() string { made++; return "new" + strconv.Itoa(made) }})
	b.ops = resource.OpsOf[letter](b.store)
	b.opts = resource.Options[letter]{Public: true, AllowRecreate: true}
	return b
}

// open makes the catalog, and a Feed without subscribers, so that the log contains only writes.
func (b *postbox) open(t testing.TB) *postbox {
	t.Helper()
	b.opts.Public = b.opts.Authorize == nil && b.opts.Scope == nil
	f := feed.New(b.log, nil)
	t.Cleanup(func() { f.Close() })
	b.letters = b.ops.Resource("letters", &b.opts)
	b.v1 = resource.View(b.letters, letterToV1, letterFromV1, nil)
	opts := &resource.CatalogOptions{Feed: f, Idempotency: b.once, Logger: slog.New(slog.NewTextHandler(b.said, nil)),
		Principal: func(context.Context) string { return "ann" }}
	parts := append([]resource.Part{b.letters}, b.parts...)
	b.catalog = resource.NewCatalog(opts, parts...)
	var err error
	if b.start, err = b.log.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

// events returns the events of the log, each as "created 7 null -> {...}". It checks what all
// events have in common.
func (b *postbox) events(t testing.TB) []string {
	t.Helper()
	events, _, err := b.log.Tail(t.Context(), b.start, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	now := map[string]*feed.Event{}
	or := func(doc []byte) string {
		if doc == nil {
			return "null"
		}
		return string(doc)
	}
	for _, e := range events {
		told = append(told, fmt.Sprintf("%s %s %s -> %s", e.Kind, e.ID, or(e.Before), or(e.After)))
		same(t, "collection", "letters", e.Collection)
		same(t, "time", false, e.Time.IsZero())
		if was := now[e.ID]; was != nil {
			same(t, "what is before "+told[len(told)-1], or(was.After), or(e.Before))
			if e.Kind == feed.Deleted {
				same(t, "revision of what is deleted", was.Rev, e.Rev)
			} else {
				same(t, "a new revision", false, e.Rev == "" || was.Rev == e.Rev)
			}
		}
		now[e.ID] = e
	}
	for id, e := range now { // the last event equals the store
		item, err := b.store.Get(t.Context(), id)
		if e.Kind == feed.Deleted {
			same(t, id+" is gone", true, errors.Is(err, resource.ErrGone))
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		same(t, "revision of "+id, string(item.Rev), e.Rev)
	}
	b.start = feedEnd(b.start, events)
	return told
}

func feedEnd(at feed.Cursor, events []*feed.Event) feed.Cursor {
	if n := len(events); n > 0 {
		return events[n-1].Cursor
	}
	return at
}

// wantEvents checks the events since the last call.
func (b *postbox) wantEvents(t testing.TB, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, b.events(t)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

var errUndo = errors.New("undo")

// letterWrites are writes of all kinds with their events.
var letterWrites = []struct {
	name    string
	prepare func(b *postbox)
	do      func(t *testing.T, b *postbox)
	want    []string
}{
	{"POST", nil, func(t *testing.T, b *postbox) {
		wantStatus(t, do(t.Context(), t, b.letters, "create", `{"id":"a","text":"x"}`), http.StatusCreated)
	}, []string{`created a null -> {"id":"a","text":"x"}`}},
	{"POST, the id is the store's", func(b *postbox) { b.ops.Insert, b.ops.InsertMany = nil, nil }, func(t *testing.T, b *postbox) {
		wantStatus(t, do(t.Context(), t, b.letters, "create", `{"text":"x"}`), http.StatusCreated)
	}, []string{`created new1 null -> {"id":"new1","text":"x"}`}},
	{"PUT, new and old", nil, func(t *testing.T, b *postbox) {
		wantStatus(t, do(t.Context(), t, b.letters, "put a", `{"text":"x"}`), http.StatusCreated)
		wantStatus(t, do(t.Context(), t, b.letters, "put a", `{"text":"y"}`), http.StatusOK)
	}, []string{`created a null -> {"id":"a","text":"x"}`, `updated a {"id":"a","text":"x"} -> {"id":"a","text":"y"}`}},
	{"PATCH", nil, func(t *testing.T, b *postbox) {
		create(t, b.letters, `{"id":"a","text":"x"}`)
		wantStatus(t, do(t.Context(), t, b.letters, "patch a", `{"stars":2}`), http.StatusOK)
	}, []string{`created a null -> {"id":"a","text":"x"}`, `updated a {"id":"a","text":"x"} -> {"id":"a","text":"x","stars":2}`}},
	{"DELETE, and the same id again", nil, func(t *testing.T, b *postbox) {
		create(t, b.letters, `{"id":"a","text":"x"}`)
		wantStatus(t, do(t.Context(), t, b.letters, "delete a", ""), http.StatusNoContent)
		wantStatus(t, do(t.Context(), t, b.letters, "delete a", ""), http.StatusGone)
		wantStatus(t, do(t.Context(), t, b.letters, "put a", `{"text":"y"}`), http.StatusCreated)
	}, []string{`created a null -> {"id":"a","text":"x"}`, `deleted a {"id":"a","text":"x"} -> null`,
		`created a null -> {"id":"a","text":"y"}`}},
	{"nothing new", nil, func(t *testing.T, b *postbox) {
		create(t, b.letters, `{"id":"a","text":"x"}`)
		wantStatus(t, do(t.Context(), t, b.letters, "put a", `{"text":"x"}`), http.StatusOK)
		wantStatus(t, do(t.Context(), t, b.letters, "patch a", `{}`), http.StatusOK)
	}, []string{`created a null -> {"id":"a","text":"x"}`}},
	{"refused", func(b *postbox) {
		b.opts.Authorize = func(_ context.Context, op resource.Op, _, after *letter) error {
			if op == resource.OpDelete || after != nil && after.Text == "no" {
				return resource.ErrForbidden
			}
			return nil
		}
	}, func(t *testing.T, b *postbox) {
		create(t, b.letters, `{"id":"a","text":"x"}`)
		wantStatus(t, do(t.Context(), t, b.letters, "create", `{"id":"b","text":"no"}`), http.StatusForbidden)
		wantStatus(t, do(t.Context(), t, b.letters, "create", `{"id":"a","text":"y"}`), http.StatusConflict)
		wantStatus(t, do(t.Context(), t, b.letters, "create", `{"id":"c"}`), http.StatusUnprocessableEntity)
		wantStatus(t, do(t.Context(), t, b.letters, "put a", `{"text":"no"}`), http.StatusForbidden)
		wantStatus(t, do(t.Context(), t, b.letters, "delete a", ""), http.StatusForbidden)
		wantStatus(t, do(t.Context(), t, b.letters, "put a", `{"text":"y"}`, ifMatch(t, `"old"`)), http.StatusPreconditionFailed)
		wantStatus(t, do(t.Context(), t, b.letters, "patch a", `[{"op":"test","path":"/text","value":"z"}]`), http.StatusConflict)
	}, []string{`created a null -> {"id":"a","text":"x"}`}},
	{"what Before has made of it", func(b *postbox) {
		b.opts.Before = func(_ context.Context, _ resource.Op, _, after *letter) error {
			if after != nil {
				after.Text += "!"
			}
			return nil
		}
	}, func(t *testing.T, b *postbox) {
		create(t, b.letters, `{"id":"a","text":"x"}`)
		wantStatus(t, do(t.Context(), t, b.letters, "delete a", ""), http.StatusNoContent)
	}, []string{`created a null -> {"id":"a","text":"x!"}`, `deleted a {"id":"a","text":"x!"} -> null`}},
	{"no secrets", nil, func(t *testing.T, b *postbox) {
		create(t, b.letters, `{"id":"a","text":"x","secret":"s3cret"}`)
		wantStatus(t, do(t.Context(), t, b.letters, "patch a", `{"secret":"t0p"}`), http.StatusOK)
	}, []string{`created a null -> {"id":"a","text":"x"}`, `updated a {"id":"a","text":"x"} -> {"id":"a","text":"x"}`}},
	{"through a view", nil, func(t *testing.T, b *postbox) {
		create(t, b.letters, `{"id":"a","text":"x","stars":3}`)
		if _, _, err := b.v1.Put(t.Context(), "a", []byte(`{"id":"a","body":"y"}`), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := b.v1.Create(t.Context(), []byte(`{"id":"b","body":"z"}`), nil); err != nil {
			t.Fatal(err)
		}
	}, []string{`created a null -> {"id":"a","text":"x","stars":3}`,
		`updated a {"id":"a","text":"x","stars":3} -> {"id":"a","text":"y","stars":3}`, `created b null -> {"id":"b","text":"z"}`}},
	{"a batch", nil, func(t *testing.T, b *postbox) {
		wantStatus(t, do(t.Context(), t, b.letters, "batch", operations(`{"op":"create","value":{"id":"a","text":"x"}}`,
			`{"op":"patch","id":"a","patch":{"stars":1}}`, `{"op":"create","value":{"id":"b","text":"y"}}`,
			`{"op":"delete","id":"a"}`, `{"op":"replace","id":"b","value":{"text":"y"}}`)), http.StatusOK)
	}, []string{`created a null -> {"id":"a","text":"x"}`, `updated a {"id":"a","text":"x"} -> {"id":"a","text":"x","stars":1}`,
		`created b null -> {"id":"b","text":"y"}`, `deleted a {"id":"a","text":"x","stars":1} -> null`}},
	{"a batch that is refused", nil, func(t *testing.T, b *postbox) {
		wantStatus(t, do(t.Context(), t, b.letters, "batch", operations(`{"op":"create","value":{"id":"a","text":"x"}}`,
			`{"op":"delete","id":"none"}`)), http.StatusNotFound)
	}, nil},
	{"an import", nil, func(t *testing.T, b *postbox) {
		create(t, b.letters, `{"id":"b","text":"x"}`)
		create(t, b.letters, `{"id":"c","text":"x"}`)
		wantStatus(t, do(t.Context(), t, b.letters, "import import", `{"id":"d"}`+"\n"+`{"id":"a","text":"x"}`+"\n"+`{"text":"free"}`+"\n"+
			`{"id":"b","text":"y"}`+"\n"+`{"id":"c","text":"x"}`), http.StatusOK)
	}, []string{`created b null -> {"id":"b","text":"x"}`, `created c null -> {"id":"c","text":"x"}`,
		`updated b {"id":"b","text":"x"} -> {"id":"b","text":"y"}`, `created new1 null -> {"id":"new1","text":"free"}`,
		`created a null -> {"id":"a","text":"x"}`}},
	{"an import of one by one", func(b *postbox) { b.ops.InsertMany = nil }, func(t *testing.T, b *postbox) {
		wantStatus(t, do(t.Context(), t, b.letters, "import import", `{"id":"a","text":"x"}`+"\n"+`{"id":"b","text":"x"}`), http.StatusOK)
	}, []string{`created a null -> {"id":"a","text":"x"}`, `created b null -> {"id":"b","text":"x"}`}},
	{"an import without transactions", func(b *postbox) { b.ops.Transactions = nil }, func(t *testing.T, b *postbox) {
		wantStatus(t, do(t.Context(), t, b.letters, "import import", `{"id":"a","text":"x"}`+"\n"+`{"id":"a","text":"y"}`), http.StatusOK)
	}, []string{`created a null -> {"id":"a","text":"x"}`, `updated a {"id":"a","text":"x"} -> {"id":"a","text":"y"}`}},
	{"an import of which a chunk goes the long way", nil, func(t *testing.T, b *postbox) {
		create(t, b.letters, `{"id":"gone","text":"x"}`)
		wantStatus(t, do(t.Context(), t, b.letters, "delete gone", ""), http.StatusNoContent)
		wantStatus(t, do(t.Context(), t, b.letters, "import import", `{"id":"a","text":"x"}`+"\n"+`{"id":"gone","text":"y"}`), http.StatusOK)
	}, []string{`created gone null -> {"id":"gone","text":"x"}`, `deleted gone {"id":"gone","text":"x"} -> null`,
		`created a null -> {"id":"a","text":"x"}`, `created gone null -> {"id":"gone","text":"y"}`}},
	{"an import of all or nothing", nil, func(t *testing.T, b *postbox) {
		wantStatus(t, do(t.Context(), t, b.letters, "import atomic", `{"id":"a","text":"x"}`), http.StatusOK)
		wantStatus(t, do(t.Context(), t, b.letters, "import atomic", `{"id":"b","text":"x"}`+"\n"+`{"id":"c"}`),
			http.StatusUnprocessableEntity)
	}, []string{`created a null -> {"id":"a","text":"x"}`}},
	{"transactions of a program", nil, func(t *testing.T, b *postbox) {
		for name, end := range map[string]error{"send": nil, "drop": resource.ErrForbidden} {
			err := b.ops.Transactions().InTx(t.Context(), func(ctx context.Context) error {
				_, _, err := b.letters.Put(ctx, "by-"+name, []byte(`{"text":"x"}`), nil)
				return errors.Join(err, end)
			})
			if !errors.Is(err, end) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}, []string{`created by-send null -> {"id":"by-send","text":"x"}`}},
	{"a transaction that is rolled back, after what it has undone", nil, func(t *testing.T, b *postbox) {
		create(t, b.letters, `{"id":"a","text":"x"}`)
		err := b.ops.Transactions().InTx(t.Context(), func(ctx context.Context) error {
			p, err := patch.Parse(patch.MergeType, []byte(`{"stars":1}`), patch.Limits{})
			if err != nil {
				return err
			}
			if _, err := b.letters.Patch(ctx, "a", p, nil); err != nil {
				return err
			}
			if _, err := b.letters.Delete(ctx, "a", nil); err != nil {
				return err
			}
			return errUndo
		})
		same(t, "the transaction ends with its own error", true, err == errUndo)
	}, []string{`created a null -> {"id":"a","text":"x"}`}},
	{"a key comes again", func(b *postbox) {
		b.once = idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Runner: b.db}), nil)
	}, func(t *testing.T, b *postbox) {
		for range 2 {
			wantDone(t, do(t.Context(), t, b.letters, "create", `{"id":"a","text":"x"}`, underKey(b.catalog, "letters", "k1")))
			wantDone(t, do(t.Context(), t, b.letters, "delete a", "", underKey(b.catalog, "letters", "k2")))
			wantDone(t, do(t.Context(), t, b.letters, "batch", operations(`{"op":"create","value":{"id":"b","text":"y"}}`),
				underKey(b.catalog, "letters", "k3")))
		}
	}, []string{`created a null -> {"id":"a","text":"x"}`, `deleted a {"id":"a","text":"x"} -> null`,
		`created b null -> {"id":"b","text":"y"}`}},
	{"a key of what is once by identity", func(b *postbox) {
		b.ops.Transactions = nil
		b.once = idempotency.New(idempotency.NewMemory(nil), nil)
	}, func(t *testing.T, b *postbox) {
		for range 2 {
			wantDone(t, do(t.Context(), t, b.letters, "create", `{"id":"a","text":"x"}`, underKey(b.catalog, "letters", "k1")))
		}
	}, []string{`created a null -> {"id":"a","text":"x"}`}},
	{"others were faster", func(b *postbox) {
		stale, replace, remove := 3, b.ops.Replace, b.ops.Delete
		b.ops.Replace = func(ctx context.Context, id string, expect resource.Rev, v letter) (resource.Item[letter], error) {
			if stale--; stale > 0 {
				return resource.Item[letter]{}, resource.ErrStale
			}
			return replace(ctx, id, expect, v)
		}
		b.ops.Delete = func(ctx context.Context, id string, expect resource.Rev) error {
			if stale--; stale > -3 {
				return resource.ErrStale
			}
			return remove(ctx, id, expect)
		}
	}, func(t *testing.T, b *postbox) {
		create(t, b.letters, `{"id":"a","text":"x"}`)
		wantStatus(t, do(t.Context(), t, b.letters, "put a", `{"text":"y"}`), http.StatusOK)
		wantStatus(t, do(t.Context(), t, b.letters, "delete a", ""), http.StatusNoContent)
	}, []string{`created a null -> {"id":"a","text":"x"}`, `updated a {"id":"a","text":"x"} -> {"id":"a","text":"y"}`,
		`deleted a {"id":"a","text":"y"} -> null`}},
	{"the store panics", func(b *postbox) {
		insert := b.ops.Insert
		b.ops.Insert = func(ctx context.Context, id string, v letter) (resource.Item[letter], error) {
			item, err := insert(ctx, id, v)
			if id == "bad" {
				panic("broken")
			}
			return item, err
		}
	}, func(t *testing.T, b *postbox) {
		wantPanic(t, "broken", func() { do(t.Context(), t, b.letters, "create", `{"id":"bad","text":"x"}`) })
		create(t, b.letters, `{"id":"a","text":"x"}`)
	}, []string{`created a null -> {"id":"a","text":"x"}`}},
}

// TestWritesAreEvents: with each kind of write and log, each write is reported once and in order,
// and there are no other events.
func TestWritesAreEvents(t *testing.T) {
	t.Parallel()
	for _, tt := range letterWrites {
		for log := range logsOf(nil) {
			t.Run(tt.name+"/"+log, func(t *testing.T) {
				t.Parallel()
				b := newPostbox(t, log)
				if tt.prepare != nil {
					tt.prepare(b)
				}
				b.open(t)
				tt.do(t, b)
				b.wantEvents(t, tt.want...)
			})
		}
	}
}

// again is a Runner that runs each transaction several times, as an engine with conflicts may.
type again struct {
	db       *memory.DB
	attempts int
}

func (a *again) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	if tx.ActiveFor(ctx, a) {
		return fn(ctx)
	}
	for n := 1; ; n++ {
		inner, scope := tx.Begin(ctx, a)
		err := a.db.InTx(inner, func(ctx context.Context) error {
			if err := fn(ctx); err != nil || n == a.attempts {
				return err
			}
			return errAgain
		})
		if err == nil {
			scope.Commit()
			return nil
		}
		scope.Rollback()
		if err != errAgain {
			return err
		}
	}
}

// TestEventsOfRetriedTransactions: each write is reported once, even if its transaction is
// retried.
func TestEventsOfRetriedTransactions(t *testing.T) {
	t.Parallel()
	for _, tt := range letterWrites {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newPostbox(t, "none")
			runner := &again{b.db, 3}
			b.log = feed.NewMemory(&feed.MemoryOptions{Runner: runner})
			b.ops.Transactions = func() tx.Runner { return runner }
			if tt.prepare != nil {
				tt.prepare(b)
			}
			b.open(t)
			tt.do(t, b)
			want := slices.Clone(tt.want)
			for i := range want { // ids of failed attempts are not assigned again
				want[i] = strings.ReplaceAll(want[i], "new1", "new3")
			}
			b.wantEvents(t, want...)
		})
	}
}
