//go:build release4

package main

import (
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/version"
)

const (
	release = "release 4"
	needed  = 5 // migrations
)

// Customer has two members in place of name.
type Customer struct {
	ID        string  `json:"id" format:"uuid" readOnly:"true"`
	FirstName string  `json:"firstName" maxLength:"200"`
	LastName  string  `json:"lastName" required:"true" maxLength:"200"`
	Telephone string  `json:"telephone" db:"phone" maxLength:"40"`
	Email     *string `json:"email" format:"email"`
}

// CustomerV2 is the shape of release 3.
type CustomerV2 struct {
	ID        string  `json:"id" format:"uuid" readOnly:"true"`
	Name      string  `json:"name" required:"true" maxLength:"200"`
	Telephone string  `json:"telephone" maxLength:"40"`
	Email     *string `json:"email" format:"email"`
}

var queries = query.Support{
	Sort:   []string{"id"},
	Filter: map[string][]query.Op{"email": {query.Eq}},
}

// Each contract is a view of the next newer one.
func contracts(current *resource.Resource) []version.Contract {
	v2 := resource.View(current, toV2, fromV2, nil)
	v1 := resource.View(v2, toV1, fromV1, nil)
	return []version.Contract{contract("3.0.0", current), contract("2.0.0", v2), contract("1.1.0", v1)}
}

func toV2(c Customer) (CustomerV2, error) {
	name := strings.TrimSpace(c.FirstName + " " + c.LastName)
	return CustomerV2{ID: c.ID, Name: name, Telephone: c.Telephone, Email: c.Email}, nil
}

// fromV2 splits a name at its last space, as the trigger of the migration does.
func fromV2(v CustomerV2, base Customer) (Customer, error) {
	base.FirstName, base.LastName = "", v.Name
	if i := strings.LastIndexByte(v.Name, ' '); i >= 0 {
		base.FirstName, base.LastName = v.Name[:i], v.Name[i+1:]
	}
	base.Telephone, base.Email = v.Telephone, v.Email
	return base, nil
}

func toV1(c CustomerV2) (CustomerV1, error) {
	return CustomerV1{ID: c.ID, Name: c.Name, Phone: c.Telephone, Email: c.Email}, nil
}

func fromV1(v CustomerV1, base CustomerV2) (CustomerV2, error) {
	base.Name, base.Telephone, base.Email = v.Name, v.Phone, v.Email
	return base, nil
}
