package resource

import (
	"context"
	"sync"
)

// keyedLocks is a lock for each id that is being written at the moment. The zero value is ready.
type keyedLocks struct {
	mu   sync.Mutex
	held map[string]*keyedLock
}

type keyedLock struct {
	turn  chan struct{} // holds a token while the lock is free
	users int           // holder and waiters; guarded by keyedLocks.mu
}

// lock waits for the lock of id, or for the end of ctx.
func (k *keyedLocks) lock(ctx context.Context, id string) (unlock func(), err error) {
	k.mu.Lock()
	l := k.held[id]
	if l == nil {
		l = &keyedLock{turn: make(chan struct{}, 1)}
		l.turn <- struct{}{}
		if k.held == nil {
			k.held = map[string]*keyedLock{}
		}
		k.held[id] = l
	}
	l.users++
	k.mu.Unlock()

	leave := func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(k.held, id)
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
