package rest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// Section F: concurrent writes. Two catalogs over one store represent two processes: they share no
// lock, and only the compare-and-swap of the store separates them.

// tally is an item in which every write leaves a mark, to detect lost writes.
type tally struct {
	ID    string   `json:"id"`
	Marks []string `json:"marks"`
}

// tallies serves a store of tallies, and counts the calls of Replace.
func tallies(store *memory.Store[tally], replaced *atomic.Int64) http.Handler {
	ops := resource.OpsOf(store)
	replace := ops.Replace
	ops.Replace = func(ctx context.Context, id string, expect resource.Rev, v tally) (resource.Item[tally], error) {
		replaced.Add(1)
		return replace(ctx, id, expect, v)
	}
	return rest.New(resource.NewCatalog(nil, ops.Resource("tallies", nil)), nil)
}

func TestRule102NoUpdateIsLost(t *testing.T) {
	t.Parallel()
	const clients, writes = 16, 200
	for _, processes := range []int{1, 2} {
		t.Run(fmt.Sprintf("processes=%d", processes), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				store := memory.New[tally](nil)
				var replaced atomic.Int64
				var servers []http.Handler
				for range processes {
					servers = append(servers, tallies(store, &replaced))
				}
				want(t, send(t, servers[0], "PUT /tallies/a", jsonBody, "", `{"marks":[]}`), http.StatusCreated)

				got := make([]int, writes)
				var next atomic.Int64
				var wg sync.WaitGroup
				for client := range clients {
					wg.Go(func() {
						h := servers[client%processes]
						for i := next.Add(1) - 1; i < writes; i = next.Add(1) - 1 {
							op := fmt.Sprintf(`[{"op":"add","path":"/marks/-","value":"%d"}]`, i)
							got[i] = send(t, h, "PATCH /tallies/a", patchBody, "", op).status
						}
					})
				}
				wg.Wait()
				for i, status := range got {
					if status != http.StatusOK {
						t.Errorf("PATCH %d was refused with %d", i, status)
					}
				}
				item, err := store.Get(t.Context(), "a")
				if err != nil {
					t.Fatal(err)
				}
				slices.Sort(item.Value.Marks)
				if n := len(slices.Compact(item.Value.Marks)); n != writes {
					t.Errorf("%d of %d acknowledged writes are there", n, writes)
				}
				// Within one process writers wait for each other, so no attempt fails.
				if n := replaced.Load(); processes == 1 && n != writes {
					t.Errorf("the store was asked %d times to replace, want %d", n, writes)
				}
			})
		})
	}
}

func TestRule102OneWinnerByTag(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := memory.New[tally](nil)
		var replaced atomic.Int64
		servers := []http.Handler{tallies(store, &replaced), tallies(store, &replaced)}
		want(t, send(t, servers[0], "PUT /tallies/a", jsonBody, "", `{"marks":[]}`), http.StatusCreated)
		tag := "If-Match: " + send(t, servers[0], "GET /tallies/a").header.Get("ETag")
		got := make([]int, 16)
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() {
				h, doc := servers[i%2], fmt.Sprintf(`{"marks":["%d"]}`, i)
				if i%4 < 2 {
					got[i] = send(t, h, "PUT /tallies/a", jsonBody, tag, "", doc).status
				} else {
					got[i] = send(t, h, "PATCH /tallies/a", mergeBody, tag, "", doc).status
				}
			})
		}
		wg.Wait()
		wantOneOf(t, got, http.StatusOK, http.StatusPreconditionFailed)
	})
}

