//go:build release3 || release4

package main

// CustomerV1 is the shape of release 2, which later releases serve as contract 1.1.0.
type CustomerV1 struct {
	ID    string  `json:"id" format:"uuid" readOnly:"true"`
	Name  string  `json:"name" required:"true" maxLength:"200"`
	Phone string  `json:"phone" maxLength:"40"`
	Email *string `json:"email" format:"email"`
}
