package rest_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

// With Expect: 100-continue a client avoids to send a body in vain.

func TestRule072ExpectIsAnsweredFirst(t *testing.T) {
	t.Parallel()
	srv := listen(t, api(t, func(s *setup) {
		s.catalog.Limits.Body = 1000
		s.orders.Authorize = func(ctx context.Context, op resource.Op, before, after *order) error {
			if before != nil && before.Customer == "secret" {
				return resource.ErrUnauthenticated
			}
			return nil
		}
		s.orders.AuthorizeGone = func(context.Context, string) error { return nil }
		s.users.RequireIfMatch = true
	}))
	p := dialHTTP(t, srv, false)
	want(t, p("POST /orders", jsonBody, "", `{"customerId":"u"}`), http.StatusCreated, "Location: /orders/1")
	want(t, p("POST /orders", jsonBody, "", `{"customerId":"u"}`), http.StatusCreated, "Location: /orders/2")
	want(t, p("POST /orders", jsonBody, "", `{"customerId":"secret"}`), http.StatusCreated, "Location: /orders/3")
	want(t, p("DELETE /orders/2"), http.StatusNoContent)
	want(t, p("PUT /users/u", jsonBody, "", `{"name":"n"}`), http.StatusCreated)

	stale := `If-Match: "stale"`
	tests := []struct {
		line   string
		fields []string
		want   problem.Kind
	}{
		{"POST /nothing", []string{jsonBody}, problem.NotFound},
		{"PATCH /orders/7", []string{mergeBody}, problem.NotFound},
		{"PUT /orders/7", []string{jsonBody}, problem.NotFound},
		{"PATCH /orders/7", []string{mergeBody, stale}, problem.NotFound},
		{"PATCH /orders/2", []string{mergeBody}, problem.Gone},
		{"PUT /orders/2", []string{jsonBody, stale}, problem.Gone},
		{"PATCH /orders/3", []string{mergeBody}, problem.Unauthenticated},
		{"PUT /orders", []string{jsonBody}, problem.MethodNotAllowed},
		{"PUT /places/ath", []string{jsonBody}, problem.MethodNotAllowed},
		{"POST /orders", []string{jsonBody, "Accept: text/html"}, problem.NotAcceptable},
		{"POST /orders", []string{"Content-Type: text/plain"}, problem.UnsupportedMediaType},
		{"POST /orders", nil, problem.UnsupportedMediaType},
		{"PATCH /orders/1", []string{"Content-Type: text/plain"}, problem.UnsupportedMediaType},
		{"PUT /orders/1", []string{jsonBody, "Content-Encoding: br"}, problem.UnsupportedMediaType},
		{"POST /orders", []string{jsonBody, "Content-Length: 1001"}, problem.TooLarge},
		{"PUT /orders/1", []string{jsonBody, "Content-Length: 1000000000000"}, problem.TooLarge},
		{"PUT /orders/1", []string{jsonBody, stale}, problem.PreconditionFailed},
		{"PATCH /orders/1", []string{mergeBody, stale}, problem.PreconditionFailed},
		{"PATCH /orders/1", []string{patchBody, "If-None-Match: *"}, problem.PreconditionFailed},
		{"PUT /users/new", []string{jsonBody, "If-Match: *"}, problem.PreconditionFailed},
		{"PATCH /orders/1", []string{mergeBody, `If-Match: nonsense`}, problem.InvalidHeader},
		{"PUT /users/u", []string{jsonBody}, problem.PreconditionRequired},
		{"PATCH /users/u", []string{mergeBody}, problem.PreconditionRequired},
		{"POST /orders?nonsense=1", []string{jsonBody}, problem.InvalidParameter},
	}
	for _, tt := range tests {
		t.Run(tt.line+" "+string(tt.want), func(t *testing.T) {
			t.Parallel()
			c := dial(t, srv)
			fields := append([]string{"Host: a", "Expect: 100-continue"}, tt.fields...)
			if !strings.Contains(strings.Join(fields, "\n"), "Content-Length") {
				fields = append(fields, "Content-Length: 20")
			}
			c.write(tt.line+" HTTP/1.1", append(fields, "")...)
			// The first response is final, not 100.
			wantProblem(t, c.read(tt.line), tt.want)
		})
	}
}

