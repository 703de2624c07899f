//go:build gqlgen

package gqlgenserver

import (
	"context"
	"sync"
)

// broker sends changes to all subscribers as the examples of gqlgen do, over one channel for each.
// It waits for slow subscribers, so that none of them loses a change.
type broker struct {
	mu          sync.Mutex
	subscribers map[chan *OrderChange]context.Context
}

// subscribe returns the changes until ctx is done.
func (b *broker) subscribe(ctx context.Context) <-chan *OrderChange {
	const buffer = 16
	c := make(chan *OrderChange, buffer)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.subscribers == nil {
		b.subscribers = map[chan *OrderChange]context.Context{}
	}
	b.subscribers[c] = ctx
	context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.subscribers, c)
	})
	return c
}

func (b *broker) publish(change *OrderChange) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c, ctx := range b.subscribers {
		select {
		case c <- change:
		case <-ctx.Done():
		}
	}
}
