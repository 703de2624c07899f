package deadline_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/resource/internal/deadline"
)

type key struct{}

// ended reports whether Done of a context is closed.
func ended(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

// TestLikeWithTimeout checks that each way to end a context has the same effect as on one of package
// context, whether Done was called before or not.
func TestLikeWithTimeout(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		end  func(cancelParent, cancel func()) // nothing if nil
	}{
		{"running", nil},
		{"canceled", func(_, cancel func()) { cancel() }},
		{"parent canceled", func(cancelParent, _ func()) { cancelParent() }},
		{"late", func(_, _ func()) { time.Sleep(2 * time.Second) }},
		{"canceled and late", func(_, cancel func()) { cancel(); time.Sleep(2 * time.Second) }},
		{"parent canceled and late", func(cancelParent, _ func()) { cancelParent(); time.Sleep(2 * time.Second) }},
	}
	for _, tt := range tests {
		for _, waited := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					parent, cancelParent := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
					defer cancelParent()
					want, cancelWant := context.WithTimeout(parent, time.Second)
					defer cancelWant()
					got := deadline.WithTimeout(parent, time.Second)
					defer got.Cancel()
					if waited {
						got.Done()
					}
					if tt.end != nil {
						tt.end(cancelParent, func() { cancelWant(); got.Cancel() })
						synctest.Wait()
					}
					if !errors.Is(got.Err(), want.Err()) || (got.Err() == nil) != (want.Err() == nil) {
						t.Errorf("Err = %v, want %v", got.Err(), want.Err())
					}
					if ended(got) != ended(want) {
						t.Errorf("Done is closed: %v, want %v", ended(got), ended(want))
					}
					if got.Value(key{}) != "value" {
						t.Errorf("Value = %v", got.Value(key{}))
					}
					child, cancelChild := context.WithCancel(got)
					defer cancelChild()
					if synctest.Wait(); (child.Err() == nil) != (want.Err() == nil) {
						t.Errorf("Err of a child = %v, want %v", child.Err(), want.Err())
					}
				})
			})
		}
	}
}

// TestErrStays checks that Err returns the same error after the parent has ended, too.
func TestErrStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithCancel(t.Context())
		c := deadline.WithTimeout(parent, time.Second)
		time.Sleep(time.Second)
		first := c.Err()
		cancel()
		if again := c.Err(); !errors.Is(first, context.DeadlineExceeded) || !errors.Is(again, first) {
			t.Errorf("Err = %v and then %v, want %v twice", first, again, context.DeadlineExceeded)
		}
	})
}

func TestEarlierDeadlineOfTheParent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c := deadline.WithTimeout(parent, time.Hour)
		defer c.Cancel()
		want, _ := parent.Deadline()
		if got, ok := c.Deadline(); !ok || !got.Equal(want) {
			t.Errorf("Deadline = %v, want %v", got, want)
		}
	})
}

// TestChildrenNeedNoGoroutine checks that package context recognizes the context.
func TestChildrenNeedNoGoroutine(t *testing.T) {
	c := deadline.WithTimeout(t.Context(), time.Hour)
	defer c.Cancel()
	before := runtime.NumGoroutine()
	for range 100 {
		_, cancel := context.WithCancel(c)
		defer cancel()
	}
	if more := runtime.NumGoroutine() - before; more > 50 {
		t.Errorf("100 children have %d goroutines", more)
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	c := deadline.WithTimeout(t.Context(), time.Hour)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			c.Err()
			c.Value(key{})
			<-c.Done()
			if c.Err() == nil {
				t.Error("Err is nil after Done")
			}
		})
	}
	wg.Go(c.Cancel)
	wg.Wait()
}

func TestAllocations(t *testing.T) {
	ctx := t.Context()
	n := testing.AllocsPerRun(100, func() {
		c := deadline.WithTimeout(ctx, time.Hour)
		if c.Err() != nil || c.Value(key{}) != nil {
			t.Fatal("the context has ended")
		}
		c.Cancel()
	})
	if n > 1 {
		t.Errorf("%v allocations, want at most 1", n)
	}
}
