package rest_test

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

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/tx"
)

// Batches: operations that succeed or fail together.

// operations encodes a batch.
func operations(list ...string) string { return `{"operations":[` + strings.Join(list, ",") + `]}` }

// result is the result of an operation.
type result struct {
	Status   int            `json:"status"`
	ID       string         `json:"id"`
	Location string         `json:"location"`
	ETag     string         `json:"etag"`
	Value    jsontext.Value `json:"value"`
}

func resultsOf(t testing.TB, res *response) []result {
	t.Helper()
	return value[struct {
		Results []result `json:"results"`
	}](t, res).Results
}

// refusal is the problem of a rejected batch.
type refusal struct {
	Operation *int   `json:"operation"`
	ETag      string `json:"etag"`
	Existing  string `json:"existing"`
}

func TestBatchDoesAll(t *testing.T) {
	t.Parallel()
	h := api(t)
	create(t, h, "/users", `{"id":"ann","name":"Ann","pin":"1234"}`)
	create(t, h, "/users", `{"id":"bob","name":"Bob"}`)
	tag := send(t, h, "GET /users/ann").header.Get("ETag")
	res := send(t, h, "POST /users", batchBody, "", operations(
		`{"op":"create","value":{"id":"c/1","name":"Cid"}}`,
		`{"op":"replace","id":"ann","ifMatch":`+strconv.Quote(tag)+`,"value":{"name":"Anna"}}`,
		`{"op":"patch","id":"c/1","patch":{"name":"Cyd"}}`, // reads the item created before
		`{"op":"patch","id":"c/1","patch":[{"op":"test","path":"/name","value":"Cyd"},{"op":"add","path":"/email","value":"c@example.com"}]}`,
		`{"op":"replace","id":"dot","value":{"name":"Dot"}}`,
		`{"op":"patch","id":"ann","patch":{}}`,
		`{"op":"delete","id":"bob"}`))
	want(t, res, http.StatusOK, "Content-Type: application/json", "Cache-Control: no-store", "Etag:", "Location:",
		"Vary: Accept, Accept-Encoding", "X-Content-Type-Options:", "Content-Length: *")
	got := resultsOf(t, res)
	for i, r := range got {
		if status := []int{201, 200, 200, 200, 201, 200, 204}[i]; r.Status != status {
			t.Errorf("operation %d: status %d, want %d", i, r.Status, status)
		}
	}
	same(t, "id", "c/1", got[0].ID)
	same(t, "location", []string{"/users/c%2F1", "", "", "", "/users/dot", "", ""}, locations(got))
	same(t, "value", `{"id":"c/1","name":"Cyd","email":"c@example.com"}`, string(got[3].Value))
	same(t, "deleted", result{Status: 204, ID: "bob"}, got[6])
	for i, path := range map[int]string{3: "/users/c%2F1", 5: "/users/ann", 4: "/users/dot"} {
		item := send(t, h, "GET "+path)
		want(t, item, http.StatusOK, "ETag: "+got[i].ETag)
		same(t, path, string(got[i].Value), item.body)
	}
	want(t, send(t, h, "GET /users/bob"), http.StatusGone)
	if got[0].ETag == got[2].ETag || got[0].ETag == "" {
		t.Errorf("two writes of one item have the tags %s and %s", got[0].ETag, got[2].ETag)
	}
}

func locations(results []result) []string {
	var out []string
	for _, r := range results {
		out = append(out, r.Location)
	}
	return out
}

