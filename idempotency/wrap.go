package idempotency

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// Wrap serves any handler with keys: of the requests that are POST, PATCH, PUT or DELETE with the same Idempotency-Key, one
// gets to the handler. Options.Principal says whose they are.
//
// The level is AtMostOnce, as the handler's effects are somebody else's. What it answered is kept if it did something (2xx
// and 3xx), or if it called [RecordRefusal] for a refusal: the status, the content and those fields that describe it. After any other
// 4xx the same may be tried again, as if for the first time; after 5xx, a panic or a hijacked connection the outcome is
// unknown. Of an answer larger than Options.MaxResult, or flushed, it is kept that it was given, and a repetition gets the
// same without its content, and "Idempotency-Result: reference".
//
// Another request under the key is 422: one that differs in host, query, type or content. Of JSON only the meaning counts.
// A key on a request for a stream of events or an upgrade is 400, and content of more than Options.MaxBody is 413. What a
// repetition does not accept is 406.
//
// The handler gets the content from memory, no Accept-Encoding, and a context that ends with Options.Lease. Its answer is
// sent when it returns, unless it is flushed.
func (k *Guard) Wrap(next http.Handler) http.Handler {
	if next == nil {
		panic("idempotency: Wrap without a handler")
	}
	return &wrapped{k, next}
}

type wrapped struct {
	k    *Guard
	next http.Handler
}

// ServeHTTP is quick for what has no key, which is most requests.
func (h *wrapped) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete:
		if len(r.Header[KeyField]) > 0 || h.k.opts.Required {
			h.once(w, r)
			return
		}
	}
	h.next.ServeHTTP(w, r)
}

// once serves a request with a key.
func (h *wrapped) once(w http.ResponseWriter, r *http.Request) {
	op, content, err := h.operation(w, r)
	if err != nil {
		refuse(w, r, err)
		return
	}
	rec := &recorder{w: w, max: h.k.opts.MaxResult}
	record, _, err := h.k.Do(r.Context(), op, AtMostOnce, nil, func(ctx context.Context) (Record, error) {
		rec.ran = true
		h.next.ServeHTTP(rec, withContent(r.WithContext(ctx), content))
		return rec.outcome(ctx)
	})
	switch {
	case rec.ran: // whatever it was worth: it is the answer
		rec.send()
	case err != nil:
		refuse(w, r, err)
	default:
		replay(w, r, &record)
	}
}

// operation reads what a request asks for.
func (h *wrapped) operation(w http.ResponseWriter, r *http.Request) (op Operation, content []byte, err error) {
	op.Key, err = h.k.Key(r.Header)
	if err != nil {
		return op, nil, err
	}
	op.Principal = h.k.opts.Principal(r.Context())
	switch {
	case op.Principal == "":
		return op, nil, invalid("a key is of no use to a caller who is not known")
	case r.Header.Get("Upgrade") != "" || strings.Contains(r.Header.Get("Accept"), "text/event-stream"):
		return op, nil, invalid("what is sent as a stream cannot be sent again: leave the key out")
	}
	content, err = readContent(w, r, h.k.opts.MaxBody)
	if err != nil {
		return op, nil, err
	}
	op.Method, op.Target = r.Method, r.URL.EscapedPath()
	typ, coding := r.Header.Get("Content-Type"), r.Header.Get("Content-Encoding")
	meaning := content
	if coding == "" {
		meaning = CanonicalContent(typ, content)
	}
	op.Fingerprint = Fingerprint([]byte(op.Method), []byte(strings.ToLower(r.Host)), []byte(op.Target), []byte(r.URL.RawQuery),
		[]byte(MediaTypeEssence(typ)), []byte(coding), meaning)
	return op, content, nil
}

// readContent reads all of the content, or refuses.
func readContent(w http.ResponseWriter, r *http.Request, max int64) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	content, err := io.ReadAll(http.MaxBytesReader(w, r.Body, max))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		d := problem.New(problem.TooLarge, "a request with a key has at most "+strconv.FormatInt(tooLarge.Limit, 10)+" bytes of content")
		d.Extensions = map[string]any{"limit": tooLarge.Limit}
		return nil, d
	case err != nil:
		return nil, problem.New(problem.BadRequest, "the content has not come completely")
	}
	return content, nil
}

// withContent puts content that has been read back into a request that is a copy already. What the handler sends is kept as
// it is, so it must not be in a coding that only this client accepts.
func withContent(r *http.Request, content []byte) *http.Request {
	if content != nil {
		r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(content)), int64(len(content)), nil
	}
	if _, ok := r.Header["Accept-Encoding"]; ok {
		r.Header = maps.Clone(r.Header)
		delete(r.Header, "Accept-Encoding")
	}
	return r
}

// refuse answers with a problem.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	var d *problem.Details
	if !errors.As(err, &d) {
		d = problem.New(problem.Internal, "")
	}
	problem.Write(w, r, d)
}

// replay answers with what was answered before.
func replay(w http.ResponseWriter, r *http.Request, rec *Record) {
	if rec.Media != "" && rec.Status < http.StatusBadRequest {
		if _, ok := header.Accept(r.Header["Accept"], []string{rec.Media}); !ok {
			d := problem.New(problem.NotAcceptable, "the first request with this key was answered in another media type")
			d.Extensions = map[string]any{"available": []string{rec.Media}}
			problem.Write(w, r, d)
			return
		}
	}
	h := w.Header()
	for name, lines := range rec.Header {
		h[name] = slices.Clone(lines)
	}
	h.Set(ReplayedField, "true")
	switch {
	case rec.Reference():
		h.Set(ResultField, "reference")
	case rec.Media != "":
		h.Set("Content-Type", rec.Media)
		h.Set("Content-Length", strconv.Itoa(len(rec.Result)))
	}
	w.WriteHeader(rec.Status)
	// A client that has gone cannot be told so.
	_, _ = w.Write(rec.Result)
}
