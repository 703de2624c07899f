package resource_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// Batches: operations that succeed or fail together.

// A client that cannot read a secret does not remove it by a replacement, in a batch as elsewhere.
func TestBatchKeepsWhatClientsCannotSee(t *testing.T) {
	t.Parallel()
	var pin string
	h := newShop(t, func(s *setup) {
		s.users.After = func(_ context.Context, _ resource.Op, _, after *user) { pin = after.PIN }
	})
	create(t, h.users, `{"id":"ann","name":"Ann","pin":"1234"}`)
	res := do(t.Context(), t, h.users, "batch", operations(`{"op":"replace","id":"ann","value":{"id":"ann","name":"Anna"}}`))
	wantDone(t, res)
	same(t, "pin", "1234", pin)
	same(t, "result", `{"id":"ann","name":"Anna"}`, string(res.results[0].JSON))
}

// Errors that do not depend on the collection are reported without a call of the collection.
func TestBatchIsReadFirst(t *testing.T) {
	t.Parallel()
	const ok = `{"op":"create","value":{"customerId":"u"}}`
	tests := []struct {
		name, doc string
		kind      problem.Kind
		places    []string
	}{
		{"no JSON", `{"operations":[`, problem.MalformedJSON, []string{"/operations syntax"}},
		{"a list", `[` + ok + `]`, problem.Invalid, []string{" type"}},
		{"nothing", `{}`, problem.Invalid, []string{"/operations required"}},
		{"null", `{"operations":null}`, problem.Invalid, []string{"/operations null"}},
		{"no operations", `{"operations":[]}`, problem.Invalid, []string{"/operations minItems"}},
		{"a member more", `{"operations":[` + ok + `],"atomic":true}`, problem.Invalid, []string{"/atomic unknown"}},
		{"a member twice", operations(`{"op":"delete","id":"1","id":"2"}`), problem.MalformedJSON,
			[]string{"/operations/0/id duplicateName"}},
		{"trailing content", operations(ok) + `{}`, problem.MalformedJSON, []string{" trailing"}},
		{"elements", operations(`null`, `1`, `"x"`, `[]`, `{}`), problem.Invalid, []string{"/operations/0 type",
			"/operations/1 type", "/operations/2 type", "/operations/3 type", "/operations/4/op required"}},
		{"op", operations(`{"op":"Create"}`, `{"op":1}`, `{"op":null}`, `{"op":""}`), problem.Invalid,
			[]string{"/operations/0/op enum", "/operations/1/op type", "/operations/2/op null", "/operations/3/op enum"}},
		{"members of an operation", operations(`{"op":"create","value":{"customerId":"u"},"x":1}`), problem.Invalid,
			[]string{"/operations/0/x unknown"}},
		{"what is missing", operations(`{"op":"create"}`, `{"op":"replace"}`, `{"op":"patch"}`, `{"op":"delete"}`), problem.Invalid,
			[]string{"/operations/0/value required", "/operations/1/id required", "/operations/1/value required",
				"/operations/2/id required", "/operations/2/patch required", "/operations/3/id required"}},
		{"what means nothing", operations(
			`{"op":"create","id":"1","ifMatch":"*","value":{"customerId":"u"},"patch":{}}`,
			`{"op":"replace","id":"1","value":{"customerId":"u"},"patch":{}}`,
			`{"op":"patch","id":"1","value":{},"patch":{}}`,
			`{"op":"delete","id":"1","value":{},"patch":{}}`), problem.Invalid,
			[]string{"/operations/0/id unknown", "/operations/0/ifMatch unknown", "/operations/0/patch unknown",
				"/operations/1/patch unknown", "/operations/2/value unknown", "/operations/3/value unknown",
				"/operations/3/patch unknown"}},
		{"types of members", operations(`{"op":"delete","id":1,"ifMatch":["x"]}`), problem.Invalid,
			[]string{"/operations/0/id type", "/operations/0/ifMatch type"}},
		{"a tag", operations(`{"op":"delete","id":"1","ifMatch":"x"}`), problem.Invalid, []string{"/operations/0/ifMatch syntax"}},
		{"values", operations(
			`{"op":"create","value":{"customerId":"","status":"x"}}`, ok,
			`{"op":"replace","id":"1","value":{"cents":-1,"more":1}}`,
			`{"op":"create","value":{"id":7,"customerId":"u","tags":["a",2]}}`,
			`{"op":"create","value":null}`, `{"op":"replace","id":"1","value":7}`), problem.Invalid,
			[]string{"/operations/0/value/customerId minLength", "/operations/0/value/status enum",
				"/operations/2/value/customerId required", "/operations/2/value/cents minimum", "/operations/2/value/more unknown",
				"/operations/3/value/id readOnly", "/operations/3/value/tags/1 type",
				"/operations/4/value type", "/operations/5/value type"}},
		{"patches", operations(`{"op":"patch","id":"1","patch":7}`,
			`{"op":"patch","id":"1","patch":[{"op":"test","path":"/x"},{"op":"x","path":""}]}`,
			`{"op":"patch","id":"1","patch":[{"op":"remove","path":"/a"},{"op":"remove","path":"a"}]}`), problem.Invalid,
			[]string{"/operations/1/patch/0 required", "/operations/2/patch/1 pointer"}},
		{"several in one", operations(`{"op":"patch","ifMatch":"x","patch":[{"op":"remove"}]}`,
			`{"op":"replace","patch":{},"value":{"customerId":""}}`), problem.Invalid,
			[]string{"/operations/0/id required", "/operations/0/ifMatch syntax", "/operations/0/patch/0 required",
				"/operations/1/id required", "/operations/1/patch unknown", "/operations/1/value/customerId minLength"}},
		{"too deep", operations(`{"op":"create","value":{"customerId":"u","x":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}}`),
			problem.MalformedJSON, []string{"/operations/0 depth"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newShop(t, func(s *setup) { s.orderOps = onlyTransactions(t, s.orderOps) })
			res := do(t.Context(), t, h.orders, "batch", tt.doc)
			if d := wantProblem(t, res, tt.kind, tt.places...); d.Extensions["operation"] != nil {
				t.Errorf("it names one operation: %v", d.Extensions)
			}
		})
	}
}