// A client that cannot read a secret does not remove it by a replacement, in a batch as elsewhere.
func TestBatchKeepsWhatClientsCannotSee(t *testing.T) {
	t.Parallel()
	var pin string
	h := api(t, func(s *setup) {
		s.users.After = func(_ context.Context, _ resource.Op, _, after *user) { pin = after.PIN }
	})
	create(t, h, "/users", `{"id":"ann","name":"Ann","pin":"1234"}`)
	res := send(t, h, "POST /users", batchBody, "", operations(`{"op":"replace","id":"ann","value":{"id":"ann","name":"Anna"}}`))
	want(t, res, http.StatusOK)
	same(t, "pin", "1234", pin)
	if strings.Contains(res.body, "1234") {
		t.Errorf("the answer has it: %s", res.body)
	}
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
			h := api(t, func(s *setup) { s.orderOps = onlyTransactions(t, s.orderOps) })
			res := send(t, h, "POST /orders", batchBody, "", tt.doc)
			wantErrors(t, wantProblem(t, res, tt.kind), tt.places...)
			if got := value[refusal](t, res); got.Operation != nil {
				t.Errorf("it names one operation: %s", res.body)
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
	h := catalog(t, resource.New("boxes", memory.New[box](&memory.Options[box]{Clone: func(b box) box { return b }}), nil))
	deep := func(n int) string { return `{"in":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}` }
	want(t, send(t, h, "POST /boxes", jsonBody, "", deep(63)), http.StatusCreated)
	want(t, send(t, h, "POST /boxes", batchBody, "", operations(`{"op":"create","value":`+deep(63)+`}`)), http.StatusOK)
	want(t, send(t, h, "POST /boxes", jsonBody, "", deep(64)), http.StatusBadRequest)
	res := send(t, h, "POST /boxes", batchBody, "", operations(`{"op":"create","value":`+deep(64)+`}`))
	wantErrors(t, wantProblem(t, res, problem.MalformedJSON), "/operations/0 depth")
}

func TestBatchLimits(t *testing.T) {
	t.Parallel()
	h := api(t, func(s *setup) { s.catalog.Limits = resource.Limits{Operations: 2, Body: 400} })
	one := `{"op":"create","value":{"customerId":"u"}}`
	want(t, send(t, h, "POST /orders", batchBody, "", operations(one, one)), http.StatusOK)
	d := wantProblem(t, send(t, h, "POST /orders", batchBody, "", operations(one, one, one)), problem.TooLarge)
	wantErrors(t, d, "/operations maxItems")
	d = wantProblem(t, send(t, h, "POST /orders", batchBody, "", operations(one)+strings.Repeat(" ", 400)), problem.TooLarge)
	same(t, "limit", int64(400), d.Limit)
	res := send(t, h, "POST /orders", batchBody, "", operations(`{"op":"patch","id":"1","patch":[`+
		strings.Repeat(`{"op":"remove","path":"/note"},`, 2)+`{"op":"remove","path":"/note"}]}`))
	wantErrors(t, wantProblem(t, res, problem.Invalid), "/operations/0/patch operations")
	same(t, "orders", 2, strings.Count(send(t, h, "GET /orders", asLines).body, "\n"))
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
		{"a fault", `{"op":"delete","id":"ann"}`, refuseDeletion(errors.New(cause)), problem.Internal, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var after int
			h := api(t, func(s *setup) {
				s.users.After = func(context.Context, resource.Op, *user, *user) { after++ }
				if tt.opt != nil {
					tt.opt(s)
				}
			})
			for _, doc := range []string{`{"id":"ann","name":"Ann"}`, `{"id":"bob","name":"Bob","email":"b@example.com"}`,
				`{"id":"cat","name":"Cat"}`, `{"id":"eve","name":"Eve"}`} {
				create(t, h, "/users", doc)
			}
			if tt.kind == problem.Gone || tt.kind == problem.Exists {
				want(t, send(t, h, "DELETE /users/eve"), http.StatusNoContent)
			}
			before := send(t, h, "GET /users").body
			tag := send(t, h, "GET /users/ann").header.Get("ETag")
			after = 0
			res := send(t, h, "POST /users", batchBody, "", operations(
				`{"op":"create","value":{"id":"new","name":"New"}}`,
				`{"op":"patch","id":"cat","ifMatch":"*","patch":{"name":"Kate"}}`, tt.op,
				`{"op":"delete","id":"nobody"}`))
			wantErrors(t, wantProblem(t, res, tt.kind, "Etag:", "Location:"), tt.places...)
			got := value[refusal](t, res)
			if got.Operation == nil || *got.Operation != 2 {
				t.Errorf("not operation 2: %s", res.body)
			}
			if tt.name == "stale" {
				same(t, "etag", tag, got.ETag)
			}
			if tt.name == "exists" {
				same(t, "existing", "/users/bob", got.Existing)
			}
			if strings.Contains(res.body, cause) {
				t.Errorf("the client is told: %s", res.body)
			}
			same(t, "users", before, send(t, h, "GET /users").body)
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

var errAgain = errors.New("again")

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
	h := catalog(t, ops.Resource("orders", &resource.Options[order]{
		Before: func(ctx context.Context, _ resource.Op, _, o *order) error {
			before++
			o.Cents++ // the next attempt does not see what the hook does in this one
			return nil
		},
		After: func(ctx context.Context, _ resource.Op, _, o *order) {
			after++
			committed = !tx.Active(ctx)
		},
	}))
	res := send(t, h, "POST /orders", batchBody, "", operations(
		`{"op":"create","value":{"customerId":"u","cents":1}}`, `{"op":"create","value":{"customerId":"v","cents":5}}`))
	want(t, res, http.StatusOK)
	got := resultsOf(t, res)
	same(t, "results", 2, len(got))
	same(t, "value", `"cents":2`, strings.Split(string(got[0].Value), ",")[3])
	same(t, "calls of Before", 6, before)
	same(t, "calls of After", 2, after)
	same(t, "After is outside of the transaction", true, committed)
	same(t, "orders", 2, strings.Count(send(t, h, "GET /orders", asLines).body, "\n"))
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
	h := catalog(t, ops.Resource("orders", nil))
	res := send(t, h, "POST /orders", batchBody, "", operations(`{"op":"create","value":{"customerId":"u","cents":1}}`))
	want(t, res, http.StatusServiceUnavailable)
	same(t, "Retry-After", "1", res.header.Get("Retry-After"))
	same(t, "says nothing of the engine", false, strings.Contains(res.body, "refused"))
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
			h := api(t, func(s *setup) {
				replace := s.userOps.Replace
				s.userOps.Replace = func(ctx context.Context, id string, expect resource.Rev, v user) (resource.Item[user], error) {
					if tt.stale--; tt.stale >= 0 {
						return resource.Item[user]{}, resource.ErrStale
					}
					return replace(ctx, id, expect, v)
				}
			})
			create(t, h, "/users", `{"id":"ann","name":"Ann"}`)
			tag := strings.ReplaceAll(send(t, h, "GET /users/ann").header.Get("ETag"), `"`, `\"`)
			res := send(t, h, "POST /users", batchBody, "", operations(`{"op":"create","value":{"id":"bob","name":"Bob"}}`,
				strings.ReplaceAll(tt.op, "TAG", tag)))
			want(t, res, tt.status)
			if tt.status == http.StatusOK {
				same(t, "results", 2, len(resultsOf(t, res)))
			}
			want(t, send(t, h, "GET /users/bob"), map[int]int{200: 200, 412: 404}[tt.status])
		})
	}
}

