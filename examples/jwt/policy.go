package main

// The tasks, the claims of a token and the policy.

import (
	"cmp"
	"context"
	"slices"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// Task is an item of a tenant. The tenant is that of the token.
type Task struct {
	ID     int64  `json:"id" readOnly:"true"`
	Tenant string `json:"tenant" readOnly:"true"`
	Text   string `json:"text" required:"true" minLength:"1" maxLength:"500"`
	Done   bool   `json:"done"`
}

// Claims are the members of a token that the policies below need, in addition to the standard ones.
type Claims struct {
	Tenant string   `json:"tenant"`
	Roles  []string `json:"roles"` // viewer, editor or admin
}

// caller returns the claims of a request, over every protocol.
func caller(ctx context.Context) (Claims, error) {
	if claims, ok := middleware.Claims[Claims](ctx); ok {
		return claims, nil
	}
	return Claims{}, resource.ErrUnauthenticated
}

// allowed are the operations of each role.
var allowed = map[string][]resource.Op{
	"viewer": {resource.OpGet},
	"editor": {resource.OpGet, resource.OpCreate, resource.OpReplace, resource.OpPatch},
	"admin":  {resource.OpGet, resource.OpCreate, resource.OpReplace, resource.OpPatch, resource.OpDelete},
}

// policy restricts callers to the tasks of their tenant and to the operations of their roles.
var policy = resource.Options[Task]{
	Before: func(ctx context.Context, op resource.Op, before, after *Task) error {
		claims, err := caller(ctx)
		if before == nil {
			after.Tenant = claims.Tenant
		}
		return err
	},
	Scope: func(ctx context.Context) (query.Filter, error) {
		claims, err := caller(ctx)
		return query.Where("tenant", query.Eq, claims.Tenant), err
	},
	Authorize: func(ctx context.Context, op resource.Op, _, _ *Task) error {
		claims, err := caller(ctx)
		if slices.ContainsFunc(claims.Roles, func(r string) bool { return slices.Contains(allowed[r], op) }) {
			return nil
		}
		return cmp.Or(err, resource.ErrForbidden)
	},
}
