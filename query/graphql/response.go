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

// The Content-Type of responses by format. The charset is the default of JSON (RFC 8259 section
// 8.1); some clients need it.
var contentTypes = [...][]string{
	plain:        {mediaJSON + "; charset=utf-8"},
	responseJSON: {mediaResponse + "; charset=utf-8"},
	html:         {mediaJSON + "; charset=utf-8"}, // for errors only
	events:       {mediaJSON + "; charset=utf-8"}, // for errors only
}

// unauthenticated is the error code for which WWW-Authenticate is sent. It cannot occur in a string
// value, where its quotation marks are escaped.
var unauthenticated = []byte(`"code":"UNAUTHENTICATED"`)

// sendAnswer sends a response that must not be cached.
//
// There is no status code for partial responses, so each executed operation has status 200, even if
// all fields failed with UNAUTHENTICATED. WWW-Authenticate informs the client how to authenticate;
// any response may have it (RFC 9110 section 11.6.1). A middleware can respond with 401 before
// execution.
func (x *exchange) sendAnswer(body []byte, how outcome) {
	h := x.w.Header()
	h["Cache-Control"] = noStore
	x.setReplayed()
	if how == done && bytes.HasPrefix(body, errorsFirst) &&
		bytes.Contains(body[:min(len(body), 1<<16)], unauthenticated) {
		h["Www-Authenticate"] = []string{x.h.opts.Challenge}
	}
	status := http.StatusOK
	if how == refused && x.form == responseJSON {
		status = http.StatusBadRequest
	}
	x.send(status, body)
}

// sendCacheable sends a response to GET with an ETag.
func (x *exchange) sendCacheable(body []byte) {
	h := x.w.Header()
	h["Cache-Control"] = x.h.cache
	tag := entityTag(body, x.contentType(), httpbody.ShouldGzip(x.enc, len(body)))
	h["Etag"] = []string{tag}
	// The tag is a hash of the response, so the operation has been executed. A match saves the
	// transfer only (RFC 9110 section 13.1.2).
	if lines := x.r.Header["If-None-Match"]; len(lines) > 0 {
		if match, _ := header.MatchTag(lines, tag, true); match {
			header.AddVary(h, varyAnswer)
			x.noContent(http.StatusNotModified)
			return
		}
	}
	x.send(http.StatusOK, body)
}

// entityTag returns a strong ETag (RFC 9110 section 8.8.3), which depends on the bytes, the media
// type and the coding.
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

// contentType returns the Content-Type of the response.
func (x *exchange) contentType() string {
	if x.media != nil {
		return x.media[0]
	}
	return contentTypes[x.form][0]
}

// send sends a response, compressed if the client accepts it and the body is large enough.
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
		x.w.Write(body) // an error means that the client has disconnected
	}
}

// noContent sends a response without body.
func (x *exchange) noContent(status int) {
	x.w.Header()["X-Content-Type-Options"] = nosniff
	x.began = true
	x.w.WriteHeader(status)
}

// buffers holds request and response bodies. It does not keep buffers of more than 4 MiB.
var buffers = httpbody.NewBuffers(4096, 4<<20)
