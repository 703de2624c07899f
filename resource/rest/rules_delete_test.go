package rest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// ann is an item with an id chosen by the client.
const ann = `{"id":"ann","name":"Ann"}`

// recreating is a store that accepts deleted ids again.
func recreating(s *setup) {
	s.userOps = resource.OpsOf(memory.New(&memory.Options[user]{Recreate: true}))
}

// forgetful is a store without tombstones, or with expired ones.
func forgetful(s *setup) {
	recreating(s)
	forget := func(err error) error {
		if errors.Is(err, resource.ErrGone) {
			return resource.ErrNotFound
		}
		return err
	}
	get, replace, remove := s.userOps.Get, s.userOps.Replace, s.userOps.Delete
	s.userOps.Get = func(ctx context.Context, id string) (resource.Item[user], error) {
		item, err := get(ctx, id)
		return item, forget(err)
	}
	s.userOps.Replace = func(ctx context.Context, id string, expect resource.Rev, v user) (resource.Item[user], error) {
		item, err := replace(ctx, id, expect, v)
		return item, forget(err)
	}
	s.userOps.Delete = func(ctx context.Context, id string, expect resource.Rev) error {
		return forget(remove(ctx, id, expect))
	}
	s.userOps.Deleted = nil
}

// reach brings /users/ann into a state of the table.
func reach(t *testing.T, h http.Handler, state string) {
	t.Helper()
	if state == "never existed" {
		return
	}
	create(t, h, "/users", ann)
	if state != "live" {
		want(t, send(t, h, "DELETE /users/ann"), http.StatusNoContent)
	}
}