// onlyTransactions is a collection that must not be called.
func onlyTransactions(t testing.TB, ops resource.Ops[order]) resource.Ops[order] {
	ops.Get = func(context.Context, string) (resource.Item[order], error) {
		t.Error("the collection is asked")
		return resource.Item[order]{}, resource.ErrNotFound
	}
	ops.Create = func(context.Context, order) (resource.Item[order], error) {
		t.Error("the collection is written to")
		return resource.Item[order]{}, resource.ErrUnavailable
	}
	return ops
}

// A value in a batch may nest as deep as a value in a request of its own.
func TestBatchDepthIsThatOfTheValue(t *testing.T) {
	t.Parallel()
	type box struct {
		ID string `json:"id"`
		In any    `json:"in"`
	}
	boxes := resource.New("boxes", memory.New[box](&memory.Options[box]{Clone: func(b box) box { return b }}), nil)
	deep := func(n int) string { return `{"in":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}` }
	wantStatus(t, do(t.Context(), t, boxes, "create", deep(63)), http.StatusCreated)
	wantStatus(t, do(t.Context(), t, boxes, "batch", operations(`{"op":"create","value":`+deep(63)+`}`)), http.StatusOK)
	wantStatus(t, do(t.Context(), t, boxes, "create", deep(64)), http.StatusBadRequest)
	res := do(t.Context(), t, boxes, "batch", operations(`{"op":"create","value":`+deep(64)+`}`))
	wantProblem(t, res, problem.MalformedJSON, "/operations/0 depth")
}

