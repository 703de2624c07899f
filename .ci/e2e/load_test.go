package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestLoadFaults: each fault is injected as often as it is planned, in order, and not before its share
// of the load is done, also if the writers have nothing left to do.
func TestLoadFaults(t *testing.T) {
	t.Parallel()
	const total = 120
	tests := []struct {
		name  string
		limit int64 // of steps that do something
	}{
		{name: "writers go on", limit: 1 << 40},
		{name: "writers end first", limit: total},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			var done atomic.Int64
			var injected []string
			early := 0
			planned := func(what string, n int) fault {
				i := 0
				return fault{what, n, func(context.Context, *rand.Rand) error {
					i++
					injected = append(injected, what)
					if done.Load()*int64(n+1) < int64(i)*total {
						early++
					}
					return nil
				}}
			}
			l := load{writers: 3, done: done.Load, total: total,
				faults: []fault{planned("kill", 3), planned("crash", 1), planned("none", 0)},
				step: func(context.Context, int, *rand.Rand) error {
					time.Sleep(time.Second) // of the bubble: much longer than an injection
					if done.Load() >= tt.limit {
						return errDone
					}
					done.Add(1)
					return nil
				}}
			if err := l.run(t.Context(), &env{seed: 1}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"kill", "kill", "crash", "kill"}, injected); diff != "" {
				t.Errorf("%s: faults (-want +got):\n%s", tt.name, diff)
			}
			if early > 0 || done.Load() < total {
				t.Errorf("%s: %d faults are too early; %d of %d is done", tt.name, early, done.Load(), total)
			}
		})
	}
}

// TestLoadEnds: an error of a step or of a fault ends a load.
func TestLoadEnds(t *testing.T) {
	t.Parallel()
	wrong := errors.New("tea")
	fine := func(context.Context, int, *rand.Rand) error { return nil }
	tests := []struct {
		name  string
		step  func(context.Context, int, *rand.Rand) error
		fault error
	}{
		{"a step", func(context.Context, int, *rand.Rand) error { return wrong }, nil},
		{"a fault", fine, wrong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inject := func(context.Context, *rand.Rand) error { return tt.fault }
			l := load{writers: 2, step: tt.step, done: func() int64 { return 1 }, total: 2, faults: []fault{{"cup", 1, inject}}}
			if err := l.run(t.Context(), &env{}); !errors.Is(err, wrong) {
				t.Errorf("err = %v, want %v", err, wrong)
			}
		})
	}
}

// TestShare: each item is given to a worker once, and an error ends it.
func TestShare(t *testing.T) {
	t.Parallel()
	items := slices.Values([]int{0, 1, 2, 3, 4, 5, 6, 7})
	var got [8]atomic.Int64
	err := share(t.Context(), 3, items, func(_, item int) error {
		got[item].Add(1)
		return nil
	})
	for item := range got {
		if n := got[item].Load(); n != 1 || err != nil {
			t.Errorf("item %d was given %d times: %v", item, n, err)
		}
	}
	wrong := errors.New("tea")
	if err := share(t.Context(), 3, items, func(int, int) error { return wrong }); !errors.Is(err, wrong) {
		t.Errorf("err = %v, want %v", err, wrong)
	}
	var all []error
	err = concurrently(3, func(i int) error { return fmt.Errorf("%d: %w", i, wrong) })
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	if len(all) != 3 {
		t.Errorf("err = %v, want three errors", err)
	}
}
