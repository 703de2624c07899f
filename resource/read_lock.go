package resource

// Reading an item with a lock, for hooks that decide about one item by another. Called by
// applications. It calls the store.

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/stoa-go/stoa/resource/tx"
)

// GetForUpdate returns an item of the collection that r serves, and locks it until the transaction
// of ctx ends. A hook calls it to decide by another item that must not change before the write is
// committed, such as the other doctor on call. It does not apply Scope, Authorize or views.
//
// If the hooks of two writes lock each other's items, the database ends one transaction, and it runs
// again. PostgreSQL does so after deadlock_timeout, a second by default. To avoid that delay, lock
// all items in the order of their ids, and the written item among them.
//
// T is the type of the collection. The errors are those of [Collection].Get, and an internal error
// if the collection is not a [Locker] of T, or if ctx carries no transaction of its Runner. The
// latter is the case in a hook of a resource of another database, or with Options.HooksOutsideTx.
func GetForUpdate[T any](ctx context.Context, r *Resource, id string) (Item[T], error) {
	c := r.core
	get, ok := c.ops.getForUpdate.(func(context.Context, string) (Item[T], error))
	var item Item[T]
	var err error
	switch {
	case c.ops.getForUpdate == nil:
		err = errNoLocker
	case !ok:
		err = fmt.Errorf("GetForUpdate of %v from a collection of %v", reflect.TypeFor[T](), c.typ.GoType)
	case !tx.ActiveFor(ctx, c.ops.runner):
		err = errNoTransaction
	case !c.id.Canonical(id):
		err = ErrNotFound
	default:
		item, err = get(ctx, id)
	}
	if err != nil {
		return Item[T]{}, &Error{Op: OpGet, Resource: c.name, ID: id, Err: err}
	}
	return item, nil
}

var (
	errNoLocker      = errors.New("the collection cannot lock items; it is not a Locker")
	errNoTransaction = errors.New("GetForUpdate outside of a transaction of the collection")
)
