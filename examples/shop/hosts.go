package main

import (
	"net"
	"net/http"
	"regexp"
	"strings"

	"github.com/stoa-go/stoa/resource/problem"
)

// versionDomain is what follows the label of a host that names a contract: api-v2.localhost.
const versionDomain = "localhost"

// versionLabel is such a label, whether or not there is a contract of that name.
var versionLabel = regexp.MustCompile(`^api-v(0|[1-9][0-9]{0,4})(-(0|[1-9][0-9]{0,4})){0,2}\.` + versionDomain + `$`)

// otherHosts are the hosts of a shop with this listen address that name no contract.
func otherHosts(addr string) []string {
	others := []string{"127.0.0.1", "[::1]"}
	host := hostname(addr)
	switch {
	case host == "" || host == versionDomain: // -addr :8080 names no host
	case strings.Contains(host, ":"):
		others = append(others, "["+host+"]")
	default:
		others = append(others, host)
	}
	return others
}

// ownHosts refuses requests for hosts that are not the shop's (RFC 9110 section 15.5.20), as [version.Host] does where
// there are contracts. A page of somebody else's whose name has been made to lead here would otherwise get at a shop
// that listens on nothing but this machine.
func ownHosts(addr string, next http.Handler) http.Handler {
	own := map[string]bool{versionDomain: true}
	for _, host := range otherHosts(addr) {
		own[hostname(host)] = true
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := hostname(r.Host)
		// HTTP/1.0 need not say which host it means.
		if r.Host != "" && !own[host] && !versionLabel.MatchString(host) {
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
