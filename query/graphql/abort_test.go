package graphql_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
)

// aborting are setups in which a hook panics with http.ErrAbortHandler, and an operation that calls the hook.
var aborting = []struct {
	name, operation string
	hook            func(*setup)
}{
	{"list", `{orders{nodes{id}}}`, func(s *setup) { s.orders.Scope = abortScope }},
	{"several fields", `{users{nodes{id}} a:orders{nodes{id}} b:orders{nodes{id}} c:users{nodes{id}}}`,
		func(s *setup) { s.orders.Scope = abortScope }},
	{"relation", `{orders{nodes{customer{name}}}}`, func(s *setup) { s.users.Scope = abortScope }},
	{"field of the program", `{broken}`, func(s *setup) {
		s.opts.Fields = append(s.opts.Fields, graphql.Query("broken",
			func(context.Context, struct{}) (string, error) { panic(http.ErrAbortHandler) }, nil))
	}},
	{"Before", `mutation{a:createUser(input:{id:"x" name:"x"}){id} b:createUser(input:{id:"y" name:"y"}){id}}`,
		func(s *setup) {
			first := true
			s.users.Before = func(context.Context, resource.Op, *user, *user) error {
				if !first {
					panic("the second write has begun")
				}
				first = false
				panic(http.ErrAbortHandler)
			}
		}},
	{"Authorize", `{orders{nodes{id}}}`, func(s *setup) {
		s.orders.Authorize = func(context.Context, resource.Op, *order, *order) error { panic(http.ErrAbortHandler) }
	}},
}

func abortScope(context.Context) (query.Filter, error) { panic(http.ErrAbortHandler) }

// TestAbortInHooks: a hook aborts the response over each transport, as in REST. Nothing is logged.
func TestAbortInHooks(t *testing.T) {
	t.Parallel()
	transports := []struct {
		name  string
		abort func(h *graphql.Handler, operation string)
	}{
		{"POST", func(h *graphql.Handler, operation string) {
			h.ServeHTTP(httptest.NewRecorder(), request(t, "POST /graphql", jsonBody, "", asDocument(operation)))
		}},
		{"batch", func(h *graphql.Handler, operation string) {
			h.ServeHTTP(httptest.NewRecorder(), request(t, "POST /graphql", jsonBody, "",
				"["+typenameBody+","+asDocument(operation)+"]"))
		}},
		{"event stream", func(h *graphql.Handler, operation string) {
			h.ServeHTTP(httptest.NewRecorder(), request(t, "POST /graphql", jsonBody, "Accept: text/event-stream", "",
				asDocument(operation)))
		}},
		{"Execute", func(h *graphql.Handler, operation string) {
			h.Execute(t.Context(), graphql.Request{Query: operation})
		}},
	}
	for _, tt := range aborting {
		for _, transport := range transports {
			t.Run(tt.name+"/"+transport.name, func(t *testing.T) {
				t.Parallel()
				var log bytes.Buffer
				h := newTestHandler(t, tt.hook, func(s *setup) {
					s.opts.Batch = 2
					s.catalog.Logger = slog.New(slog.NewTextHandler(&log, nil))
				})
				defer func() {
					if v := recover(); v != http.ErrAbortHandler || log.Len() > 0 {
						t.Errorf("it panics with %v, and the log has %q", v, &log)
					}
				}()
				transport.abort(h, tt.operation)
			})
		}
	}
}

// asDocument returns the content of a request.
func asDocument(operation string) string {
	return `{"query":"` + strings.ReplaceAll(operation, `"`, `\"`) + `"}`
}

// TestAbortOfSockets: a hook ends the connection without a close frame.
func TestAbortOfSockets(t *testing.T) {
	for _, tt := range aborting {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				s := open(t, tt.hook, func(s *setup) { s.catalog.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
				c := s.socket(t)
				c.talk(initMessage, ackMessage, startMessage("1", tt.operation))
				if got := c.receive(); !strings.HasPrefix(got, "! ") || log.Len() > 0 {
					t.Errorf("received %q, and the log has %q", got, &log)
				}
			})
		})
	}
}

// TestLoggerOfCatalog: internal errors are in the log of the catalog.
func TestLoggerOfCatalog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := newTestHandler(t, func(s *setup) {
		s.catalog.Logger = slog.New(slog.NewTextHandler(&log, nil))
		s.orders.Scope = func(context.Context) (query.Filter, error) { panic("in Scope") }
	})
	send(t, h, "POST /graphql", jsonBody, "", asDocument("{orders{nodes{id}}}"))
	if !strings.Contains(log.String(), "in Scope") {
		t.Errorf("the log has no panic: %q", &log)
	}
}
