package main

import (
	"net"
	"net/http"
	"regexp"
	"strings"

	"github.com/stoa-go/stoa/resource/problem"
)

// versionHost is the host that names a contract, such as api-v2.localhost.
var versionHost = regexp.MustCompile(`^api-v(0|[1-9][0-9]{0,4})\.localhost$`)

// ownHosts refuses requests for hosts that are not the shop's (RFC 9110 section 15.5.20). A page of somebody else's
// whose name has been made to lead here would otherwise get at a shop that listens on nothing but this machine.
// addr is the listen address, whose host is one of the shop's.
func ownHosts(addr string, next http.Handler) http.Handler {
	own := map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true, hostname(addr): true}
	delete(own, "") // -addr :8080 names no host
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := hostname(r.Host)
		// HTTP/1.0 need not say which host it means.
		if r.Host != "" && !own[host] && !versionHost.MatchString(host) {
			problem.Write(w, r, problem.New(problem.Misdirected, "This host is not served here."))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostname returns the host of an authority as it is compared: without port, brackets and the dot of the root, and in
// lower case (RFC 9110 sections 4.2.3 and 7.2).
func hostname(authority string) string {
	host, _, err := net.SplitHostPort(authority)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(authority, "["), "]")
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