// The table of section DELETE.
func TestRuleDeleteTable(t *testing.T) {
	t.Parallel()
	columns := []struct {
		name string
		ask  func(t *testing.T, h http.Handler) *response
	}{
		{"DELETE", func(t *testing.T, h http.Handler) *response { return send(t, h, "DELETE /users/ann") }},
		{"GET", func(t *testing.T, h http.Handler) *response { return send(t, h, "GET /users/ann") }},
		{"HEAD", func(t *testing.T, h http.Handler) *response { return send(t, h, "HEAD /users/ann") }},
		{"PATCH", func(t *testing.T, h http.Handler) *response {
			return send(t, h, "PATCH /users/ann", mergeBody, "", `{"name":"Anna"}`)
		}},
		{"PUT", func(t *testing.T, h http.Handler) *response {
			return send(t, h, "PUT /users/ann", jsonBody, "", `{"name":"Anna"}`)
		}},
		{"PUT If-None-Match: *", func(t *testing.T, h http.Handler) *response {
			return send(t, h, "PUT /users/ann", jsonBody, "If-None-Match: *", "", `{"name":"Anna"}`)
		}},
		{"POST same id", func(t *testing.T, h http.Handler) *response {
			return send(t, h, "POST /users", jsonBody, "", ann)
		}},
	}
	allowed := func(s *setup) { s.users.AllowRecreate = true }
	both := func(s *setup) { recreating(s); allowed(s) }
	lenient := func(s *setup) { s.rest.Resources["users"] = rest.ResourceOptions{RepeatedDelete: http.StatusNoContent} }
	nothing := func(*setup) {}
	expired := func(s *setup) { forgetful(s); s.users.RecentDeletes = -1 }
	tests := []struct {
		name  string
		opt   func(*setup)
		state string
		want  [7]int // in the order of columns
	}{
		//                                                    DELETE GET HEAD PATCH PUT PUT* POST
		{"default", nothing, "never existed", [...]int{404, 404, 404, 404, 201, 201, 201}},
		{"default", nothing, "live", [...]int{204, 200, 200, 200, 200, 412, 409}},
		{"default", nothing, "tombstone", [...]int{410, 410, 410, 410, 410, 410, 409}},
		{"AllowRecreate", both, "never existed", [...]int{404, 404, 404, 404, 201, 201, 201}},
		{"AllowRecreate", both, "live", [...]int{204, 200, 200, 200, 200, 412, 409}},
		{"AllowRecreate", both, "tombstone", [...]int{410, 410, 410, 410, 201, 201, 409}},
		{"AllowRecreate, but not by the store", allowed, "tombstone", [...]int{410, 410, 410, 410, 410, 410, 409}},
		{"the store would, but not AllowRecreate", recreating, "tombstone", [...]int{410, 410, 410, 410, 410, 410, 409}},
		{"RepeatedDelete 204", lenient, "never existed", [...]int{404, 404, 404, 404, 201, 201, 201}},
		{"RepeatedDelete 204", lenient, "live", [...]int{204, 200, 200, 200, 200, 412, 409}},
		{"RepeatedDelete 204", lenient, "tombstone", [...]int{204, 410, 410, 410, 410, 410, 409}},
		{"no tombstones", forgetful, "live", [...]int{204, 200, 200, 200, 200, 412, 409}},
		{"no tombstones", forgetful, "tombstone", [...]int{410, 410, 410, 410, 201, 201, 201}},
		{"nothing remembered", expired, "expired", [...]int{404, 404, 404, 404, 201, 201, 201}},
	}
	for _, tt := range tests {
		t.Run(tt.name+"/"+tt.state, func(t *testing.T) {
			t.Parallel()
			var got [7]int
			for i, column := range columns {
				h := api(t, tt.opt)
				reach(t, h, tt.state)
				res := column.ask(t, h)
				got[i] = res.status
				if res.status >= 400 {
					want(t, res, res.status, "Cache-Control: no-store", "Content-Type: "+problem.MediaType)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("DELETE, GET, HEAD, PATCH, PUT, PUT If-None-Match: *, POST (-want +got):\n%s", diff)
			}
		})
	}
}

// If the store chooses the ids, a client cannot create an item with an id, neither before the id
// was used nor afterwards.
func TestRuleDeleteTableAssignedIDs(t *testing.T) {
	t.Parallel()
	const doc = `{"customerId":"ann"}`
	for state, status := range map[string]int{"never existed": 404, "tombstone": 410} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			h := api(t, func(s *setup) { s.orders.AllowRecreate = true })
			if state == "tombstone" {
				create(t, h, "/orders", doc)
				want(t, send(t, h, "DELETE /orders/1"), http.StatusNoContent)
			}
			want(t, send(t, h, "PUT /orders/1", jsonBody, "", doc), status)
			want(t, send(t, h, "PUT /orders/1", jsonBody, "If-None-Match: *", "", doc), status)
		})
	}
}

func TestRuleD01FirstDelete204(t *testing.T) {
	t.Parallel()
	for _, repeated := range []int{0, http.StatusGone, http.StatusNoContent} {
		status := map[int]int{0: 410, 410: 410, 204: 204}[repeated]
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			h := api(t, func(s *setup) { s.rest.Resources["users"] = rest.ResourceOptions{RepeatedDelete: repeated} })
			create(t, h, "/users", ann)
			res := send(t, h, "DELETE /users/ann")
			want(t, res, http.StatusNoContent, "Content-Type:", "Content-Length:", "ETag:", "Cache-Control: no-store")
			if res.body != "" {
				t.Errorf("a 204 with content: %q", res.body)
			}
			for _, field := range []string{"Accept: */*", `If-Match: "old"`, "If-Match: *", "If-None-Match: *",
				`If-None-Match: W/"old"`, "If-Unmodified-Since: " + modified.Add(-time.Hour).Format(http.TimeFormat),
				"Prefer: return=representation"} {
				res := send(t, h, "DELETE /users/ann", field)
				if res.status != status {
					t.Errorf("repeated with %s: status %d, want %d", field, res.status, status)
				}
			}
		})
	}
}

