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
	held map[string]lock
}

// lock is the state of a key that is in use. It has a channel only once there is a waiter, because most
// writers of an item are alone.
type lock struct {
	users int           // holder and waiters
	turn  chan struct{} // holds a token while no user holds the lock; nil before the first waiter
}

// Held is a lock that Lock has acquired. The zero value holds none.
type Held struct {
	locks *Locks
	key   string
}

// Lock waits for the lock of key. The error is that of ctx if ctx is done first. A lock without other
// users is acquired even if ctx is done.
func (k *Locks) Lock(ctx context.Context, key string) (Held, error) {
	turn := k.enter(key)
	if turn == nil {
		return Held{k, key}, nil
	}
	select {
	case <-turn:
		return Held{k, key}, nil
	case <-ctx.Done():
		k.leave(key, false)
		return Held{}, ctx.Err()
	}
}

// Unlock releases the lock. The caller calls it once. It does nothing if h is the zero value.
func (h Held) Unlock() {
	if h.locks != nil {
		h.locks.leave(h.key, true)
	}
}

// enter adds a user of key. It returns nil if that is the only one, which then holds the lock, and
// otherwise the channel to wait for.
func (k *Locks) enter(key string) chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held == nil {
		k.held = map[string]lock{}
	}
	l := k.held[key]
	if l.users++; l.users > 1 && l.turn == nil {
		l.turn = make(chan struct{}, 1)
	}
	k.held[key] = l
	if l.users == 1 {
		return nil
	}
	return l.turn
}

// leave removes a user of key. The last one removes the key, and a holder passes the lock on to a
// waiter. Waiters are counted as users, which keeps their lock in the map.
func (k *Locks) leave(key string, holder bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.held[key]
	if l.users--; l.users == 0 {
		delete(k.held, key)
		return
	}
	k.held[key] = l
	if holder {
		l.turn <- struct{}{} // does not block: the holder had the only token
	}
}
