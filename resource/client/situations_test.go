package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/client"
	"github.com/stoa-go/stoa/resource/internal/pipe"
	"github.com/stoa-go/stoa/resource/problem"
)

// respond answers the request with a number, from 1.
type respond func(w http.ResponseWriter, r *http.Request, n int)

// faulty is a server in a bubble of synctest, with the requests that it has received.
type faulty struct {
	mu   sync.Mutex
	sent []string
	keys map[string]int // numbers of idempotency keys
}

// newFaulty serves until the test ends, and returns a client with the default options.
func newFaulty(t *testing.T, serve respond) (*faulty, *client.Client) {
	t.Helper()
	f := &faulty{keys: map[string]int{}}
	listener := pipe.Listen()
	srv := &httptest.Server{Listener: listener, Config: &http.Server{
		Handler:  http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r, f.record(r)) }),
		ErrorLog: log.New(io.Discard, "", 0), // it logs aborted connections, which are intended here
	}}
	srv.Start()
	t.Cleanup(srv.Close)
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return listener.Dial()
	}}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := client.New(srv.URL, &client.Options{HTTP: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	return f, c
}

// record returns the number of a request.
func (f *faulty) record(r *http.Request) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	line := r.Method + " " + r.URL.Path
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		if f.keys[key] == 0 {
			f.keys[key] = len(f.keys) + 1
		}
		line += fmt.Sprint(" key ", f.keys[key])
	}
	if cursor := r.Header.Get("Last-Event-ID"); cursor != "" {
		line += " after " + cursor
	}
	f.sent = append(f.sent, line)
	return len(f.sent)
}

// requests returns the requests so far.
func (f *faulty) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent
}

const (
	itemJSON = `{"id":"1","count":1}`
	created  = "id: %s\nevent: created\ndata: {\"id\":\"1\",\"count\":%d}\n\n"
)

// redirect sends requests of a path to another one, which has an item.
func redirect(status int, from, to string) respond {
	return func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.URL.Path == from {
			http.Redirect(w, r, to, status)
			return
		}
		io.WriteString(w, itemJSON)
	}
}

// content sends a success of a media type.
func content(media, text string) respond {
	return func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Content-Type", media)
		w.Header().Set("Event-Cursor", "c1")
		io.WriteString(w, text)
	}
}

func hang(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() }

