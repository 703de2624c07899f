package graphql_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
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
			Header: http.Header{"retry-after": {"7"}}}, 503, "UNAVAILABLE"},
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

// TestUnavailable: what REST answers with 503 and Retry-After has the code UNAVAILABLE and the member
// retryAfter, in each kind of operation. A write with an unknown outcome has neither.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	const again = `"extensions":{"code":"UNAVAILABLE",` +
		`"type":"https://stoa-go.github.io/problems/unavailable","retryAfter":1}`
	later := &problem.Details{Kind: "https://example.com/closed", Status: 503,
		Header: http.Header{"retry-after": {"7"}}}
	busy := &problem.Details{Kind: problem.TooManyRequests, Header: http.Header{"Retry-After": {"30"}}}
	date := &problem.Details{Kind: problem.Unavailable,
		Header: http.Header{"Retry-After": {"Mon, 23 Nov 2026 17:00:00 GMT"}}}
	const list, write = `{ orders { nodes { id } } }`, `mutation { patchOrder(id: 1, input: {cents: 5}) { id } }`
	tests := []struct {
		name, document string
		err            error
		want           string
	}{
		{"query", list, resource.ErrUnavailable, again},
		{"mutation", write, resource.ErrUnavailable, again},
		{"database", write, tx.ErrUnavailable, again},
		{"deadline", list, context.DeadlineExceeded, again},
		{"subscription", `subscription { orderChanged { id } }`, resource.ErrUnavailable, again},
		{"application", list, later,
			`"code":"UNAVAILABLE","type":"https://example.com/closed","retryAfter":7}`},
		{"limit", list, busy, `"code":"RATE_LIMITED",` +
			`"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","retryAfter":30}`},
		{"date", list, date, `"code":"UNAVAILABLE","type":"https://stoa-go.github.io/problems/unavailable"}`},
		{"unknown outcome", write, tx.ErrOutcomeUnknown, `"code":"INTERNAL_SERVER_ERROR",` +
			`"type":"https://stoa-go.github.io/problems/outcome-unknown"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newTestHandler(t, watched(t, nil), func(s *setup) {
				s.orders.Scope = func(context.Context) (query.Filter, error) { return query.Filter{}, tt.err }
			})
			accept := acceptOld
			if tt.name == "subscription" {
				accept = "Accept: text/event-stream"
			}
			res := send(t, h, "POST /graphql", jsonBody, accept, "", fmt.Sprintf(`{"query":%q}`, tt.document))
			if !strings.Contains(res.body, tt.want) {
				t.Errorf("response has no %s:\n%s", tt.want, res.body)
			}
		})
	}
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
