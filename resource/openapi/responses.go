package openapi

// The responses of all operations. Error responses are components: callers list the statuses, and
// problem defines those that are used.

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

// answers returns the responses of an operation: the given successes, the problems by status, and
// the default. All operations have a default: problems of middleware and of the application may
// have any status.
func (b *builder) answers(problems []int, good ...entry[*response]) ordered[*response] {
	out := ordered[*response](good)
	for _, status := range problems {
		// retired (1410) and gone share the response name 410.
		if name := strconv.Itoa(status % 1000); !out.has(name) { // several callers may have added the status
			out.add(name, b.problem(status))
		}
	}
	// The names have three digits, so the order of strings is that of numbers. default is added
	// last.
	slices.SortStableFunc(out, func(x, y entry[*response]) int { return cmp.Compare(x.name, y.name) })
	out.add("default", b.problem(other))
	return out
}

// addProblem adds a problem to the responses of an operation. The default sorts after the digits.
func (b *builder) addProblem(op *operation, status int) {
	op.Responses.add(strconv.Itoa(status), b.problem(status))
	slices.SortStableFunc(op.Responses, func(x, y entry[*response]) int {
		return cmp.Compare(x.name, y.name)
	})
}

// answer describes a success.
func (b *builder) answer(status int, description string, headers []string,
	content ordered[*mediaType]) entry[*response] {
	r := &response{Description: description, Headers: b.headers(headers...), Content: content}
	return entry[*response]{strconv.Itoa(status), r}
}

// written describes the response to a write that contains the item.
func (d *described) written(status int, description string, headers []string) entry[*response] {
	return d.effect(status, description, headers, d.itemContent())
}

// empty describes the response to a write without content. Vary is needed: with another Prefer the
// response would have content.
func (b *builder) empty(status int, description string, headers ...string) entry[*response] {
	return b.effect(status, description, append(headers, "Vary"), nil)
}

// effect describes the response to a write. It has the header fields of a replay, because writes
// may have an Idempotency-Key.
func (b *builder) effect(status int, description string, headers []string,
	content ordered[*mediaType]) entry[*response] {
	headers = append(append(headers, "Preference-Applied"), b.replayHeaders(len(content) > 0)...)
	return b.answer(status, description, headers, content)
}

// unchanged describes 304, with the header fields of the 200. A 304 repeats the fields that a 200
// would have sent and caches store (RFC 9110 section 15.4.5).
func (b *builder) unchanged(headers []string) entry[*response] {
	return b.answer(304, "The client has the current representation.", append(headers, "Preference-Applied"),
		nil)
}

// A status with several meanings is distinguished by an additional value that is not a status.
const (
	gone    = 410
	retired = 1410 // the contract is retired, and there is no item that could be gone
	other   = 0
)

// withVersionErrors adds the errors of the version negotiation. 410 of a contract is a response of
// its own only if the operation has no 410 for items.
func (b *builder) withVersionErrors(statuses ...int) []int {
	add := func(status int) {
		if !slices.Contains(statuses, status) {
			statuses = append(statuses, status)
		}
	}
	if b.o.Negotiator != nil {
		add(400)
	}
	if hasStrategy[version.MediaType](b) {
		add(406)
	}
	if hasStrategy[version.Host](b) {
		add(421)
	}
	if !b.now.contract.Sunset.IsZero() && !slices.Contains(statuses, gone) {
		add(retired)
	}
	if b.o.RateLimit {
		add(429)
	}
	return statuses
}

// withCommonErrors adds the errors of every operation of the resource. The policy is public if the
// resource has neither Authorize nor Scope.
func (d *described) withCommonErrors(statuses ...int) []int {
	return d.withErrors(d.policy.Public, statuses...)
}

// withErrors adds the errors of every operation: authentication, the length of the URL, and
// failures of the server. A public part can still require authentication by a middleware, which
// Options.Security declares.
func (b *builder) withErrors(public bool, statuses ...int) []int {
	if !public || len(b.o.Security) > 0 && !b.o.derived {
		statuses = append(statuses, 401, 403)
	}
	return b.withVersionErrors(append(statuses, 414, 500, 503)...)
}

// problemClass is a class of problems, described as one response. kinds are the examples of the
// response, one for each. headers are those that only this class has.
type problemClass struct {
	name, description string
	kinds             []problem.Kind
	headers           []string
}

