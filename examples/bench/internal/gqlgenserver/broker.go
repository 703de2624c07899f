package gqlgenserver

import (
	"context"
	"sync"
)

// broker gives changes to all who listen, as the examples of gqlgen do: each has a channel. It waits for whoever is slow, as
// a change is not to be lost.
type broker struct {
	mu        sync.Mutex
	listeners map[chan *OrderChange]context.Context
}

// listen returns the changes until ctx ends.
func (b *broker) listen(ctx context.Context) <-chan *OrderChange {
	const room = 16
	c := make(chan *OrderChange, room)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.listeners == nil {
		b.listeners = map[chan *OrderChange]context.Context{}
	}
	b.listeners[c] = ctx
	context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.listeners, c)
	})
	return c
}

func (b *broker) tell(change *OrderChange) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c, ctx := range b.listeners {
		select {
		case c <- change:
		case <-ctx.Done():
		}
	}
}
