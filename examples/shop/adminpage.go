package main

// The admin page, of package admin.

import (
	"net/http"

	"github.com/stoa-go/stoa/resource"
	adminpage "github.com/stoa-go/stoa/resource/admin" // admin is a role
)

// newAdmin returns the admin page of a contract. With -auth its requests have the rights of the user
// that logs in there.
func newAdmin(catalog *resource.Catalog) http.Handler {
	return adminpage.New(catalog, &adminpage.Options{Title: "The shop",
		Login: &adminpage.Login{Command: "auth/login", Logout: "auth/logout"}})
}
