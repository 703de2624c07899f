package middleware

import "slices"

// ExposedHeaders returns the response fields that a page of another origin has to be allowed to read to be a client of an API
// of Stoa's, for Access-Control-Expose-Headers, and more of the application's own. CORS itself is left to a package that does
// it well, such as github.com/rs/cors: examples/cors has both together.
//
// The fields that every page may read (Content-Type, Cache-Control and so on) are not among them, and Set-Cookie never can be.
func ExposedHeaders(more ...string) []string {
	return slices.Concat([]string{
		"Accept-Patch", "Accept-Post", "Accept-Ranges", "Allow", "API-Version", "Content-Location",
		"Content-Range", "Deprecation",
		"ETag", "Event-Cursor", "Idempotency-Replayed", "Idempotency-Result", "Link", "Location",
		"Preference-Applied", "RateLimit",
		"RateLimit-Policy", "Repr-Digest", "Retry-After", "Sunset", "WWW-Authenticate", "X-Request-Id",
	}, more)
}

// AllowedHeaders returns the request fields that a page of another origin has to be allowed to send to be a client of an API
// of Stoa's, for Access-Control-Allow-Headers, and more of the application's own.
func AllowedHeaders(more ...string) []string {
	return slices.Concat([]string{
		"Accept", "API-Version", "Authorization", "Content-Digest", "Content-Encoding", "Content-Type",
		"GraphQL-Require-Preflight", "Idempotency-Key", "If-Match", "If-Modified-Since", "If-None-Match",
		"If-Range", "If-Unmodified-Since", "Last-Event-ID", "Prefer", "Range",
		"Repr-Digest",
	}, more)
}
