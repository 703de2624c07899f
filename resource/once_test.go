package resource_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// What the tests of keys talk to: memos, in stores of which a key is worth more and less.

type memo struct {
	ID     string `json:"id"`
	Title  string `json:"title" required:"true" minLength:"1" maxLength:"40"`
	Stars  int64  `json:"stars" default:"3"`
	Owner  string `json:"owner,omitzero"`
	Secret string `json:"secret,omitzero" writeOnly:"true"`
}

// memoV1 is a memo of an older contract: its title was called text, and it had no stars.
type memoV1 struct {
	ID   string `json:"id"`
	Text string `json:"text" required:"true" minLength:"1" maxLength:"40"`
}

func memoToV1(m memo) (memoV1, error) { return memoV1{ID: m.ID, Text: m.Title}, nil }

func memoFromV1(v memoV1, base memo) (memo, error) {
	base.Title = v.Text
	if base.ID == "" { // a new one
		base.Stars = 3
	}
	return base, nil
}

// desk is where memos are.
type desk struct {
	db    *memory.DB
	store *memory.Store[memo]
	calls calls
	keys  *idempotency.Memory
	keep  idempotency.Options
	opts  resource.Options[memo]
	// before is called in front of each Create and Insert.
	before func(ctx context.Context) error
	level  idempotency.Level
}

// newDesk returns one of whose keys are worth so much.
func newDesk(t testing.TB, level idempotency.Level) *desk {
	t.Helper()
	d := &desk{db: memory.NewDB(), level: level}
	d.store = memory.New(&memory.Options[memo]{DB: d.db, Now: func() time.Time { return modified }})
	d.opts = resource.Options[memo]{Public: true}
	d.keep = idempotency.Options{Wait: -1, Logger: slog.New(slog.NewTextHandler(testLog{t}, nil))}
	d.keys = idempotency.NewMemory(&idempotency.MemoryOptions{Runner: d.db})
	return d
}

// ops is the collection as far as it goes at the level.
func (d *desk) ops() resource.Ops[memo] {
	inner := resource.OpsOf[memo](d.store)
	ops := counting(inner, &d.calls)
	hurdle := func(ctx context.Context, name string) error {
		d.calls.add(name)
		if d.before != nil {
			return d.before(ctx)
		}
		return nil
	}
	ops.Create = func(ctx context.Context, v memo) (resource.Item[memo], error) {
		if err := hurdle(ctx, "Create"); err != nil {
			return resource.Item[memo]{}, err
		}
		return inner.Create(ctx, v)
	}
	ops.Insert = func(ctx context.Context, id string, v memo) (resource.Item[memo], error) {
		if err := hurdle(ctx, "Insert"); err != nil {
			return resource.Item[memo]{}, err
		}
		return inner.Insert(ctx, id, v)
	}
	ops.Delete = func(ctx context.Context, id string, expect resource.Rev) error {
		d.calls.add("Delete")
		return inner.Delete(ctx, id, expect)
	}
	if d.level < idempotency.ExactlyOnce {
		ops.Transactions = nil
	}
	if d.level < idempotency.ByIdentity {
		ops.Insert = nil
	}
	return ops
}

// open serves the memos in both contracts.
func (d *desk) open(t testing.TB, more ...resource.Part) (v2, v1 http.Handler) {
	t.Helper()
	memos := resource.FromOps("memos", d.ops(), &d.opts)
	keeper := idempotency.New(d.keys, &d.keep)
	serve := func(r *resource.Resource) http.Handler {
		return byCaller(resource.NewCatalog(&resource.CatalogOptions{Once: keeper, Principal: caller,
			Logger: slog.New(slog.NewTextHandler(testLog{t}, nil))}, append([]resource.Part{r}, more...)...))
	}
	return serve(memos), serve(resource.View(memos, memoToV1, memoFromV1, nil))
}

