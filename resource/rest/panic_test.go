package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// Rule 139: a panic in user code is logged, and its text is not sent to the client.

// journal is a log for tests.
type journal struct {
	mu    sync.Mutex
	lines bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lines.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lines.String()
}

// into sends the log of the library to j.
func (j *journal) into(s *setup) { s.catalog.Logger = slog.New(slog.NewJSONHandler(j, nil)) }

const cause = "secret cause"

// faults are panics and errors in user code, with a request that reaches each of them.
var faults = []struct {
	name  string
	line  string
	rest  []string
	spoil func(s *setup, fail func())
}{
	{"Get", "GET /orders/1", nil, func(s *setup, fail func()) {
		get := s.orderOps.Get
		s.orderOps.Get = func(ctx context.Context, id string) (resource.Item[order], error) { fail(); return get(ctx, id) }
	}},
	{"List", "GET /orders", nil, func(s *setup, fail func()) {
		s.orderOps.List = func(context.Context, query.Query) iter.Seq2[resource.Item[order], error] {
			return func(func(resource.Item[order], error) bool) { fail() }
		}
	}},
	{"Count", "GET /orders", []string{"Prefer: count=exact"}, func(s *setup, fail func()) {
		s.orderOps.Count = func(context.Context, query.Query) (int, error) { fail(); return 0, nil }
	}},
	{"Replace", "PUT /orders/1", []string{jsonBody, "", `{"customerId":"v"}`}, func(s *setup, fail func()) {
		replace := s.orderOps.Replace
		s.orderOps.Replace = func(ctx context.Context, id string, rev resource.Rev, v order) (resource.Item[order], error) {
			fail()
			return replace(ctx, id, rev, v)
		}
	}},
	{"Delete", "DELETE /orders/1", nil, func(s *setup, fail func()) {
		s.orderOps.Delete = func(context.Context, string, resource.Rev) error { fail(); return nil }
	}},
	{"Authorize", "PATCH /orders/1", []string{mergeBody, "", `{"cents":3}`}, func(s *setup, fail func()) {
		s.orders.Authorize = func(context.Context, resource.Op, *order, *order) error { fail(); return nil }
	}},
	{"Scope", "GET /orders", nil, func(s *setup, fail func()) {
		s.orders.Scope = func(context.Context) (query.Filter, error) { fail(); return query.Filter{}, nil }
	}},
	{"Before", "PATCH /orders/1", []string{mergeBody, "", `{"cents":3}`}, func(s *setup, fail func()) {
		s.orders.Before = func(_ context.Context, op resource.Op, _, _ *order) error {
			if op == resource.OpPatch {
				fail()
			}
			return nil
		}
	}},
	{"After", "DELETE /orders/1", nil, func(s *setup, fail func()) {
		s.orders.After = func(_ context.Context, op resource.Op, _, _ *order) {
			if op == resource.OpDelete {
				fail()
			}
		}
	}},
	{"a relation", "GET /orders/1?expand=customer", nil, func(s *setup, fail func()) {
		s.orders.Relations[0].Keys = func(*order) []string { fail(); return nil }
	}},
	{"a lookup", "GET /broken", nil, func(s *setup, fail func()) {
		s.parts = append(s.parts, newLookup("broken", "orders", func(struct{}) (string, error) { fail(); return "", nil }))
	}},
}

var urn = regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func TestRule139Panics(t *testing.T) {
	t.Parallel()
	for _, tt := range faults {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var j journal
			armed := false
			h := api(t, j.into, func(s *setup) {
				tt.spoil(s, func() {
					if armed {
						panic(fmt.Errorf("%s in %s", cause, tt.name))
					}
				})
			})
			create(t, h, "/orders", `{"customerId":"u"}`)
			armed = true
			d := wantProblem(t, send(t, h, tt.line, tt.rest...), problem.Internal)
			wantReported(t, d, &j)
			if !strings.Contains(j.String(), "panic_test.go") {
				t.Errorf("no stack in the log: %s", &j)
			}
			// The next request succeeds: no lock is left.
			armed = false
			status := http.StatusOK
			if tt.name == "After" { // it runs after the write
				status = http.StatusGone
			}
			want(t, send(t, h, "PUT /orders/1", jsonBody, "", `{"customerId":"w"}`), status)
		})
	}
}

