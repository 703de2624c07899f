package graphql

// Protection against cross-site request forgery, by the headers Sec-Fetch-Site and Origin.

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/stoa-go/stoa/resource/problem"
)

// setOrigins parses Options.Origins. It panics if one of them is not an origin.
func (h *Handler) setOrigins() {
	h.origins = map[string]bool{}
	for _, o := range h.opts.Origins {
		u, err := url.Parse(o)
		if err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != o {
			panic(fmt.Sprintf("graphql: Options.Origins: %q is not an origin; use a form such as "+
				"https://app.example.com", o))
		}
		h.origins[strings.ToLower(o)] = true
	}
}

// checkOrigin rejects requests that a page of another site may have caused a browser to send with
// the cookies of its user. Browsers report the origin in Sec-Fetch-Site or Origin. Other clients
// send neither header and are accepted.
//
// A cross-site POST is rejected. A POST from another host of the same site is accepted, because its
// Content-Type requires a CORS preflight request. A GET from another origin needs a header that
// requires a preflight request.
func (x *exchange) checkOrigin() error {
	site := x.requestSite()
	if site == sameOrigin || site == sameSite && x.r.Method == http.MethodPost {
		return nil
	}
	if x.r.Method != http.MethodPost && x.preflighted() {
		return nil
	}
	return problem.New(problem.Forbidden, "The Origin of this request is not allowed.")
}

// site is the relation between the origin of a request and this server.
type site uint8

const (
	sameOrigin site = iota // or not sent by a page
	sameSite
	crossSite
)

// requestSite classifies a request by its Origin and Sec-Fetch-Site headers.
func (x *exchange) requestSite() site {
	origin := x.r.Header["Origin"]
	if len(origin) == 1 && x.h.origins[strings.ToLower(origin[0])] {
		return sameOrigin
	}
	if values := x.r.Header["Sec-Fetch-Site"]; len(values) > 0 {
		switch values[0] {
		case "same-origin", "none":
			return sameOrigin
		case "same-site":
			return sameSite
		}
		return crossSite
	}
	if len(origin) == 0 {
		return sameOrigin
	}
	// The scheme is not compared, because it is not known if a proxy terminates TLS.
	if _, host, ok := strings.Cut(origin[0], "://"); ok && len(origin) == 1 &&
		strings.EqualFold(host, x.r.Host) {
		return sameOrigin
	}
	return crossSite
}

// preflighted reports whether a browser sends this request for a foreign page only after a CORS
// preflight request.
func (x *exchange) preflighted() bool {
	for _, name := range x.h.preflightHeaders {
		if x.r.Header.Get(name) != "" {
			return true
		}
	}
	media, _, _ := strings.Cut(x.r.Header.Get("Content-Type"), ";")
	switch strings.ToLower(strings.TrimSpace(media)) {
	// simple types, which need no preflight request
	case "", "text/plain", "multipart/form-data", "application/x-www-form-urlencoded":
		return false
	}
	return true
}