// count is how many memos there are.
func (d *desk) count(t testing.TB) int {
	t.Helper()
	n := 0
	for _, err := range resource.OpsOf[memo](d.store).List(t.Context(), query.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

const (
	asAnn = "Caller: ann"
	asBob = "Caller: bob"
)

// keyField is the field that has a key.
func keyField(key string) string { return "Idempotency-Key: " + `"` + key + `"` }

var levels = []idempotency.Level{idempotency.AtMostOnce, idempotency.ByIdentity, idempotency.ExactlyOnce}

// replayOf checks that one answer is another again, and says so.
func replayOf(t testing.TB, first, again *response) {
	t.Helper()
	if first.status != again.status || first.body != again.body {
		t.Errorf("%s: %d %s, want again %d %s", again.line, again.status, again.body, first.status, first.body)
	}
	if first.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("%s: the first answer says that it is none", first.line)
	}
	want := first.header.Clone()
	want.Set("Idempotency-Replayed", "true")
	want.Del("Date")
	got := again.header.Clone()
	got.Del("Date")
	same(t, again.line+": header", want, got)
}

// TestRule141Replays: the same again, at every level, and it was done once.
func TestRule141Replays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		line   string
		status int
		rest   []string
		wrote  map[string]int // by level: how often which method of the store is called
	}{
		{"create", "POST /memos", 201, []string{jsonBody, "", `{"title":"a"}`}, nil},
		{"create with an id", "PUT /memos/x", 201, []string{jsonBody, "", `{"title":"a"}`}, nil},
		{"create, minimal", "POST /memos", 201, []string{jsonBody, "Prefer: return=minimal", "", `{"title":"a"}`}, nil},
		{"create, a part", "POST /memos?fields=id,stars", 201, []string{jsonBody, "", `{"title":"a"}`}, nil},
		{"replace", "PUT /memos/1", 200, []string{jsonBody, "", `{"title":"b","secret":"s"}`}, nil},
		{"replace, octet by octet", "PUT /memos/1", 200, []string{jsonBody, "", `{"id":"1","title":"b","stars":3}`}, nil},
		{"patch", "PATCH /memos/1", 200, []string{mergeBody, "", `{"title":"b"}`}, nil},
		{"patch, minimal", "PATCH /memos/1", 204, []string{mergeBody, "Prefer: return=minimal", "", `{"title":"b"}`}, nil},
		{"delete", "DELETE /memos/1", 204, nil, nil},
	}
	for _, level := range levels {
		for _, tt := range tests {
			if tt.line == "PUT /memos/x" && level < idempotency.ByIdentity {
				continue // nothing can be inserted
			}
			t.Run(level.String()+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t, level)
				if _, err := d.store.Insert(t.Context(), "1", memo{Title: "first"}); err != nil {
					t.Fatal(err)
				}
				h, _ := d.open(t)
				fields := append([]string{asAnn, keyField("k")}, tt.rest...)
				first := send(t, h, tt.line, fields...)
				want(t, first, tt.status)
				wrote := d.calls.reset()
				n := d.count(t)
				d.calls.reset()
				again := send(t, h, tt.line, fields...)
				replayOf(t, first, again)
				for name := range d.calls.reset() {
					if name != "Get" {
						t.Errorf("the repetition called %s", name)
					}
				}
				if wrote["Create"]+wrote["Insert"]+wrote["Replace"]+wrote["Delete"] != 1 || d.count(t) != n {
					t.Errorf("it was done %v, and there are %d and then %d", wrote, n, d.count(t))
				}
			})
		}
	}
}

// TestRule141Meaning: a key stands for what a request means, in whatever spelling and contract.
func TestRule141MeaningInTheCatalog(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		first, second string // of the content, behind the field that says its type
		old           bool   // the second is sent in the older contract
		status        int
	}{
		{"white space", `{"title":"a","stars":5}`, " {\n\"title\" : \"a\", \"stars\": 5 } ", false, 201},
		{"order", `{"title":"a","stars":5}`, `{"stars":5,"title":"a"}`, false, 201},
		{"escapes", `{"title":"a"}`, `{"title":"\u0061"}`, false, 201},
		{"numbers", `{"title":"a","stars":5}`, `{"title":"a","stars":5.0e0}`, false, 201},
		{"defaults", `{"title":"a"}`, `{"title":"a","stars":3}`, false, 201},
		{"the older contract", `{"title":"a"}`, `{"text":"a"}`, true, 201},
		{"another value", `{"title":"a"}`, `{"title":"b"}`, false, 422},
		{"another secret", `{"title":"a","secret":"x"}`, `{"title":"a","secret":"y"}`, false, 422},
		{"an id", `{"title":"a"}`, `{"title":"a","id":"x"}`, false, 422},
		{"what cannot be", `{"title":"a"}`, `{"title":7}`, false, 422},
		{"no JSON", `{"title":"a"}`, `{"title"`, false, 422},
		{"what the older contract cannot say", `{"title":"a","stars":5}`, `{"text":"a"}`, true, 422},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, idempotency.ExactlyOnce)
			v2, v1 := d.open(t)
			want(t, send(t, v2, "POST /memos", asAnn, keyField("k"), jsonBody, "", tt.first), 201)
			h := v2
			if tt.old {
				h = v1
			}
			res := send(t, h, "POST /memos", asAnn, keyField("k"), jsonBody, "", tt.second)
			want(t, res, tt.status)
			if replayed := res.header.Get("Idempotency-Replayed") == "true"; replayed != (tt.status == 201) {
				t.Errorf("replayed: %v", replayed)
			}
			if tt.status == 422 && !strings.Contains(res.body, "idempotency-key-reused") {
				t.Errorf("it says %s", res.body)
			}
			if n := d.count(t); n != 1 {
				t.Errorf("there are %d", n)
			}
		})
	}
}

// TestRule142BeforePreconditions: what succeeded on a condition is answered again, though the condition does not hold any
// more.
func TestRule142BeforePreconditions(t *testing.T) {
	t.Parallel()
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, level)
			if _, err := d.store.Insert(t.Context(), "1", memo{Title: "first"}); err != nil {
				t.Fatal(err)
			}
			h, _ := d.open(t)
			tag := "If-Match: " + send(t, h, "GET /memos/1").header.Get("Etag")
			for _, line := range []string{"PUT /memos/1", "PATCH /memos/1", "DELETE /memos/1"} {
				tag = "If-Match: " + send(t, h, "GET /memos/1").header.Get("Etag")
				fields := []string{asAnn, keyField("k"), tag, "Expect: 100-continue", jsonBody, "", `{"title":"` + line + `"}`}
				if line == "PATCH /memos/1" {
					fields[4] = mergeBody
				}
				first := send(t, h, line, fields...)
				if first.status >= 300 {
					t.Fatalf("%s: %d %s", line, first.status, first.body)
				}
				replayOf(t, first, send(t, h, line, fields...))
				fields[1] = keyField("other")
				if res := send(t, h, line, fields...); res.status != 412 && res.status != 410 {
					t.Errorf("with another key: %d", res.status)
				}
			}
		})
	}
}
