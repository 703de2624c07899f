package main

// The host names that the shop accepts, such as v2.localhost. Other names are rejected, so that a
// page of another site cannot reach a shop on localhost by DNS rebinding.

import (
	"net"
	"net/http"
	"regexp"
	"strings"

	"github.com/stoa-go/stoa/resource/problem"
)

// versionDomain is the domain of hosts that name a contract, such as api-v2.localhost.
const versionDomain = "localhost"

// versionLabel matches a host that names a contract, whether or not the contract exists.
var versionLabel = regexp.MustCompile(
	`^api-v(0|[1-9][0-9]{0,4})(-(0|[1-9][0-9]{0,4})){0,2}\.` + versionDomain + `$`)

// otherHosts returns the hosts of a shop with this listen address that name no contract. A service
// with a domain adds its public names here.
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

// ownHosts rejects requests for hosts that are not the shop's with 421 (RFC 9110 section 15.5.20),
// as [version.Host] does for contracts. It prevents DNS rebinding: a page of another origin could
// otherwise resolve its own name to this machine and read from the shop.
func ownHosts(addr string, next http.Handler) http.Handler {
	own := map[string]bool{versionDomain: true}
	for _, host := range otherHosts(addr) {
		own[hostname(host)] = true
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := hostname(r.Host)
		// HTTP/1.0 requests may have no Host field.
		if r.Host != "" && !own[host] && !versionLabel.MatchString(host) {
			problem.Write(w, r, problem.New(problem.Misdirected, "This host is not served here."))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostname returns the host of an authority in the form for comparison: lower case, without port,
// brackets and trailing dot (RFC 9110 sections 4.2.3 and 7.2).
func hostname(authority string) string {
	host, _, err := net.SplitHostPort(authority)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(authority, "["), "]")
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
