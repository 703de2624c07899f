package main

// Loading of users by token in batches: requests that arrive while the database answers share the
// next query. policy.go calls it for each request with a token.

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource"
)

// userLoader loads the users of open streams in batches, because each event authorizes all streams
// at once. Calls that arrive during a database read are collected for the next one. A result is
// therefore never older than the call, so revoked permissions take effect immediately. With 1,000
// streams, one event needs a few queries in place of 2,000.
type userLoader struct {
	// find returns the users of the valid tokens.
	find func(ctx context.Context, tokens []string) (map[string]User, error)

	mu   sync.Mutex
	next *userBatch // nil if no call is waiting
	busy bool       // loadBatches is running
}

// userBatch is one batch of tokens to look up.
type userBatch struct {
	tokens map[string]bool
	done   chan struct{} // closed when users and err are set
	users  map[string]User
	err    error
}

// loadTimeout limits a database read. It is independent of the contexts of the callers, because one
// caller must not cancel the read for the others.
const loadTimeout = 10 * time.Second

// userOfToken returns the active user of the token with this id. The error is
// [resource.ErrUnauthenticated] if the token is not valid.
func (c *userLoader) userOfToken(ctx context.Context, id string) (User, error) {
	q := c.add(id)
	select {
	case <-q.done:
	case <-ctx.Done():
		return User{}, ctx.Err()
	}
	if q.err != nil {
		return User{}, q.err
	}
	user, ok := q.users[id]
	if !ok {
		return User{}, resource.ErrUnauthenticated
	}
	return user, nil
}

// add adds a token to the next batch, and starts loadBatches if it is not running.
func (c *userLoader) add(id string) *userBatch {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = &userBatch{tokens: map[string]bool{}, done: make(chan struct{})}
	}
	c.next.tokens[id] = true
	if !c.busy {
		c.busy = true
		go c.loadBatches()
	}
	return c.next
}

// loadBatches runs batches until no call is waiting.
func (c *userLoader) loadBatches() {
	for q := c.nextBatch(); q != nil; q = c.nextBatch() {
		ctx, cancel := context.WithTimeout(context.Background(), loadTimeout)
		q.users, q.err = c.find(ctx, slices.Collect(maps.Keys(q.tokens)))
		cancel()
		close(q.done)
	}
}

// nextBatch returns the next batch, or nil if no call is waiting. It yields first, so that goroutines
// that are about to call add are part of the batch.
func (c *userLoader) nextBatch() *userBatch {
	runtime.Gosched()
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.next
	c.next, c.busy = nil, q != nil
	return q
}

// usersOfTokens returns the active users of the valid tokens, by token id.
func (c *collections) usersOfTokens(ctx context.Context, tokens []string) (map[string]User, error) {
	of := map[string][]string{} // tokens by user
	for kept, err := range c.tokens.GetMany(ctx, tokens) {
		if err != nil {
			return nil, err
		}
		if c.now().Before(kept.Value.ExpiresAt) {
			id := strconv.FormatInt(kept.Value.UserID, 10)
			of[id] = append(of[id], kept.Value.ID)
		}
	}
	found := make(map[string]User, len(tokens))
	for it, err := range c.users.GetMany(ctx, slices.Collect(maps.Keys(of))) {
		if err != nil {
			return nil, err
		}
		if !it.Value.Active {
			continue
		}
		for _, token := range of[strconv.FormatInt(it.Value.ID, 10)] {
			found[token] = it.Value
		}
	}
	return found, nil
}