// cut sends the begin of a response, and closes the connection.
func cut(media, text string) respond {
	return func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Content-Type", media)
		io.WriteString(w, text)
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// in answers each request by the next of list, and those after it by the last.
func in(list ...respond) respond {
	return func(w http.ResponseWriter, r *http.Request, n int) { list[min(n, len(list))-1](w, r, n) }
}

// eventsOf sends a stream that stays open.
func eventsOf(text string, args ...any) respond {
	return func(w http.ResponseWriter, r *http.Request, _ int) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, text, args...)
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

const itemPage = `{"items":[` + itemJSON + `]}`

type orders = client.Resource[order]

// result is what a caller gets, as text.
func result(value any, err error) string {
	if err != nil {
		return err.Error()
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func get(id string) func(context.Context, *client.Client) string {
	return func(ctx context.Context, c *client.Client) string {
		item, err := client.NewResource[order](c, "orders").Get(ctx, id)
		if err != nil {
			return err.Error()
		}
		return result(item.Value, nil)
	}
}

// writes has each kind of write, of an item that exists or of a command.
func writes(id string) map[string]func(context.Context, *client.Client) string {
	of := func(write func(context.Context, *orders) error) func(context.Context, *client.Client) string {
		return func(ctx context.Context, c *client.Client) string {
			return result("done", write(ctx, client.NewResource[order](c, "orders")))
		}
	}
	return map[string]func(context.Context, *client.Client) string{
		"POST /orders": of(func(ctx context.Context, o *orders) error {
			_, err := o.Create(ctx, &order{Count: 1})
			return err
		}),
		"PUT /orders/" + id: of(func(ctx context.Context, o *orders) error {
			_, err := o.Replace(ctx, id, "", &order{Count: 1})
			return err
		}),
		"PATCH /orders/" + id: of(func(ctx context.Context, o *orders) error {
			_, err := o.Patch(ctx, id, `"1.a"`, map[string]any{"count": 2})
			return err
		}),
		"DELETE /orders/" + id: of(func(ctx context.Context, o *orders) error { return o.Delete(ctx, id, "") }),
		"POST /orders/cancel-stale": func(ctx context.Context, c *client.Client) string {
			return result("done", c.Call(ctx, "orders/cancel-stale", nil, nil))
		},
	}
}

// list reads all items, of a filter that is too long for a URL if long is true.
func list(long bool) func(context.Context, *client.Client) string {
	return func(ctx context.Context, c *client.Client) string {
		var q query.Query
		if long {
			q.Filter = query.Where("note", query.Ne, strings.Repeat("x", 5000))
		}
		var found []order
		for o, err := range client.NewResource[order](c, "orders").List(ctx, q) {
			if err != nil {
				return err.Error()
			}
			found = append(found, o)
		}
		return result(found, nil)
	}
}

// follow reads changes until there are n, or an error.
func follow(cursor string, n int) func(context.Context, *client.Client) string {
	return func(ctx context.Context, c *client.Client) string {
		var found []string
		for change, err := range client.NewResource[order](c, "orders").Follow(ctx, cursor, nil) {
			if err != nil {
				found = append(found, err.Error())
				continue
			}
			if found = append(found, text(change)); len(found) == n {
				break
			}
		}
		return strings.Join(found, ", ")
	}
}

// TestSituations has what a caller gets if a server redirects, hangs, sends HTML, or closes a
// connection in the middle of a response. Each call has a minute, in the time of its bubble.
func TestSituations(t *testing.T) {
	const (
		html   = "decode the response (text/html): invalid character '<' looking for beginning of value"
		events = "text/event-stream"
		over   = "client: GET /orders/1: context deadline exceeded"
	)
	page := content("application/json", itemPage)
	type situation struct {
		name  string
		serve respond
		call  func(context.Context, *client.Client) string
		want  string
		sent  []string
	}
	tests := []situation{
		{"a read is redirected", redirect(302, "/orders/1", "/v2/orders/1"), get("1"), itemJSON,
			[]string{"GET /orders/1", "GET /v2/orders/1"}},
		{"a read is redirected without end", redirect(302, "/orders/1", "/orders/1"), get("1"),
			`client: GET /orders/1: Get "/orders/1": stopped after 10 redirects`,
			[]string{"GET /orders/1", "GET /orders/1", "GET /orders/1", "GET /orders/1", "GET /orders/1",
				"GET /orders/1", "GET /orders/1", "GET /orders/1", "GET /orders/1", "GET /orders/1"}},
		{"a read by QUERY is redirected", redirect(303, "/orders", "/login"), list(true),
			`client: QUERY /orders: the response "303 See Other" redirects to /login, which is not followed`,
			[]string{"QUERY /orders"}},
		{"a write is redirected with its method", redirect(308, "/orders", "/v2/orders"),
			writes("1")["POST /orders"], `"done"`, []string{"POST /orders key 1", "POST /v2/orders key 1"}},

		{"a read hangs", hang, get("1"), over, []string{"GET /orders/1"}},
		{"a read hangs in the middle", eventsOf(`{"id"`), get("1"), over, []string{"GET /orders/1"}},
		{"the list of Follow hangs before it begins", in(hang, page, eventsOf(created, "c2", 2)), follow("", 4),
			"reset, listed 1, bookmark, created 2",
			[]string{"GET /orders", "GET /orders", "GET /orders after c1"}},
		{"the list of Follow hangs in the middle", in(eventsOf(`{"items"`), page, eventsOf(created, "c2", 2)),
			follow("", 4), "reset, listed 1, bookmark, created 2",
			[]string{"GET /orders", "GET /orders", "GET /orders after c1"}},
		{"the stream of Follow hangs before it begins", in(hang, eventsOf(created, "c2", 2)), follow("c1", 1),
			"created 2", []string{"GET /orders after c1", "GET /orders after c1"}},
		{"the stream of Follow hangs after an event", in(eventsOf(created, "c2", 2), eventsOf(created, "c3", 3)),
			follow("c1", 2), "created 2, created 3", []string{"GET /orders after c1", "GET /orders after c2"}},

		{"a page of HTML for an item", content("text/html", "<html>"), get("1"),
			"client: GET /orders/1: " + html, []string{"GET /orders/1"}},
		{"a page of HTML for a list", content("text/html", "<html>"), list(false), "client: GET /orders: " + html,
			[]string{"GET /orders"}},
		{"a page of HTML for the list of Follow", content("text/html", "<html>"), follow("", 9),
			"reset, client: GET /orders: " + html, []string{"GET /orders"}},
		{"a page of HTML for a stream", content("text/html", "<html>"), follow("c1", 9),
			`client: GET /orders: the response has type "text/html", want ` + events,
			[]string{"GET /orders after c1"}},
		{"a stream without content", func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(204) },
			follow("c1", 9), `client: GET /orders: unexpected response "204 No Content"`,
			[]string{"GET /orders after c1"}},

		{"a read is closed in the middle", in(cut("application/json", `{"id"`), content("application/json", itemJSON)),
			get("1"), itemJSON, []string{"GET /orders/1", "GET /orders/1"}},
		{"a write is closed in the middle", in(cut("application/json", `{"id"`), content("application/json", itemJSON)),
			writes("1")["POST /orders"], `"done"`, []string{"POST /orders key 1", "POST /orders key 1"}},
		{"a stream is closed in the middle of an event",
			in(cut(events, fmt.Sprintf(created, "c2", 2)+"id: c3\nevent: created\ndata: {"), eventsOf(created, "c3", 3)),
			follow("c1", 2), "created 2, created 3", []string{"GET /orders after c1", "GET /orders after c2"}},

		{"a cursor with a line break", hang, follow("a\nb", 9),
			"client: GET /orders: the field Last-Event-Id has a control character", nil},
	}
	for _, status := range []int{301, 302, 303} {
		for line, call := range writes("1") {
			_, path, _ := strings.Cut(line, " ")
			tests = append(tests, situation{fmt.Sprint(line, " is redirected by ", status),
				redirect(status, path, "/login"), call, fmt.Sprintf("client: %s: the response %q redirects to /login, "+
					"which is not followed", line, fmt.Sprint(status, " ", http.StatusText(status))),
				[]string{line + " key 1"}})
		}
	}
	for line, call := range writes("1") {
		tests = append(tests, situation{"a page of HTML for " + line, content("text/html", "<html>"), call,
			"client: " + line + ": " + html, []string{line + " key 1"}})
	}
	for _, id := range []string{"", ".", ".."} {
		refused := fmt.Sprintf("%q is not an id or a name", id)
		tests = append(tests, situation{"GET of the id " + id, hang, get(id),
			"client: GET /orders/" + id + ": " + refused, nil})
		for line, call := range writes(id) {
			if strings.HasSuffix(line, "/"+id) {
				tests = append(tests, situation{line + " of an item", hang, call, "client: " + line + ": " + refused, nil})
			}
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f, c := newFaulty(t, tt.serve)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if diff := cmp.Diff(tt.want, tt.call(ctx, c)); diff != "" {
					t.Errorf("the caller gets (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.sent, f.requests()); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestFollowExpiresAlways counts the lists of Follow while each cursor has expired. Without delays
// there were 20,000 in a second.
func TestFollowExpiresAlways(t *testing.T) {
	for _, tt := range []struct {
		name   string
		stream respond
	}{
		{"before the stream", func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Content-Type", problem.MediaType)
			w.WriteHeader(http.StatusGone)
			io.WriteString(w, `{"type":"`+problem.CursorExpired.URI()+`"}`)
		}},
		{"in the stream", content("text/event-stream", "id: expired\n\n")},
		{"after a bookmark", content("text/event-stream", "id: c2\n\nid: expired\n\n")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f, c := newFaulty(t, func(w http.ResponseWriter, r *http.Request, n int) {
					if r.Header.Get("Last-Event-ID") != "" {
						tt.stream(w, r, n)
						return
					}
					content("application/json", itemPage)(w, r, n)
				})
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				got := follow("", -1)(ctx, c)
				const want = "reset, listed 1, bookmark, "
				if !strings.HasPrefix(got, want+want) && !strings.HasPrefix(got, want+"bookmark, "+want) {
					t.Errorf("changes: %s, want a list again", got)
				}
				// Two requests for each list, with at least 50 ms before the next.
				if n := len(f.requests()); n > 2*41 {
					t.Errorf("%d requests in 2 s", n)
				}
			})
		})
	}
}

// TestFollowEndsAtOnce cancels the context in the loop, and leaves the loop or continues it.
func TestFollowEndsAtOnce(t *testing.T) {
	for _, tt := range []struct {
		name  string
		at    string // the change at which the context is canceled
		leave bool
		want  string
	}{
		{"at the last listed item", "listed 1", false, "reset, listed 1, context canceled"},
		{"at the bookmark", "bookmark", false, "reset, listed 1, bookmark, context canceled"},
		{"at a change", "created 2", false, "reset, listed 1, bookmark, created 2, context canceled"},
		{"at a change, and leaves the loop", "created 2", true, "reset, listed 1, bookmark, created 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				_, c := newFaulty(t, in(content("application/json", itemPage), eventsOf(created+created, "c2", 2, "c3", 3)))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var got []string
				for change, err := range client.NewResource[order](c, "orders").Follow(ctx, "", nil) {
					if err != nil {
						got = append(got, err.Error())
						continue
					}
					if got = append(got, text(change)); got[len(got)-1] == tt.at {
						cancel()
						if tt.leave {
							break
						}
					}
				}
				if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestPatch changes an item by a tag that the caller holds.
func TestPatch(t *testing.T) {
	s := newServer(t, 0)
	orders := s.orders(t)
	made, err := orders.Create(t.Context(), &order{Status: "placed", Count: 1})
	if err != nil {
		t.Fatal(err)
	}
	patched, err := orders.Patch(t.Context(), made.ID, made.Tag, map[string]any{"status": nil, "count": 2})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(order{ID: made.ID, Count: 2}, patched.Value); diff != "" || patched.Tag == made.Tag {
		t.Errorf("patched, with the tag %s (-want +got):\n%s", patched.Tag, diff)
	}
	_, err = orders.Patch(t.Context(), made.ID, made.Tag, map[string]any{"count": 3})
	if kindOf(err) != problem.PreconditionFailed {
		t.Errorf("patch with the old tag: %v", err)
	}
}
