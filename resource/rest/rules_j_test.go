package rest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// Section J: errors. Rate limits and retries with a key belong to other packages.

// secret is part of every error that is not intended for clients.
const secret = "db-7.internal: password refused"

// faulty is a shop with a captured log, in which users fail with err.
func faulty(t *testing.T, err error, opts ...func(*setup)) (h http.Handler, log *bytes.Buffer) {
	t.Helper()
	log = new(bytes.Buffer)
	opts = append(opts, func(s *setup) {
		s.catalog.Logger = slog.New(slog.NewTextHandler(log, nil))
		s.userOps.Get = func(context.Context, string) (resource.Item[user], error) { return resource.Item[user]{}, err }
		s.userOps.List = func(context.Context, query.Query) iter.Seq2[resource.Item[user], error] {
			return func(yield func(resource.Item[user], error) bool) { yield(resource.Item[user]{}, err) }
		}
		s.userOps.Count = func(context.Context, query.Query) (int, error) { return 0, err }
		s.userOps.Create = func(context.Context, user) (resource.Item[user], error) { return resource.Item[user]{}, err }
		s.userOps.Insert = func(context.Context, string, user) (resource.Item[user], error) { return resource.Item[user]{}, err }
	})
	return api(t, opts...), log
}

// everyWay has a request for each method of the store of users.
var everyWay = [][]string{
	{"GET /users/ann"}, {"HEAD /users/ann"}, {"GET /users"}, {"GET /users", "Accept: application/x-ndjson"},
	{"POST /users", jsonBody, "", ann}, {"POST /users", jsonBody, "", `{"name":"Ann"}`},
	{"PUT /users/ann", jsonBody, "", ann}, {"PATCH /users/ann", mergeBody, "", `{}`}, {"DELETE /users/ann"},
}

func TestRule137Members(t *testing.T) {
	t.Parallel()
	h := api(t)
	res := send(t, h, "POST /users", jsonBody, "", `{"name":1,"email":"x","age":7}`)
	wantProblem(t, res, problem.Invalid)
	var got map[string]any
	if err := json.Unmarshal([]byte(res.body), &got); err != nil {
		t.Fatal(err)
	}
	violation := func(pointer, code, detail string) any {
		return map[string]any{"pointer": pointer, "code": code, "detail": detail}
	}
	wanted := map[string]any{
		"type":   "https://stoa-go.github.io/problems/invalid-content",
		"title":  "Invalid Content",
		"status": 422.0,
		"detail": "The content is not valid.",
		"errors": []any{
			violation("/name", "type", "name must be a string"),
			violation("/email", "format", "email must be an email address"),
			violation("/age", "unknown", "age is not a member of this object"),
		},
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("problem (-want +got):\n%s", diff)
	}
	wantErrors(t, wantProblem(t, send(t, h, "GET /orders?status=lost&limit=0&colour=red"), problem.InvalidParameter),
		"?colour unknownParameter", "?limit invalidValue", "?status invalidValue")
}

// Each kind has one title, type and status.
func TestRule137KindsAreConstant(t *testing.T) {
	t.Parallel()
	h := api(t)
	create(t, h, "/users", ann)
	seen := map[string]details{}
	for _, res := range visit(func(line string, rest ...string) *response { return send(t, h, line, rest...) }) {
		if res.status < 400 || strings.HasPrefix(res.line, "HEAD ") {
			continue
		}
		var d details
		if err := json.Unmarshal([]byte(res.body), &d); err != nil {
			t.Fatalf("%s: %v", res.line, err)
		}
		if d.Status != res.status || d.Type == "" || d.Title == "" {
			t.Errorf("%s: %d with %s", res.line, res.status, res.body)
		}
		if before, ok := seen[d.Type]; ok && (before.Title != d.Title || before.Status != d.Status) {
			t.Errorf("%s is %q %d and %q %d", d.Type, before.Title, before.Status, d.Title, d.Status)
		}
		seen[d.Type] = d
	}
	if len(seen) < 8 {
		t.Errorf("only %d kinds of problems were met", len(seen))
	}
}

