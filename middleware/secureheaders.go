package middleware

import (
	"net/http"
	"strconv"
	"time"
)

// SecureHeadersOptions adjust [SecureHeaders]. The zero value is meaningful; nil is the zero value. A value "-" leaves the
// field out.
type SecureHeadersOptions struct {
	Content  string        // Content-Security-Policy; "default-src 'none'; frame-ancestors 'none'" if empty
	Referrer string        // Referrer-Policy; "no-referrer" if empty
	Frame    string        // X-Frame-Options; "DENY" if empty
	HSTS     time.Duration // Strict-Transport-Security for this long, in answers over TLS; zero leaves it out
	// Subdomains says that HSTS is for all hosts below this one as well.
	Subdomains bool
}

// SecureHeaders returns a middleware that sets the fields by which browsers are told to be careful: nothing is sniffed,
// framed or loaded, and no one is told where a link was found. They are made for an API; a handler that serves a page sets
// those that it needs, which take the place of these.
//
// What is there already, as from one that is further outside, stays. HSTS is told only where the connection was secure (RFC
// 6797 section 7.2), as [Secure] says. opts may be nil.
func SecureHeaders(opts *SecureHeadersOptions) func(http.Handler) http.Handler {
	var o SecureHeadersOptions
	if opts != nil {
		o = *opts
	}
	type field struct {
		name  string
		value []string // is never changed, and appending copies it
	}
	fields := []field{{"X-Content-Type-Options", []string{"nosniff"}}}
	for _, f := range [...][3]string{
		{"Content-Security-Policy", o.Content, "default-src 'none'; frame-ancestors 'none'"},
		{"Referrer-Policy", o.Referrer, "no-referrer"},
		{"X-Frame-Options", o.Frame, "DENY"},
	} {
		switch f[1] {
		case "-":
		case "":
			fields = append(fields, field{f[0], []string{f[2]}})
		default:
			fields = append(fields, field{f[0], []string{f[1]}})
		}
	}
	hsts := []string{"max-age=" + strconv.FormatInt(int64(o.HSTS/time.Second), 10)}
	if o.Subdomains {
		hsts[0] += "; includeSubDomains"
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			for _, f := range fields {
				if h[f.name] == nil {
					h[f.name] = f.value
				}
			}
			if o.HSTS > 0 && h["Strict-Transport-Security"] == nil && Secure(r) {
				h["Strict-Transport-Security"] = hsts
			}
			next.ServeHTTP(w, r)
		})
	}
}