func TestRule100RacingCreators(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		line   string
		fields []string
		losers int
	}{
		{"PUT", "PUT /tallies/put", []string{"If-None-Match: *"}, http.StatusPreconditionFailed},
		{"POST", "POST /tallies", nil, http.StatusConflict},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				store := memory.New[tally](nil)
				var replaced atomic.Int64
				servers := []http.Handler{tallies(store, &replaced), tallies(store, &replaced)}
				rest := append([]string{jsonBody}, tt.fields...)
				rest = append(rest, "", `{"id":"`+strings.ToLower(tt.name)+`","marks":[]}`)
				got := make([]int, 16)
				var wg sync.WaitGroup
				for i := range got {
					wg.Go(func() { got[i] = send(t, servers[i%2], tt.line, rest...).status })
				}
				wg.Wait()
				wantOneOf(t, got, http.StatusCreated, tt.losers)
				if n := replaced.Load(); n > 0 {
					t.Errorf("a creator replaced what another one had created, %d times", n)
				}
			})
		})
	}
}

// PUT without a condition applies to any state: one creates, and all others replace.
func TestRule100RacingPuts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := memory.New[tally](nil)
		var replaced atomic.Int64
		servers := []http.Handler{tallies(store, &replaced), tallies(store, &replaced)}
		got := make([]int, 16)
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() {
				doc := fmt.Sprintf(`{"marks":["%d"]}`, i)
				got[i] = send(t, servers[i%2], "PUT /tallies/a", jsonBody, "", doc).status
			})
		}
		wg.Wait()
		wantOneOf(t, got, http.StatusCreated, http.StatusOK)
	})
}

// The item is created between the read and the write.
func TestRule100LateCreator(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		field  string
		status int
		body   string // the item afterwards
	}{
		{"whatever is there", "Accept: */*", http.StatusOK, `{"id":"ann","name":"Anna"}`},
		{"create only", "If-None-Match: *", http.StatusPreconditionFailed, ann},
		{"replace only", "If-Match: *", http.StatusPreconditionFailed, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := api(t, func(s *setup) {
					insert := s.userOps.Insert
					s.userOps.Insert = func(ctx context.Context, id string, v user) (resource.Item[user], error) {
						if _, err := insert(ctx, id, user{ID: id, Name: "Ann"}); err != nil {
							return resource.Item[user]{}, err
						}
						return insert(ctx, id, v)
					}
				})
				want(t, send(t, h, "PUT /users/ann", jsonBody, tt.field, "", `{"name":"Anna"}`), tt.status)
				if tt.body == "" { // there was no attempt
					want(t, send(t, h, "GET /users/ann"), http.StatusNotFound)
					return
				}
				wantBody(t, send(t, h, "GET /users/ann"), http.StatusOK, tt.body)
			})
		})
	}
}

// interfering does a concurrent write just before the first n writes of the catalog, which makes
// them stale.
func interfering(n int, attempts *int, meddle func(ctx context.Context, s *setup)) func(*setup) {
	return func(s *setup) {
		inner := s.userOps
		other := &setup{userOps: inner}
		before := func(ctx context.Context) {
			if *attempts++; *attempts <= n {
				meddle(ctx, other)
			}
		}
		s.userOps.Replace = func(ctx context.Context, id string, expect resource.Rev, v user) (resource.Item[user], error) {
			before(ctx)
			return inner.Replace(ctx, id, expect, v)
		}
		s.userOps.Delete = func(ctx context.Context, id string, expect resource.Rev) error {
			before(ctx)
			return inner.Delete(ctx, id, expect)
		}
	}
}

// rename is a write by another process.
func rename(name string) func(context.Context, *setup) {
	return func(ctx context.Context, s *setup) {
		item, err := s.userOps.Get(ctx, "ann")
		if err == nil {
			item.Value.Name = name
			item.Value.Email = fmt.Sprintf("ann%s@example.com", item.Rev[max(0, len(item.Rev)-1):])
			_, err = s.userOps.Replace(ctx, "ann", item.Rev, item.Value)
		}
		if err != nil {
			panic(err)
		}
	}
}

func bury(ctx context.Context, s *setup) {
	item, err := s.userOps.Get(ctx, "ann")
	if err != nil || s.userOps.Delete(ctx, "ann", item.Rev) != nil {
		panic("ann cannot be deleted")
	}
}

