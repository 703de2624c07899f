package problem

// The kinds of problems: their types, titles and status codes. OpenAPI documents list the same.

import (
	"iter"
	"net/http"
	"strings"
)

// Kind identifies a type of problem. It is the last segment of the type URI, so a published Kind
// never changes. The zero value is equivalent to [Internal].
//
// Applications can define kinds of their own. Such a kind is an absolute URI, for example
// "https://example.com/problems/out-of-stock", which becomes the type. Set [Details.Status] too,
// because its default status code is 500.
type Kind string

// The kinds of problems that Stoa reports. Their status codes are in the method [Kind.Status].
const (
	BadRequest       Kind = "bad-request"
	InvalidParameter Kind = "invalid-parameter" // a query parameter is unknown, repeated or invalid
	InvalidCursor    Kind = "invalid-cursor"    // the list did not issue the page cursor
	InvalidHeader    Kind = "invalid-header"    // a header field cannot be parsed
	MalformedJSON    Kind = "malformed-json"    // the content is not JSON; see Invalid for wrong JSON types
	DigestMismatch   Kind = "digest-mismatch"   // the content does not match its digest (RFC 9530)
	MalformedPatch   Kind = "malformed-patch"   // the content is not a patch; see also PatchConflict

	MalformedVersion   Kind = "malformed-version"   // the syntax of the version is invalid
	UnsupportedVersion Kind = "unsupported-version" // the version is not served
	AmbiguousVersion   Kind = "ambiguous-version"   // the request contains two different versions
	VersionRequired    Kind = "version-required"    // the request has no version, and there is no default
	VersionRetired     Kind = "version-retired"     // the version is no longer served

	Unauthenticated  Kind = "unauthenticated"
	Forbidden        Kind = "forbidden"
	NotFound         Kind = "not-found"
	MethodNotAllowed Kind = "method-not-allowed"
	NotAcceptable    Kind = "not-acceptable"

	Conflict      Kind = "conflict"
	Exists        Kind = "already-exists" // the item to create exists
	PatchConflict Kind = "patch-conflict" // the patch cannot be applied to the current state of the item
	Gone          Kind = "gone"           // the item was deleted
	CursorExpired Kind = "cursor-expired" // the feed has purged the events after the cursor

	PreconditionFailed   Kind = "precondition-failed"
	TooLarge             Kind = "content-too-large"
	URITooLong           Kind = "uri-too-long"
	UnsupportedMediaType Kind = "unsupported-media-type"
	RangeNotSatisfiable  Kind = "range-not-satisfiable" // the range is past the end of the representation
	Misdirected          Kind = "misdirected-request"
	Invalid              Kind = "invalid-content" // the content is well-formed but violates the schema
	PreconditionRequired Kind = "precondition-required"
	TooManyRequests      Kind = "quota-exceeded" // its type URI is registered with IANA
	HeadersTooLarge      Kind = "headers-too-large"

	KeyMissing Kind = "idempotency-key-missing" // the request requires an Idempotency-Key
	KeyExpired Kind = "idempotency-key-expired" // the key is older than the retention of its record
	KeyReused  Kind = "idempotency-key-reused"  // the key was used for a different request
	InFlight   Kind = "request-in-flight"       // the first request with the key has not finished

	Internal       Kind = "internal-error"
	NotImplemented Kind = "not-implemented"
	Unavailable    Kind = "unavailable"
	// InsufficientStorage means that there is no space for the content (RFC 4918 section 11.5).
	InsufficientStorage Kind = "insufficient-storage"
	// OutcomeUnknown means that the write was started and may or may not have been committed. A
	// retry may find out; if it cannot, the status code is 409.
	OutcomeUnknown Kind = "outcome-unknown"

	BadGateway     Kind = "bad-gateway"     // another server, to which the request was forwarded, failed
	GatewayTimeout Kind = "gateway-timeout" // the other server did not respond in time
	LoopDetected   Kind = "loop-detected"   // servers refer to each other for the request
)

