package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// worker is the stored item. The view has all fields but the salary.
type worker struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Team   string `json:"team"`
	Salary int64  `json:"salary"`
}

type publicWorker struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Team string `json:"team"`
}

// workerName is the type of a view of the view.
type workerName struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type crew struct {
	ID string `json:"id"`
}

// office serves the same workers to administrators, with all fields, and to others.
type office struct {
	full, limited, names http.Handler
	store                *memory.Store[worker]
	// between runs once, after a write has read the item and before it replaces it.
	between func(t *testing.T)
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{store: memory.New(&memory.Options[worker]{DB: memory.NewDB()})}
	for _, w := range []worker{{"1", "Eve", "a", 100}, {"2", "Bob", "a", 200}} {
		if _, err := o.store.Insert(t.Context(), w.ID, w); err != nil {
			t.Fatal(err)
		}
	}
	ops := resource.OpsOf(o.store)
	ops.Replace = func(ctx context.Context, id string, rev resource.Rev, v worker) (resource.Item[worker], error) {
		if between := o.between; between != nil {
			o.between = nil
			between(t)
		}
		return o.store.Replace(ctx, id, rev, v)
	}
	workers := ops.Resource("workers", &resource.Options[worker]{Public: true, Query: query.Support{
		Filter: map[string][]query.Op{"name": {query.Eq}, "team": {query.Eq}}, Sort: []string{"name"}}})
	limited := resource.View(workers, func(w worker) (publicWorker, error) {
		return publicWorker{w.ID, w.Name, w.Team}, nil
	}, func(v publicWorker, base worker) (worker, error) {
		base.ID, base.Name, base.Team = v.ID, v.Name, v.Team
		return base, nil
	}, nil)
	names := resource.View(limited, func(w publicWorker) (workerName, error) { return workerName{w.ID, w.Name}, nil },
		func(v workerName, base publicWorker) (publicWorker, error) {
			base.ID, base.Name = v.ID, v.Name
			return base, nil
		}, nil)
	teams := memory.New[crew](nil)
	if _, err := teams.Insert(t.Context(), "a", crew{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	crews := resource.New("crews", teams, &resource.Options[crew]{Public: true,
		Relations: []resource.Relation[crew]{{Name: "workers", Target: "workers", By: "team", Many: true}}})
	serve := func(parts ...resource.Part) http.Handler {
		return byCaller(rest.New(resource.NewCatalog(&resource.CatalogOptions{Principal: caller,
			Idempotency: idempotency.New(idempotency.NewMemory(nil), nil)}, parts...), nil))
	}
	o.full, o.limited, o.names = serve(workers), serve(limited, crews), serve(names)
	return o
}

// raise changes what the view hides.
func (o *office) raise(t *testing.T) {
	t.Helper()
	o.patch(t, `{"salary":300}`)
}

func (o *office) patch(t *testing.T, doc string) {
	t.Helper()
	want(t, send(t, o.full, "PATCH /workers/1", mergeBody, "Prefer: return=minimal", "", doc), http.StatusNoContent)
}

// tag returns the entity tag of worker 1, as a precondition.
func tagOf(t *testing.T, h http.Handler) string {
	t.Helper()
	return "If-Match: " + send(t, h, "GET /workers/1").header.Get("ETag")
}

// TestRule162HiddenChanges: no response through the view depends on a change of the hidden field, and
// each depends on one of a field that it shows.
func TestRule162HiddenChanges(t *testing.T) {
	t.Parallel()
	const wrong = `If-Match: "x.y"`
	// known is the value of the tag before the change: that of the item or the list.
	tests := []struct {
		name, line string
		fields     []string
		body       string
		known      string // target of the tag in If-None-Match or If-Match
		condition  string
		status     int
	}{
		{name: "item", line: "GET /workers/1", status: 200},
		{name: "head", line: "HEAD /workers/1", status: 200},
		{name: "gzip", line: "GET /workers/1", fields: []string{"Accept-Encoding: gzip, identity;q=0"}, status: 200},
		{name: "fields", line: "GET /workers/1?fields=name", status: 200},
		{name: "unchanged item", line: "GET /workers/1", known: "/workers/1", condition: "If-None-Match", status: 304},
		{name: "condition of a read", line: "GET /workers/1", known: "/workers/1", condition: "If-Match", status: 200},
		{name: "dates", line: "GET /workers/1", status: 200, fields: []string{
			"If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT", "If-Modified-Since: Fri, 31 Dec 2094 08:49:37 GMT"}},
		{name: "list", line: "GET /workers", status: 200},
		{name: "filter", line: "GET /workers?name=Eve&fields=name", status: 200},
		{name: "unchanged list", line: "GET /workers?sort=name", known: "/workers?sort=name", condition: "If-None-Match", status: 304},
		{name: "lines", line: "GET /workers", fields: []string{"Accept: application/x-ndjson"}, status: 200},
		{name: "table", line: "GET /workers", fields: []string{"Accept: text/csv"}, status: 200},
		{name: "relation", line: "GET /crews/a?expand=workers", status: 200},
		{name: "relation of a list", line: "GET /crews?expand=workers(limit=5)", status: 200},
		{name: "failed condition", line: "PATCH /workers/1", fields: []string{mergeBody, wrong}, body: `{}`, status: 412},
		{name: "failed deletion", line: "DELETE /workers/1", fields: []string{wrong}, status: 412},
		{name: "failed batch", line: "POST /workers", fields: []string{batchBody}, status: 412,
			body: operations(`{"op":"delete","id":"1","ifMatch":"\"x.y\""}`)},
		{name: "write of nothing", line: "PATCH /workers/1", fields: []string{mergeBody}, body: `{"team":"a"}`,
			known: "/workers/1", condition: "If-Match", status: 200},
		{name: "write of nothing with a date", line: "PATCH /workers/1", body: `{"team":"a"}`, status: 200,
			fields: []string{mergeBody, "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT"}},
		{name: "batch of nothing", line: "POST /workers", fields: []string{batchBody}, status: 200,
			body: operations(`{"op":"patch","id":"1","patch":{"team":"a"}}`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			fields := append([]string(nil), tt.fields...)
			if tt.known != "" {
				fields = append(fields, tt.condition+": "+send(t, o.limited, "GET "+tt.known).header.Get("ETag"))
			}
			read := func() (int, []string) {
				res := send(t, o.limited, tt.line, append(fields, "", tt.body)...)
				res.header.Del("Date")
				return res.status, []string{strconv.Itoa(res.status), fmt.Sprint(res.header), res.body}
			}
			status, before := read()
			o.raise(t)
			_, after := read()
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("after a hidden change (-before +after):\n%s", diff)
			}
			if status != tt.status {
				t.Errorf("status %d, want %d: %s", status, tt.status, before)
			}
			o.patch(t, `{"name":"Eva"}`)
			if _, shown := read(); cmp.Equal(before, shown) {
				t.Errorf("no difference after a change that is shown: %s", shown)
			}
		})
	}
}

// TestRule162Writes: a write with the tag from before a hidden change succeeds and keeps the hidden field,
// and one with the tag from before a change that is shown fails.
func TestRule162Writes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line string
		fields     []string
		body       string
		status     int
	}{
		{"patch", "PATCH /workers/1", []string{mergeBody}, `{"name":"Ivy"}`, 200},
		{"put", "PUT /workers/1", []string{jsonBody}, `{"name":"Ivy","team":"a"}`, 200},
		{"delete", "DELETE /workers/1", nil, "", 204},
		{"batch", "POST /workers", []string{batchBody}, operations(`{"op":"patch","id":"1","ifMatch":TAG,"patch":{"name":"Ivy"}}`), 200},
	}
	changes := []struct {
		name, doc string
		between   bool // after the write has read the item
		allowed   bool
	}{
		{"hidden", `{"salary":300}`, false, true},
		{"hidden, at the same time", `{"salary":300}`, true, true},
		{"shown", `{"team":"b"}`, false, false},
		{"shown, at the same time", `{"team":"b"}`, true, false},
	}
	for _, tt := range tests {
		for _, change := range changes {
			if change.between && (tt.name == "delete" || tt.name == "batch") {
				continue // neither calls Replace outside of a transaction
			}
			t.Run(tt.name+" "+change.name, func(t *testing.T) {
				t.Parallel()
				o := newOffice(t)
				tag := tagOf(t, o.limited)
				o.between = func(t *testing.T) {
					w := stored(t, o.store, "1")
					if w.Salary = 300; !change.allowed {
						w.Team, w.Salary = "b", 100
					}
					item, err := o.store.Get(t.Context(), "1")
					if err == nil {
						_, err = o.store.Replace(t.Context(), "1", item.Rev, w)
					}
					if err != nil {
						t.Error(err)
					}
				}
				if !change.between {
					o.between(t)
					o.between = nil
				}
				body := strings.Replace(tt.body, "TAG", strconv.Quote(strings.TrimPrefix(tag, "If-Match: ")), 1)
				fields := append([]string{tag}, tt.fields...)
				if strings.HasPrefix(tt.line, "POST") {
					fields = tt.fields
				}
				res := send(t, o.limited, tt.line, append(fields, "", body)...)
				if !change.allowed {
					wantProblem(t, res, problem.PreconditionFailed)
					return
				}
				if want(t, res, tt.status); tt.status != http.StatusNoContent {
					if diff := cmp.Diff(worker{"1", "Ivy", "a", 300}, stored(t, o.store, "1")); diff != "" {
						t.Errorf("stored (-want +got):\n%s", diff)
					}
				}
			})
		}
	}
}