// TestRule072ExpectBesideVersions: a body that exceeds the limit is not requested to find out its
// version.
func TestRule072ExpectBesideVersions(t *testing.T) {
	t.Parallel()
	h := api(t, func(s *setup) { s.catalog.Limits.Body = 1000 })
	srv := listen(t, version.New([]version.Contract{{Name: "1.0.0", Handler: h}},
		[]version.Strategy{version.Path{}, version.Body{}}, nil))
	for _, length := range []string{"1001", "2000000", "1000000000000"} {
		c := dial(t, srv)
		c.write("POST /v1/orders HTTP/1.1", "Host: a", "Expect: 100-continue", jsonBody, "Content-Length: "+length, "")
		wantProblem(t, c.read("POST /orders"), problem.TooLarge)
	}
	for _, length := range []string{"Content-Length: 20", "Transfer-Encoding: chunked"} {
		c := dial(t, srv)
		c.write("POST /v1/orders HTTP/1.1", "Host: a", "Expect: 100-continue", jsonBody, length, "")
		want(t, c.read("POST /orders"), http.StatusContinue)
	}
}

func TestRule072ExpectIsMet(t *testing.T) {
	t.Parallel()
	srv := listen(t, api(t))
	want(t, dialHTTP(t, srv, false)("POST /orders", jsonBody, "", `{"customerId":"u"}`), http.StatusCreated)
	for _, tt := range []struct {
		line, contentType, doc string
		status                 int
	}{
		{"POST /orders", jsonBody, `{"customerId":"u"}`, http.StatusCreated},
		{"PUT /users/new", jsonBody, `{"name":"n"}`, http.StatusCreated},
		{"PATCH /orders/1", mergeBody, `{"cents":1}`, http.StatusOK},
		{"PATCH /orders/1", mergeBody, `{"cents":-1}`, http.StatusUnprocessableEntity},
	} {
		c := dial(t, srv)
		c.write(tt.line+" HTTP/1.1", "Host: a", "Expect: 100-Continue", tt.contentType, "Transfer-Encoding: chunked", "")
		want(t, c.read(tt.line), http.StatusContinue)
		c.send(fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(tt.doc), tt.doc))
		want(t, c.read(tt.line), tt.status)
	}
	// HTTP/1.0 has no 100, and other expectations are rejected.
	c := dial(t, srv)
	c.write("PATCH /orders/1 HTTP/1.0", "Expect: 100-continue", mergeBody, "Content-Length: 11", "", `{"cents":2}`)
	want(t, c.read("PATCH /orders/1"), http.StatusOK)
	c = dial(t, srv)
	c.write("PATCH /orders/1 HTTP/1.1", "Host: a", "Expect: miracles", mergeBody, "Content-Length: 11", "", `{"cents":3}`)
	want(t, c.read("PATCH /orders/1"), http.StatusExpectationFailed)
}

// After a body that is too large the connection is closed.
func TestRule064ConnectionIsClosed(t *testing.T) {
	t.Parallel()
	srv := listen(t, api(t, func(s *setup) { s.catalog.Limits.Body = 1000 }))
	c := dial(t, srv)
	c.write("POST /orders HTTP/1.1", "Host: a", jsonBody, "Transfer-Encoding: chunked", "")
	c.send("7d0\r\n" + strings.Repeat(" ", 2000) + "\r\n") // the body continues
	wantProblem(t, c.read("POST /orders"), problem.TooLarge, "Connection: close")
	_, _ = io.WriteString(c, "0\r\n\r\nGET /places HTTP/1.1\r\nHost: a\r\n\r\n") // unless it is closed by now
	if !c.ended() {
		t.Error("there is another answer on this connection")
	}
	// In HTTP/2 this concerns one stream, and the connection remains open.
	p := dialHTTP(t, srv, true)
	wantProblem(t, p("POST /orders", jsonBody, "", strings.Repeat(" ", 2000)), problem.TooLarge, "Connection:")
	want(t, p("GET /places"), http.StatusOK)
}

// A body shorter than its Content-Length is an error of the client.
func TestRule064ContentThatEndsEarly(t *testing.T) {
	t.Parallel()
	srv := listen(t, api(t))
	for _, fields := range [][]string{
		{"Content-Length: 100"},
		{"Transfer-Encoding: chunked"},
		{"Content-Length: 100", "Content-Encoding: gzip"},
	} {
		content := `{"customerId":"u"`
		if strings.HasPrefix(fields[0], "T") {
			content = "40\r\n" + content
		}
		c := dial(t, srv)
		c.write("POST /orders HTTP/1.1", append(append([]string{"Host: a", jsonBody}, fields...), "", content)...)
		if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		wantProblem(t, c.read("POST /orders"), problem.BadRequest)
	}
}
