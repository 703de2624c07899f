package main

import (
	"context"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// User is a user of the shop.
type User struct {
	// ID is the number of the user. The shop assigns it.
	ID int64 `json:"id" readOnly:"true"`
	// Email is the address with which the user logs in.
	Email string `json:"email" required:"true" format:"email" unique:"true"`
	// Active reports whether the user can log in. The sessions of a user that is not active any more
	// have ended.
	Active bool `json:"active" required:"true"`
	// Role is the role of the user, which decides what the user is allowed to do.
	Role UserRole `json:"role" enum:"customer,clerk,admin" default:"customer"`
}

// UserRole is the role of a user. The shop checks it if it runs with `-auth`.
type UserRole string

// The roles. policy.go has their rules.
const (
	customer UserRole = "customer" // sees and writes own orders and files, and adds places
	clerk    UserRole = "clerk"    // works on the orders of all customers, and runs commands on them
	admin    UserRole = "admin"    // changes users, too
)

// usersResource declares the users. They can be grouped by ?group=active, and orders by customer.active.
func (c *collections) usersResource() *resource.Resource {
	queries := allFields[User]("orders")
	queries.Group = []string{"active"}
	return assigned(c.users).Resource("users", guardOwn(c, &resource.Options[User]{
		Query:     queries,
		Relations: []resource.Relation[User]{{Name: "orders", Target: "orders", By: "customerId"}},
		Before:    c.beforeUser,
		Samples:   []User{{ID: 2, Email: "bob@example.com", Active: true, Role: customer}},
	}, "id", mayWriteUser))
}

// beforeUser ends the sessions of a user that is not active any more, in the transaction of the write,
// and rejects the deletion of a user with orders. The foreign key of the SQL table rejects
// it, too, also if an order is created concurrently; memory has no foreign keys. The list is
// limited to one order, because its existence is enough.
func (c *collections) beforeUser(ctx context.Context, _ resource.Op, before, after *User) error {
	if after != nil {
		if !c.auth || before == nil || !before.Active || after.Active {
			return nil
		}
		_, err := c.revokeTokens(ctx, before.ID)
		return err
	}
	theirs := query.Where("customerId", query.Eq, before.ID)
	for _, err := range c.orders.List(ctx, query.Query{Filter: theirs, Limit: 1}) {
		if err != nil {
			return err
		}
		return problem.New(problem.Conflict, "The user has orders and cannot be deleted.")
	}
	return nil
}
