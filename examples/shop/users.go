package main

import "github.com/stoa-go/stoa/resource"

// User is somebody the shop knows.
type User struct {
	ID     int64  `json:"id" readOnly:"true" doc:"Assigned by the shop."`
	Email  string `json:"email" required:"true" format:"email" unique:"true"`
	Active bool   `json:"active" required:"true"`
	Role   string `json:"role" enum:"customer,clerk,admin" default:"customer"`
}

func (c *collections) usersResource() *resource.Resource {
	return resource.FromOps("users", assigned(c.users), &resource.Options[User]{
		Query:     everything[User](),
		Relations: []resource.Relation[User]{{Name: "orders", Target: "orders", By: "customerId"}},
		Cache:     c.cache,
		Samples:   []User{{ID: 2, Email: "bob@example.com", Active: true, Role: "customer"}},
	})
}
