// Package asread passes the row that a store reads for a write from its Get to its Replace. The core puts an
// empty [Context] into each write of an item; the store adds its own row and takes it back. So the row is
// what the database had, whatever decorators and hooks make of the item between the two.
package asread

import (
	"context"
	"sync"
)

// Row is a row that a store has read. Only its store uses it.
type Row interface {
	// Discard returns the memory of a row that is not taken.
	Discard()
}

// Context is the context of a write with the rows that were read for it. It is safe for concurrent use.
type Context struct {
	context.Context
	id string // of the item that is written

	mu    sync.Mutex
	table any // of row
	rev   string
	row   Row
}

type key struct{}

// Begin replaces ctx by a Context for a write of the item id. The caller must call Release after the write.
func Begin(ctx *context.Context, id string) *Context {
	c := &Context{Context: *ctx, id: id}
	*ctx = c
	return c
}

// Value implements [context.Context].
func (c *Context) Value(k any) any {
	if k == (key{}) {
		return c
	}
	return c.Context.Value(k)
}

// From returns the Context of the innermost write that ctx belongs to, or nil.
func From(ctx context.Context) *Context {
	c, _ := ctx.Value(key{}).(*Context)
	return c
}

// Wants reports whether c keeps rows of the item. A nil c keeps none.
func (c *Context) Wants(id string) bool { return c != nil && c.id == id }

// Keep replaces the row of the item with one that its table has read. It belongs to c until it is taken.
func (c *Context) Keep(table any, rev string, row Row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.row != nil {
		c.row.Discard()
	}
	c.table, c.rev, c.row = table, rev, row
}

// Take removes and returns the row of an item, or nil if there is none of the table with the revision. A
// nil c has no rows.
func (c *Context) Take(table any, id, rev string) Row {
	if !c.Wants(id) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.row == nil || c.table != table || c.rev != rev {
		return nil
	}
	row := c.row
	c.row = nil
	return row
}

// Release releases a row that was not taken. A nil c has none.
func (c *Context) Release() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.row != nil {
		c.row.Discard()
	}
	c.row = nil
}
