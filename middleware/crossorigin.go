package middleware

import (
	"net/http"

	"github.com/stoa-go/stoa/resource/problem"
)

// CrossOriginOptions adjust [CrossOrigin]. The zero value is meaningful; nil is the zero value.
type CrossOriginOptions struct {
	// Trusted are origins whose pages may write here, such as "https://app.example.com".
	Trusted []string
	// Bypass are patterns of http.ServeMux that are not protected, since they do not go by what browsers send by themselves.
	Bypass []string
}

// CrossOrigin returns a middleware that refuses what a browser sends on behalf of a page of another origin, with 403, unless the
// method is safe: with cookies, basic authentication or a network that lets it in, it might act for somebody who does not know
// ([http.CrossOriginProtection]). Clients that are no browsers are let through. Where all authentication is by bearer tokens it
// changes nothing for honest clients.
//
// GET always passes, and so does the opening of a WebSocket: that has to look at Origin itself. opts may be nil. CrossOrigin
// panics if an origin or a pattern cannot be read.
func CrossOrigin(opts *CrossOriginOptions) func(http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	if opts != nil {
		for _, origin := range opts.Trusted {
			if err := protection.AddTrustedOrigin(origin); err != nil {
				panic("middleware: CrossOrigin cannot trust " + origin + ": " + err.Error())
			}
		}
		for _, pattern := range opts.Bypass {
			protection.AddInsecureBypassPattern(pattern)
		}
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if protection.Check(r) != nil {
				problem.Write(w, r, problem.New(problem.Forbidden,
					"A page of another origin may not do this."))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}
