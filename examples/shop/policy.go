package main

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/tx"
)

// What -auth means: who writes says who they are, and customers see only their own orders. Everything else anybody may read.
// Roles give rights, so users are changed by admins; what concerns the orders of everybody is done by clerks and admins.
const (
	customer = "customer"
	clerk    = "clerk"
	admin    = "admin"
)

// realm is what tokens are for.
const realm = "shop"

// guest is everybody, without -auth.
const guest = "guest"

// principal names who asks, for jobs.
func (c *collections) principal(ctx context.Context) string {
	if !c.auth {
		return guest
	}
	return middleware.Principal(ctx)
}

// admitted finds out who asks, and lets each of them ask as often as -rate says. Who gives a wrong token is told so before
// that, and costs a look into a table.
func (c *collections) admitted(next http.Handler) http.Handler {
	opts := &middleware.RateLimitOptions{}
	if !c.auth {
		opts.Key = func(r *http.Request) string { return c.principal(r.Context()) }
	}
	return c.authenticated(middleware.RateLimit(c.rate, opts)(next))
}

// authenticated finds out who asks, by the bearer token. Nobody gets further without one who wants to change something,
// except to log in. At /graphql everything is a POST, so there the policies of what is changed see to that.
func (c *collections) authenticated(next http.Handler) http.Handler {
	if !c.auth {
		return next
	}
	authenticate := middleware.Authenticate(func(ctx context.Context, token string) (string, error) {
		user, expires, err := c.userOfToken(ctx, tokenID(token))
		if errors.Is(err, resource.ErrUnauthenticated) {
			return "", middleware.ErrToken
		}
		id := strconv.FormatInt(user.ID, 10)
		if s := sessionOf(ctx); s != nil {
			s.token, s.user, s.expires = tokenID(token), id, expires
		}
		return id, err
	}, &middleware.AuthenticateOptions{
		Realm: realm,
		// The path of a contract may stand in front.
		Required: func(r *http.Request) bool {
			return middleware.Writes(r) && !strings.HasSuffix(r.URL.EscapedPath(), "/auth/login") && !asksGraphQL(r)
		},
		Vary: strings.Contains(c.cache, "public"),
	})
	return remembered(authenticate(c.asLongAsItLasts(next)))
}

// caller returns the user who asks, or [resource.ErrUnauthenticated]. Who listens is asked for again with each change, as all
// others who listen are, and may have logged out since.
func (c *collections) caller(ctx context.Context) (User, error) {
	id := middleware.Principal(ctx)
	if id == "" {
		return User{}, resource.ErrUnauthenticated
	}
	if s := sessionOf(ctx); s != nil && s.token != "" {
		if tx.Active(ctx) || c.db.sql == nil { // the crowd may be waiting for the transaction; and memory is faster than any crowd
			user, _, err := c.userOfToken(ctx, s.token)
			return user, err
		}
		return c.crowd.userOfToken(ctx, s.token)
	}
	return c.activeUser(ctx, id)
}

// mustBe refuses callers in other roles.
func (c *collections) mustBe(ctx context.Context, roles ...string) error {
	user, err := c.caller(ctx)
	if err == nil && !slices.Contains(roles, user.Role) {
		err = resource.ErrForbidden
	}
	return err
}

// guard lets users in these roles write, and everybody read. Without -auth everybody may do everything.
func guard[T any](c *collections, o *resource.Options[T], writers ...string) *resource.Options[T] {
	if !c.auth {
		return o
	}
	o.Authorize = func(ctx context.Context, op resource.Op, _, _ *T) error {
		if op == resource.OpGet {
			return nil
		}
		return c.mustBe(ctx, writers...)
	}
	o.Scope = func(context.Context) (query.Filter, error) { return query.Filter{}, nil }
	o.AuthorizeGone = func(context.Context, string) error { return nil }
	return o
}

// guardOrders also hides the orders of others from customers, and all of them from who does not say who they are.
func (c *collections) guardOrders(o *resource.Options[Order]) *resource.Options[Order] {
	o = guard(c, o, customer, clerk, admin)
	if c.auth {
		o.Scope = c.visibleOrders
		o.AuthorizeGone = func(ctx context.Context, _ string) error { return c.mustBe(ctx, clerk, admin) }
	}
	return o
}

func (c *collections) visibleOrders(ctx context.Context) (query.Filter, error) {
	user, err := c.caller(ctx)
	if err != nil || user.Role != customer {
		return query.Filter{}, err
	}
	return query.Where("customerId", query.Eq, user.ID), nil
}

// forSelf makes a new order one of the customer who places it, unless it says otherwise: then it is refused, as one that
// they could not see.
func (c *collections) forSelf(ctx context.Context, o *Order) error {
	if !c.auth || o.CustomerID != nil {
		return nil
	}
	user, err := c.caller(ctx)
	if err == nil && user.Role == customer {
		o.CustomerID = &user.ID
	}
	return err
}
