//go:build !release2 && !release3 && !release4

package main

import (
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/version"
)

const (
	release = "release 1"
	needed  = 1 // migrations
)

// Customer is the first shape.
type Customer struct {
	ID    string `json:"id" format:"uuid" readOnly:"true"`
	Name  string `json:"name" required:"true" maxLength:"200"`
	Phone string `json:"phone" maxLength:"40"`
}

var queries = query.Support{Sort: []string{"id"}}

func contracts(current *resource.Resource) []version.Contract {
	return []version.Contract{contract("1.0.0", current)}
}
