package gqlerror_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

const uri = "https://stoa-go.github.io/problems/"

// detailed returns a problem with violations.
func detailed(kind problem.Kind, detail string, bad ...problem.Violation) *problem.Details {
	d := problem.New(kind, detail)
	d.Errors = bad
	return d
}

// input returns an InputError that maps pointers to arguments below "input".
func input(err error) error {
	return &gqlerror.InputError{Err: err, Argument: func(pointer string) string {
		return "input" + strings.ReplaceAll(pointer, "/", ".")
	}}
}

func TestOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"not found", &resource.Error{Op: resource.OpGet, Resource: "orders", ID: "7",
			Err: resource.ErrNotFound},
			`{"message":"There is no such item.","extensions":{"code":"NOT_FOUND","type":"` + uri +
				`not-found"}}`},
		{"gone", resource.ErrGone,
			`{"message":"The item has been deleted.","extensions":{"code":"GONE","type":"` + uri + `gone"}}`},
		{"forbidden", fmt.Errorf("because: %w", resource.ErrForbidden),
			`{"message":"The caller is not allowed to carry out this operation.","extensions":{"code":"FORBIDDEN","type":"` + uri +
				`forbidden"}}`},
		{"unauthenticated", resource.ErrUnauthenticated,
			`{"message":"The operation requires authentication.","extensions":{"code":"UNAUTHENTICATED","type":"` + uri +
				`unauthenticated"}}`},
		{"a deadline", context.DeadlineExceeded, `{"message":"The service is temporarily unavailable; retry after 1 second.",` +
			`"extensions":{"code":"UNAVAILABLE","type":"` + uri + `unavailable","retryAfter":1}}`},
		{"a limit", problem.New(problem.TooManyRequests, ""), `{"message":"Quota Exceeded",` +
			`"extensions":{"code":"RATE_LIMITED",` +
			`"type":"https://iana.org/assignments/http-problem-types#quota-exceeded"}}`},
		{"taken", input(resource.Taken("email")),
			`{"message":"Another item already has the same value of a unique field. input.email must be unique; another item has this ` +
				`value",` +
				`"extensions":{"code":"CONFLICT","type":"` + uri + `conflict",` +
				`"errors":[{"argument":"input.email","pointer":"/email","code":"taken","detail":"email must be unique; another ` +
				`item has this value"}]}}`},
		{"refused by a hook", input(resource.Invalid("customerId", "unknownCustomer")),
			`{"message":"The content is not valid. input.customerId is not valid (unknownCustomer)",` +
				`"extensions":{"code":"BAD_USER_INPUT","type":"` + uri + `invalid-content",` +
				`"errors":[{"argument":"input.customerId","pointer":"/customerId",` +
				`"code":"unknownCustomer","detail":"customerId is not valid (unknownCustomer)"}]}}`},
		{"violations", input(schema.Violations{{Pointer: "/lines/0", Code: "a", Detail: "must be b"},
			{Pointer: ""}}),
			`{"message":"The content is not valid. input.lines.0: must be b (and 1 more)",` +
				`"extensions":{"code":"BAD_USER_INPUT","type":"` + uri + `invalid-content","errors":[` +
				`{"argument":"input.lines.0","pointer":"/lines/0","code":"a","detail":"must be b"},` +
				`{"argument":"input","pointer":""}]}}`},
		{"unknown arguments", schema.Violations{{Pointer: "/a", Code: "b", Detail: "c"}},
			`{"message":"The content is not valid. c","extensions":{"code":"BAD_USER_INPUT","type":"` + uri +
				`invalid-content","errors":[{"pointer":"/a","code":"b","detail":"c"}]}}`},
		{"an argument", query.Errors{{Parameter: "filter.a.eq", Code: "b", Detail: "c"}},
			`{"message":"A parameter of the request is not valid. filter.a.eq: c",` +
				`"extensions":{"code":"BAD_USER_INPUT",` +
				`"type":"` + uri +
				`invalid-parameter","errors":[{"argument":"filter.a.eq","code":"b","detail":"c"}]}}`},
		{"If-Match", detailed(problem.InvalidHeader, "No.",
			problem.Violation{Header: "If-Match", Code: "syntax"}),
			`{"message":"No. ifMatch: syntax","extensions":{"code":"BAD_USER_INPUT","type":"` + uri +
				`invalid-header","errors":[{"argument":"ifMatch","code":"syntax"}]}}`},
		{"violations without words", detailed(problem.Conflict, "No.", problem.Violation{}),
			`{"message":"No.","extensions":{"code":"CONFLICT","type":"` + uri +
				`conflict","errors":[{"pointer":""}]}}`},
		{"a problem of the application", &problem.Details{Kind: "https://example.com/out-of-stock",
			Status:   409,
			Instance: "urn:x", Detail: "Wait.",
			Extensions: map[string]any{"left": 2, "code": "mine", "b": []int{1}, "f": func() {}}},
			`{"message":"Wait.","extensions":{"code":"CONFLICT",` +
				`"type":"https://example.com/out-of-stock","instance":"urn:x",` +
				`"b":[1],"left":2}}`},
		{"words that are no text", problem.New(problem.Conflict, "\xff\"<"),
			`{"message":"` + "\ufffd" + `\"<","extensions":{"code":"CONFLICT","type":"` + uri +
				`conflict"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, string(gqlerror.Of(tt.err).Append(nil))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOfMasks checks that an internal error shows an instance URN, and no text of the error.
func TestOfMasks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
	}{
		{"any error", errors.New("secret")},
		{"a place", &resource.Error{Op: resource.OpGet, Resource: "secret", ID: "secret",
			Err: errors.New("secret")}},
		{"input", input(errors.New("secret"))},
		{"a problem", detailed(problem.Internal, "secret", problem.Violation{Detail: "secret"})},
		{"a status", &problem.Details{Kind: "https://secret", Status: http.StatusInternalServerError,
			Detail: "secret"}},
		{"a context error of custom code", fmt.Errorf("secret: %w", context.Canceled)},
	}
	shape := regexp.MustCompile(`^\{"message":"Internal server error",` +
		`"extensions":\{"code":"INTERNAL_SERVER_ERROR","type":"` +
		uri +
		`internal-error","instance":"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"\}\}$`)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			one, other := gqlerror.Of(tt.err), gqlerror.Of(tt.err)
			if got := string(one.Append(nil)); !shape.MatchString(got) {
				t.Errorf("it is %s", got)
			}
			if one.Problem.Instance == other.Problem.Instance {
				t.Errorf("two have the instance %s", one.Problem.Instance)
			}
		})
	}
}