// The limits of a batch are those of its options.
func TestBatchLimits(t *testing.T) {
	t.Parallel()
	h := newShop(t)
	const create = `{"op":"create","value":{"customerId":"u"}}`
	const remove = `{"op":"remove","path":"/note"}`
	for _, tt := range []struct {
		name, doc string
		kind      problem.Kind
		place     string
	}{
		{"operations", operations(create, create, create), problem.TooLarge, "/operations maxItems"},
		{"operations of a patch", operations(`{"op":"patch","id":"1","patch":[` + remove + `,` + remove + `,` + remove + `]}`),
			problem.Invalid, "/operations/0/patch operations"},
	} {
		_, err := h.orders.Batch(t.Context(), []byte(tt.doc), &resource.BatchOptions{MaxOperations: 2})
		wantProblem(t, &answer{line: tt.name, err: err}, tt.kind, tt.place)
	}
	if _, err := h.orders.Batch(t.Context(), []byte(operations(create, create)), &resource.BatchOptions{MaxOperations: 2}); err != nil {
		t.Error(err)
	}
	same(t, "orders", 2, len(listAll(t, h.orders).Entries))
}

// The first operation that is rejected rolls back those before it, and those after it are not
// executed.
func TestBatchIsTakenBack(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		op     string
		opt    func(*setup)
		kind   problem.Kind
		places []string
	}{
		{"not found", `{"op":"patch","id":"x","patch":{}}`, nil, problem.NotFound, nil},
		{"an id that cannot be", `{"op":"delete","id":"."}`, nil, problem.NotFound, nil},
		{"gone", `{"op":"delete","id":"eve"}`, nil, problem.Gone, nil},
		{"exists", `{"op":"create","value":{"id":"bob","name":"b"}}`, nil, problem.Exists, nil},
		{"existed", `{"op":"create","value":{"id":"eve","name":"e"}}`, nil, problem.Exists, nil},
		{"taken", `{"op":"create","value":{"name":"b","email":"b@example.com"}}`, nil, problem.Conflict,
			[]string{"/operations/2/value/email taken"}},
		{"taken by a merge patch", `{"op":"patch","id":"ann","patch":{"email":"b@example.com"}}`, nil, problem.Conflict,
			[]string{"/operations/2/patch/email taken"}},
		{"stale", `{"op":"delete","id":"ann","ifMatch":"\"x\""}`, nil, problem.PreconditionFailed, nil},
		{"condition required", `{"op":"delete","id":"ann"}`, func(s *setup) { s.users.RequireIfMatch = true },
			problem.PreconditionRequired, nil},
		{"mismatch", `{"op":"replace","id":"fay","value":{"id":"guy","name":"f"}}`, nil, problem.Invalid,
			[]string{"/operations/2/value/id mismatch"}},
		{"another id", `{"op":"replace","id":"ann","value":{"id":"guy","name":"f"}}`, nil, problem.Invalid,
			[]string{"/operations/2/value/id readOnly"}},
		{"a bad id", `{"op":"replace","id":"..","value":{"name":"f"}}`, nil, problem.Invalid, []string{"/operations/2/value/id format"}},
		{"a JSON Patch that does not fit", `{"op":"patch","id":"ann","patch":[{"op":"add","path":"/email","value":"a@example.com"},` +
			`{"op":"test","path":"/name","value":"x"}]}`, nil, problem.PatchConflict, []string{"/operations/2/patch/1 test"}},
		{"what a JSON Patch makes", `{"op":"patch","id":"ann","patch":[{"op":"remove","path":"/name"}]}`, nil, problem.Invalid,
			[]string{"/operations/2/patch required"}},
		{"what a merge patch makes", `{"op":"patch","id":"ann","patch":{"name":null}}`, nil, problem.Invalid,
			[]string{"/operations/2/patch/name required"}},
		{"forbidden", `{"op":"delete","id":"ann"}`, refuseDeletion(resource.ErrForbidden), problem.Forbidden, nil},
		{"unauthenticated", `{"op":"delete","id":"ann"}`, refuseDeletion(resource.ErrUnauthenticated), problem.Unauthenticated, nil},
		{"a hook", `{"op":"delete","id":"ann"}`, refuseDeletion(resource.Invalid("name", "beloved")), problem.Invalid,
			[]string{"/operations/2 beloved"}},
		{"a fault", `{"op":"delete","id":"ann"}`, refuseDeletion(errors.New("secret cause")), problem.Internal, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var after int
			h := newShop(t, func(s *setup) {
				s.users.After = func(context.Context, resource.Op, *user, *user) { after++ }
				if tt.opt != nil {
					tt.opt(s)
				}
			})
			for _, doc := range []string{`{"id":"ann","name":"Ann"}`, `{"id":"bob","name":"Bob","email":"b@example.com"}`,
				`{"id":"cat","name":"Cat"}`, `{"id":"eve","name":"Eve"}`} {
				create(t, h.users, doc)
			}
			if tt.kind == problem.Gone || tt.kind == problem.Exists {
				wantStatus(t, do(t.Context(), t, h.users, "delete eve", ""), http.StatusNoContent)
			}
			before, err := listDocs(t, h.users, "")
			if err != nil {
				t.Fatal(err)
			}
			current, err := h.users.Get(t.Context(), "ann")
			if err != nil {
				t.Fatal(err)
			}
			after = 0
			res := do(t.Context(), t, h.users, "batch", operations(
				`{"op":"create","value":{"id":"new","name":"New"}}`,
				`{"op":"patch","id":"cat","ifMatch":"*","patch":{"name":"Kate"}}`, tt.op,
				`{"op":"delete","id":"nobody"}`))
			d := wantProblem(t, res, tt.kind, tt.places...)
			same(t, "operation", any(2), d.Extensions["operation"])
			if tt.name == "stale" {
				var failed *resource.Error
				if !errors.As(res.err, &failed) || failed.CurrentRev() != current.Rev {
					t.Errorf("%v has not the revision %q", res.err, current.Rev)
				}
			}
			if strings.Contains(d.Detail, "secret") {
				t.Errorf("the client receives %s", d.Detail)
			}
			remaining, err := listDocs(t, h.users, "")
			if err != nil {
				t.Fatal(err)
			}
			same(t, "users", before, remaining)
			same(t, "calls of After", 0, after)
		})
	}
}