// The codes of GraphQL errors. See Kind.Code.
const (
	badUserInput       = "BAD_USER_INPUT"
	unauthenticated    = "UNAUTHENTICATED"
	forbidden          = "FORBIDDEN"
	notFound           = "NOT_FOUND"
	gone               = "GONE"
	conflict           = "CONFLICT"
	preconditionFailed = "PRECONDITION_FAILED"
	rateLimited        = "RATE_LIMITED"
	cursorExpired      = "CURSOR_EXPIRED"
	unavailable        = "UNAVAILABLE"
	internalError      = "INTERNAL_SERVER_ERROR"
)

// kindInfo has the properties of a kind.
type kindInfo struct {
	kind   Kind
	status int
	title  string
	code   string
}

// kindTable has an entry for each kind, in the order of Kinds. A new kind needs a constant above
// and an entry here.
var kindTable = [...]kindInfo{
	{BadRequest, http.StatusBadRequest, "Bad Request", badUserInput},
	{InvalidParameter, http.StatusBadRequest, "Invalid Parameter", badUserInput},
	{InvalidCursor, http.StatusBadRequest, "Invalid Cursor", badUserInput},
	{InvalidHeader, http.StatusBadRequest, "Invalid Header", badUserInput},
	{MalformedJSON, http.StatusBadRequest, "Malformed JSON", badUserInput},
	{DigestMismatch, http.StatusBadRequest, "Digest Mismatch", badUserInput},
	{MalformedPatch, http.StatusBadRequest, "Malformed Patch", badUserInput},
	{MalformedVersion, http.StatusBadRequest, "Malformed Version", badUserInput},
	{UnsupportedVersion, http.StatusBadRequest, "Unsupported Version", badUserInput},
	{AmbiguousVersion, http.StatusBadRequest, "Ambiguous Version", badUserInput},
	{VersionRequired, http.StatusBadRequest, "Version Required", badUserInput},
	{VersionRetired, http.StatusGone, "Version Retired", gone},
	{Unauthenticated, http.StatusUnauthorized, "Unauthenticated", unauthenticated},
	{Forbidden, http.StatusForbidden, "Forbidden", forbidden},
	{NotFound, http.StatusNotFound, "Not Found", notFound},
	{MethodNotAllowed, http.StatusMethodNotAllowed, "Method Not Allowed", badUserInput},
	{NotAcceptable, http.StatusNotAcceptable, "Not Acceptable", badUserInput},
	{Conflict, http.StatusConflict, "Conflict", conflict},
	{Exists, http.StatusConflict, "Already Exists", conflict},
	{PatchConflict, http.StatusConflict, "Patch Conflict", conflict},
	{Gone, http.StatusGone, "Gone", gone},
	{CursorExpired, http.StatusGone, "Cursor Expired", cursorExpired},
	{PreconditionFailed, http.StatusPreconditionFailed, "Precondition Failed", preconditionFailed},
	{TooLarge, http.StatusRequestEntityTooLarge, "Content Too Large", badUserInput},
	{URITooLong, http.StatusRequestURITooLong, "URI Too Long", badUserInput},
	{UnsupportedMediaType, http.StatusUnsupportedMediaType, "Unsupported Media Type", badUserInput},
	{RangeNotSatisfiable, http.StatusRequestedRangeNotSatisfiable, "Range Not Satisfiable", badUserInput},
	{Misdirected, http.StatusMisdirectedRequest, "Misdirected Request", badUserInput},
	{Invalid, http.StatusUnprocessableEntity, "Invalid Content", badUserInput},
	{PreconditionRequired, http.StatusPreconditionRequired, "Precondition Required", preconditionFailed},
	{TooManyRequests, http.StatusTooManyRequests, "Quota Exceeded", rateLimited},
	{HeadersTooLarge, http.StatusRequestHeaderFieldsTooLarge, "Header Fields Too Large", badUserInput},
	{KeyMissing, http.StatusBadRequest, "Idempotency-Key Missing", badUserInput},
	{KeyExpired, http.StatusBadRequest, "Idempotency-Key Expired", badUserInput},
	{KeyReused, http.StatusUnprocessableEntity, "Idempotency-Key Reused", badUserInput},
	{InFlight, http.StatusConflict, "Request In Flight", conflict},
	{Internal, http.StatusInternalServerError, "Internal Error", internalError},
	{NotImplemented, http.StatusNotImplemented, "Not Implemented", internalError},
	{Unavailable, http.StatusServiceUnavailable, "Unavailable", unavailable},
	{InsufficientStorage, http.StatusInsufficientStorage, "Insufficient Storage", internalError},
	{OutcomeUnknown, http.StatusServiceUnavailable, "Outcome Unknown", internalError},
	{BadGateway, http.StatusBadGateway, "Bad Gateway", unavailable},
	{GatewayTimeout, http.StatusGatewayTimeout, "Gateway Timeout", unavailable},
	{LoopDetected, http.StatusLoopDetected, "Loop Detected", internalError},
}

