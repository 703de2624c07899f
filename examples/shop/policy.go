package main

// Authorization. Each resource gets its rules from guard, which is the only place that reads roles.
//
// With -auth, orders and users require a token, and customers see only their own. Places and files are
// public, and writing them requires a token. Only admins change users, because a role grants
// permissions. Only clerks and admins run commands on the orders of all customers. A service with
// other rules changes the functions below guard.

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
)

// realm is the realm of the bearer tokens.
const realm = "shop"

// guest is the principal of every caller without -auth.
const guest = "guest"

// principal returns the caller of a request.
func (c *collections) principal(ctx context.Context) string {
	if !c.auth {
		return guest
	}
	return middleware.Principal(ctx)
}

// withCaller authenticates the caller and applies the rate limit of -rate. A request with an invalid
// token is rejected before the rate limit and costs one database read.
func (c *collections) withCaller(next http.Handler) http.Handler {
	opts := &middleware.RateLimitOptions{}
	if !c.auth {
		opts.Key = func(r *http.Request) string { return c.principal(r.Context()) }
	}
	limited := middleware.RateLimit(c.rate, opts)(next)
	if !c.auth {
		return limited
	}
	return c.sessions.Authenticate(limited)
}

// caller returns the user of the request, or [resource.ErrUnauthenticated]. A stream calls it for
// each event, because the user may have logged out.
func (c *collections) caller(ctx context.Context) (User, error) {
	if middleware.Principal(ctx) == "" {
		return User{}, resource.ErrUnauthenticated
	}
	session, err := c.sessions.Current(ctx)
	return session.Claims, err
}

// requireRole returns [resource.ErrForbidden] if the caller has none of the roles.
func (c *collections) requireRole(ctx context.Context, roles ...UserRole) error {
	user, err := c.caller(ctx)
	if err == nil && !slices.Contains(roles, user.Role) {
		err = resource.ErrForbidden
	}
	return err
}

// guard lets every caller read, and users write what may allows. Without -auth it changes nothing.
// Scope selects everything: with Authorize alone a list has no total, because it could count hidden
// items. ScopeComplete is set because Authorize permits all reads. AuthorizeGone permits every caller to
// learn that an item was deleted (410).
func guard[T any](c *collections, o *resource.Options[T],
	may func(u User, op resource.Op, before, after *T) bool) *resource.Options[T] {
	if !c.auth {
		return o
	}
	o.Authorize = func(ctx context.Context, op resource.Op, before, after *T) error {
		if op == resource.OpGet {
			return nil
		}
		user, err := c.caller(ctx)
		if err == nil && !may(user, op, before, after) {
			err = resource.ErrForbidden
		}
		return err
	}
	o.Scope = func(context.Context) (query.Filter, error) { return query.Filter{}, nil }
	o.ScopeComplete = true
	o.AuthorizeGone = func(context.Context, string) error { return nil }
	return o
}

// guardOwn is guard for items of customers: member has the id of the user. Customers see and write
// only their own items, and reads without a token are rejected. Scope returns a filter and not a
// decision, so that the database applies it to lists, totals and pages.
func guardOwn[T any](c *collections, o *resource.Options[T], member string,
	may func(u User, op resource.Op, before, after *T) bool) *resource.Options[T] {
	if o = guard(c, o, may); !c.auth {
		return o
	}
	o.Scope = func(ctx context.Context) (query.Filter, error) {
		user, err := c.caller(ctx)
		if err != nil || user.Role != customer {
			return query.Filter{}, err
		}
		return query.Where(member, query.Eq, user.ID), nil
	}
	o.AuthorizeGone = func(ctx context.Context, _ string) error { return c.requireRole(ctx, clerk, admin) }
	return o
}

// mayWriteOrder lets customers place orders, and change and cancel those that they see. Only clerks
// and admins state that an order was paid or shipped.
func mayWriteOrder(u User, _ resource.Op, before, after *Order) bool {
	switch {
	case u.Role != customer || after == nil:
		return true
	case before == nil:
		return after.Status == placed
	}
	return after.Status == before.Status || after.Status == cancelled
}

// mayWriteUser lets admins write users, because a role grants permissions.
func mayWriteUser(u User, _ resource.Op, _, _ *User) bool { return u.Role == admin }

// mayWritePlace lets customers add and change places, but not delete them.
func mayWritePlace(u User, op resource.Op, _, _ *Place) bool {
	return op != resource.OpDelete || u.Role != customer
}

// FileOwner is the user that owns the name of a file: the first one that stored a file under it. The
// name keeps its owner after the file was deleted.
type FileOwner struct {
	ID     string `json:"id"`     // the name of the file
	UserID int64  `json:"userId"` // the id of the user
}

// authorizeFile lets every caller read files, and customers write only under names of their own. A
// new name is claimed before the content is stored, so of two customers only one can store it. The
// claim remains if the upload fails.
func (c *collections) authorizeFile(ctx context.Context, op resource.Op, before, after *blob.Blob) error {
	if op == resource.OpGet {
		return nil
	}
	user, err := c.caller(ctx)
	if err != nil {
		return err
	}
	if before == nil {
		before = after
		_, err := c.fileOwners.Insert(ctx, after.ID, FileOwner{ID: after.ID, UserID: user.ID})
		if !errors.Is(err, resource.ErrExists) {
			return err
		}
	}
	if user.Role != customer {
		return nil
	}
	owner, err := c.fileOwners.Get(ctx, before.ID)
	if isAbsent(err) || err == nil && owner.Value.UserID != user.ID {
		err = resource.ErrForbidden
	}
	return err
}

// setCustomer sets the customer of a new order to the caller if the order has none and the caller is a
// customer. An order for another customer is rejected by the scope.
func (c *collections) setCustomer(ctx context.Context, o *Order) error {
	if !c.auth || o.CustomerID != nil {
		return nil
	}
	user, err := c.caller(ctx)
	if err == nil && user.Role == customer {
		o.CustomerID = &user.ID
	}
	return err
}
