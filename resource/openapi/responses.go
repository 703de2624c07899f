package openapi

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

// answers puts together the responses of an operation: problems by status, what goes well, and the default.
func (b *builder) answers(problems []int, good ...entry[*response]) ordered[*response] {
	out := ordered[*response](good)
	for _, status := range problems {
		if name := strconv.Itoa(status % 1000); !out.has(name) { // several parts of the library may have asked for it
			out.add(name, b.problem(status))
		}
	}
	slices.SortStableFunc(out, func(x, y entry[*response]) int { return cmp.Compare(x.name, y.name) })
	out.add("default", b.problem(other))
	return out
}

// also adds a problem to the responses of an operation.
func (b *builder) also(op *operation, status int) {
	op.Responses.add(strconv.Itoa(status), b.problem(status))
	slices.SortStableFunc(op.Responses, func(x, y entry[*response]) int { return cmp.Compare(x.name, y.name) })
}

// answer describes a success.
func (b *builder) answer(status int, description string, headers []string, content ordered[*mediaType]) entry[*response] {
	r := &response{Description: description, Headers: b.headers(headers...), Content: content}
	return entry[*response]{strconv.Itoa(status), r}
}

// written is an answer to a write that has the item in it.
func (d *described) written(status int, description string, headers []string) entry[*response] {
	return d.effect(status, description, headers, d.itemContent())
}

// empty is an answer to a write without content.
func (b *builder) empty(status int, description string, headers ...string) entry[*response] {
	return b.effect(status, description, append(headers, "Vary"), nil)
}

// effect is an answer to whatever changes something.
func (b *builder) effect(status int, description string, headers []string, content ordered[*mediaType]) entry[*response] {
	headers = append(append(headers, "Preference-Applied"), b.replayHeaders(len(content) > 0)...)
	return b.answer(status, description, headers, content)
}

// unchanged is 304, with what the 200 would have said beside the content.
func (b *builder) unchanged(headers []string) entry[*response] {
	return b.answer(304, "The client has it already.", append(headers, "Preference-Applied"), nil)
}

// Statuses that mean different things in different places are told apart by what no status is.
const (
	gone    = 410
	retired = 1410 // the contract, where there is no item that could be gone
	other   = 0
)