func TestRuleD02RepeatIsNoFailedCondition(t *testing.T) {
	t.Parallel()
	h := api(t, func(s *setup) { s.users.RequireIfMatch = true })
	create(t, h, "/users", ann)
	tag := send(t, h, "GET /users/ann").header.Get("ETag")
	want(t, send(t, h, "DELETE /users/ann"), http.StatusPreconditionRequired)
	want(t, send(t, h, "DELETE /users/ann", "If-Match: "+tag), http.StatusNoContent)
	wantProblem(t, send(t, h, "DELETE /users/ann", "If-Match: "+tag), problem.Gone)
	wantProblem(t, send(t, h, "DELETE /users/ann", `If-Match: "x.y"`), problem.Gone)
	wantProblem(t, send(t, h, "DELETE /users/ann"), problem.Gone)
}

// Two catalogs over one store represent two processes: they share no lock, and only the store
// decides.
func TestRuleD03ConcurrentDeletes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := memory.New[user](nil)
		serve := func(s *setup) { s.userOps = resource.OpsOf(store) }
		catalogs := []http.Handler{api(t, serve), api(t, serve)}
		create(t, catalogs[0], "/users", ann)
		tag := send(t, catalogs[0], "GET /users/ann").header.Get("ETag")

		const clients = 16
		got := make([]int, clients)
		var wg sync.WaitGroup
		for i := range clients {
			wg.Go(func() {
				fields := []string{"Accept: */*", "If-Match: " + tag}
				got[i] = send(t, catalogs[i%2], "DELETE /users/ann", fields[i/2%2]).status
			})
		}
		wg.Wait()
		wantOneOf(t, got, http.StatusNoContent, http.StatusGone)
	})
}

// wantOneOf checks that one of many concurrent requests succeeded and all others got the other
// response.
func wantOneOf(t *testing.T, got []int, winner, others int) {
	t.Helper()
	won := 0
	for _, status := range got {
		switch status {
		case winner:
			won++
		case others:
		default:
			t.Errorf("status %d, want %d once and %d otherwise", status, winner, others)
		}
	}
	if won != 1 {
		t.Errorf("%d clients got %d, want exactly one", won, winner)
	}
}

// contact is a user in an older contract.
type contact struct {
	ID    string `json:"id"`
	Label string `json:"label" maxLength:"200"`
}

// contracts serves the same users in two contracts.
func contracts(opts *resource.Options[user]) (current, older http.Handler) {
	users := resource.New("users", memory.New(&memory.Options[user]{Now: func() time.Time { return modified }}), opts)
	view := resource.View(users,
		func(u user) (contact, error) { return contact{u.ID, u.Name}, nil },
		func(c contact, base user) (user, error) {
			base.ID, base.Name = c.ID, c.Label
			return base, nil
		}, &resource.ViewOptions{Fields: map[string]string{"label": "name"}})
	return rest.New(resource.NewCatalog(nil, users), nil), rest.New(resource.NewCatalog(nil, view), nil)
}

func TestRuleD06TombstonesKnowNoContract(t *testing.T) {
	t.Parallel()
	current, older := contracts(nil)
	create(t, older, "/users", `{"id":"ann","label":"Ann"}`)
	want(t, send(t, current, "GET /users/ann"), http.StatusOK)
	want(t, send(t, older, "DELETE /users/ann"), http.StatusNoContent)
	for _, method := range []string{"GET", "DELETE"} {
		wantProblem(t, send(t, current, method+" /users/ann"), problem.Gone)
		wantProblem(t, send(t, older, method+" /users/ann"), problem.Gone)
	}
}

