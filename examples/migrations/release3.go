//go:build release3

package main

import (
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/version"
)

const (
	release = "release 3"
	needed  = 3 // migrations
)

// Customer has the member telephone. The tag db keeps its column, so no statement is needed.
type Customer struct {
	ID        string  `json:"id" format:"uuid" readOnly:"true"`
	Name      string  `json:"name" required:"true" maxLength:"200"`
	Telephone string  `json:"telephone" db:"phone" maxLength:"40"`
	Email     *string `json:"email" format:"email"`
}

var queries = query.Support{
	Sort:   []string{"id"},
	Filter: map[string][]query.Op{"email": {query.Eq}},
}

func contracts(current *resource.Resource) []version.Contract {
	older := resource.View(current, toV1, fromV1, nil)
	return []version.Contract{contract("2.0.0", current), contract("1.1.0", older)}
}

func toV1(c Customer) (CustomerV1, error) {
	return CustomerV1{ID: c.ID, Name: c.Name, Phone: c.Telephone, Email: c.Email}, nil
}

func fromV1(v CustomerV1, base Customer) (Customer, error) {
	base.Name, base.Telephone, base.Email = v.Name, v.Phone, v.Email
	return base, nil
}
