package keylock_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stoa-go/stoa/resource/internal/keylock"
)

func TestExclusion(t *testing.T) {
	t.Parallel()
	var locks keylock.Locks
	var wg sync.WaitGroup
	n := 0 // the race detector reports it if two goroutines hold the lock
	for range 16 {
		wg.Go(func() {
			for range 100 {
				held, err := locks.Lock(t.Context(), "a")
				if err != nil {
					t.Error(err)
					return
				}
				n++
				held.Unlock()
			}
		})
	}
	wg.Wait()
	if n != 1600 {
		t.Errorf("%d turns, want 1600", n)
	}
}

func TestKeysAreIndependent(t *testing.T) {
	t.Parallel()
	var locks keylock.Locks
	for _, key := range []string{"a", "b"} {
		held, err := locks.Lock(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		defer held.Unlock()
	}
}

func TestCanceledWaiter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var locks keylock.Locks
		held, err := locks.Lock(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		waited := make(chan error)
		go func() {
			_, err := locks.Lock(ctx, "a")
			waited <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-waited; !errors.Is(err, context.Canceled) {
			t.Errorf("canceled waiter: %v, want %v", err, context.Canceled)
		}
		held.Unlock()
		if held, err = locks.Lock(t.Context(), "a"); err != nil {
			t.Fatalf("lock after a canceled waiter: %v", err)
		}
		held.Unlock()
	})
}
