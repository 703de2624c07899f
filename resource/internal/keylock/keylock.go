// Package keylock has mutual exclusion by key: writers of one item queue, and writers of different
// items do not wait for each other.
package keylock

import (
	"context"
	"sync"
)

// Locks has a lock for each key that is in use. The zero value is ready. It is safe for concurrent
// use, and must not be copied.
type Locks struct {
	mu   sync.Mutex
	held map[string]*lock
}

type lock struct {
	turn  chan struct{} // holds a token while the lock is free
	users int           // holder and waiters; guarded by Locks.mu
}

// Lock waits for the lock of key. The error is that of ctx if ctx is done first. The caller calls
// unlock once.
func (k *Locks) Lock(ctx context.Context, key string) (unlock func(), err error) {
	k.mu.Lock()
	l := k.held[key]
	if l == nil {
		l = &lock{turn: make(chan struct{}, 1)}
		l.turn <- struct{}{}
		if k.held == nil {
			k.held = map[string]*lock{}
		}
		k.held[key] = l
	}
	l.users++
	k.mu.Unlock()

	// The last user removes the lock from the map, so that it contains only keys in use. Waiters
	// are counted as users, which keeps their lock in the map.
	leave := func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(k.held, key)
		}
	}
	select {
	case <-l.turn:
		return func() { l.turn <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