// A store may expire its tombstones. Afterwards the id counts as unused.
func TestRuleD07Expiry(t *testing.T) {
	t.Parallel()
	var expired bool
	h := api(t, func(s *setup) {
		remembering := s.userOps
		forgetful(s)
		get := s.userOps.Get
		remembering.Get, remembering.Insert, remembering.Create = get, s.userOps.Insert, s.userOps.Create
		remembering.Replace, remembering.Delete = s.userOps.Replace, s.userOps.Delete
		remembering.Deleted = func(_ context.Context, id string) (time.Time, error) {
			if expired || id != "ann" {
				return time.Time{}, resource.ErrNotFound
			}
			return modified, nil
		}
		s.userOps = remembering
	})
	wantProblem(t, send(t, h, "DELETE /users/ann"), problem.Gone)
	wantProblem(t, send(t, h, "GET /users/ann"), problem.Gone)
	expired = true
	wantProblem(t, send(t, h, "DELETE /users/ann"), problem.NotFound)
	wantProblem(t, send(t, h, "GET /users/ann"), problem.NotFound)
	want(t, send(t, h, "PUT /users/ann", jsonBody, "", ann), http.StatusCreated)
}

func TestRuleD07IDsAreNotUsedAgain(t *testing.T) {
	t.Parallel()
	h := api(t)
	const doc = `{"customerId":"ann"}`
	first := create(t, h, "/orders", doc)
	want(t, send(t, h, "DELETE "+first), http.StatusNoContent)
	if second := create(t, h, "/orders", doc); second == first {
		t.Errorf("the id of %s was given again", first)
	}
}

func TestRuleD08Recreate(t *testing.T) {
	t.Parallel()
	h := api(t, func(s *setup) { recreating(s); s.users.AllowRecreate = true })
	create(t, h, "/users", ann)
	old := send(t, h, "GET /users/ann").header.Get("ETag")
	want(t, send(t, h, "DELETE /users/ann"), http.StatusNoContent)
	wantProblem(t, send(t, h, "GET /users/ann", "If-None-Match: "+old), problem.Gone)
	wantProblem(t, send(t, h, "PUT /users/ann", jsonBody, "If-Match: "+old, "", ann), problem.PreconditionFailed, "ETag:")
	wantProblem(t, send(t, h, "PUT /users/ann", jsonBody, "If-Match: *", "", ann), problem.PreconditionFailed, "ETag:")

	// The content equals that of the first life, but no tag of that life matches.
	want(t, send(t, h, "PUT /users/ann", jsonBody, "", ann), http.StatusCreated, "Location: /users/ann")
	want(t, send(t, h, "GET /users/ann", "If-None-Match: "+old), http.StatusOK)
	wantProblem(t, send(t, h, "PATCH /users/ann", mergeBody, "If-Match: "+old, "", `{"name":"A"}`),
		problem.PreconditionFailed, "ETag: *")
	wantProblem(t, send(t, h, "DELETE /users/ann", "If-Match: "+old), problem.PreconditionFailed, "ETag: *")
}

// hiding is a policy that shows items to the admin only.
func hiding(s *setup) {
	s.users.Authorize = func(ctx context.Context, op resource.Op, _, _ *user) error {
		if caller(ctx) != "admin" {
			return resource.ErrForbidden
		}
		return nil
	}
}

// scoping is hiding as a Scope.
func scoping(s *setup) {
	s.users.Scope = func(ctx context.Context) (query.Filter, error) {
		if caller(ctx) != "admin" {
			return query.Where("id", query.Eq, "nobody"), nil
		}
		return query.Filter{}, nil
	}
}

func adminKnows(s *setup) {
	s.users.AuthorizeGone = func(ctx context.Context, id string) error {
		if caller(ctx) != "admin" || id != "ann" {
			return resource.ErrForbidden
		}
		return nil
	}
}

