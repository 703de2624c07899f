package middleware

// A semaphore with a bounded queue. limit.go limits requests with it, attempts.go attempts.

import (
	"context"
	"sync/atomic"
	"time"
)

// semaphore limits how many goroutines run at a time, how many wait, and for how long.
type semaphore struct {
	slots   chan struct{}
	queue   int
	wait    time.Duration
	waiting atomic.Int64
}

// newSemaphore returns a semaphore with n slots. A negative queue means that none waits.
func newSemaphore(n, queue int, wait time.Duration) *semaphore {
	return &semaphore{slots: make(chan struct{}, n), queue: queue, wait: wait}
}

// acquire waits for a slot and reports whether it got one. The caller then calls release.
func (s *semaphore) acquire(ctx context.Context) bool {
	select {
	case s.slots <- struct{}{}:
		return true
	default:
	}
	defer s.waiting.Add(-1)
	if s.waiting.Add(1) > int64(s.queue) {
		return false
	}
	timer := time.NewTimer(s.wait)
	defer timer.Stop()
	select {
	case s.slots <- struct{}{}:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

func (s *semaphore) release() { <-s.slots }
