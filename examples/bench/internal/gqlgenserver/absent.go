//go:build !gqlgen

package gqlgenserver

import (
	"net/http"

	"github.com/stoa-go/stoa/examples/bench/internal/shop"
)

// Available reports whether this program was built with the tag gqlgen.
const Available = false

// Handler panics, because this program was built without the tag gqlgen.
func Handler(*shop.Shop) http.Handler { panic("gqlgenserver: built without the tag gqlgen") }
