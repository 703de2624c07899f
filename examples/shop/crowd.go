package main

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

// crowd finds out who they are that listen, for many at a time, as each change has all of them ask at once. Who comes while
// the database is being asked waits for the next question, which is put for all who wait. So each answer was read after it
// was asked for, and rights are those of the moment.
type crowd struct {
	// find returns the users of those tokens that are good.
	find func(ctx context.Context, tokens []string) (map[string]User, error)

	mu   sync.Mutex
	next *question // nil if nobody waits
	busy bool      // somebody puts questions
}

// question is whose some tokens are.
type question struct {
	tokens map[string]bool
	done   chan struct{} // closed when users and err are known
	users  map[string]User
	err    error
}

// longest is how long a question may take. It is not over when one of those who wait has gone.
const longest = 10 * time.Second

// userOfToken returns the active user to whom a token was given, or [resource.ErrUnauthenticated].
func (c *crowd) userOfToken(ctx context.Context, id string) (User, error) {
	q := c.join(id)
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

// join adds a token to the question that is put next.
func (c *crowd) join(id string) *question {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = &question{tokens: map[string]bool{}, done: make(chan struct{})}
	}
	c.next.tokens[id] = true
	if !c.busy {
		c.busy = true
		go c.ask()
	}
	return c.next
}

// ask puts questions as long as somebody waits.
func (c *crowd) ask() {
	for q := c.take(); q != nil; q = c.take() {
		ctx, cancel := context.WithTimeout(context.Background(), longest)
		q.users, q.err = c.find(ctx, slices.Collect(maps.Keys(q.tokens)))
		cancel()
		close(q.done)
	}
}

// take returns the next question, nil if nobody waits. Those who are just about to ask come first.
func (c *crowd) take() *question {
	runtime.Gosched()
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.next
	c.next, c.busy = nil, q != nil
	return q
}

// usersOfTokens returns the active users of those tokens that are good, by what tokenID returns.
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