func refuseDeletion(err error) func(*setup) {
	return func(s *setup) {
		s.users.Before = func(_ context.Context, op resource.Op, _, _ *user) error {
			if op == resource.OpDelete {
				return err
			}
			return nil
		}
	}
}

// fickle is a runner that runs each transaction several times, like a database with conflicts.
type fickle struct {
	*memory.DB
	attempts int
}

func (f *fickle) InTx(ctx context.Context, fn func(context.Context) error) error {
	if tx.Active(ctx) {
		return fn(ctx)
	}
	for range f.attempts - 1 {
		err := f.DB.InTx(ctx, func(ctx context.Context) error {
			if err := fn(ctx); err != nil {
				return err
			}
			return errAgain
		})
		if err != errAgain {
			return err
		}
	}
	return f.DB.InTx(ctx, fn)
}

func TestBatchMayRunAgain(t *testing.T) {
	t.Parallel()
	db := memory.NewDB()
	ops := resource.OpsOf(memory.New(&memory.Options[order]{DB: db}))
	ops.Insert = nil
	runner := &fickle{db, 3}
	ops.Transactions = func() tx.Runner { return runner }
	var before, after int
	var committed bool
	orders := ops.Resource("orders", &resource.Options[order]{
		Before: func(ctx context.Context, _ resource.Op, _, o *order) error {
			before++
			o.Cents++ // the next attempt does not see what the hook does in this one
			return nil
		},
		After: func(ctx context.Context, _ resource.Op, _, o *order) {
			after++
			committed = !tx.Active(ctx)
		},
	})
	res := do(t.Context(), t, orders, "batch", operations(
		`{"op":"create","value":{"customerId":"u","cents":1}}`, `{"op":"create","value":{"customerId":"v","cents":5}}`))
	wantDone(t, res)
	same(t, "results", 2, len(res.results))
	same(t, "value", `"cents":2`, strings.Split(string(res.results[0].JSON), ",")[3])
	same(t, "calls of Before", 6, before)
	same(t, "calls of After", 2, after)
	same(t, "After is outside of the transaction", true, committed)
	same(t, "orders", 2, len(listAll(t, orders).Entries))
}

// away is a runner with an unreachable database.
type away struct{ *memory.DB }

func (away) InTx(context.Context, func(context.Context) error) error {
	return fmt.Errorf("%w: connection refused", tx.ErrUnavailable)
}

