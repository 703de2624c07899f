package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/client"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

type order struct {
	ID     string `json:"id"`
	Status string `json:"status,omitempty"`
	Count  int    `json:"count"`
	Note   string `json:"note,omitempty"`
}

// server serves orders from memory. fault, if not nil, may respond instead of the handler, or change
// the response.
type server struct {
	url   string
	log   *feed.Memory
	feed  *feed.Feed
	sent  atomic.Int64 // requests
	mu    sync.Mutex
	fault func(w http.ResponseWriter, r *http.Request, next http.Handler)
}

func newServer(t *testing.T, keep int) *server {
	t.Helper()
	log := feed.NewMemory(&feed.MemoryOptions{Events: keep})
	s := &server{log: log, feed: feed.New(log, &feed.Options{BufferEvents: keep})}
	t.Cleanup(func() { s.feed.Close() })
	store := memory.New[order](nil)
	catalog := resource.NewCatalog(&resource.CatalogOptions{
		Principal: func(context.Context) string { return "tester" },
		Feed:      s.feed, Idempotency: idempotency.New(idempotency.NewMemory(nil), nil),
	}, resource.New("orders", store, &resource.Options[order]{Public: true, Query: query.Support{
		Sort:   []string{"count"},
		Filter: map[string][]query.Op{"status": {query.Eq}, "note": {query.Ne}, "count": {query.Lt, query.Gte}},
	}}))
	h := rest.New(catalog, nil)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.sent.Add(1)
		s.mu.Lock()
		fault := s.fault
		s.mu.Unlock()
		if fault != nil {
			fault(w, r, h)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// awaitFeed waits until the feed has read all events of its log.
func (s *server) awaitFeed(t *testing.T) {
	t.Helper()
	head, err := s.log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range s.feed.Watch(t.Context(), head, "orders") {
		if err != nil {
			t.Fatal(err)
		}
		return
	}
}

// setFault sets what handles the next requests instead of the handler.
func (s *server) setFault(f func(w http.ResponseWriter, r *http.Request, next http.Handler)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// orders returns a client with short waits.
func (s *server) orders(t *testing.T) *client.Resource[order] {
	t.Helper()
	c, err := client.New(s.url, &client.Options{MaxWait: time.Millisecond, PageSize: 3, Silence: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return client.NewResource[order](c, "orders")
}

// kindOf returns the kind of the problem details in err, and "" if it has none.
func kindOf(err error) problem.Kind {
	var d *problem.Details
	if !errors.As(err, &d) {
		return ""
	}
	return d.Kind
}

func TestNewRefuses(t *testing.T) {
	for _, base := range []string{"", "shop", "ftp://shop", "http://", "http://shop?version=2", "http://shop#x", "http://%zz"} {
		if c, err := client.New(base, nil); err == nil {
			t.Errorf("New(%q) = %v, want an error", base, c)
		}
	}
}

func TestWrites(t *testing.T) {
	s := newServer(t, 0)
	orders := s.orders(t)
	made, err := orders.Create(t.Context(), &order{Status: "placed", Count: 1})
	if err != nil {
		t.Fatal(err)
	}
	if made.ID == "" || made.ID != made.Value.ID || made.Tag == "" || made.Replayed {
		t.Fatalf("created %+v", made)
	}
	changed, err := orders.Update(t.Context(), made.ID, func(o *order) error { o.Count, o.Status = 2, ""; return nil })
	if err != nil {
		t.Fatal(err)
	}
	want := order{ID: made.ID, Count: 2}
	if diff := cmp.Diff(want, changed.Value); diff != "" {
		t.Errorf("updated (-want +got):\n%s", diff)
	}
	if changed.Tag == made.Tag {
		t.Errorf("the tag is %s before and after", made.Tag)
	}
	if _, err := orders.Replace(t.Context(), made.ID, made.Tag, &want); kindOf(err) != problem.PreconditionFailed {
		t.Errorf("replace with the old tag: %v", err)
	}
	want.Note = "gift"
	if _, err := orders.Replace(t.Context(), made.ID, changed.Tag, &want); err != nil {
		t.Fatal(err)
	}
	got, err := orders.Get(t.Context(), made.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Value); diff != "" {
		t.Errorf("replaced (-want +got):\n%s", diff)
	}
	if err := orders.Delete(t.Context(), made.ID, changed.Tag); kindOf(err) != problem.PreconditionFailed {
		t.Errorf("delete with the old tag: %v", err)
	}
	if err := orders.Delete(t.Context(), made.ID, got.Tag); err != nil {
		t.Fatal(err)
	}
	if _, err := orders.Get(t.Context(), made.ID); kindOf(err) != problem.Gone {
		t.Errorf("get of a deleted item: %v", err)
	}
}

func TestUpdateWithoutChange(t *testing.T) {
	s := newServer(t, 0)
	orders := s.orders(t)
	made, err := orders.Create(t.Context(), &order{Count: 1})
	if err != nil {
		t.Fatal(err)
	}
	before := s.sent.Load()
	item, err := orders.Update(t.Context(), made.ID, func(*order) error { return nil })
	if err != nil || item.Tag != made.Tag || s.sent.Load() != before+1 {
		t.Errorf("Update = %+v, %v with %d requests, want the item with one", item, err, s.sent.Load()-before)
	}
	stop := errors.New("stop")
	if _, err := orders.Update(t.Context(), made.ID, func(*order) error { return stop }); err != stop {
		t.Errorf("Update = %v, want the error of change", err)
	}
}

// TestUpdatesAreNotLost increments a counter from several clients at once.
func TestUpdatesAreNotLost(t *testing.T) {
	s := newServer(t, 0)
	made, err := s.orders(t).Create(t.Context(), &order{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(s.url, &client.Options{MaxWait: time.Millisecond, Attempts: -1})
	if err != nil {
		t.Fatal(err)
	}
	orders := client.NewResource[order](c, "orders")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				if _, err := orders.Update(t.Context(), made.ID, func(o *order) error { o.Count++; return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got, err := orders.Get(t.Context(), made.ID); err != nil || got.Value.Count != 80 {
		t.Errorf("the count is %+v, %v, want 80", got, err)
	}
}

// TestUpdateKeepsOtherMembers changes an item with a type that lacks a member.
func TestUpdateKeepsOtherMembers(t *testing.T) {
	s := newServer(t, 0)
	made, err := s.orders(t).Create(t.Context(), &order{Status: "placed", Note: "gift"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(s.url+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	type old struct {
		Status string `json:"status"`
	}
	if _, err := client.NewResource[old](c, "/orders/").Update(t.Context(), made.ID, func(o *old) error {
		o.Status = "paid"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	got, err := s.orders(t).Get(t.Context(), made.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(order{ID: made.ID, Status: "paid", Note: "gift"}, got.Value); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// drop lets the handler do its work and closes the connection before the response, for each request
// with a number in which.
func drop(which ...int64) func(w http.ResponseWriter, r *http.Request, next http.Handler) {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !slices.Contains(which, n.Add(1)) {
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
}

// answer responds to each request with a number up to n.
func answer(n int64, status int, header, content string) func(http.ResponseWriter, *http.Request, http.Handler) {
	var count atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if count.Add(1) > n {
			next.ServeHTTP(w, r)
			return
		}
		if name, value, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		io.WriteString(w, content)
	}
}

func TestRetries(t *testing.T) {
	problems := "Content-Type: application/problem+json"
	for _, tt := range []struct {
		name     string
		fault    func(http.ResponseWriter, *http.Request, http.Handler)
		wantErr  problem.Kind
		wantSent int64
		replayed bool
	}{
		{"nothing fails", drop(), "", 1, false},
		{"the first response is lost", drop(1), "", 2, true},
		{"three responses are lost", drop(1, 2, 3), "", 4, true},
		{"503", answer(2, 503, "Retry-After: 0", ""), "", 3, false},
		{"502 of a proxy", answer(1, 502, "Content-Type: text/html", "<html>"), "", 2, false},
		{"429", answer(1, 429, "", ""), "", 2, false},
		{"429 for an hour", answer(9, 429, "Retry-After: 3600", ""), problem.TooManyRequests, 1, false},
		{"in flight", answer(1, 409, problems, `{"type":"`+problem.InFlight.URI()+`"}`), "", 2, false},
		{"another conflict", answer(1, 409, problems, `{"type":"`+problem.Conflict.URI()+`"}`), problem.Conflict, 1, false},
		{"500", answer(1, 500, "", ""), problem.Internal, 1, false},
		{"always 503", answer(99, 503, "", ""), problem.Unavailable, 8, false},
		{"other details", answer(1, 418, problems, `{"type":"https://example.com/tea"}`), "https://example.com/tea", 1, false},
		{"details that are no JSON", answer(1, 404, problems, `{`), problem.NotFound, 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, 0)
			s.setFault(tt.fault)
			made, err := s.orders(t).Create(t.Context(), &order{Count: 1})
			if kindOf(err) != tt.wantErr || (err == nil) != (tt.wantErr == "") {
				t.Fatalf("error %v, want the kind %q", err, tt.wantErr)
			}
			if s.sent.Load() != tt.wantSent {
				t.Errorf("%d requests, want %d", s.sent.Load(), tt.wantSent)
			}
			if err == nil && made.Replayed != tt.replayed {
				t.Errorf("replayed %v, want %v", made.Replayed, tt.replayed)
			}
			s.setFault(nil)
			wantItems := 1
			if err != nil {
				wantItems = 0
			}
			if got := all(t, s.orders(t), query.Query{}); len(got) != wantItems {
				t.Errorf("%d items, want %d", len(got), wantItems)
			}
		})
	}
}

func all(t *testing.T, orders *client.Resource[order], q query.Query) []order {
	t.Helper()
	var list []order
	for o, err := range orders.List(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, o)
	}
	return list
}

// TestWithKey repeats a write as a caller does that has crashed.
func TestWithKey(t *testing.T) {
	s := newServer(t, 0)
	orders := s.orders(t)
	ctx := client.WithKey(t.Context(), `order "7" \ 1`)
	first, err := orders.Create(ctx, &order{Count: 1})
	if err != nil {
		t.Fatal(err)
	}
	again, err := orders.Create(ctx, &order{Count: 1})
	if err != nil || again.ID != first.ID || !again.Replayed {
		t.Errorf("the repeated request: %+v, %v", again, err)
	}
	if _, err := orders.Create(ctx, &order{Count: 2}); kindOf(err) != problem.KeyReused {
		t.Errorf("another request with the key: %v", err)
	}
	add := func(o *order) error { o.Count++; return nil }
	ctx = client.WithKey(t.Context(), "increment")
	if _, err := orders.Update(ctx, first.ID, add); err != nil {
		t.Fatal(err)
	}
	if _, err := orders.Update(ctx, first.ID, add); kindOf(err) != problem.KeyReused {
		t.Errorf("the repeated update: %v", err)
	}
	if got, err := orders.Get(t.Context(), first.ID); err != nil || got.Value.Count != 2 {
		t.Errorf("the count is %+v, %v, want 2", got, err)
	}
}

func TestContextEnds(t *testing.T) {
	s := newServer(t, 0)
	ctx, cancel := context.WithCancel(t.Context())
	s.setFault(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		cancel()
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	if _, err := s.orders(t).Get(ctx, "1"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	if s.sent.Load() != 1 {
		t.Errorf("%d requests, want 1", s.sent.Load())
	}
}

func TestList(t *testing.T) {
	s := newServer(t, 0)
	orders := s.orders(t)
	for i := range 8 {
		if _, err := orders.Create(t.Context(), &order{Count: i, Status: []string{"paid", "placed"}[i%2]}); err != nil {
			t.Fatal(err)
		}
	}
	byCount := []query.Order{{Field: "count"}}
	for _, tt := range []struct {
		name string
		q    query.Query
		want []int
		sent int64
	}{
		{"all, in three pages", query.Query{Sort: byCount}, []int{0, 1, 2, 3, 4, 5, 6, 7}, 3},
		{"four, in two pages", query.Query{Sort: byCount, Limit: 4}, []int{0, 1, 2, 3}, 2},
		{"two", query.Query{Sort: byCount, Limit: 2}, []int{0, 1}, 1},
		{"a filter", query.Query{Sort: byCount, Filter: query.Where("status", query.Eq, "paid")}, []int{0, 2, 4, 6}, 2},
		{"a filter too long for a URL", query.Query{Sort: byCount, Filter: query.And(query.Where("status", query.Eq, "paid"),
			query.Where("count", query.Lt, int64(5)), query.Where("note", query.Ne, strings.Repeat("x", 5000)))}, []int{0, 2, 4}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := s.sent.Load()
			var got []int
			for _, o := range all(t, orders, tt.q) {
				got = append(got, o.Count)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if sent := s.sent.Load() - before; sent != tt.sent {
				t.Errorf("%d requests, want %d", sent, tt.sent)
			}
		})
	}
	for _, err := range orders.List(t.Context(), query.Query{Filter: query.Where("missing", query.Eq, "x")}) {
		if kindOf(err) != problem.InvalidParameter {
			t.Errorf("a filter of an unknown field: %v", err)
		}
	}
}

// TestCut cuts a response in its middle: the request is sent again.
func TestCut(t *testing.T) {
	s := newServer(t, 0)
	orders := s.orders(t)
	made, err := orders.Create(t.Context(), &order{Note: strings.Repeat("x", 1000)})
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	s.setFault(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if n.Add(1) > 2 {
			next.ServeHTTP(w, r)
			return
		}
		rec := httptest.NewRecorder()
		r.Header.Del("Accept-Encoding")
		next.ServeHTTP(rec, r)
		w.Header().Set("Content-Length", strconv.Itoa(rec.Body.Len()))
		io.Copy(w, bytes.NewReader(rec.Body.Bytes()[:500]))
		panic(http.ErrAbortHandler)
	})
	got, err := orders.Get(t.Context(), made.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(made.Value, got.Value); diff != "" || n.Load() != 3 {
		t.Errorf("after %d requests (-want +got):\n%s", n.Load(), diff)
	}
}

func TestCall(t *testing.T) {
	type in struct{ N int }
	var got []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+" "+string(content))
		if r.Header.Get("Idempotency-Key") == "" {
			t.Error("no key")
		}
		io.WriteString(w, `{"N":2}`)
	}))
	defer srv.Close()
	c, err := client.New(srv.URL+"/v2", &client.Options{Header: http.Header{"Authorization": {"Bearer t"}}})
	if err != nil {
		t.Fatal(err)
	}
	var out in
	if err := c.Call(t.Context(), "orders/cancel-stale", in{1}, &out); err != nil || out.N != 2 {
		t.Errorf("Call = %v, %v", out, err)
	}
	if err := c.Call(t.Context(), "orders/cancel-stale", nil, nil); err != nil {
		t.Error(err)
	}
	want := []string{`POST /v2/orders/cancel-stale Bearer t {"N":1}`, `POST /v2/orders/cancel-stale Bearer t {}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
