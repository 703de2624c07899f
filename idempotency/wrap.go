package idempotency

// Keys for any http.Handler. It buffers the request, because the fingerprint covers its body.

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// Wrap returns a handler that passes one of several requests with the same Idempotency-Key to next.
// It applies to POST, PATCH, PUT and DELETE. Options.Principal returns the owner of the key. Wrap
// panics if next or Options.Principal is nil.
//
// The level is AtMostOnce. A response is recorded if its status is 2xx or 3xx, or if the handler
// has called [RecordRefusal]: its status, content and the header fields that describe it. After any
// other 4xx the request can be repeated as if for the first time. After 5xx, a panic or a hijacked
// connection the outcome is unknown. If a response exceeds Options.MaxResult or was flushed, its
// content is not recorded; a replay is then the problem of [Record.NotKept].
//
// A key belongs to the path as the client has sent it, also inside of [http.StripPrefix], and to the
// contract of a version.Negotiator around Wrap. Outside of a Negotiator a header field that selects the
// contract is not compared.
//
// A request with the same key but another host, query, media type or content is rejected with 422.
// JSON content is compared without white space and member order, and a form with files
// (multipart/form-data) by its parts. A key on a request for an event
// stream or an upgrade is rejected with 400, and a body larger than Options.MaxBody with 413. If a
// repeated request does not accept the recorded media type, the response is 406.
//
// The handler reads the body from memory, receives no Accept-Encoding, and a context that ends with
// Options.Lease. Its response is sent when it returns, unless it is flushed.
func (g *Guard) Wrap(next http.Handler) http.Handler {
	if next == nil {
		panic("idempotency: Wrap needs a handler, and next is nil")
	}
	if g.opts.Principal == nil {
		panic("idempotency: Wrap needs Options.Principal, the owner of a key; without authentication set a " +
			"function that returns a constant")
	}
	return &wrapped{g, next}
}

type wrapped struct {
	guard *Guard
	next  http.Handler
}

// ServeHTTP passes requests without a key through.
func (h *wrapped) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete:
		if len(r.Header[KeyField]) > 0 || h.guard.opts.Required {
			h.serveKeyed(w, r)
			return
		}
	}
	h.next.ServeHTTP(w, r)
}

// serveKeyed serves a request with a key.
func (h *wrapped) serveKeyed(w http.ResponseWriter, r *http.Request) {
	op, content, err := h.operation(w, r)
	if err != nil {
		refuse(w, r, err)
		return
	}
	rec := &recorder{w: w, max: h.guard.opts.MaxResult}
	record, _, err := h.guard.Do(r.Context(), op, AtMostOnce, nil, func(ctx context.Context) (Record, error) {
		rec.ran = true
		h.next.ServeHTTP(rec, withContent(r.WithContext(ctx), content))
		return rec.outcome(ctx)
	})
	switch {
	case rec.ran: // the response of this run, independent of its outcome
		rec.send()
	case err != nil:
		refuse(w, r, err)
	default:
		replay(w, r, &record)
	}
}

// operation returns the operation of a request.
func (h *wrapped) operation(w http.ResponseWriter,
	r *http.Request) (op Operation, content []byte, err error) {
	op.Key, err = h.guard.Key(r.Header)
	if err != nil {
		return op, nil, err
	}
	op.Principal = h.guard.opts.Principal(r.Context())
	switch {
	case op.Principal == "":
		return op, nil, invalid("an idempotency key needs an authenticated caller")
	case r.Header.Get("Upgrade") != "" || strings.Contains(r.Header.Get("Accept"), "text/event-stream"):
		return op, nil, invalid("a stream cannot be replayed; omit the Idempotency-Key")
	}
	content, err = readContent(w, r, h.guard.opts.MaxBody)
	if err != nil {
		return op, nil, err
	}
	op.Method, op.Target = r.Method, targetOf(r)
	typ, coding := r.Header.Get("Content-Type"), r.Header.Get("Content-Encoding")
	meaning := content
	if coding == "" {
		meaning = canonicalContent(typ, content)
	}
	op.Fingerprint = Fingerprint([]byte(op.Method), []byte(strings.ToLower(r.Host)), []byte(op.Target),
		[]byte(r.URL.RawQuery), []byte(MediaTypeEssence(typ)), []byte(coding), meaning)
	return op, content, nil
}