func TestRuleD09HiddenTombstones(t *testing.T) {
	t.Parallel()
	requests := []struct {
		line string
		rest []string
	}{
		{"GET /users/ann", nil},
		{"HEAD /users/ann", nil},
		{"DELETE /users/ann", nil},
		{"DELETE /users/ann", []string{`If-Match: "old"`}},
		{"PATCH /users/ann", []string{mergeBody, "", `{"name":"A"}`}},
		{"PUT /users/ann", []string{jsonBody, "", ann}},
		{"PUT /users/ann", []string{jsonBody, "If-None-Match: *", "", ann}},
	}
	open := func(*setup) {}
	tests := []struct {
		name           string
		policy, gone   func(*setup)
		admin, mallory problem.Kind
	}{
		{"no policy", open, open, problem.Gone, problem.Gone},
		{"no policy, AuthorizeGone", open, adminKnows, problem.Gone, problem.NotFound},
		{"Authorize", hiding, open, problem.NotFound, problem.NotFound},
		{"Authorize and AuthorizeGone", hiding, adminKnows, problem.Gone, problem.NotFound},
		{"Scope", scoping, open, problem.NotFound, problem.NotFound},
		{"Scope and AuthorizeGone", scoping, adminKnows, problem.Gone, problem.NotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := byCaller(api(t, tt.policy, tt.gone))
			want(t, send(t, h, "PUT /users/ann", jsonBody, asAdmin, "", ann), http.StatusCreated)
			want(t, send(t, h, "DELETE /users/ann", asAdmin), http.StatusNoContent)
			for _, r := range requests {
				wantProblem(t, send(t, h, r.line, append([]string{asAdmin}, r.rest...)...), tt.admin)
				wantProblem(t, send(t, h, r.line, append([]string{asMallory}, r.rest...)...), tt.mallory)
			}
			never := send(t, h, "GET /users/bob", asMallory)
			if res := send(t, h, "GET /users/ann", asMallory); tt.mallory == problem.NotFound && res.body != never.body {
				t.Errorf("a hidden tombstone can be told apart:\n%s\n%s", res.body, never.body)
			}
		})
	}
}

// A hidden item is 404, and PUT must not retry to create it.
func TestRuleD09HiddenItems(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]func(*setup){"Authorize": hiding, "Scope": scoping} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inserts := 0
			h := byCaller(api(t, policy, func(s *setup) {
				insert := s.userOps.Insert
				s.userOps.Insert = func(ctx context.Context, id string, v user) (resource.Item[user], error) {
					inserts++
					return insert(ctx, id, v)
				}
			}))
			want(t, send(t, h, "PUT /users/ann", jsonBody, asAdmin, "", ann), http.StatusCreated)
			for _, line := range []string{"GET", "HEAD", "DELETE"} {
				wantProblem(t, send(t, h, line+" /users/ann", asMallory), problem.NotFound)
			}
			wantProblem(t, send(t, h, "PATCH /users/ann", asMallory, mergeBody, "", `{"name":"A"}`), problem.NotFound)
			wantProblem(t, send(t, h, "PUT /users/ann", asMallory, jsonBody, "", ann), problem.NotFound)
			wantProblem(t, send(t, h, "PUT /users/ann", asMallory, jsonBody, "If-Match: *", "", ann), problem.PreconditionFailed)
			if inserts != 1 {
				t.Errorf("the store was asked %d times to insert, want once", inserts)
			}
		})
	}
}