// classOf returns the class for a status. A response is one component for the whole document. It
// lists every kind that any operation can return with the status, which is more than a single
// operation returns.
func (b *builder) classOf(status int) problemClass {
	versions := func(kinds ...problem.Kind) []problem.Kind {
		if b.o.Negotiator == nil {
			return nil
		}
		return kinds
	}
	// 400 is the only class with kinds of many packages: any operation has parameters and header
	// fields.
	if status == 400 {
		kinds := []problem.Kind{problem.BadRequest, problem.InvalidParameter, problem.InvalidCursor,
			problem.InvalidHeader,
			problem.MalformedJSON, problem.MalformedPatch}
		if len(resource.PartsOf[*blob.Collection](b.c)) > 0 {
			kinds = append(kinds, problem.DigestMismatch)
		}
		kinds = append(kinds, b.keyKinds(status)...)
		return problemClass{"BadRequest", "The request is malformed.",
			append(kinds, versions(problem.MalformedVersion,
				problem.UnsupportedVersion, problem.AmbiguousVersion, problem.VersionRequired)...), nil}
	}
	s := commonClass(status)
	s.kinds = append(s.kinds, b.keyKinds(status)...)
	switch status {
	case 409: // another request with the same key is in progress
		if b.keyed() {
			s.headers = []string{"Retry-After"}
		}
	// With version.MediaType, Accept or Content-Type may name a contract that does not exist.
	case 406, 415:
		if hasStrategy[version.MediaType](b) {
			s.kinds = append(s.kinds, problem.UnsupportedVersion)
		}
	case gone:
		if b.hasFeeds() {
			s.kinds = append(s.kinds, problem.CursorExpired)
			s.description += " Or the cursor in `Last-Event-ID` has expired."
		}
		if !b.now.contract.Sunset.IsZero() {
			s.kinds = append(s.kinds, problem.VersionRetired)
			s.description += " Or the contract is retired."
		}
		s.headers = b.brownout()
	case retired:
		s.headers = b.brownout()
	case 429:
		if b.hasFeeds() {
			s.description += " Or the caller has reached the limit of concurrent feeds."
		}
		s.headers = []string{"Retry-After"}
	}
	return s
}

// brownout returns Retry-After if the 410 may be temporary. A retired contract is gone for good.
// During a brownout before that, a retry succeeds later.
func (b *builder) brownout() []string {
	if len(b.now.contract.Brownouts) == 0 {
		return nil
	}
	return []string{"Retry-After"}
}

// commonClass returns the class for statuses that do not depend on versions. The name is that of
// the component without its suffix Problem. It must not change, because generated clients may have
// types of that name.
func commonClass(status int) problemClass {
	one := func(kinds ...problem.Kind) []problem.Kind { return kinds }
	switch status {
	// RFC 9110 section 15.5.2 requires WWW-Authenticate.
	case 401:
		return problemClass{"Unauthenticated", "Authentication is required or has failed.",
			one(problem.Unauthenticated),
			[]string{"WWW-Authenticate"}}
	case 403:
		return problemClass{"Forbidden", "The caller is not authorized.", one(problem.Forbidden), nil}
	case 404:
		return problemClass{"NotFound", "The item does not exist or is not visible to the caller.",
			one(problem.NotFound), nil}
	case 406:
		return problemClass{"NotAcceptable",
			"There is no representation that `Accept` and `Accept-Encoding` allow.",
			one(problem.NotAcceptable), nil}
	case 409:
		return problemClass{"Conflict", "The request conflicts with the current state.",
			one(problem.Conflict, problem.Exists, problem.PatchConflict),
			nil}
	case gone:
		return problemClass{"Gone", "The item was deleted.", one(problem.Gone), nil}
	case retired:
		return problemClass{"VersionRetired", "The contract is retired.", one(problem.VersionRetired), nil}
	// The current entity tag saves the client a request before its next attempt.
	case 412:
		return problemClass{"PreconditionFailed", "A precondition of the request is not met.",
			one(problem.PreconditionFailed), []string{"ETag"}}
	case 413:
		return problemClass{"ContentTooLarge", "The request body is too large.", one(problem.TooLarge), nil}
	case 414:
		return problemClass{"URITooLong", "The request target is too long.", one(problem.URITooLong), nil}
	}
	return rareClass(status)
}