func TestRule102StaleIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		h := api(t, interfering(3, &attempts, rename("Anna")))
		create(t, h, "/users", ann)
		res := send(t, h, "PATCH /users/ann", mergeBody, "", `{"pin":"1234"}`)
		want(t, res, http.StatusOK)
		if !strings.Contains(res.body, `"name":"Anna","email":"ann`) {
			t.Errorf("what the other one wrote is lost: %s", res.body)
		}
		if attempts != 4 {
			t.Errorf("%d attempts, want 3 that come too late and one more", attempts)
		}
	})
}

// Every attempt checks the current item, which may already have the requested state.
func TestRule102StaleIsJudgedAgain(t *testing.T) {
	t.Parallel()
	hidden := false
	hide := func(context.Context, *setup) { hidden = true }
	both := func(a, b func(context.Context, *setup)) func(context.Context, *setup) {
		return func(ctx context.Context, s *setup) { a(ctx, s); b(ctx, s) }
	}
	test := `[{"op":"test","path":"/name","value":"Ann"},{"op":"replace","path":"/name","value":"A"}]`
	unmodified := "If-Unmodified-Since: " + modified.Format(http.TimeFormat)
	tests := []struct {
		name   string
		meddle func(context.Context, *setup)
		line   string
		rest   []string
		want   problem.Kind
	}{
		{"PATCH of what is gone by now", bury, "PATCH /users/ann", []string{mergeBody, "", `{"name":"A"}`}, problem.Gone},
		{"PUT of what is gone by now", bury, "PUT /users/ann", []string{jsonBody, "", `{"name":"A"}`}, problem.Gone},
		{"DELETE of what is gone by now", bury, "DELETE /users/ann", nil, problem.Gone},
		{"If-Match: * of what is gone by now", bury, "DELETE /users/ann", []string{"If-Match: *"}, problem.Gone},
		{"a test that fails by now", rename("Anna"), "PATCH /users/ann", []string{patchBody, "", test}, problem.PatchConflict},
		{"a date that has passed by now", rename("Anna"), "PATCH /users/ann",
			[]string{unmodified, mergeBody, "", `{"name":"A"}`}, problem.PreconditionFailed},
		{"hidden by now", both(rename("Anna"), hide), "DELETE /users/ann", nil, problem.NotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			hidden = false
			synctest.Test(t, func(t *testing.T) {
				attempts := 0
				h := api(t, func(s *setup) {
					at := modified
					s.userOps = resource.OpsOf(memory.New(&memory.Options[user]{Now: func() time.Time {
						at = at.Add(time.Second)
						return at.Add(-time.Second)
					}}))
					s.users.HooksOutsideTx = true // tt.meddle would be part of the transaction
					s.users.Authorize = func(context.Context, resource.Op, *user, *user) error {
						if hidden {
							return resource.ErrForbidden
						}
						return nil
					}
					s.users.AuthorizeGone = func(context.Context, string) error { return nil }
				}, interfering(1, &attempts, tt.meddle))
				create(t, h, "/users", ann)
				wantProblem(t, send(t, h, tt.line, tt.rest...), tt.want)
				if attempts != 1 {
					t.Errorf("%d attempts, want one", attempts)
				}
			})
		})
	}
}

// A request that names a revision is not retried after a concurrent write.
func TestRule102NamedTagsAreNotTriedAgain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		line string
		rest []string
	}{
		{"PATCH", "PATCH /users/ann", []string{mergeBody, "", `{"name":"A"}`}},
		{"PUT", "PUT /users/ann", []string{jsonBody, "", `{"name":"A"}`}},
		{"DELETE", "DELETE /users/ann", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			attempts := 0
			h := api(t, interfering(9, &attempts, rename("Anna")))
			create(t, h, "/users", ann)
			tag := send(t, h, "GET /users/ann").header.Get("ETag")
			res := send(t, h, tt.line, append([]string{"If-Match: " + tag}, tt.rest...)...)
			current := send(t, h, "GET /users/ann").header.Get("ETag")
			wantProblem(t, res, problem.PreconditionFailed, "ETag: "+current)
			if attempts != 1 {
				t.Errorf("the store was asked %d times, want once", attempts)
			}
		})
	}
}