func TestBatchNegotiation(t *testing.T) {
	t.Parallel()
	doc := operations(`{"op":"create","value":{"customerId":"u"}}`)
	tests := []struct {
		name   string
		line   string
		fields []string
		status int
		want   []string
	}{
		{"minimal", "POST /orders", []string{batchBody, "Prefer: return=minimal"}, 200, []string{"Preference-Applied: return=minimal"}},
		{"representation", "POST /orders", []string{batchBody, "Prefer: return=representation"}, 200,
			[]string{"Preference-Applied: return=representation"}},
		{"a parameter of the type", "POST /orders", []string{batchBody + "; charset=utf-8"}, 200, nil},
		{"in capitals", "POST /orders", []string{"Content-Type: Application/Vnd.Stoa.Batch+JSON"}, 200, nil},
		{"If-Match means nothing", "POST /orders", []string{batchBody, `If-Match: "x"`}, 200, nil},
		{"gzip", "POST /orders", []string{batchBody, "Accept-Encoding: gzip, identity;q=0"}, 200, []string{"Content-Encoding: gzip"}},
		{"another Accept", "POST /orders", []string{batchBody, "Accept: text/html"}, 406, nil},
		{"another coding", "POST /orders", []string{batchBody, "Accept-Encoding: br, identity;q=0"}, 406, nil},
		{"another charset", "POST /orders", []string{batchBody + "; charset=latin1"}, 415, []string{"Accept-Post: " + postTypes}},
		{"another coding of the content", "POST /orders", []string{batchBody, "Content-Encoding: br"}, 415,
			[]string{"Accept-Encoding: gzip, identity"}},
		{"two types", "POST /orders", []string{batchBody, batchBody}, 415, nil},
		{"PUT", "PUT /orders/1", []string{batchBody}, 415, []string{"Accept-Post:"}},
		{"a command's path", "POST /orders/1", []string{batchBody}, 405, nil},
		{"fields", "POST /orders?fields=id", []string{batchBody}, 400, nil},
		{"a parameter", "POST /orders?x=1", []string{batchBody}, 400, nil},
		{"a parameter, leniently", "POST /orders?x=1", []string{batchBody, "Prefer: handling=lenient"}, 200, nil},
		{"where nothing is created", "POST /places", []string{batchBody}, 405, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := api(t)
			res := send(t, h, tt.line, append(tt.fields, "", doc)...)
			want(t, res, tt.status, tt.want...)
			made := send(t, h, "GET /orders/1").status == http.StatusOK
			same(t, "there is an order", tt.status == http.StatusOK, made)
			if tt.name == "minimal" && (strings.Contains(res.body, "value") || !strings.Contains(res.body, `"location":"/orders/1","etag":`)) {
				t.Errorf("body %s", res.body)
			}
		})
	}
}