// Kinds yields every kind that Stoa reports, in a fixed order, for documentation that lists them.
func Kinds() iter.Seq[Kind] {
	return func(yield func(Kind) bool) {
		for i := range kindTable {
			if !yield(kindTable[i].kind) {
				return
			}
		}
	}
}

// Status returns the HTTP status code of the kind. For a kind of the application it returns 500;
// set [Details.Status] to override it.
func (k Kind) Status() int {
	if info, known := lookup(k); known {
		return info.status
	}
	return http.StatusInternalServerError
}

// Title returns a short text that is the same for every problem of the kind (RFC 9457 section
// 3.1.3). For a kind of the application it is derived from the last segment of the URI.
func (k Kind) Title() string {
	if info, known := lookup(k); known {
		return info.title
	}
	words := strings.TrimRight(string(k), "/#")
	words = words[strings.LastIndexAny(words, "/#:")+1:]
	words = strings.NewReplacer("-", " ", "_", " ").Replace(words)
	if words == "" {
		return string(k)
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// Code returns the code in the extensions of GraphQL errors of the kind. For a kind of the
// application it returns INTERNAL_SERVER_ERROR; [Details.Code] derives it from the status code
// instead.
func (k Kind) Code() string {
	if info, known := lookup(k); known {
		return info.code
	}
	return internalError
}

// URI returns the problem type, a URI that refers to the documentation of the kind (RFC 9457
// section 3.1.1).
func (k Kind) URI() string {
	switch {
	case k == TooManyRequests:
		// The type that draft-ietf-httpapi-ratelimit-headers registers for all servers.
		return "https://iana.org/assignments/http-problem-types#quota-exceeded"
	case strings.Contains(string(k), ":"):
		return string(k)
	}
	return "https://stoa-go.github.io/problems/" + string(k.orInternal())
}

// orInternal returns Internal for the zero Kind, and k otherwise.
func (k Kind) orInternal() Kind {
	if k == "" {
		return Internal
	}
	return k
}

// lookup returns the entry of the kind. The search is linear, because for some forty kinds on an
// error path it costs no more than a map.
func lookup(k Kind) (info *kindInfo, known bool) {
	k = k.orInternal()
	for i := range kindTable {
		if kindTable[i].kind == k {
			return &kindTable[i], true
		}
	}
	return nil, false
}

// codeOf returns the GraphQL code of a status code, for kinds that are not in the table.
func codeOf(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return unauthenticated
	case http.StatusForbidden:
		return forbidden
	case http.StatusNotFound:
		return notFound
	case http.StatusConflict:
		return conflict
	case http.StatusGone:
		return gone
	case http.StatusPreconditionFailed, http.StatusPreconditionRequired:
		return preconditionFailed
	case http.StatusTooManyRequests:
		return rateLimited
	case http.StatusServiceUnavailable:
		return unavailable
	}
	if status >= http.StatusInternalServerError {
		return internalError
	}
	return badUserInput
}
