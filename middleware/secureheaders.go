package middleware

import (
	"net/http"
	"strconv"
	"time"
)

// SecureHeadersOptions configures [SecureHeaders]. Nil means the zero value. The value "-" omits a
// field.
type SecureHeadersOptions struct {
	Content  string        // Content-Security-Policy; default "default-src 'none'; frame-ancestors 'none'"
	Referrer string        // Referrer-Policy; default "no-referrer"
	Frame    string        // X-Frame-Options; default "DENY"
	HSTS     time.Duration // max-age of Strict-Transport-Security, sent over TLS only; default 0, not sent
	// Subdomains adds includeSubDomains to Strict-Transport-Security. Default false.
	Subdomains bool
}

// SecureHeaders returns a middleware that sets security-related response fields for browsers: no
// content sniffing, no framing, no loading of resources and no referrer. The defaults suit an API.
// A handler that serves HTML should set its own values, which replace these.
//
// Fields that an outer middleware has already set are kept. Strict-Transport-Security is sent over
// secure connections only (RFC 6797 section 7.2), as reported by [Secure]. opts may be nil.
func SecureHeaders(opts *SecureHeadersOptions) func(http.Handler) http.Handler {
	var o SecureHeadersOptions
	if opts != nil {
		o = *opts
	}
	type field struct {
		name  string
		value []string // shared; has no spare capacity, so append copies it
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
