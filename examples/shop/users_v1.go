package main

import "github.com/stoa-go/stoa/resource"

// User10 is a user in contract 1.0.0, which has no role. Contract 1.1.0 has the current
// representation.
type User10 struct {
	ID     int64  `json:"id" readOnly:"true" doc:"Assigned by the shop."`
	Email  string `json:"email" required:"true" format:"email" unique:"true"`
	Active bool   `json:"active" required:"true"`
}

// usersV10 returns the view of users in contract 1.0.0.
func usersV10(users *resource.Resource) *resource.Resource {
	return resource.View(users, toUser10, fromUser10, nil)
}

// toUser10 drops the role.
func toUser10(u User) (User10, error) {
	return User10{ID: u.ID, Email: u.Email, Active: u.Active}, nil
}

// fromUser10 keeps the role of base. For a new user, base has the defaults of the current contract.
func fromUser10(v User10, base User) (User, error) {
	base.Email, base.Active = v.Email, v.Active
	return base, nil
}
