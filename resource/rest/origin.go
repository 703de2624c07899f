package rest

// Protection against cross-site request forgery, by the headers Sec-Fetch-Site and Origin. Called by
// route.go for each POST, the only method that writes and needs no CORS preflight request.

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/stoa-go/stoa/resource/problem"
)

// newCrossOrigin returns the check of requests of other origins than these. It panics if one of them
// is not an origin.
func newCrossOrigin(origins []string) *http.CrossOriginProtection {
	protection := http.NewCrossOriginProtection()
	for _, o := range origins {
		u, err := url.Parse(o)
		if err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != o ||
			protection.AddTrustedOrigin(strings.ToLower(o)) != nil { // lower case, as browsers send it
			panic(fmt.Sprintf("rest: Options.Origins: %q is not an origin; use a form such as "+
				"https://app.example.com", o))
		}
	}
	return protection
}

// checkOrigin rejects a POST that a page of another origin may have caused a browser to send with the
// cookies of its user, or from its network. Clients that are not browsers send neither Sec-Fetch-Site
// nor Origin and are accepted.
func (c *call) checkOrigin() error {
	if preflighted(c.r) || c.h.crossOrigin.Check(c.r) == nil {
		return nil
	}
	return problem.New(problem.Forbidden, "The Origin of this request is not allowed.")
}

// preflighted reports whether the Content-Type of a POST is one for which a browser sends a CORS
// preflight request if the page has another origin. Other header fields are no evidence, because a
// proxy may have added them.
func preflighted(r *http.Request) bool {
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch strings.ToLower(strings.TrimSpace(media)) {
	case "", "text/plain", "multipart/form-data", "application/x-www-form-urlencoded":
		return false
	}
	return true
}
