package main

import (
	"context"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// User is a user of the shop.
type User struct {
	ID     int64  `json:"id" readOnly:"true" doc:"Assigned by the shop."`
	Email  string `json:"email" required:"true" format:"email" unique:"true"`
	Active bool   `json:"active" required:"true"`
	Role   string `json:"role" enum:"customer,clerk,admin" default:"customer"`
}

// usersResource declares the users.
func (c *collections) usersResource() *resource.Resource {
	return assigned(c.users).Resource("users", guardOwn(c, &resource.Options[User]{
		Query:     allFields[User](),
		Relations: []resource.Relation[User]{{Name: "orders", Target: "orders", By: "customerId"}},
		Before:    c.beforeUser,
		Samples:   []User{{ID: 2, Email: "bob@example.com", Active: true, Role: "customer"}},
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
