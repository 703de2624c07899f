package measure

import (
	"bytes"
	"net/http"
)

// Client sends one request to a handler repeatedly, without a network and without allocating. It is
// not safe for concurrent use.
type Client struct {
	Handler  http.Handler
	Request  *http.Request
	Bodies   [][]byte // sent in turn; empty means no body
	Sent     int      // requests so far
	Response Response // of the last request
	body     body
}

// Send sends the request with the next body.
func (c *Client) Send() {
	if n := len(c.Bodies); n > 0 {
		next := c.Bodies[c.Sent%n]
		c.body.Reset(next)
		c.Request.Body, c.Request.ContentLength = &c.body, int64(len(next))
	}
	c.Sent++
	c.Response.Reset()
	c.Handler.ServeHTTP(&c.Response, c.Request)
}

// body is a request body that can be reset without allocating.
type body struct{ bytes.Reader }

// Close implements [io.Closer].
func (*body) Close() error { return nil }

// Response is a reusable [http.ResponseWriter] that discards the body unless Keep is set.
type Response struct {
	Status  int
	Bytes   int64        // of the body
	Keep    bool         // append what is written to Body
	Body    []byte       // empty unless Keep is set
	OnWrite func([]byte) // called before each Write; may be nil
	header  http.Header
}

// Reset prepares r for the next response. Keep and OnWrite stay.
func (r *Response) Reset() {
	clear(r.header)
	r.Status, r.Bytes, r.Body = http.StatusOK, 0, r.Body[:0]
}

// Header implements [http.ResponseWriter].
func (r *Response) Header() http.Header {
	if r.header == nil {
		r.header = http.Header{}
	}
	return r.header
}

// WriteHeader implements [http.ResponseWriter].
func (r *Response) WriteHeader(status int) { r.Status = status }

// Write implements [http.ResponseWriter].
func (r *Response) Write(b []byte) (int, error) {
	if r.OnWrite != nil {
		r.OnWrite(b)
	}
	if r.Keep {
		r.Body = append(r.Body, b...)
	}
	r.Bytes += int64(len(b))
	return len(b), nil
}
