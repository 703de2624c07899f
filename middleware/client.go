package middleware

import (
	"net/http"
	"net/netip"
)

// client is the address of who is asking.
func client(r *http.Request) netip.Addr { return peer(r) }
