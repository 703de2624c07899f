package graphql_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/problem"
)

// reading is a content of which reading gives an error, or panics.
type reading func() error

func (r reading) Read([]byte) (int, error) { return 0, r() }
func (r reading) Close() error             { return nil }

// TestUnreadable: an error while the body is read is reported by its kind.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	teapot := problem.New(problem.AmbiguousVersion, "two versions")
	tests := []struct {
		name   string
		err    error
		status int
		code   string
	}{
		{"the connection", io.ErrUnexpectedEOF, 400, "BAD_USER_INPUT"},
		{"a limit of a middleware", &http.MaxBytesError{Limit: 1}, 413, "BAD_USER_INPUT"},
		{"caller that read it before", errors.Join(teapot), 400, "BAD_USER_INPUT"},
		{"caller without relations", problem.New(problem.Unauthenticated, "Who are you?"), 401,
			"UNAUTHENTICATED"},
		{"caller at its limit", &problem.Details{Kind: problem.Unavailable,
			Header: http.Header{"retry-after": {"7"}}}, 503, "INTERNAL_SERVER_ERROR"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := request(t, "POST /graphql", jsonBody)
			r.Body, r.ContentLength = reading(func() error { return tt.err }), -1
			res := answered(h, r)
			wantCode(t, res, tt.status, tt.code)
			if tt.status == 401 {
				want(t, res, 401, "WWW-Authenticate: Bearer")
			}
			if tt.status == 503 {
				want(t, res, 503, "Retry-After: 7")
			}
		})
	}
	r := request(t, "POST /graphql", jsonBody, "Content-Length: 2000000")
	r.ContentLength = -1 // as a version.Negotiator leaves it
	wantCode(t, answered(h, r), 413, "BAD_USER_INPUT")
}

// TestPanic: one panic is one answer, of which the log has the other half.
func TestPanic(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := newTestHandler(t, func(s *setup) { s.opts.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	r := request(t, "POST /graphql", jsonBody)
	secret := "the password is " + strings.Repeat("x", 300)
	r.Body, r.ContentLength = reading(func() error { panic(secret) }), -1
	res := answered(h, r)
	wantCode(t, res, 500, "INTERNAL_SERVER_ERROR")
	instance := regexp.MustCompile(`urn:uuid:[0-9a-f-]{36}`).FindString(res.body)
	if strings.Contains(res.body, "password") || instance == "" ||
		!strings.Contains(log.String(), "instance="+instance) {
		t.Errorf("the answer is %s, and the log\n%s", res.body, &log)
	}
	if !strings.Contains(log.String(), "the password is") || strings.Contains(log.String(), secret) {
		t.Errorf("the log has nothing of it, or all:\n%s", &log)
	}
	wantBody(t, send(t, h, "POST /graphql", jsonBody, "", typenameBody), 200, typenameIs)
}

// TestAbort: http.ErrAbortHandler is passed on.
func TestAbort(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	r := request(t, "POST /graphql", jsonBody)
	r.Body = reading(func() error { panic(http.ErrAbortHandler) })
	defer func() {
		if v := recover(); v != http.ErrAbortHandler {
			t.Errorf("the handler ended with %v", v)
		}
	}()
	h.ServeHTTP(httptest.NewRecorder(), r)
}