// TestRuleD09HiddenAsAbsent: a hidden item has the responses of an id without an item, also to requests with
// conditions, and asks the store the same. PUT without If-Match cannot create it, and is 404.
func TestRuleD09HiddenAsAbsent(t *testing.T) {
	t.Parallel()
	requests := [][]string{{"GET"}, {"HEAD"}, {"GET", "If-Match: *"}, {"GET", "If-None-Match: *"}, {"DELETE"},
		{"DELETE", "If-Match: *"}, {"DELETE", `If-Match: "old"`},
		{"PATCH", mergeBody, "", `{"name":"A"}`}, {"PATCH", "If-Match: *", mergeBody, "", `{"name":"A"}`},
		{"PUT", "If-Match: *", jsonBody, "", `{"name":"A"}`}, {"PUT", `If-Match: "old"`, jsonBody, "", `{"name":"A"}`},
		{"PUT", "If-Match: *", "If-None-Match: *", jsonBody, "", `{"name":"A"}`},
		{"PUT", "If-Match: *", "Expect: 100-continue", jsonBody, "", `{"name":"A"}`}}
	for name, policy := range map[string]func(*setup){"Authorize": hiding, "Scope": scoping} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls []string
			h := byCaller(api(t, policy, func(s *setup) {
				ops := s.userOps
				s.userOps.Get = func(ctx context.Context, id string) (resource.Item[user], error) {
					calls = append(calls, "Get")
					return ops.Get(ctx, id)
				}
				s.userOps.Deleted = func(ctx context.Context, id string) (time.Time, error) {
					calls = append(calls, "Deleted")
					return ops.Deleted(ctx, id)
				}
			}))
			want(t, send(t, h, "PUT /users/ann", jsonBody, asAdmin, "", ann), http.StatusCreated)
			for _, r := range requests {
				var answers, asked [2]string
				for i, id := range []string{"ann", "eve"} {
					calls = nil
					res := send(t, h, r[0]+" /users/"+id, append([]string{asMallory}, r[1:]...)...)
					answers[i] = fmt.Sprint(res.status, " ", res.header, " ", strings.ReplaceAll(res.body, id, "ID"))
					asked[i] = strings.Join(calls, " ")
				}
				if diff := cmp.Diff(answers[1], answers[0]); diff != "" {
					t.Errorf("%v (-absent +hidden):\n%s", r, diff)
				}
				if diff := cmp.Diff(asked[1], asked[0]); diff != "" {
					t.Errorf("%v: calls of the store (-absent +hidden):\n%s", r, diff)
				}
			}
		})
	}
}

// TestRuleD09HiddenTombstoneFails: if the store cannot answer whether an item was deleted, the response does
// not depend on whether it is hidden or absent.
func TestRuleD09HiddenTombstoneFails(t *testing.T) {
	t.Parallel()
	fails := false
	h := byCaller(api(t, hiding, func(s *setup) {
		deleted := s.userOps.Deleted
		s.userOps.Deleted = func(ctx context.Context, id string) (time.Time, error) {
			if fails {
				return time.Time{}, resource.ErrUnavailable
			}
			return deleted(ctx, id)
		}
	}))
	want(t, send(t, h, "PUT /users/ann", jsonBody, asAdmin, "", ann), http.StatusCreated)
	fails = true
	for _, id := range []string{"ann", "eve"} {
		wantProblem(t, send(t, h, "GET /users/"+id, asMallory), problem.Unavailable, "Retry-After: 1")
	}
}

// A caller that may create may create a deleted id again, whether or not they may know about the
// deletion.
func TestRuleD09RecreateUnderPolicy(t *testing.T) {
	t.Parallel()
	h := byCaller(api(t, recreating, hiding, func(s *setup) { s.users.AllowRecreate = true }))
	want(t, send(t, h, "PUT /users/ann", jsonBody, asAdmin, "", ann), http.StatusCreated)
	want(t, send(t, h, "DELETE /users/ann", asAdmin), http.StatusNoContent)
	wantProblem(t, send(t, h, "PUT /users/ann", jsonBody, asMallory, "", ann), problem.Forbidden)
	want(t, send(t, h, "PUT /users/ann", jsonBody, asAdmin, "", ann), http.StatusCreated)
}

func TestRuleD10ListsOmitTombstones(t *testing.T) {
	t.Parallel()
	h := api(t)
	for _, id := range []string{"ann", "bob", "cat"} {
		create(t, h, "/users", `{"id":"`+id+`","name":"N"}`)
	}
	want(t, send(t, h, "DELETE /users/bob"), http.StatusNoContent)
	wantBody(t, send(t, h, "GET /users?fields=id", "Prefer: count=exact"), http.StatusOK,
		`{"items":[{"id":"ann"},{"id":"cat"}],"total":2}`)
	wantBody(t, send(t, h, "GET /users?fields=id", "Accept: application/x-ndjson"), http.StatusOK,
		"{\"id\":\"ann\"}\n{\"id\":\"cat\"}\n")
}