// wantReported checks that the problem has an instance, that the log has the same one with the
// cause, and that the problem does not reveal the cause.
func wantReported(t *testing.T, d details, j *journal) {
	t.Helper()
	if !urn.MatchString(d.Instance) {
		t.Errorf("instance %q", d.Instance)
	}
	if d.Detail != "" || len(d.Errors) > 0 {
		t.Errorf("the client is told %q %v", d.Detail, d.Errors)
	}
	found := false
	for line := range strings.Lines(j.String()) {
		var entry struct{ Level, Instance, Error, Method, Path string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Instance == d.Instance && entry.Instance != "" {
			found = true
			if entry.Level != "ERROR" || !strings.Contains(entry.Error, cause) || entry.Method == "" || entry.Path == "" {
				t.Errorf("log: %s", line)
			}
		}
	}
	if !found {
		t.Errorf("no line with %s in the log:\n%s", d.Instance, j)
	}
}

func TestRule137NothingInternalLeaks(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"error", "contradiction", "no revision", "wrong item"} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			var j journal
			h := api(t, j.into, func(s *setup) {
				get := s.orderOps.Get
				s.orderOps.Get = func(ctx context.Context, id string) (resource.Item[order], error) {
					item, err := get(ctx, id)
					switch op {
					case "error":
						return item, fmt.Errorf("pq: %s at db.internal:5432: %w", cause, errors.New("resource_test.order"))
					case "contradiction":
						item.ID = "7-" + cause
					case "no revision":
						item.Rev = ""
					case "wrong item":
						item.ID, item.Value.ID = "2", 2
					}
					return item, err
				}
			})
			create(t, h, "/orders", `{"customerId":"`+cause+`"}`)
			res := send(t, h, "GET /orders/1")
			d := wantProblem(t, res, problem.Internal)
			if op == "error" {
				wantReported(t, d, &j)
			}
			for _, secret := range []string{cause, "pq", "order", "db.internal", "resource", "store", "/work"} {
				if strings.Contains(res.body, secret) {
					t.Errorf("the client is told of %q: %s", secret, res.body)
				}
			}
			if !strings.Contains(j.String(), d.Instance) {
				t.Errorf("no %s in the log: %s", d.Instance, &j)
			}
		})
	}
}

// A problem from a hook is sent unchanged, because its content is intended for the client.
func TestRule137ProblemsOfHooks(t *testing.T) {
	t.Parallel()
	h := api(t, func(s *setup) {
		s.orders.Before = func(_ context.Context, _ resource.Op, _, after *order) error {
			switch after.Customer {
			case "limit":
				d := problem.New(problem.TooManyRequests, "Enough for today.")
				d.Header = http.Header{"Retry-After": {"60"}}
				return fmt.Errorf("%s: %w", cause, d)
			case "own":
				d := problem.New("https://example.com/problems/out-of-stock", "Sold.")
				d.Status = http.StatusConflict
				return d
			case "two":
				return errors.Join(resource.Invalid("customerId", "unknownCustomer"), resource.Invalid("cents", "tooCheap"))
			case "401":
				return resource.ErrUnauthenticated
			case "403":
				return resource.ErrForbidden
			}
			return nil
		}
	})
	post := func(customer string) *response {
		return send(t, h, "POST /orders", jsonBody, "", `{"customerId":"`+customer+`"}`)
	}
	d := wantProblem(t, post("limit"), problem.TooManyRequests, "Retry-After: 60")
	if d.Detail != "Enough for today." {
		t.Errorf("detail %q", d.Detail)
	}
	res := post("own")
	want(t, res, http.StatusConflict, "Content-Type: application/problem+json", "Cache-Control: no-store")
	if !strings.Contains(res.body, `"type":"https://example.com/problems/out-of-stock"`) {
		t.Errorf("body %s", res.body)
	}
	wantErrors(t, wantProblem(t, post("two"), problem.Invalid), "/customerId unknownCustomer", "/cents tooCheap")
	wantProblem(t, post("401"), problem.Unauthenticated, "WWW-Authenticate: Bearer")
	wantProblem(t, post("403"), problem.Forbidden, "WWW-Authenticate:")
	// Several requests may return the same problem, so the library must not modify it.
	wantProblem(t, post("401"), problem.Unauthenticated, "WWW-Authenticate: Bearer")
}