// Without transactions there are no batches, and no response advertises them.
func TestBatchNeedsTransactions(t *testing.T) {
	t.Parallel()
	h := api(t, func(s *setup) { s.orderOps.Transactions = nil })
	res := send(t, h, "POST /orders", batchBody, "", operations(`{"op":"create","value":{"customerId":"u"}}`))
	wantProblem(t, res, problem.UnsupportedMediaType, "Accept-Post: application/json", "Accept: application/json")
	want(t, send(t, h, "OPTIONS /orders"), http.StatusNoContent, "Accept-Post: application/json")
}

func TestBatchOfWhatTheCollectionCannotDo(t *testing.T) {
	t.Parallel()
	h := api(t, func(s *setup) { s.orderOps.Replace, s.orderOps.Delete = nil, nil })
	res := send(t, h, "POST /orders", batchBody, "", operations(`{"op":"replace","id":"1","value":{"customerId":"u"}}`,
		`{"op":"patch","id":"1","patch":{}}`, `{"op":"delete","id":"1"}`, `{"op":"create","value":{"customerId":"u"}}`))
	wantErrors(t, wantProblem(t, res, problem.Invalid), "/operations/0/op unsupported", "/operations/1/op unsupported",
		"/operations/2/op unsupported")
}

// With handling=lenient members that the schema does not define are ignored, in values and around
// them.
func TestBatchLeniently(t *testing.T) {
	t.Parallel()
	h := api(t)
	res := send(t, h, "POST /orders", batchBody, "Prefer: handling=lenient", "",
		`{"operations":[{"op":"create","comment":"x","value":{"customerId":"u","x":1}}],"x":2}`)
	want(t, res, http.StatusOK, "Preference-Applied: handling=lenient")
}

// A batch is in the contract that the request names.
func TestBatchInContracts(t *testing.T) {
	t.Parallel()
	doc := operations(`{"op":"create","value":{"itemId":7,"qty":1}}`, `{"op":"patch","id":"1","patch":{"qty":5}}`)
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			h := versioned(t)
			fields := w.fields
			if w.name == "media type" { // the media type of a batch, not of an order
				w.fields = []string{"Accept: application/vnd.shop.1.0.batch+json"}
			}
			res := w.send(t, h, "POST /orders", batchBody, "", doc)
			want(t, res, http.StatusOK)
			got := resultsOf(t, res)
			w.fields = fields
			for _, r := range got {
				item := w.send(t, h, "GET /orders/"+r.ID)
				same(t, "value", string(r.Value), item.body)
			}
			plain := send(t, h, "GET /v1.0/orders/1")
			want(t, plain, http.StatusOK, "ETag: "+got[1].ETag)
			target := got[0].Location
			if strings.HasPrefix(w.before, "http:") {
				target = "http://api-v1-0.example.com" + target
			}
			same(t, target, string(got[0].Value), send(t, h, "GET "+target, fields...).body)
		})
	}
	h := versioned(t)
	res := send(t, h, "POST /orders", batchBody, "", `{"version":"1.0",`+doc[1:])
	want(t, res, http.StatusOK, "Content-Type: application/json", "API-Version: 1.0.0")
	if !strings.HasSuffix(res.body, `],"version":"1.0"}`) {
		t.Errorf("the member is not repeated: %s", res.body)
	}
	res = send(t, h, "POST /orders", "Content-Type: application/vnd.shop.1.0.batch+json", "", doc)
	want(t, res, http.StatusOK, "Content-Type: application/vnd.shop.1.0.0.batch+json")
	bad := send(t, h, "POST /v1.0/orders", batchBody, "", operations(`{"op":"create","value":{"lines":[]}}`,
		`{"op":"create","value":{"itemId":0,"qty":1}}`))
	wantErrors(t, wantProblem(t, bad, problem.Invalid), "/operations/0/value/itemId required",
		"/operations/0/value/qty required", "/operations/0/value/lines unknown", "/operations/1/value/itemId minimum")
	want(t, send(t, h, "POST /v1.0/orders", batchBody, "Accept: application/vnd.shop.1.0.order+json", "", doc), http.StatusNotAcceptable)
}