func TestRuleD11GoneBody(t *testing.T) {
	t.Parallel()
	h := api(t)
	reach(t, h, "tombstone")
	res := send(t, h, "GET /users/ann")
	wantBody(t, res, http.StatusGone, `{"type":"https://stoa-go.github.io/problems/gone","title":"Gone","status":410,`+
		`"detail":"The item has been deleted."}`)
	wantProblem(t, res, problem.Gone, "Vary: Accept, Accept-Encoding", "ETag:", "Last-Modified:")
	head := send(t, h, "HEAD /users/ann")
	if diff := cmp.Diff(res.header, head.header); diff != "" {
		t.Errorf("header of GET and HEAD (-get +head):\n%s", diff)
	}
}

func TestRuleD12Tombstones(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		adapt    func(*setup)
		repeated problem.Kind
		weak     string
	}{
		{"the store remembers", func(*setup) {}, problem.Gone, ""},
		{"the process remembers", func(*setup) {}, problem.Gone, "deletions are recorded by this process only"},
		{"no tombstones", func(s *setup) { s.users.RecentDeletes = -1 }, problem.NotFound,
			"deletions are not recorded"},
		{"the adapter remembers", func(s *setup) {
			s.userOps = s.userOps.WithTombstones(memory.NewTombstones(), false)
		}, problem.Gone, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := api(t, func(s *setup) {
				if tt.name != "the store remembers" {
					forgetful(s)
				}
				tt.adapt(s)
			})
			reach(t, h, "tombstone")
			for _, method := range []string{"DELETE", "GET", "HEAD"} {
				wantProblem(t, send(t, h, method+" /users/ann"), tt.repeated)
			}
			report := h.(*shop).catalog.Report()
			if tt.weak != "" && !strings.Contains(report, tt.weak) ||
				tt.weak == "" && strings.Contains(report, "deletions are") {
				t.Errorf("report, want %q:\n%s", tt.weak, report)
			}
		})
	}
}

func TestRuleD12AdapterRecreates(t *testing.T) {
	t.Parallel()
	for recreate, status := range map[bool]int{false: http.StatusGone, true: http.StatusCreated} {
		h := api(t, func(s *setup) {
			forgetful(s)
			s.userOps = s.userOps.WithTombstones(memory.NewTombstones(), recreate)
			s.users.AllowRecreate = true
		})
		reach(t, h, "tombstone")
		want(t, send(t, h, "PUT /users/ann", jsonBody, "", ann), status)
		if recreate { // the tombstone is removed
			want(t, send(t, h, "GET /users/ann"), http.StatusOK)
			want(t, send(t, h, "DELETE /users/ann"), http.StatusNoContent)
		}
		want(t, send(t, h, "DELETE /users/ann"), http.StatusGone)
	}
}

func TestRuleD13CollectionsStay(t *testing.T) {
	t.Parallel()
	h := api(t)
	wantProblem(t, send(t, h, "DELETE /users"), problem.MethodNotAllowed, "Allow: GET, HEAD, QUERY, POST, OPTIONS")
	wantProblem(t, send(t, h, "DELETE /places/ath"), problem.MethodNotAllowed, "Allow: GET, HEAD, OPTIONS")
}

// The body of DELETE is ignored (rule 71).
func TestRuleDeleteIgnoresContent(t *testing.T) {
	t.Parallel()
	h := api(t)
	reach(t, h, "live")
	want(t, send(t, h, "DELETE /users/ann", "Content-Type: text/plain", "", "} no JSON"), http.StatusNoContent)
}
