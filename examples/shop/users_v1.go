package main

import "github.com/stoa-go/stoa/resource"

// Contract 1.1.0 has the current representation of users.

// User10 is a user of the shop. This contract does not show the role.
type User10 struct {
	// ID is the number of the user. The shop assigns it.
	ID int64 `json:"id" readOnly:"true"`
	// Email is the address with which the user logs in.
	Email string `json:"email" required:"true" format:"email" unique:"true"`
	// Active reports whether the user can log in. The sessions of a user that is not active any more
	// have ended.
	Active bool `json:"active" required:"true"`
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
