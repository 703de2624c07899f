package graphql

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/stoa-go/stoa/resource/problem"
)

// setOrigins reads Options.Origins.
func (h *Handler) setOrigins() {
	h.origins = map[string]bool{}
	for _, o := range h.opts.Origins {
		u, err := url.Parse(o)
		if err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != o {
			panic(fmt.Sprintf("graphql: Options.Origins has %q, which is no origin such as "+
				"https://app.example.com", o))
		}
		h.origins[strings.ToLower(o)] = true
	}
}

// checkOrigin refuses what a page of another site may have made a browser send, with all the cookies that are ours. Browsers say
// where a request comes from (Sec-Fetch-Site, and where that is missing, Origin); programs say nothing, and carry nobody
// else's cookies.
//
// A POST from another site is refused. One from another host of the same site has a Content-Type for which browsers ask
// permission first. A GET needs no permission, and so must bring a header that does.
func (x *exchange) checkOrigin() error {
	site := x.requestSite()
	if site == sameOrigin || site == sameSite && x.r.Method == http.MethodPost {
		return nil
	}
	if x.r.Method != http.MethodPost && x.preflighted() {
		return nil
	}
	return problem.New(problem.Forbidden, "Requests from pages of other sites are not answered here.")
}

// site is how near to us the page is that a request comes from.
type site uint8

const (
	sameOrigin site = iota // or nobody's page
	sameSite
	crossSite
)

// requestSite classifies the request by its Origin and Sec-Fetch-Site headers.
func (x *exchange) requestSite() site {
	origin := x.r.Header["Origin"]
	if len(origin) == 1 && x.h.origins[strings.ToLower(origin[0])] {
		return sameOrigin
	}
	if said := x.r.Header["Sec-Fetch-Site"]; len(said) > 0 {
		switch said[0] {
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
	// The scheme is not compared: behind a proxy that speaks TLS for us we do not know our own.
	if _, host, ok := strings.Cut(origin[0], "://"); ok && len(origin) == 1 &&
		strings.EqualFold(host, x.r.Host) {
		return sameOrigin
	}
	return crossSite
}

// preflighted reports whether a browser that sends this for a foreign page has asked for permission before.
func (x *exchange) preflighted() bool {
	for _, name := range x.h.insisted {
		if x.r.Header.Get(name) != "" {
			return true
		}
	}
	media, _, _ := strings.Cut(x.r.Header.Get("Content-Type"), ";")
	switch strings.ToLower(strings.TrimSpace(media)) {
	// those that need no permission
	case "", "text/plain", "multipart/form-data", "application/x-www-form-urlencoded":
		return false
	}
	return true
}