func TestBatchWithoutTransaction(t *testing.T) {
	t.Parallel()
	db := memory.NewDB()
	ops := resource.OpsOf(memory.New(&memory.Options[order]{DB: db}))
	ops.Insert = nil
	ops.Transactions = func() tx.Runner { return away{db} }
	res := do(t.Context(), t, ops.Resource("orders", nil), "batch", operations(`{"op":"create","value":{"customerId":"u","cents":1}}`))
	d := wantProblem(t, res, problem.Unavailable)
	same(t, "Retry-After", "1", d.Header.Get("Retry-After"))
	same(t, "the problem names the engine", false, strings.Contains(d.Detail, "refused"))
}

// A store without conflict detection in its runner returns ErrStale for a concurrent write. The
// batch is then retried, unless the client has named the revision.
func TestBatchInsists(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, op string
		stale    int
		status   int
	}{
		{"others were faster", `{"op":"patch","id":"ann","patch":{"name":"x"}}`, 3, http.StatusOK},
		{"the store is confused", `{"op":"patch","id":"ann","ifMatch":"*","patch":{"name":"x"}}`, 1, http.StatusOK},
		{"the client has named it", `{"op":"patch","id":"ann","ifMatch":"TAG","patch":{"name":"x"}}`, 1, http.StatusPreconditionFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newShop(t, func(s *setup) {
				replace := s.userOps.Replace
				s.userOps.Replace = func(ctx context.Context, id string, expect resource.Rev, v user) (resource.Item[user], error) {
					if tt.stale--; tt.stale >= 0 {
						return resource.Item[user]{}, resource.ErrStale
					}
					return replace(ctx, id, expect, v)
				}
			})
			create(t, h.users, `{"id":"ann","name":"Ann"}`)
			tag := strings.ReplaceAll(tagOf(t, h.users, "ann"), `"`, `\"`)
			res := do(t.Context(), t, h.users, "batch", operations(`{"op":"create","value":{"id":"bob","name":"Bob"}}`,
				strings.ReplaceAll(tt.op, "TAG", tag)))
			wantStatus(t, res, tt.status)
			if tt.status == http.StatusOK {
				same(t, "results", 2, len(res.results))
			}
			wantStatus(t, do(t.Context(), t, h.users, "get bob", ""), map[int]int{200: 200, 412: 404}[tt.status])
		})
	}
}

func TestBatchOfWhatTheCollectionCannotDo(t *testing.T) {
	t.Parallel()
	h := newShop(t, func(s *setup) { s.orderOps.Replace, s.orderOps.Delete = nil, nil })
	res := do(t.Context(), t, h.orders, "batch", operations(`{"op":"replace","id":"1","value":{"customerId":"u"}}`,
		`{"op":"patch","id":"1","patch":{}}`, `{"op":"delete","id":"1"}`, `{"op":"create","value":{"customerId":"u"}}`))
	wantProblem(t, res, problem.Invalid, "/operations/0/op unsupported", "/operations/1/op unsupported",
		"/operations/2/op unsupported")
}

// purse is an item with coins, to detect lost updates.
type purse struct {
	ID    string `json:"id"`
	Coins int64  `json:"coins" minimum:"0"`
}

// Clients that move coins between the same two purses, in either order, neither deadlock nor lose
// coins.
func TestBatchesAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const clients, moves = 16, 25
		store := memory.New[purse](nil)
		purses := resource.New("purses", store, nil)
		for _, id := range []string{"a", "b"} {
			wantStatus(t, do(t.Context(), t, purses, "put "+id, `{"coins":1000}`), http.StatusCreated)
		}
		var wg sync.WaitGroup
		for client := range clients {
			wg.Go(func() {
				from, to := "a", "b"
				if client%2 == 1 {
					from, to = to, from
				}
				for range moves {
					for !move(t, purses, from, to) {
					}
				}
			})
		}
		wg.Wait()
		a, b := stored(t, store, "a"), stored(t, store, "b")
		// each direction has the same number of moves
		same(t, "purses", []purse{{"a", 1000}, {"b", 1000}}, []purse{a, b})
	})
}