// TestRule162TagsOfOtherViews: a write accepts the tags of representations that show no more than its own, and
// a read its own tag only.
// Others could be guessed, and an accepted guess would reveal what the representation hides.
func TestRule162TagsOfOtherViews(t *testing.T) {
	t.Parallel()
	names := []string{"names", "limited", "full"} // each shows more than the one before
	for from, of := range names {
		for to, in := range names {
			t.Run(of+" in "+in, func(t *testing.T) {
				t.Parallel()
				o := newOffice(t)
				handlers := []http.Handler{o.names, o.limited, o.full}
				for _, line := range []string{"PATCH /workers/1", "GET /workers/1"} {
					res := send(t, handlers[to], line, tagOf(t, handlers[from]), mergeBody, "", `{"name":"Eve"}`)
					if from > to || from != to && strings.HasPrefix(line, "GET") {
						wantProblem(t, res, problem.PreconditionFailed)
						continue
					}
					want(t, res, http.StatusOK)
				}
				if from > to {
					return
				}
				tag := tagOf(t, handlers[from])
				o.patch(t, `{"name":"Eva"}`)
				wantProblem(t, send(t, handlers[to], "PATCH /workers/1", tag, mergeBody, "", `{"name":"Ivy"}`),
					problem.PreconditionFailed)
			})
		}
	}
}

