// Package deadline limits calls that mostly end long before their deadline. Package resource reads
// collections with it.
package deadline

import (
	"context"
	"sync"
	"time"
)

// Context is a context with a deadline, like that of [context.WithTimeout]. It starts a timer only
// when Done is called, so a call that does not wait costs one allocation. It is safe for concurrent
// use.
type Context struct {
	parent   context.Context
	deadline time.Time

	mu     sync.Mutex
	err    error           // the first error of Err; later calls return the same
	inner  context.Context // set by the first call of Done
	cancel context.CancelFunc
}

var _ context.Context = (*Context)(nil)

// WithTimeout returns a context that ends after d, or with its parent. The caller must call Cancel.
func WithTimeout(parent context.Context, d time.Duration) *Context {
	c := &Context{parent: parent, deadline: time.Now().Add(d)}
	if earlier, ok := parent.Deadline(); ok && earlier.Before(c.deadline) {
		c.deadline = earlier
	}
	return c
}

// Cancel ends the context. If the deadline has passed and nothing has called Done or Err, the error of
// the context is [context.Canceled], because Cancel does not read the clock.
func (c *Context) Cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inner != nil {
		c.cancel()
	} else if c.err == nil {
		c.err = context.Canceled
	}
}

// Deadline implements [context.Context].
func (c *Context) Deadline() (time.Time, bool) { return c.deadline, true }

// Done implements [context.Context].
func (c *Context) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inner == nil {
		c.inner, c.cancel = context.WithDeadline(c.parent, c.deadline)
		if c.err != nil {
			c.cancel()
		}
	}
	return c.inner.Done()
}

// Err implements [context.Context].
func (c *Context) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
	case c.inner != nil:
		c.err = c.inner.Err()
	case c.parent.Err() != nil:
		c.err = c.parent.Err()
	case !time.Now().Before(c.deadline):
		c.err = context.DeadlineExceeded
	}
	return c.err
}

// Value implements [context.Context]. After Done was called it returns the values of the context with
// the timer, so that package context registers children with that one and starts no goroutine for them.
func (c *Context) Value(key any) any {
	c.mu.Lock()
	inner := c.inner
	c.mu.Unlock()
	if inner != nil {
		return inner.Value(key)
	}
	return c.parent.Value(key)
}
