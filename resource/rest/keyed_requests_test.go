package rest_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/tx"
)

// The types of the tests of keys: memos, in stores with different guarantees.

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

// desk has the stores and options of the tests.
type desk struct {
	db    *memory.DB
	store *memory.Store[memo]
	calls calls
	keys  *idempotency.Memory
	keep  idempotency.Options
	opts  resource.Options[memo]
	// afterWrite is called after each Create and Insert; nil for no call.
	afterWrite func() error
	level      idempotency.Level
	scope      error             // error of the Scope, if it is called
	records    idempotency.Store // in place of keys
}

// newDesk returns a desk with keys of a level.
func newDesk(t testing.TB, level idempotency.Level) *desk {
	t.Helper()
	d := &desk{db: memory.NewDB(), level: level}
	d.store = memory.New(&memory.Options[memo]{DB: d.db, Now: func() time.Time { return modified }})
	d.opts = resource.Options[memo]{Public: true}
	d.keep = idempotency.Options{WaitTimeout: -1, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
	d.keys = idempotency.NewMemory(&idempotency.MemoryOptions{Runner: d.db})
	return d
}

// ops returns the collection with the capabilities of the level.
func (d *desk) ops() resource.Ops[memo] {
	inner := resource.OpsOf[memo](d.store)
	ops := counting(inner, &d.calls)
	ops.Create = func(ctx context.Context, v memo) (resource.Item[memo], error) {
		d.calls.add("Create")
		return d.then(inner.Create(ctx, v))
	}
	ops.Insert = func(ctx context.Context, id string, v memo) (resource.Item[memo], error) {
		d.calls.add("Insert")
		return d.then(inner.Insert(ctx, id, v))
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

// scoped is a Scope that allows all items, or returns the error d.scope if it is set.
func (d *desk) scoped(context.Context) (query.Filter, error) { return query.Filter{}, d.scope }

// keeper returns the Guard of the keys.
func (d *desk) keeper() *idempotency.Guard {
	if d.records != nil {
		return idempotency.New(d.records, &d.keep)
	}
	return idempotency.New(d.keys, &d.keep)
}

// then returns the result of the store. After a success it calls afterWrite and returns its error.
func (d *desk) then(item resource.Item[memo], err error) (resource.Item[memo], error) {
	if err == nil && d.afterWrite != nil {
		err = d.afterWrite()
	}
	return item, err
}

// open serves the memos in both contracts.
func (d *desk) open(t testing.TB, more ...resource.Part) (v2, v1 http.Handler) {
	t.Helper()
	memos := d.ops().Resource("memos", &d.opts)
	keeper := d.keeper()
	serve := func(r *resource.Resource) http.Handler {
		return byCaller(rest.New(resource.NewCatalog(&resource.CatalogOptions{Idempotency: keeper, Principal: caller,
			Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}, append([]resource.Part{r}, more...)...), nil))
	}
	return serve(memos), serve(resource.View(memos, memoToV1, memoFromV1, nil))
}

// count returns the number of memos.
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

// replayOf checks that again is a replay of first and is marked as one.
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

// TestRule141Replays: the response is the same at every level, and the request is executed once.
func TestRule141Replays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		line   string
		status int
		rest   []string
		wrote  map[string]int // number of calls of each method of the store, by level
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

// TestRule141Meaning: a key applies to the meaning of a request, whatever its spelling and
// contract.
func TestRule141MeaningInTheCatalog(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		first, second string // of the body, after its Content-Type
		old           bool   // the second is sent in the older contract
		status        int
	}{
		{"white space", `{"title":"a","stars":5}`, " {\n\"title\" : \"a\", \"stars\": 5 } ", false, 201},
		{"order", `{"title":"a","stars":5}`, `{"stars":5,"title":"a"}`, false, 201},
		{"escapes", `{"title":"a"}`, `{"title":"\u0061"}`, false, 201},
		{"numbers", `{"title":"a","stars":5}`, `{"title":"a","stars":5.0e0}`, false, 201},
		{"a default that is given", `{"title":"a"}`, `{"title":"a","stars":3}`, false, 422},
		{"the older contract", `{"title":"a"}`, `{"text":"a"}`, true, 201},
		{"the older contract, with a default", `{"title":"a","stars":3}`, `{"text":"a"}`, true, 201},
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

// TestRule141MeaningOfPut: PUT has the same rules as POST, whether the item exists or not.
func TestRule141MeaningOfPut(t *testing.T) {
	t.Parallel()
	d := newDesk(t, idempotency.ExactlyOnce)
	v2, v1 := d.open(t)
	put := func(h http.Handler, content string) *response {
		return send(t, h, "PUT /memos/x", asAnn, keyField("k"), jsonBody, "", content)
	}
	want(t, put(v2, `{"title":"a"}`), 201)
	want(t, put(v2, ` {"title" : "\u0061"}`), 201, "Idempotency-Replayed: true")
	want(t, put(v2, `{"title":"a","stars":3}`), 422)
	want(t, put(v1, `{"text":"a"}`), 201, "Idempotency-Replayed: true")
	want(t, put(v1, `{"text":"b"}`), 422)
	want(t, put(v2, `{"title":"a","stars":4}`), 422)
	want(t, put(v2, `{"title":`), 422)
}

// TestRule142BeforePreconditions: a write that succeeded with a condition is replayed even if the
// condition no longer holds.
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
			for _, line := range []string{"PUT /memos/1", "PATCH /memos/1", "DELETE /memos/1"} {
				tag := "If-Match: " + send(t, h, "GET /memos/1").header.Get("Etag")
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

// TestRule141WhatIsRefused: invalid keys, and anonymous callers.
func TestRule141WhatIsRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		fields []string
		opt    func(*idempotency.Options)
		status int
		kind   string
	}{
		{"nobody", []string{keyField("k")}, nil, 400, "invalid-header"},
		{"empty", []string{asAnn, `Idempotency-Key: ""`}, nil, 400, "invalid-header"},
		{"two lines", []string{asAnn, keyField("k"), keyField("k")}, nil, 400, "invalid-header"},
		{"too long", []string{asAnn, keyField(strings.Repeat("k", 256))}, nil, 400, "invalid-header"},
		{"bare", []string{asAnn, "Idempotency-Key: k"}, nil, 201, ""},
		{"bare, but strict", []string{asAnn, "Idempotency-Key: k"}, func(o *idempotency.Options) { o.Strict = true }, 400, "invalid-header"},
		{"none", []string{asAnn}, nil, 201, ""},
		{"none, but required", []string{asAnn}, func(o *idempotency.Options) { o.Required = true }, 400, "idempotency-key-missing"},
		{"no time in it", []string{asAnn, keyField("k")}, func(o *idempotency.Options) { o.TimeOrdered = true }, 400, "invalid-header"},
		{"one too many", []string{asAnn, keyField("k")}, func(o *idempotency.Options) { o.Quota = 1 }, 429, "quota-exceeded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, idempotency.ExactlyOnce)
			if tt.opt != nil {
				tt.opt(&d.keep)
			}
			h, _ := d.open(t)
			if tt.status == http.StatusTooManyRequests {
				want(t, send(t, h, "POST /memos", asAnn, keyField("other"), jsonBody, "", `{"title":"a"}`), 201)
			}
			n := d.count(t)
			res := send(t, h, "POST /memos", append(tt.fields, jsonBody, "", `{"title":"a"}`)...)
			want(t, res, tt.status)
			if !strings.Contains(res.body, tt.kind) {
				t.Errorf("it says %s, want %s", res.body, tt.kind)
			}
			if left := d.count(t) - n; (left == 1) != (tt.status == 201) {
				t.Errorf("there are %d more", left)
			}
			want(t, send(t, h, "GET /memos", tt.fields...), 200) // reads ignore keys
		})
	}
}

// TestRule141Strangers: a key is bound to one caller and target. A thousand random pairs of
// requests that differ in one of them never receive each other's responses.
func TestRule141Strangers(t *testing.T) {
	t.Parallel()
	d := newDesk(t, idempotency.ExactlyOnce)
	h, old := d.open(t)
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	for i := range 1000 {
		key := keyField("k" + strconv.Itoa(i))
		title := func() string { return strconv.FormatUint(rng.Uint64(), 36) }
		a, b := title(), title()
		id := func() string { return "i" + strconv.Itoa(i) + pick("a", "b") }
		lines := []string{"POST /memos", "PUT /memos/" + id(), "POST /memos", "PUT /memos/" + id()}
		first, second := pick(lines...), pick(lines...)
		whoFirst, whoSecond := pick(asAnn, asBob), pick(asAnn, asBob)
		want(t, send(t, h, first, whoFirst, key, jsonBody, "", `{"title":"`+a+`"}`), 201)
		handler, content := h, `{"title":"`+b+`"}`
		if rng.IntN(2) == 0 {
			handler, content = old, `{"text":"`+b+`"}`
		}
		res := send(t, handler, second, whoSecond, key, jsonBody, pick("Accept: */*", "Accept: application/json"), "", content)
		if first == second && whoFirst == whoSecond {
			want(t, res, 422)
		} else if res.status != 201 && res.status != 200 {
			t.Errorf("%s as %s after %s as %s: %d %s", second, whoSecond, first, whoFirst, res.status, res.body)
		}
		if strings.Contains(res.body, a) || res.header.Get("Idempotency-Replayed") != "" {
			t.Fatalf("seed %d: %s as %s leaks what %s as %s was answered: %s", seed, second, whoSecond, first, whoFirst, res.body)
		}
	}
}

// TestRule142Levels: the guarantee of a key for an attempt that is aborted.
func TestRule142Levels(t *testing.T) {
	t.Parallel()
	lost := errors.New("lost")
	tests := []struct {
		name        string
		level       idempotency.Level
		err         error // returned by the store after its write
		first, next int
		left        int
	}{
		{"it failed", idempotency.AtMostOnce, lost, 500, 409, 1},
		{"it failed", idempotency.ByIdentity, lost, 500, 201, 1},
		{"it failed", idempotency.ExactlyOnce, lost, 500, 201, 1},
		{"unknown outcome", idempotency.AtMostOnce, tx.ErrOutcomeUnknown, 503, 409, 1},
		{"unknown outcome", idempotency.ByIdentity, tx.ErrOutcomeUnknown, 503, 201, 1},
		// a store that returns an error although it has written, again
		{"not asked", idempotency.AtMostOnce, resource.ErrUnavailable, 503, 201, 2},
		{"out of time", idempotency.AtMostOnce, errors.Join(resource.ErrUnavailable, context.DeadlineExceeded), 503, 409, 1},
		{"a panic", idempotency.AtMostOnce, nil, 500, 409, 1},
		{"a panic", idempotency.ByIdentity, nil, 500, 201, 1},
		{"a panic", idempotency.ExactlyOnce, nil, 500, 201, 1},
		{"refused", idempotency.AtMostOnce, resource.ErrForbidden, 403, 201, 2}, // a store that returns an error although it has written
		{"refused", idempotency.ExactlyOnce, resource.ErrForbidden, 403, 201, 1},
	}
	for _, tt := range tests {
		t.Run(tt.level.String()+"/"+tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, tt.level)
			failing := true
			d.afterWrite = func() error {
				if !failing {
					return nil
				}
				failing = false
				if tt.name == "a panic" {
					panic("in the store")
				}
				return tt.err
			}
			h, _ := d.open(t)
			fields := []string{asAnn, keyField("k"), jsonBody, "", `{"title":"a"}`}
			want(t, send(t, h, "POST /memos", fields...), tt.first)
			next := send(t, h, "POST /memos", fields...)
			want(t, next, tt.next)
			if tt.next == 409 && !strings.Contains(next.body, "outcome-unknown") {
				t.Errorf("it says %s", next.body)
			}
			if got := d.count(t); got != tt.left {
				t.Errorf("there are %d memos, want %d", got, tt.left)
			}
			if tt.next == 201 {
				replayOf(t, next, send(t, h, "POST /memos", fields...))
			}
		})
	}
}

