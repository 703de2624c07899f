package main

// Authorization. Each resource gets its rules from guard, which is the only place that reads
// roles.

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

// The roles that -auth checks. Writes require a token, and customers see only their own orders;
// everything else is public. Only admins change users, because a role grants permissions. Only
// clerks and admins run commands on the orders of all customers. A service with other rules changes
// guard and guardOrders only.
const (
	customer = "customer"
	clerk    = "clerk"
	admin    = "admin"
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
	return c.withAuthentication(middleware.RateLimit(c.rate, opts)(next))
}

// withAuthentication authenticates the caller by bearer token. Writes other than login require one.
// Requests to /graphql are always POST, so there the policies of the resources decide.
func (c *collections) withAuthentication(next http.Handler) http.Handler {
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
		// The path may begin with that of a contract.
		Required: func(r *http.Request) bool {
			return middleware.Writes(r) && !strings.HasSuffix(r.URL.EscapedPath(), "/auth/login") &&
				!asksGraphQL(r)
		},
		// A public response that depends on the token must not be served to callers with another
		// one.
		Vary: strings.Contains(c.cache, "public"),
	})
	return withSession(authenticate(c.endWithSession(next)))
}

// caller returns the user of the request, or [resource.ErrUnauthenticated]. A stream calls it for
// each event, because the user may have logged out. It then reads the user together with those of
// the other streams.
func (c *collections) caller(ctx context.Context) (User, error) {
	id := middleware.Principal(ctx)
	if id == "" {
		return User{}, resource.ErrUnauthenticated
	}
	if s := sessionOf(ctx); s != nil && s.token != "" {
		// A batch could wait for this transaction, which waits for the batch. Memory needs no
		// batches.
		if tx.Active(ctx) || c.db.sql == nil {
			user, _, err := c.userOfToken(ctx, s.token)
			return user, err
		}
		return c.userLoader.userOfToken(ctx, s.token)
	}
	return c.activeUser(ctx, id)
}

// requireRole returns [resource.ErrForbidden] if the caller has none of the roles.
func (c *collections) requireRole(ctx context.Context, roles ...string) error {
	user, err := c.caller(ctx)
	if err == nil && !slices.Contains(roles, user.Role) {
		err = resource.ErrForbidden
	}
	return err
}

// guard lets users with these roles write and every caller read. Without -auth it changes nothing.
// Scope selects everything: with Authorize alone a list has no total, because it could count hidden
// items. AuthorizeGone permits every caller to learn that an item was deleted (410).
func guard[T any](c *collections, o *resource.Options[T], writers ...string) *resource.Options[T] {
	if !c.auth {
		return o
	}
	o.Authorize = func(ctx context.Context, op resource.Op, _, _ *T) error {
		if op == resource.OpGet {
			return nil
		}
		return c.requireRole(ctx, writers...)
	}
	o.Scope = func(context.Context) (query.Filter, error) { return query.Filter{}, nil }
	o.AuthorizeGone = func(context.Context, string) error { return nil }
	return o
}

// guardOrders also limits customers to their own orders, and rejects reads without a token.
func (c *collections) guardOrders(o *resource.Options[Order]) *resource.Options[Order] {
	o = guard(c, o, customer, clerk, admin)
	if c.auth {
		o.Scope = c.visibleOrders
		o.AuthorizeGone = func(ctx context.Context, _ string) error {
			return c.requireRole(ctx, clerk, admin)
		}
	}
	return o
}

// visibleOrders is the Scope of orders. It returns a filter and not a decision, so that the
// database applies it to lists, totals and pages.
func (c *collections) visibleOrders(ctx context.Context) (query.Filter, error) {
	user, err := c.caller(ctx)
	if err != nil || user.Role != customer {
		return query.Filter{}, err
	}
	return query.Where("customerId", query.Eq, user.ID), nil
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