// targetOf returns the path of a request as the client has sent it. If another handler has changed
// the path or selected a contract, that is part of the target: a record must not answer a request
// that would have another effect.
func targetOf(r *http.Request) string {
	path := r.URL.EscapedPath()
	target := path
	if sent, err := url.ParseRequestURI(r.RequestURI); err == nil && sent.EscapedPath() != path {
		target = sent.EscapedPath() + " " + path
	}
	if name := contract.From(r.Context()).Name(); name != "" {
		target += " " + name
	}
	return target
}

// canonicalContent returns content in the form that its fingerprint is made of. For JSON, white space,
// the order of members and escapes are normalized. Numbers keep their spelling, because 1 and 1.0
// differ for some handlers. A form is a hash of its parts, because a browser chooses another boundary for
// each attempt. Content of another type, or that is not well-formed, is returned unchanged.
func canonicalContent(contentType string, content []byte) []byte {
	essence := MediaTypeEssence(contentType)
	canonical, err := content, error(nil)
	switch {
	case essence == "multipart/form-data":
		canonical, err = hashParts(contentType, content)
	case essence == "application/json", strings.HasSuffix(essence, "+json"):
		canonical, err = sortMembers(content)
	}
	if err != nil {
		return content
	}
	return canonical
}

// hashParts returns a hash of the header fields and the contents of the parts of a form.
func hashParts(contentType string, content []byte) ([]byte, error) {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, err
	}
	var all [][]byte
	parts := multipart.NewReader(bytes.NewReader(content), params["boundary"])
	for {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			sum := Fingerprint(all...)
			return sum[:], nil
		}
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(part.Header)) {
			for _, value := range part.Header[name] {
				all = append(all, []byte(name+": "+value))
			}
		}
		body, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		all = append(all, nil, body) // nil ends the fields, which are not empty
	}
}

// readContent reads the whole body, or returns a problem.
func readContent(w http.ResponseWriter, r *http.Request, max int64) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	content, err := io.ReadAll(http.MaxBytesReader(w, r.Body, max))
	var tooLarge *http.MaxBytesError
	var ofReader *problem.Details
	switch {
	case errors.As(err, &tooLarge):
		d := problem.New(problem.TooLarge,
			"the body of a request with an Idempotency-Key is limited to "+
				strconv.FormatInt(tooLarge.Limit, 10)+" bytes")
		d.Extensions = map[string]any{"limit": tooLarge.Limit}
		return nil, d
	case errors.As(err, &ofReader): // such as 408 after a read deadline
		return nil, ofReader
	case err != nil:
		return nil, problem.New(problem.BadRequest, "the request body is incomplete")
	}
	return content, nil
}

// withContent sets the body of r, which is a copy of the request, to content. It removes
// Accept-Encoding, because a recorded response is replayed to clients that may not accept the
// coding.
func withContent(r *http.Request, content []byte) *http.Request {
	if content != nil {
		r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(content)), int64(
			len(content),
		), nil
	}
	if _, ok := r.Header["Accept-Encoding"]; ok {
		r.Header = maps.Clone(r.Header)
		delete(r.Header, "Accept-Encoding")
	}
	return r
}

// refuse responds with a problem.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	var d *problem.Details
	if !errors.As(err, &d) {
		d = problem.New(problem.Internal, "")
	}
	problem.Write(w, r, d)
}

// replay responds with a recorded response.
func replay(w http.ResponseWriter, r *http.Request, rec *Record) {
	if len(rec.Result) > 0 && rec.Status < http.StatusBadRequest {
		if _, ok := header.Accept(r.Header["Accept"], []string{rec.Media}); !ok {
			d := problem.New(problem.NotAcceptable,
				"the recorded response is "+rec.Media+", which the Accept field excludes")
			d.Extensions = map[string]any{"available": []string{rec.Media}}
			problem.Write(w, r, d)
			return
		}
	}
	h := w.Header()
	h.Set(ReplayedField, "true")
	if rec.Reference() {
		h.Set(ResultField, "reference")
		problem.Write(w, r, rec.NotKept())
		return
	}
	for name, lines := range rec.Header {
		h[name] = slices.Clone(lines)
	}
	if rec.Media != "" {
		h.Set("Content-Type", rec.Media)
		h.Set("Content-Length", strconv.Itoa(len(rec.Result)))
	}
	w.WriteHeader(rec.Status)
	// An error means that the client has disconnected.
	_, _ = w.Write(rec.Result)
}