// move moves a coin. It reports whether the purses had not changed.
func move(t testing.TB, purses *resource.Resource, from, to string) bool {
	t.Helper()
	var ops []string
	for i, id := range []string{from, to} {
		res := do(t.Context(), t, purses, "get "+id, "")
		coins := res.entry.Value.(*purse).Coins + int64(2*i-1)
		ops = append(ops, `{"op":"patch","id":"`+id+`","ifMatch":`+strconv.Quote(purses.ETag(&res.entry))+
			`,"patch":{"coins":`+strconv.FormatInt(coins, 10)+`}}`)
	}
	res := do(t.Context(), t, purses, "batch", operations(ops...))
	if res.err != nil {
		wantProblem(t, res, problem.PreconditionFailed)
	}
	return res.err == nil || t.Failed()
}

// TestBatchLocksInOrder: the first attempt of a batch locks nothing, and one after a conflict locks the items in
// the order of their ids, so that batches do not wait for each other again.
func TestBatchLocksInOrder(t *testing.T) {
	t.Parallel()
	db := memory.NewDB()
	ops := resource.OpsOf(memory.New(&memory.Options[user]{DB: db}))
	var calls []string
	get, runner := ops.Get, &fickle{db, 2}
	ops.Transactions = func() tx.Runner { return runner }
	ops.GetForUpdate = func(ctx context.Context, id string) (resource.Item[user], error) {
		calls = append(calls, "lock "+id)
		return get(ctx, id)
	}
	users := ops.Resource("users", &resource.Options[user]{
		Before: func(_ context.Context, op resource.Op, _, after *user) error {
			calls = append(calls, string(op)+" "+after.ID)
			return nil
		}})
	for _, id := range []string{"b", "a", "c"} {
		create(t, users, fmt.Sprintf(`{"id":%q,"name":"x"}`, id))
	}
	calls = nil
	res := do(t.Context(), t, users, "batch", operations(`{"op":"patch","id":"c","patch":{"name":"y"}}`,
		`{"op":"create","value":{"id":"d","name":"y"}}`, `{"op":"replace","id":"new","value":{"name":"y"}}`,
		`{"op":"patch","id":"a","patch":{"name":"y"}}`, `{"op":"patch","id":"c","patch":{"name":"z"}}`))
	wantDone(t, res)
	writes := []string{"patch c", "create d", "create new", "patch a", "patch c"}
	same(t, "calls", slices.Concat(writes, []string{"lock a", "lock c", "lock new"}, writes), calls)
}

// conflicting is a runner with a conflict in each attempt, of which one takes three seconds, like a deadlock.
type conflicting struct {
	db       *memory.DB
	attempts int
}

func (r *conflicting) InTx(ctx context.Context, fn func(context.Context) error) error {
	if tx.ActiveFor(ctx, r) {
		return fn(ctx)
	}
	for range 20 {
		r.attempts++
		time.Sleep(3 * time.Second)
		inner, scope := tx.Begin(ctx, r)
		err := r.db.InTx(inner, func(ctx context.Context) error { return cmp.Or(fn(ctx), errAgain) })
		if scope.Rollback(); err != errAgain {
			return err
		}
	}
	return tx.ErrUnavailable
}

// TestBatchGivesUp: conflicts end a batch after the ten seconds that a single write has, with a key as well.
func TestBatchGivesUp(t *testing.T) {
	t.Parallel()
	for _, keyed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			db := memory.NewDB()
			ops := resource.OpsOf(memory.New(&memory.Options[user]{DB: db}))
			runner := &conflicting{db: db}
			ops.Transactions = func() tx.Runner { return runner }
			users := ops.Resource("users", nil)
			c := resource.NewCatalog(&resource.CatalogOptions{
				Idempotency: idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Runner: runner}), nil),
				Principal:   func(context.Context) string { return "ann" },
			}, users)
			var opts *resource.WriteOptions
			if keyed {
				opts = underKey(c, "users", "k")
			}
			res := do(t.Context(), t, users, "batch", operations(`{"op":"create","value":{"id":"d","name":"y"}}`), opts)
			wantProblem(t, res, problem.Unavailable)
			same(t, "attempts", 4, runner.attempts) // after 3, 6, 9 and 12 seconds
		})
	}
}
