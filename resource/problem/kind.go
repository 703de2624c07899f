package problem

import (
	"iter"
	"net/http"
	"strings"
)

// Kind names a sort of problem. It is the last segment of the type URI, so it never changes once published.
//
// An application may have kinds of its own: an absolute URI, such as "https://example.com/problems/out-of-stock", which
// is then the type, beside a [Details.Status].
type Kind string

// The kinds that Stoa answers with.
const (
	BadRequest       Kind = "bad-request"
	InvalidParameter Kind = "invalid-parameter" // a query parameter that is unknown, repeated or not of its type
	InvalidCursor    Kind = "invalid-cursor"    // a page cursor that this list did not issue
	InvalidHeader    Kind = "invalid-header"    // a header field that cannot be parsed
	MalformedJSON    Kind = "malformed-json"    // content that is no JSON; JSON of the wrong shape is Invalid
	DigestMismatch   Kind = "digest-mismatch"   // content that is not the one whose digest came with it, RFC 9530
	MalformedPatch   Kind = "malformed-patch"   // content that is no patch document; one that does not fit is PatchConflict

	MalformedVersion   Kind = "malformed-version"   // a version that is spelled like none
	UnsupportedVersion Kind = "unsupported-version" // a version that is not served; the status says where it stood
	AmbiguousVersion   Kind = "ambiguous-version"   // two versions in one request
	VersionRequired    Kind = "version-required"    // no version, and there is no default
	VersionRetired     Kind = "version-retired"     // a version that was served; an item that was deleted is Gone

	Unauthenticated  Kind = "unauthenticated"
	Forbidden        Kind = "forbidden"
	NotFound         Kind = "not-found"
	MethodNotAllowed Kind = "method-not-allowed"
	NotAcceptable    Kind = "not-acceptable"

	Conflict      Kind = "conflict"
	Exists        Kind = "already-exists" // creating what is there
	PatchConflict Kind = "patch-conflict" // a patch that cannot be applied to the current state
	Gone          Kind = "gone"           // an item that was deleted
	CursorExpired Kind = "cursor-expired" // a position in a feed that is no longer kept

	PreconditionFailed   Kind = "precondition-failed"
	TooLarge             Kind = "content-too-large"
	URITooLong           Kind = "uri-too-long"
	UnsupportedMediaType Kind = "unsupported-media-type"
	RangeNotSatisfiable  Kind = "range-not-satisfiable" // of the bytes asked for there is none; Content-Range has the length
	Misdirected          Kind = "misdirected-request"
	Invalid              Kind = "invalid-content" // well-formed content that breaks the schema
	PreconditionRequired Kind = "precondition-required"
	TooManyRequests      Kind = "quota-exceeded" // its type URI is the one IANA registered
	HeadersTooLarge      Kind = "headers-too-large"

	KeyMissing Kind = "idempotency-key-missing" // there has to be an Idempotency-Key
	KeyExpired Kind = "idempotency-key-expired" // one that is so old that what it was used for may be forgotten
	KeyReused  Kind = "idempotency-key-reused"  // one that was used for something else
	InFlight   Kind = "request-in-flight"       // the first request with the Idempotency-Key is not finished yet

	Internal       Kind = "internal-error"
	NotImplemented Kind = "not-implemented"
	Unavailable    Kind = "unavailable"
	// OutcomeUnknown: it was begun, and nobody knows whether it was done. To ask again may tell; where it cannot, the
	// status is 409.
	OutcomeUnknown Kind = "outcome-unknown"
)

// GraphQL codes; see Kind.Code.
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
	internalError      = "INTERNAL_SERVER_ERROR"
)

// row is what Stoa knows of one kind.
type row struct {
	kind   Kind
	status int
	title  string
	code   string
}

// table holds every kind, in the order of Kinds. A new kind is a constant above and a row here, nothing else.
var table = [...]row{
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
	{Unavailable, http.StatusServiceUnavailable, "Unavailable", internalError},
	{OutcomeUnknown, http.StatusServiceUnavailable, "Outcome Unknown", internalError},
}

// Kinds yields every kind that Stoa answers with, in a fixed order, for documents that list them.
func Kinds() iter.Seq[Kind] {
	return func(yield func(Kind) bool) {
		for i := range table {
			if !yield(table[i].kind) {
				return
			}
		}
	}
}

// Status returns the status that the kind is answered with. A kind of the application has 500, unless its
// [Details.Status] says another.
func (k Kind) Status() int {
	if r, known := lookup(k); known {
		return r.status
	}
	return http.StatusInternalServerError
}

// Title returns a short text that is the same for every problem of the kind (RFC 9457 section 3.1.3).
// For a kind of the application it is made from the last segment of its URI.
func (k Kind) Title() string {
	if r, known := lookup(k); known {
		return r.title
	}
	words := strings.TrimRight(string(k), "/#")
	words = words[strings.LastIndexAny(words, "/#:")+1:]
	words = strings.NewReplacer("-", " ", "_", " ").Replace(words)
	if words == "" {
		return string(k)
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// Code returns the code that GraphQL errors of the kind carry in their extensions. A kind of the application has
// INTERNAL_SERVER_ERROR here; [Details.Code] knows its status, too.
func (k Kind) Code() string {
	if r, known := lookup(k); known {
		return r.code
	}
	return internalError
}

// URI returns the type of the kind, which is where it is documented (RFC 9457 section 3.1.1).
func (k Kind) URI() string {
	switch {
	case k == TooManyRequests:
		// Registered by draft-ietf-httpapi-ratelimit-headers, so that clients of any server know it.
		return "https://iana.org/assignments/http-problem-types#quota-exceeded"
	case strings.Contains(string(k), ":"):
		return string(k)
	}
	return "https://stoa-go.github.io/problems/" + string(k.orInternal())
}

func (k Kind) orInternal() Kind {
	if k == "" {
		return Internal
	}
	return k
}

// lookup finds the row of a kind. Thirty short comparisons cost less than hashing would be worth on an error path.
func lookup(k Kind) (r *row, known bool) {
	k = k.orInternal()
	for i := range table {
		if table[i].kind == k {
			return &table[i], true
		}
	}
	return nil, false
}

// codeOf returns the GraphQL code for a status that no row of the table speaks for.
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
	}
	if status >= http.StatusInternalServerError {
		return internalError
	}
	return badUserInput
}