// versioned adds what can be wrong with how a request names its contract.
func (b *builder) versioned(statuses ...int) []int {
	add := func(status int) {
		if !slices.Contains(statuses, status) {
			statuses = append(statuses, status)
		}
	}
	if b.o.Negotiator != nil {
		add(400)
	}
	if mayHave[version.MediaType](b) {
		add(406)
	}
	if mayHave[version.Host](b) {
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

// who adds what every operation of the resource can be answered with.
func (d *described) who(statuses ...int) []int { return d.asked(d.policy.Public, statuses...) }

// asked adds what every operation of a part can be answered with: who asks, how long the URL is, and whether things work.
func (b *builder) asked(public bool, statuses ...int) []int {
	if !public || len(b.o.Security) > 0 {
		statuses = append(statuses, 401, 403)
	}
	return b.versioned(append(statuses, 414, 500, 503)...)
}

// sort of problem, as a response.
type sort struct {
	name, description string
	kinds             []problem.Kind
	headers           []string
}

// sortOf returns what is said of a status.
func (b *builder) sortOf(status int) sort {
	versions := func(kinds ...problem.Kind) []problem.Kind {
		if b.o.Negotiator == nil {
			return nil
		}
		return kinds
	}
	if status == 400 {
		kinds := []problem.Kind{problem.BadRequest, problem.InvalidParameter, problem.InvalidCursor, problem.InvalidHeader,
			problem.MalformedJSON, problem.MalformedPatch}
		if len(resource.PartsOf[*blob.Collection](b.c)) > 0 {
			kinds = append(kinds, problem.DigestMismatch)
		}
		kinds = append(kinds, b.keyKinds(status)...)
		return sort{"BadRequest", "The request cannot be understood.", append(kinds, versions(problem.MalformedVersion,
			problem.UnsupportedVersion, problem.AmbiguousVersion, problem.VersionRequired)...), nil}
	}
	s := plainSort(status)
	s.kinds = append(s.kinds, b.keyKinds(status)...)
	switch status {
	case 409: // another request with the same key is still running
		if b.keyed() {
			s.headers = []string{"Retry-After"}
		}
	case 406, 415:
		if mayHave[version.MediaType](b) {
			s.kinds = append(s.kinds, problem.UnsupportedVersion)
		}
	case gone:
		if b.watched() {
			s.kinds = append(s.kinds, problem.CursorExpired)
			s.description += " Or what has happened since `Last-Event-ID` is not all known any more."
		}
		if !b.now.contract.Sunset.IsZero() {
			s.kinds = append(s.kinds, problem.VersionRetired)
			s.description += " Or the contract is retired."
		}
		s.headers = b.brownout()
	case retired:
		s.headers = b.brownout()
	case 429:
		if b.watched() {
			s.description += " Or who asks listens to as many feeds as one may."
		}
		s.headers = []string{"Retry-After"}
	}
	return s
}

// brownout is the header field of a 410 that is over after a while.
func (b *builder) brownout() []string {
	if len(b.now.contract.Brownouts) == 0 {
		return nil
	}
	return []string{"Retry-After"}
}

// plainSort is sortOf for what does not depend on versions.
func plainSort(status int) sort {
	one := func(kinds ...problem.Kind) []problem.Kind { return kinds }
	switch status {
	case 401:
		return sort{"Unauthenticated", "Who asks is not known.", one(problem.Unauthenticated), []string{"WWW-Authenticate"}}
	case 403:
		return sort{"Forbidden", "Who asks may not do this.", one(problem.Forbidden), nil}
	case 404:
		return sort{"NotFound", "There is no such item, or none that the caller may see.", one(problem.NotFound), nil}
	case 406:
		return sort{"NotAcceptable", "It is not served in what `Accept` or `Accept-Encoding` admits.",
			one(problem.NotAcceptable), nil}
	case 409:
		return sort{"Conflict", "It does not fit to what is there.", one(problem.Conflict, problem.Exists, problem.PatchConflict),
			nil}
	case gone:
		return sort{"Gone", "The item was deleted.", one(problem.Gone), nil}
	case retired:
		return sort{"VersionRetired", "The contract is retired.", one(problem.VersionRetired), nil}
	case 412:
		return sort{"PreconditionFailed", "The item is not in the state that the request demands.",
			one(problem.PreconditionFailed), []string{"ETag"}}
	case 413:
		return sort{"ContentTooLarge", "The content is too large.", one(problem.TooLarge), nil}
	case 414:
		return sort{"URITooLong", "The request target is too long.", one(problem.URITooLong), nil}
	}
	return rareSort(status)
}

// rareSort is plainSort for what few operations have.
func rareSort(status int) sort {
	one := func(kinds ...problem.Kind) []problem.Kind { return kinds }
	switch status {
	case 415:
		return sort{"UnsupportedMediaType", "Content of this type or coding is not understood here.",
			one(problem.UnsupportedMediaType), []string{"Accept", "Accept-Post", "Accept-Patch", "Accept-Encoding"}}
	case 416:
		return sort{"RangeNotSatisfiable", "There is nothing in this range. `Content-Range` tells how many bytes there are.",
			one(problem.RangeNotSatisfiable), []string{"Content-Range", "Accept-Ranges"}}
	case 421:
		return sort{"Misdirected", "The host is none of this API.", one(problem.Misdirected), nil}
	case 422:
		return sort{"InvalidContent", "The content can be read and is not valid.", one(problem.Invalid), nil}
	case 428:
		return sort{"PreconditionRequired", "`If-Match` is required here.", one(problem.PreconditionRequired), nil}
	case 429:
		return sort{"TooManyRequests", "The quota is used up.", one(problem.TooManyRequests), nil}
	case 500:
		return sort{"InternalError", "Something is wrong, and not with the request. `instance` finds it in the log.",
			one(problem.Internal), nil}
	case 503:
		return sort{"Unavailable", "It is not possible at the moment.", one(problem.Unavailable), []string{"Retry-After"}}
	}
	return sort{"OtherProblem", "Any other problem.", nil, nil}
}

// problem returns a reference to the response for a status, which it defines where it is asked for first.
func (b *builder) problem(status int) *response {
	s := b.sortOf(status)
	name := s.name + "Problem"
	if status == other {
		name = s.name
	}
	// References keep the document short: each operation has a dozen of these.
	if !b.doc.Components.Responses.has(name) {
		m := &mediaType{Schema: b.problemSchema()}
		for _, k := range s.kinds {
			// One kind can have several statuses: that of a version says where the version stood.
			d := b.exampleProblem(k)
			if status >= 400 && status < 600 {
				d.Status = status
			}
			m.Examples.add(string(k), &example{Value: d.Append(nil)})
		}
		r := &response{Description: s.description, Headers: b.headers(append(s.headers, "Cache-Control", "Vary", "Preference-Applied")...),
			Content: ordered[*mediaType]{{problem.MediaType, m}}}
		b.doc.Components.Responses.add(name, r)
	}
	return &response{Ref: "#/components/responses/" + name}
}

// exampleProblem is a problem of some kind as it could be.
func (b *builder) exampleProblem(k problem.Kind) *problem.Details {
	d := problem.New(k, "")
	switch k {
	case problem.InvalidParameter:
		d.Errors = []problem.Violation{{Parameter: "limit", Code: "invalidValue", Detail: "must be a whole number"}}
	case problem.InvalidCursor:
		d.Errors = []problem.Violation{{Parameter: "after", Code: "invalidCursor"}}
	case problem.InvalidHeader:
		d.Errors = []problem.Violation{{Header: "If-Match", Code: "syntax"}}
	case problem.Invalid:
		d.Errors = []problem.Violation{{Pointer: "/name", Code: "required", Detail: "is required"}}
	case problem.PatchConflict:
		operation := 0
		d.Errors = []problem.Violation{{Pointer: "/name", Code: "test", Operation: &operation}}
	case problem.MalformedVersion, problem.UnsupportedVersion, problem.AmbiguousVersion, problem.VersionRequired,
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
