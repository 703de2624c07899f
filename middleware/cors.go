package middleware

import "slices"

// ExposedHeaders returns the response fields that a browser client of another origin needs to read,
// followed by more. It is for Access-Control-Expose-Headers.
//
// CORS itself is left to other packages, such as github.com/rs/cors; examples/cors combines the
// two. The list omits fields that scripts can always read, such as Content-Type and Cache-Control,
// and Set-Cookie, which they can never read.
func ExposedHeaders(more ...string) []string {
	return slices.Concat([]string{
		"Accept-Patch", "Accept-Post", "Accept-Query", "Accept-Ranges", "Allow", "API-Version",
		"Content-Location", "Content-Range", "Deprecation", "ETag", "Event-Cursor",
		"Idempotency-Replayed", "Idempotency-Result", "Link", "Location", "Preference-Applied",
		"RateLimit", "RateLimit-Policy", "Repr-Digest", "Retry-After", "Sunset",
		"WWW-Authenticate", "X-Request-Id",
	}, more)
}

// AllowedHeaders returns the request fields that a browser client of another origin needs to send,
// followed by more. It is for Access-Control-Allow-Headers.
func AllowedHeaders(more ...string) []string {
	return slices.Concat([]string{
		"Accept", "API-Version", "Authorization", "Content-Digest", "Content-Encoding", "Content-Type",
		"GraphQL-Require-Preflight", "Idempotency-Key", "If-Match", "If-Modified-Since", "If-None-Match",
		"If-Range", "If-Unmodified-Since", "Last-Event-ID", "Prefer", "Range",
		"Repr-Digest",
	}, more)
}
