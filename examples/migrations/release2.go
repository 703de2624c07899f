//go:build release2

package main

import (
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/version"
)

const (
	release = "release 2"
	needed  = 3 // migrations
)

// Customer has a new field. It is a pointer, so its column is nullable, and rows of release 1 have no
// value.
type Customer struct {
	ID    string  `json:"id" format:"uuid" readOnly:"true"`
	Name  string  `json:"name" required:"true" maxLength:"200"`
	Phone string  `json:"phone" maxLength:"40"`
	Email *string `json:"email" format:"email"`
}

var queries = query.Support{
	Sort:   []string{"id"},
	Filter: map[string][]query.Op{"email": {query.Eq}},
}

// A new member that is not required breaks no client, so the contract gets a minor version.
func contracts(current *resource.Resource) []version.Contract {
	return []version.Contract{contract("1.1.0", current)}
}
