package middleware

import (
	"net/http"

	"github.com/stoa-go/stoa/resource/problem"
)

// CrossOriginOptions configures [CrossOrigin]. Nil means the zero value.
type CrossOriginOptions struct {
	// Trusted are origins that may send unsafe requests, such as "https://app.example.com". Default
	// none.
	Trusted []string
	// Bypass are http.ServeMux patterns of routes without protection, because they use no
	// credentials that browsers send automatically. Default none.
	Bypass []string
}

// CrossOrigin returns a middleware that rejects unsafe cross-origin requests of browsers with 403.
// It prevents cross-site request forgery if clients are authenticated by cookies, basic
// authentication or their network ([http.CrossOriginProtection]). Clients other than browsers are
// not affected. An API that accepts bearer tokens only does not need it.
//
// GET requests always pass, and therefore WebSocket handshakes too: a WebSocket handler must check
// Origin itself. opts may be nil. CrossOrigin panics if an origin or a pattern is invalid.
func CrossOrigin(opts *CrossOriginOptions) func(http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	if opts != nil {
		for _, origin := range opts.Trusted {
			if err := protection.AddTrustedOrigin(origin); err != nil {
				panic("middleware: CrossOriginOptions.Trusted: " + err.Error())
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
					"Requests of this origin may only use safe methods such as GET."))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}
