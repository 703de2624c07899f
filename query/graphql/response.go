package graphql

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strconv"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/httpbody"
)

// The Content-Types of answers, by form. The charset says what JSON is anyway (RFC 8259 section 8.1), for clients that
// would ask.
var contentTypes = [...][]string{
	plain:    {mediaJSON + "; charset=utf-8"},
	response: {mediaResponse + "; charset=utf-8"},
	html:     {mediaJSON + "; charset=utf-8"}, // only of what goes wrong
	events:   {mediaJSON + "; charset=utf-8"}, // as well
}

// unauthenticated is the code in an answer for which credentials may help. In the text of a value its quotation marks would
// be escaped.
var unauthenticated = []byte(`"code":"UNAUTHENTICATED"`)

// sendAnswer answers with what is not to be kept.
//
// There is no status for a part of an answer, and drafts have proposed several: whatever was executed is 200, with errors
// or without. So it is, too, where every field said UNAUTHENTICATED; WWW-Authenticate, which may stand in any answer (RFC
// 9110 section 11.6.1), then tells how to do better. A middleware that knows that nobody has access answers 401 itself.
func (x *exchange) sendAnswer(body []byte, how outcome) {
	h := x.w.Header()
	h["Cache-Control"] = noStore
	x.setReplayed()
	if how == done && bytes.HasPrefix(body, errorsFirst) &&
		bytes.Contains(body[:min(len(body), 1<<16)], unauthenticated) {
		h["Www-Authenticate"] = []string{x.h.opts.Challenge}
	}
	status := http.StatusOK
	if how == refused && x.form == response {
		status = http.StatusBadRequest
	}
	x.send(status, body)
}

// sendCacheable answers a GET, with a tag by which it can be asked for again.
func (x *exchange) sendCacheable(body []byte) {
	h := x.w.Header()
	h["Cache-Control"] = x.h.cache
	tag := entityTag(body, x.contentType(), httpbody.ShouldGzip(x.enc, len(body)))
	h["Etag"] = []string{tag}
	// The answer had to be made to know its tag; what is saved is sending it (RFC 9110 section 13.1.2).
	if lines := x.r.Header["If-None-Match"]; len(lines) > 0 {
		if match, _ := header.MatchTag(lines, tag, true); match {
			header.AddVary(h, varyAnswer)
			x.noContent(http.StatusNotModified)
			return
		}
	}
	x.send(http.StatusOK, body)
}

// entityTag is a strong tag (RFC 9110 section 8.8.3): it differs wherever the octets, their type or their coding do.
func entityTag(body []byte, contentType string, zipped bool) string {
	sum := sha256.New()
	sum.Write(body)
	io.WriteString(sum, contentType)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:15])
	if zipped {
		tag += "-gzip"
	}
	return tag + `"`
}

func (x *exchange) contentType() string {
	if x.media != nil {
		return x.media[0]
	}
	return contentTypes[x.form][0]
}

// send sends an answer, compressed where that is wanted and worth it.
func (x *exchange) send(status int, body []byte) {
	h := x.w.Header()
	if httpbody.ShouldGzip(x.enc, len(body)) {
		zipped := buffers.Get()
		defer buffers.Put(zipped)
		*zipped = httpbody.AppendGzip(*zipped, body)
		body = *zipped
		h["Content-Encoding"] = gzipValue
	}
	if h["Content-Type"] = x.media; x.media == nil {
		h["Content-Type"] = contentTypes[x.form]
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	h["X-Content-Type-Options"] = nosniff
	header.AddVary(h, varyAnswer)
	x.began = true
	x.w.WriteHeader(status)
	if x.r.Method != http.MethodHead {
		x.w.Write(body) // an error means that the client has gone, and nobody is left to tell
	}
}

// noContent sends an answer without content.
func (x *exchange) noContent(status int) {
	x.w.Header()["X-Content-Type-Options"] = nosniff
	x.began = true
	x.w.WriteHeader(status)
}

// buffers holds request and response bodies. It does not keep buffers of more than 4 MiB.
var buffers = httpbody.NewBuffers(4096, 4<<20)
