package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/client"
	"github.com/stoa-go/stoa/resource/problem"
)

// text returns a change in short form.
func text(c client.Change[order]) string {
	if c.Kind == client.Reset || c.Kind == client.Bookmark {
		return string(c.Kind)
	}
	return fmt.Sprintf("%s %d", c.Kind, c.Value.Count)
}

// following reads n changes that are no bookmarks, and returns the last cursor.
func following(t *testing.T, orders *client.Resource[order], cursor string, filter *query.Filter, n int) ([]string, string) {
	t.Helper()
	var got []string
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // for a faulty client
	defer cancel()
	for change, err := range orders.Follow(ctx, cursor, filter) {
		if err != nil {
			t.Fatal(err)
		}
		if change.Cursor != "" {
			cursor = change.Cursor
		}
		if change.Kind != client.Bookmark {
			got = append(got, text(change))
		}
		if len(got) == n && cursor != "" {
			break
		}
	}
	return got, cursor
}

func create(t *testing.T, orders *client.Resource[order], counts ...int) (ids []string) {
	t.Helper()
	for _, n := range counts {
		made, err := orders.Create(t.Context(), &order{Count: n})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, made.ID)
	}
	return ids
}

func TestFollow(t *testing.T) {
	s := newServer(t, 0)
	orders := s.orders(t)
	ids := create(t, orders, 1, 2, 3, 4)
	got, cursor := following(t, orders, "", nil, 5)
	if want := 5; len(got) != want || got[0] != "reset" {
		t.Fatalf("the list is %q", got)
	}
	if _, err := orders.Update(t.Context(), ids[0], func(o *order) error { o.Count = 10; return nil }); err != nil {
		t.Fatal(err)
	}
	if err := orders.Delete(t.Context(), ids[1], ""); err != nil {
		t.Fatal(err)
	}
	create(t, orders, 5)
	got, after := following(t, orders, cursor, nil, 3)
	if diff := cmp.Diff([]string{"updated 10", "deleted 0", "created 5"}, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	create(t, orders, 6)
	got, _ = following(t, orders, after, nil, 1)
	if diff := cmp.Diff([]string{"created 6"}, got); diff != "" {
		t.Errorf("changes after the last cursor (-want +got):\n%s", diff)
	}
	few := query.Where("count", query.Gte, int64(5))
	got, _ = following(t, orders, cursor, &few, 3)
	if diff := cmp.Diff([]string{"created 10", "created 5", "created 6"}, got); diff != "" {
		t.Errorf("changes with a filter (-want +got):\n%s", diff)
	}
}

// TestFollowThroughCuts cuts each stream after a random number of bytes. Every change arrives once.
func TestFollowThroughCuts(t *testing.T) {
	s := newServer(t, 0)
	orders := s.orders(t)
	_, cursor := following(t, orders, "", nil, 1)
	rng := rand.New(rand.NewPCG(1, 2))
	var streams atomic.Int64
	s.setFault(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Header.Get("Accept") != "text/event-stream" {
			next.ServeHTTP(w, r)
			return
		}
		streams.Add(1)
		next.ServeHTTP(&cutter{ResponseWriter: w, left: 50 + rng.IntN(400)}, r)
	})
	const n = 100
	go func() {
		for i := range n {
			if _, err := orders.Create(t.Context(), &order{Count: i}); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	got, _ := following(t, orders, cursor, nil, n)
	var want []string
	for i := range n {
		want = append(want, fmt.Sprintf("created %d", i))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if streams.Load() < 10 {
		t.Errorf("%d streams, want more", streams.Load())
	}
}

// cutter aborts a response after a number of bytes.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *cutter) Write(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, io.ErrClosedPipe
	}
	n, err := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	if c.left -= n; c.left <= 0 && err == nil {
		err = io.ErrClosedPipe
	}
	return n, err
}

// TestFollowExpired continues from a cursor after the server has discarded its changes.
func TestFollowExpired(t *testing.T) {
	s := newServer(t, 3)
	orders := s.orders(t)
	_, cursor := following(t, orders, "", nil, 1)
	create(t, orders, 1, 2, 3, 4, 5, 6)
	s.awaitFeed(t) // until then the feed may still have the events that the log no longer has
	got, _ := following(t, orders, cursor, nil, 7)
	if len(got) != 7 || got[0] != "reset" {
		t.Errorf("changes %q, want a reset and six items", got)
	}
}

func TestFollowRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		cursor string
		status int
		want   problem.Kind
	}{
		{"the list", "", 403, problem.Forbidden},
		{"the stream", "x", 401, problem.Unauthenticated},
		{"a wrong cursor", "x", 400, problem.BadRequest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, 0)
			s.setFault(answer(99, tt.status, "", ""))
			n := 0
			for change, err := range s.orders(t).Follow(t.Context(), tt.cursor, nil) {
				if n++; change.Kind == client.Reset {
					continue
				}
				if kindOf(err) != tt.want {
					t.Errorf("change %v, error %v, want the kind %q", change, err, tt.want)
				}
			}
			if n == 0 {
				t.Error("no error")
			}
		})
	}
}

// TestFollowSilence opens another stream if the first sends nothing.
func TestFollowSilence(t *testing.T) {
	s := newServer(t, 0)
	_, cursor := following(t, s.orders(t), "", nil, 1)
	create(t, s.orders(t), 1)
	var streams atomic.Int64
	s.setFault(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if streams.Add(1) > 2 {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	c, err := client.New(s.url, &client.Options{MaxWait: time.Millisecond, Silence: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := following(t, client.NewResource[order](c, "orders"), cursor, nil, 1)
	if diff := cmp.Diff([]string{"created 1"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFollowEnds(t *testing.T) {
	s := newServer(t, 0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for change, err := range s.orders(t).Follow(ctx, "", nil) {
		if last = err; change.Kind == client.Bookmark {
			cancel()
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("the last error is %v, want context.Canceled", last)
	}
}