func TestRule137HeadIsGetWithoutContent(t *testing.T) {
	t.Parallel()
	h := byCaller(api(t, hiding, adminKnows))
	want(t, send(t, h, "PUT /users/ann", asAdmin, jsonBody, "", ann), http.StatusCreated)
	want(t, send(t, h, "DELETE /users/ann", asAdmin), http.StatusNoContent)
	for _, req := range [][]string{
		{"/users/ann", asAdmin}, {"/users/ann", asMallory}, {"/nothing"}, {"/users?x=1"}, {"/users?after=x", asAdmin},
		{"/users", "Accept: text/html"}, {"/places/ath", `If-Match: "x"`}, {"/places/ath", "If-Match: x"}, {"/users/%ff"},
	} {
		get, head := send(t, h, "GET "+req[0], req[1:]...), send(t, h, "HEAD "+req[0], req[1:]...)
		if get.status < 400 || head.status != get.status || head.body != "" {
			t.Errorf("%s: GET %d, HEAD %d with %q", req[0], get.status, head.status, head.body)
		}
		if diff := cmp.Diff(get.header, head.header); diff != "" {
			t.Errorf("%s: header (-GET +HEAD):\n%s", req[0], diff)
		}
	}
}

// Internal causes are only logged. The response and the log share an id.
func TestRule137InternalErrors(t *testing.T) {
	t.Parallel()
	instance := regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for _, req := range everyWay {
		h, log := faulty(t, fmt.Errorf("connecting: %w", errors.New(secret)))
		res := send(t, h, req[0], req[1:]...)
		d := wantProblem(t, res, problem.Internal)
		if strings.Contains(res.body, "internal:") || strings.Contains(fmt.Sprint(res.header), secret) || d.Detail != "" {
			t.Errorf("%s: the answer says too much: %s", req[0], res.body)
		}
		if !strings.Contains(log.String(), secret) {
			t.Errorf("%s: the log does not say what it was: %s", req[0], log)
		}
		if strings.HasPrefix(req[0], "HEAD ") {
			continue
		}
		if !instance.MatchString(d.Instance) || !strings.Contains(log.String(), d.Instance) || seen[d.Instance] {
			t.Errorf("%s: instance %q is not in the log, or not for the first time: %s", req[0], d.Instance, log)
		}
		seen[d.Instance] = true
	}
}

// If a store violates its contract, the error is 500, whatever sentinel it wraps.
func TestRule137StoreFaults(t *testing.T) {
	t.Parallel()
	serve := func(change func(*resource.Item[user])) http.Handler {
		return api(t, func(s *setup) {
			get := s.userOps.Get
			s.userOps.Get = func(ctx context.Context, id string) (resource.Item[user], error) {
				item, err := get(ctx, id)
				change(&item)
				return item, err
			}
		})
	}
	for name, change := range map[string]func(*resource.Item[user]){
		"another item":         func(i *resource.Item[user]) { i.ID, i.Value.ID = "bob", "bob" },
		"two ids":              func(i *resource.Item[user]) { i.ID = "bob" },
		"no revision to write": func(i *resource.Item[user]) { i.Rev = "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := serve(change)
			create(t, h, "/users", ann)
			wantProblem(t, send(t, h, "GET /users/ann"), problem.Internal)
			wantProblem(t, send(t, h, "DELETE /users/ann"), problem.Internal)
		})
	}
}