// purse is an item with coins, to detect lost updates.
type purse struct {
	ID    string `json:"id"`
	Coins int64  `json:"coins" minimum:"0"`
}

// Clients that move coins between the same two purses, in either order, neither deadlock nor lose
// coins.
func TestBatchesAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const clients, moves = 16, 25
		store := memory.New[purse](nil)
		h := rest.New(resource.NewCatalog(nil, resource.New("purses", store, nil)), nil)
		for _, id := range []string{"a", "b"} {
			want(t, send(t, h, "PUT /purses/"+id, jsonBody, "", `{"coins":1000}`), http.StatusCreated)
		}
		var wg sync.WaitGroup
		for client := range clients {
			wg.Go(func() {
				from, to := "a", "b"
				if client%2 == 1 {
					from, to = to, from
				}
				for range moves {
					for !move(t, h, from, to) {
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
func move(t testing.TB, h http.Handler, from, to string) bool {
	t.Helper()
	var ops []string
	for i, id := range []string{from, to} {
		res := send(t, h, "GET /purses/"+id)
		coins := value[purse](t, res).Coins + int64(2*i-1)
		ops = append(ops, `{"op":"patch","id":"`+id+`","ifMatch":`+strconv.Quote(res.header.Get("ETag"))+
			`,"patch":{"coins":`+strconv.FormatInt(coins, 10)+`}}`)
	}
	res := send(t, h, "POST /purses", batchBody, "", operations(ops...))
	if res.status != http.StatusOK && res.status != http.StatusPreconditionFailed {
		t.Errorf("status %d: %s", res.status, res.body)
		return true
	}
	return res.status == http.StatusOK
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
	h := catalog(t, ops.Resource("users", &resource.Options[user]{
		Before: func(_ context.Context, op resource.Op, _, after *user) error {
			calls = append(calls, string(op)+" "+after.ID)
			return nil
		}}))
	for _, id := range []string{"b", "a", "c"} {
		create(t, h, "/users", fmt.Sprintf(`{"id":%q,"name":"x"}`, id))
	}
	calls = nil
	res := send(t, h, "POST /users", batchBody, "", operations(`{"op":"patch","id":"c","patch":{"name":"y"}}`,
		`{"op":"create","value":{"id":"d","name":"y"}}`, `{"op":"replace","id":"new","value":{"name":"y"}}`,
		`{"op":"patch","id":"a","patch":{"name":"y"}}`, `{"op":"patch","id":"c","patch":{"name":"z"}}`))
	want(t, res, http.StatusOK)
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
	for _, key := range []string{"", `Idempotency-Key: "k"`} {
		synctest.Test(t, func(t *testing.T) {
			db := memory.NewDB()
			ops := resource.OpsOf(memory.New(&memory.Options[user]{DB: db}))
			runner := &conflicting{db: db}
			ops.Transactions = func() tx.Runner { return runner }
			h := rest.New(resource.NewCatalog(&resource.CatalogOptions{
				Idempotency: idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Runner: runner}), nil),
				Principal:   func(context.Context) string { return "ann" },
			}, ops.Resource("users", nil)), nil)
			fields := []string{batchBody}
			if key != "" {
				fields = append(fields, key)
			}
			res := send(t, h, "POST /users", append(fields, "",
				operations(`{"op":"create","value":{"id":"d","name":"y"}}`))...)
			want(t, res, http.StatusServiceUnavailable, "Retry-After: 1")
			same(t, "attempts"+key, 4, runner.attempts) // after 3, 6, 9 and 12 seconds
		})
	}
}