// TestRule162Replays: a replay has the tag of the first response, whatever has changed.
func TestRule162Replays(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, line, media, body string }{
		{"patch", "PATCH /workers/1", mergeBody, `{"name":"Ivy"}`},
		{"batch", "POST /workers", batchBody, operations(`{"op":"patch","id":"1","patch":{"name":"Ivy"}}`)},
		{"creation", "POST /workers", jsonBody, `{"id":"3","name":"Ivy","team":"a"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			again := func() []string {
				res := send(t, o.limited, tt.line, tt.media, "Caller: ann", `Idempotency-Key: "k"`, "", tt.body)
				return []string{res.header.Get("ETag"), res.header.Get("Last-Modified"), res.body}
			}
			first := again()
			current := send(t, o.limited, "GET /workers/1").header.Get("ETag")
			o.raise(t)
			if diff := cmp.Diff(first, again()); diff != "" {
				t.Errorf("replay (-first +again):\n%s", diff)
			}
			if tt.name == "patch" && first[0] != current {
				t.Errorf("the tag is %s, want %s", first[0], current)
			}
			if tt.name == "batch" && !strings.Contains(first[2], strconv.Quote(current)) {
				t.Errorf("the tag %s is not in %s", current, first[2])
			}
		})
	}
}

// TestViewsThatShowAll: a view that hides nothing has the revisions of the collection, so that the tags of
// all contracts name the same revision.
func TestViewsThatShowAll(t *testing.T) {
	t.Parallel()
	type renamed struct {
		ID    string `json:"id"`
		Title string `json:"title"`
		N     int64  `json:"n"`
	}
	store := memory.New[thing](nil)
	if _, err := store.Insert(t.Context(), "1", thing{ID: "1"}); err != nil {
		t.Fatal(err)
	}
	r := resource.New("things", store, &resource.Options[thing]{Public: true})
	view := resource.View(r, func(v thing) (renamed, error) { return renamed{v.ID, v.Name, v.N}, nil },
		func(v renamed, _ thing) (thing, error) { return thing{v.ID, v.Title, v.N}, nil },
		&resource.ViewOptions{Fields: map[string]string{"title": "name"}})
	full, other := catalog(t, r), catalog(t, view)
	res := send(t, other, "GET /things/1")
	want(t, res, http.StatusOK, "Last-Modified: *")
	revision := func(res *response) string {
		rev, _, _ := strings.Cut(res.header.Get("ETag"), ".")
		return rev
	}
	if got, want := revision(res), revision(send(t, full, "GET /things/1")); got != want {
		t.Errorf("revision %s, want %s", got, want)
	}
	tag := "If-Match: " + send(t, full, "GET /things/1").header.Get("ETag")
	want(t, send(t, other, "PATCH /things/1", tag, mergeBody, "", `{"title":"x"}`), http.StatusOK)
}