func TestRule138Unauthenticated(t *testing.T) {
	t.Parallel()
	for _, challenge := range []string{"", `Bearer realm="shop", Basic realm="shop"`} {
		h := byCaller(api(t, func(s *setup) {
			s.rest.Challenge = challenge
			s.users.Authorize = func(ctx context.Context, _ resource.Op, _, _ *user) error {
				if caller(ctx) == "" {
					return fmt.Errorf("no token: %w", resource.ErrUnauthenticated)
				}
				return nil
			}
		}))
		if challenge == "" {
			challenge = "Bearer"
		}
		want(t, send(t, h, "PUT /users/ann", asAdmin, jsonBody, "", ann), http.StatusCreated)
		for _, req := range everyWay {
			if strings.HasPrefix(req[0], "POST") {
				req = []string{"POST /users", jsonBody, "", `{"name":"Bob"}`}
			}
			wantProblem(t, send(t, h, req[0], req[1:]...), problem.Unauthenticated, "WWW-Authenticate: "+challenge)
		}
		want(t, send(t, h, "GET /places/none"), http.StatusNotFound, "WWW-Authenticate:")
	}
}

func TestRule138Forbidden(t *testing.T) {
	t.Parallel()
	h := byCaller(api(t, func(s *setup) { // all callers may read, the admin may write
		s.users.Authorize = func(ctx context.Context, op resource.Op, _, _ *user) error {
			if op != resource.OpGet && caller(ctx) != "admin" {
				return resource.ErrForbidden
			}
			return nil
		}
	}))
	want(t, send(t, h, "PUT /users/ann", asAdmin, jsonBody, "", ann), http.StatusCreated)
	for _, req := range [][]string{
		{"POST /users", jsonBody, "", `{"id":"bob","name":"Bob"}`}, {"PUT /users/bob", jsonBody, "", `{"name":"Bob"}`},
		{"PUT /users/ann", jsonBody, "", `{"name":"A"}`}, {"PATCH /users/ann", mergeBody, "", `{"name":"A"}`},
		{"DELETE /users/ann"},
	} {
		wantProblem(t, send(t, h, req[0], append([]string{asMallory}, req[1:]...)...), problem.Forbidden, "WWW-Authenticate:")
	}
	wantBody(t, send(t, h, "GET /users", asMallory), http.StatusOK, `{"items":[`+ann+`]}`)
}

func TestRule138Unavailable(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"the store says so":     fmt.Errorf("%s: %w", secret, resource.ErrUnavailable),
		"the deadline has come": fmt.Errorf("%s: %w", secret, context.DeadlineExceeded),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, _ := faulty(t, err)
			for _, req := range everyWay {
				res := send(t, h, req[0], req[1:]...)
				wantProblem(t, res, problem.Unavailable, "Retry-After: 1")
				if strings.Contains(res.body, "internal") {
					t.Errorf("%s: the answer says too much: %s", req[0], res.body)
				}
			}
		})
	}
}

// If the outcome is unknown, only a client with a key may retry. Without a key a retry could
// execute the request twice.
func TestRule138OutcomeUnknown(t *testing.T) {
	t.Parallel()
	d := newDesk(t, idempotency.ByIdentity)
	d.afterWrite = func() error { return tx.ErrOutcomeUnknown }
	h, _ := d.open(t)
	send := func(fields ...string) *response {
		return send(t, h, "POST /memos", append(fields, asAnn, jsonBody, "", `{"title":"a"}`)...)
	}
	wantProblem(t, send(keyField("k")), problem.OutcomeUnknown, "Retry-After: 1")
	wantProblem(t, send(), problem.OutcomeUnknown, "Retry-After:")
	d.afterWrite = nil
	want(t, send(keyField("k")), http.StatusCreated, "Retry-After:")
}