// TestOfDoesNotModify checks that Of does not modify a problem that custom code may return several
// times.
func TestOfDoesNotModify(t *testing.T) {
	t.Parallel()
	mine := problem.New(problem.Internal, "x")
	gqlerror.Of(mine)
	if diff := cmp.Diff(problem.New(problem.Internal, "x"), mine); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAppend(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  *gqlerror.Error
		want string
	}{
		{"the least", &gqlerror.Error{Message: "m", Code: gqlerror.ParseFailed},
			`{"message":"m","extensions":{"code":"GRAPHQL_PARSE_FAILED"}}`},
		{"a place", &gqlerror.Error{Message: "m", Code: gqlerror.ValidationFailed, Rule: "KnownTypeNames",
			Locations: []gqlerror.Location{{1, 2}, {3, 4}}},
			`{"message":"m","locations":[{"line":1,"column":2},{"line":3,"column":4}],` +
				`"extensions":{"code":"GRAPHQL_VALIDATION_FAILED","rule":"KnownTypeNames"}}`},
		{"a path", &gqlerror.Error{Message: "m", Code: gqlerror.BadUserInput,
			Path: []any{"orders", 0, "a\"b"}},
			`{"message":"m","path":["orders",0,"a\"b"],"extensions":{"code":"BAD_USER_INPUT"}}`},
		{"the root", &gqlerror.Error{Message: "m", Code: gqlerror.Internal, Path: []any{}},
			`{"message":"m","path":[],"extensions":{"code":"INTERNAL_SERVER_ERROR"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, string(tt.err.Append(nil))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			want := "x[" + tt.want + "," + tt.want + "]"
			if diff := cmp.Diff(want, string(gqlerror.List([]byte("x"),
				[]*gqlerror.Error{tt.err, tt.err}))); diff != "" {
				t.Errorf("list (-want +got):\n%s", diff)
			}
		})
	}
	if got := string(gqlerror.List(nil, nil)); got != "[]" {
		t.Errorf("no errors are %s", got)
	}
}

// TestErrorTexts checks the texts that logs contain.
func TestErrorTexts(t *testing.T) {
	t.Parallel()
	err := input(fmt.Errorf("secret: %w", resource.ErrStale))
	if err.Error() != "secret: "+resource.ErrStale.Error() || !errors.Is(err, resource.ErrStale) {
		t.Errorf("it is %v", err)
	}
	if got := (&gqlerror.Error{Message: "m"}).Error(); got != "m" {
		t.Errorf("it is %s", got)
	}
}