// rareClass continues commonClass for less common statuses.
func rareClass(status int) problemClass {
	one := func(kinds ...problem.Kind) []problem.Kind { return kinds }
	switch status {
	case 411:
		return problemClass{"LengthRequired", "The request has neither content nor `Content-Length`.",
			one(problem.BadRequest), nil}
	// The fields state what would be accepted (RFC 9110 section 15.5.16, RFC 5789 section 2.2).
	// Each is sent for the operations that it concerns.
	case 415:
		return problemClass{"UnsupportedMediaType",
			"The media type or the content coding of the request body is not supported.",
			one(problem.UnsupportedMediaType), []string{"Accept", "Accept-Post", "Accept-Patch",
				"Accept-Query", "Accept-Encoding"}}
	// RFC 9110 section 15.5.17 defines Content-Range here, with the form bytes */146515.
	case 416:
		return problemClass{"RangeNotSatisfiable",
			"The range is outside the content. `Content-Range` has the total size.",
			one(problem.RangeNotSatisfiable), []string{"Content-Range", "Accept-Ranges"}}
	case 421:
		return problemClass{"Misdirected", "The host is not one of this API.", one(problem.Misdirected), nil}
	case 422:
		return problemClass{"InvalidContent", "The request body is well-formed but not valid.",
			one(problem.Invalid), nil}
	case 428:
		return problemClass{"PreconditionRequired", "`If-Match` is required.",
			one(problem.PreconditionRequired),
			nil}
	case 429:
		return problemClass{"TooManyRequests", "The rate limit is exceeded.", one(problem.TooManyRequests),
			nil}
	case 500:
		return problemClass{"InternalError",
			"An internal error. `instance` identifies it in the server's log.",
			one(problem.Internal), nil}
	case 503:
		return problemClass{"Unavailable", "The service is temporarily unavailable.",
			one(problem.Unavailable),
			[]string{"Retry-After"}}
	case 507:
		return problemClass{"InsufficientStorage", "There is no space for the content.",
			one(problem.InsufficientStorage), []string{"Retry-After"}}
	}
	return problemClass{"OtherProblem", "Any other problem.", nil, nil}
}

// problem returns a reference to the response for a status, and defines it on first use. name
// without the suffix is only used for the default response.
func (b *builder) problem(status int) *response {
	s := b.classOf(status)
	name := s.name + "Problem"
	if status == other {
		name = s.name
	}
	// References keep the document short: an operation has about a dozen.
	if !b.doc.Components.Responses.has(name) {
		m := &mediaType{Schema: b.problemSchema()}
		for _, k := range s.kinds {
			// One kind may have several statuses, such as the version kinds.
			d := b.exampleProblem(k)
			if status >= 400 && status < 600 {
				d.Status = status
			}
			m.Examples.add(string(k), &example{Value: d.Append(nil)})
		}
		r := &response{Description: s.description,
			Headers: b.headers(append(s.headers, "Cache-Control", "Vary", "Preference-Applied")...),
			Content: ordered[*mediaType]{{problem.MediaType, m}}}
		b.doc.Components.Responses.add(name, r)
	}
	return &response{Ref: "#/components/responses/" + name}
}

// exampleProblem returns an example of a problem. The violations and extension members are those
// that the library sends for the kind.
func (b *builder) exampleProblem(k problem.Kind) *problem.Details {
	d := problem.New(k, "")
	switch k {
	case problem.InvalidParameter:
		d.Errors = []problem.Violation{{Parameter: "limit", Code: "invalidValue",
			Detail: "must be a whole number"}}
	case problem.InvalidCursor:
		d.Errors = []problem.Violation{{Parameter: "after", Code: "invalidCursor"}}
	case problem.InvalidHeader:
		d.Errors = []problem.Violation{{Header: "If-Match", Code: "syntax"}}
	case problem.Invalid:
		d.Errors = []problem.Violation{{Pointer: "/name", Code: "required", Detail: "name is required"}}
	case problem.PatchConflict:
		operation := 0
		d.Errors = []problem.Violation{{Pointer: "/name", Code: "test", Operation: &operation}}
	case problem.MalformedVersion, problem.UnsupportedVersion, problem.AmbiguousVersion,
		problem.VersionRequired,
		problem.VersionRetired:
		if len(b.now.served) > 0 {
			d.Extensions = map[string]any{"supported-versions": b.now.served}
		}
	case problem.TooLarge:
		d.Extensions = map[string]any{"limit": b.c.Limits().Body}
	case problem.Exists:
		d.Extensions = map[string]any{"existing": "/items/5"}
	case problem.NotAcceptable:
		d.Extensions = map[string]any{"available": []string{mediaJSON}}
	}
	return d
}