// TestRule143KeysInOrder: a key is looked up after all checks that do not depend on stored data,
// and before the others.
func TestRule143KeysInOrder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		line   string
		fields []string // with a key that was used for another request, and with an invalid key
		status int
		bad    int // with an invalid key
	}{
		{"route", "POST /nowhere", []string{jsonBody}, 404, 404},
		{"method", "PATCH /memos", []string{mergeBody}, 405, 405},
		{"Accept", "POST /memos", []string{jsonBody, "Accept: text/html"}, 406, 406},
		{"type", "POST /memos", []string{"Content-Type: text/plain"}, 415, 415},
		{"size", "POST /memos", []string{jsonBody, "Content-Length: 99999999"}, 413, 413},
		// for the body, a used key is checked before validity
		{"validity", "POST /memos", []string{jsonBody}, 422, 400},
		{"precondition", "PUT /memos/1", []string{jsonBody, `If-Match: "x"`}, 422, 400},
		{"existence", "PUT /memos/none", []string{jsonBody, `If-Match: "x"`}, 422, 400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, idempotency.ExactlyOnce)
			if _, err := d.store.Insert(t.Context(), "1", memo{Title: "first"}); err != nil {
				t.Fatal(err)
			}
			h, _ := d.open(t)
			for _, line := range []string{"POST /memos", "PUT /memos/1", "PUT /memos/none"} {
				first := send(t, h, line, asAnn, keyField("k"), jsonBody, "", `{"title":"a"}`)
				want(t, first, first.status)
			}
			d.calls.reset()
			for _, with := range []struct {
				key    string
				status int
			}{{keyField("k"), tt.status}, {`Idempotency-Key: "`, tt.bad}} {
				fields := append([]string{asAnn, with.key}, tt.fields...)
				r := request(t, tt.line, append(fields, "", `{"nothing":1}`)...)
				if tt.name == "size" {
					r.ContentLength = 99999999
				}
				res := sent(h, r)
				want(t, res, with.status)
				if with.status == 422 && !strings.Contains(res.body, "idempotency-key-reused") {
					t.Errorf("it says %s", res.body)
				}
			}
			if n := d.calls.reset(); len(n) != 0 {
				t.Errorf("the store was asked %v", n)
			}
		})
	}
}