// A store that returns ErrStale while it still returns the same revision, such as one that reads
// from a replica.
func TestRule102NamedTagsAndLaggingReads(t *testing.T) {
	t.Parallel()
	attempts := 0
	h := api(t, func(s *setup) {
		s.userOps.Replace = func(context.Context, string, resource.Rev, user) (resource.Item[user], error) {
			attempts++
			return resource.Item[user]{}, resource.ErrStale
		}
	})
	create(t, h, "/users", ann)
	tag := send(t, h, "GET /users/ann").header.Get("ETag")
	wantProblem(t, send(t, h, "PATCH /users/ann", mergeBody, "If-Match: "+tag, "", `{"name":"A"}`),
		problem.PreconditionFailed, "ETag:")
	if attempts != 1 {
		t.Errorf("the store was asked %d times, want once", attempts)
	}
}

func TestRule102EndlessStaleness(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		deadline time.Duration // of the request; zero is none
		atLeast  time.Duration
		atMost   time.Duration
	}{
		{"no deadline", 0, 5 * time.Second, 10 * time.Second},
		{"a deadline", time.Second, time.Second / 2, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				attempts := 0
				h := api(t, interfering(1<<30, &attempts, rename("Anna")))
				create(t, h, "/users", ann)
				r := request(t, "PATCH /users/ann", mergeBody, "", `{"pin":"1234"}`)
				if tt.deadline > 0 {
					ctx, cancel := context.WithTimeout(r.Context(), tt.deadline)
					defer cancel()
					r = r.WithContext(ctx)
				}
				start := time.Now()
				wantProblem(t, sent(h, r), problem.Unavailable, "Retry-After: *", "ETag:")
				if took := time.Since(start); took < tt.atLeast || took > tt.atMost {
					t.Errorf("given up after %v, want between %v and %v", took, tt.atLeast, tt.atMost)
				}
				if attempts < 10 || attempts > 2000 {
					t.Errorf("%d attempts", attempts)
				}
			})
		})
	}
}

// A write without a change is not stored: no revision, no event, no call of the store.
func TestRule105NothingNewKeepsTheRevision(t *testing.T) {
	t.Parallel()
	var calls []string
	h := api(t, func(s *setup) {
		s.userOps.Replace = func(context.Context, string, resource.Rev, user) (resource.Item[user], error) {
			return resource.Item[user]{}, errors.New("the store was asked to replace")
		}
		s.users.After = func(_ context.Context, op resource.Op, _, _ *user) { calls = append(calls, string(op)) }
	})
	path := create(t, h, "/users", ann)
	tag := send(t, h, "GET "+path).header.Get("ETag")
	for _, req := range [][]string{
		{"PUT " + path, jsonBody, "", ann},
		{"PUT " + path, jsonBody, "If-Match: " + tag, "", " { \"name\" : \"Ann\" } "},
		{"PATCH " + path, mergeBody, "", `{}`},
		{"PATCH " + path, mergeBody, "If-Match: " + tag, "", `{"name":"Ann"}`},
		{"PATCH " + path, patchBody, "", `[]`},
		{"PATCH " + path, patchBody, "", `[{"op":"replace","path":"/name","value":"B"},{"op":"replace","path":"/name","value":"Ann"}]`},
	} {
		wantBody(t, send(t, h, req[0], req[1:]...), http.StatusOK, ann)
		want(t, send(t, h, "GET "+path), http.StatusOK, "ETag: "+tag)
	}
	want(t, send(t, h, "PATCH "+path, mergeBody, "Prefer: return=minimal", "", `{}`), http.StatusNoContent, "ETag: "+tag)
	if diff := cmp.Diff([]string{"create"}, calls); diff != "" {
		t.Errorf("After hooks (-want +got):\n%s", diff)
	}
}