// A panic of the application is an internal error. It leaves no lock.
func TestRule139Panic(t *testing.T) {
	t.Parallel()
	boom := func() { panic(secret) }
	armed := false
	tests := []struct {
		name string
		opt  func(*setup)
		req  []string
	}{
		{"in Get", func(s *setup) {
			get := s.userOps.Get
			s.userOps.Get = func(ctx context.Context, id string) (resource.Item[user], error) {
				if armed {
					boom()
				}
				return get(ctx, id)
			}
		}, []string{"GET /users/ann"}},
		{"in List", func(s *setup) {
			list := s.userOps.List
			s.userOps.List = func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[user], error] {
				if armed {
					boom()
				}
				return list(ctx, q)
			}
		}, []string{"GET /users", "Accept: application/x-ndjson"}},
		{"in Before", func(s *setup) {
			s.users.Before = func(context.Context, resource.Op, *user, *user) error {
				if armed {
					boom()
				}
				return nil
			}
		}, []string{"PATCH /users/ann", mergeBody, "", `{"name":"A"}`}},
		{"in Authorize", func(s *setup) {
			s.users.Authorize = func(context.Context, resource.Op, *user, *user) error {
				if armed {
					boom()
				}
				return nil
			}
		}, []string{"DELETE /users/ann"}},
		{"in After", func(s *setup) {
			s.users.After = func(context.Context, resource.Op, *user, *user) {
				if armed {
					boom()
				}
			}
		}, []string{"PATCH /users/ann", mergeBody, "", `{"name":"A"}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			h := api(t, tt.opt, func(s *setup) { s.catalog.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
			armed = false
			create(t, h, "/users", ann)
			armed = true
			res := send(t, h, tt.req[0], tt.req[1:]...)
			d := wantProblem(t, res, problem.Internal, "ETag:", "Last-Modified:")
			if strings.Contains(res.body, "internal:") || strings.Contains(res.body, "goroutine") {
				t.Errorf("the answer says too much: %s", res.body)
			}
			for _, part := range []string{secret, d.Instance, "rules_j_test.go"} {
				if !strings.Contains(log.String(), part) {
					t.Errorf("%q is not in the log: %s", part, &log)
				}
			}
			armed = false
			want(t, send(t, h, "PATCH /users/ann", mergeBody, "", `{"name":"B"}`), http.StatusOK)
		})
	}
}

// If a part of the response was sent, the connection is aborted.
func TestRule139BrokenOff(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"an error": func() error { return errors.New(secret) },
		"a panic":  func() error { panic(secret) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			h := api(t, func(s *setup) {
				s.catalog.Logger = slog.New(slog.NewTextHandler(&log, nil))
				pages := 0
				s.placeOps.List = func(_ context.Context, q query.Query) iter.Seq2[resource.Item[place], error] {
					return func(yield func(resource.Item[place], error) bool) {
						if pages++; pages > 1 {
							yield(resource.Item[place]{}, fail())
							return
						}
						for i := range q.Limit {
							id := fmt.Sprintf("p%04d", i)
							if !yield(resource.Item[place]{Rev: "1", Value: place{ID: id, Name: id, Country: "GR"}}, nil) {
								return
							}
						}
					}
				}
			})
			srv := listen(t, h)
			for version, ask := range map[string]peer{"HTTP/1.1": dialHTTP(t, srv, false)} {
				res := ask("GET /places", "Accept: application/x-ndjson")
				want(t, res, http.StatusOK)
				if !strings.HasSuffix(res.body, ">") || !strings.Contains(res.body[len(res.body)-40:], "EOF") {
					t.Errorf("%s: the client takes half for the whole; it ends with %q", version, res.body[len(res.body)-40:])
				}
			}
			srv.Close() // so that the log is complete
			if !strings.Contains(log.String(), secret) {
				t.Errorf("the log does not say why: %s", &log)
			}
		})
	}
}

// If the client has disconnected there is no response, and no server error is logged.
func TestRule139ClientGone(t *testing.T) {
	t.Parallel()
	h, log := faulty(t, context.Canceled)
	r := request(t, "GET /users/ann")
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	defer func() {
		if v := recover(); v != http.ErrAbortHandler {
			t.Errorf("the handler ended with %v, want http.ErrAbortHandler", v)
		}
		if log.Len() > 0 {
			t.Errorf("it was logged: %s", log)
		}
	}()
	sent(h, r.WithContext(ctx))
}
