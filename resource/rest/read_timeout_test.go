package rest_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// leaf is an item with a relation to another of the same collection.
type leaf struct {
	ID   int64  `json:"id" readOnly:"true"`
	Next string `json:"next"`
}

// slowReads serves a store that takes a while for each read, or until its context ends. Its error then does not
// match the error of the context, like that of some drivers.
func slowReads(t *testing.T, takes, timeout time.Duration) *rest.Handler {
	t.Helper()
	ops := resource.OpsOf(stocked(t, leaf{Next: "2"}, leaf{Next: "1"}))
	wait := func(ctx context.Context) error {
		select {
		case <-time.After(takes):
			return nil
		case <-ctx.Done():
			return errors.New("canceling statement due to user request")
		}
	}
	get, list, getMany, count := ops.Get, ops.List, ops.GetMany, ops.Count
	ops.Get = func(ctx context.Context, id string) (resource.Item[leaf], error) {
		if id != "1" { // the first is read at once, so that its relation can be followed
			if err := wait(ctx); err != nil {
				return resource.Item[leaf]{}, err
			}
		}
		return get(ctx, id)
	}
	slow := func(ctx context.Context, all iter.Seq2[resource.Item[leaf], error]) iter.Seq2[resource.Item[leaf], error] {
		return func(yield func(resource.Item[leaf], error) bool) {
			if err := wait(ctx); err != nil {
				yield(resource.Item[leaf]{}, err)
				return
			}
			all(yield)
		}
	}
	ops.List = func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[leaf], error] {
		if q.Limit == 2 { // ?limit=1, for the count
			return list(ctx, q)
		}
		return slow(ctx, list(ctx, q))
	}
	ops.GetMany = func(ctx context.Context, ids []string) iter.Seq2[resource.Item[leaf], error] {
		return slow(ctx, getMany(ctx, ids))
	}
	ops.Count = func(ctx context.Context, q query.Query) (int, error) {
		if err := wait(ctx); err != nil {
			return 0, err
		}
		return count(ctx, q)
	}
	ops.InMemory = false
	return catalog(t, ops.Resource("leaves", &resource.Options[leaf]{Public: true, ReadTimeout: timeout,
		Relations: []resource.Relation[leaf]{{Name: "follows", Target: "leaves", Field: "next"}}}))
}

// A store that does not respond: each read ends after the limit, with 503. An export has no limit.
func TestRule138ReadTimeout(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		request []string
		takes   time.Duration
		timeout time.Duration // Options.ReadTimeout
		after   time.Duration
		fails   bool
	}{
		{"item", []string{"GET /leaves/2"}, time.Hour, 0, 10 * time.Second, true},
		{"head", []string{"HEAD /leaves/2"}, time.Hour, 0, 10 * time.Second, true},
		{"list", []string{"GET /leaves"}, time.Hour, 0, 10 * time.Second, true},
		{"count", []string{"GET /leaves?limit=1", "Prefer: count=exact"}, time.Hour, 0, 10 * time.Second, true},
		{"relation", []string{"GET /leaves/1?expand=follows"}, time.Hour, 0, 10 * time.Second, true},
		{"another limit", []string{"GET /leaves/2"}, time.Hour, time.Second, time.Second, true},
		{"in time", []string{"GET /leaves/2"}, 9 * time.Second, 0, 9 * time.Second, false},
		{"no limit", []string{"GET /leaves/2"}, time.Hour, -1, time.Hour, false},
		{"export", []string{"GET /leaves", "Accept: application/x-ndjson"}, time.Minute, 0, time.Minute, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := slowReads(t, tt.takes, tt.timeout)
				began := time.Now()
				res := send(t, h, tt.request[0], tt.request[1:]...)
				if tt.fails {
					wantProblem(t, res, problem.Unavailable, "Retry-After: 1")
				} else {
					want(t, res, http.StatusOK)
				}
				if took := time.Since(began); took != tt.after {
					t.Errorf("the response is sent after %v, want %v", took, tt.after)
				}
			})
		})
	}
}

// A store in memory does not get a deadline, which would cost allocations.
func TestReadsOfMemoryHaveNoDeadline(t *testing.T) {
	t.Parallel()
	for _, inMemory := range []bool{true, false} {
		ops := resource.OpsOf(memory.New[leaf](nil))
		if !ops.InMemory {
			t.Error("a memory.Store is not InMemory")
		}
		ops.InMemory = inMemory
		limited := inMemory
		ops.Get = func(ctx context.Context, id string) (resource.Item[leaf], error) {
			_, limited = ctx.Deadline()
			n, err := strconv.ParseInt(id, 10, 64)
			return resource.Item[leaf]{ID: id, Rev: "1", Value: leaf{ID: n}}, err
		}
		want(t, send(t, catalog(t, ops.Resource("leaves", nil)), "GET /leaves/7"), http.StatusOK)
		if limited == inMemory {
			t.Errorf("InMemory %v: a deadline: %v", inMemory, limited)
		}
	}
}
