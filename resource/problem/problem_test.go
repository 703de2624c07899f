package problem_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/problem"
)

func TestStatusCode(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		d    problem.Details
		want int
	}{
		{"the zero value", problem.Details{}, 500},
		{"of the kind", problem.Details{Kind: problem.Gone}, 410},
		{"replaced", problem.Details{Kind: problem.Conflict, Status: 423}, 423},
		{"no error status", problem.Details{Kind: problem.Conflict, Status: 200}, 409},
		{"no status at all", problem.Details{Kind: problem.Conflict, Status: 1000}, 409},
		{"negative", problem.Details{Kind: problem.Conflict, Status: -1}, 409},
		{"an unknown kind", problem.Details{Kind: "out-of-stock"}, 500},
		{"an unknown kind with status", problem.Details{Kind: "out-of-stock", Status: 409}, 409},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.d.StatusCode(); got != tt.want {
				t.Errorf("StatusCode() = %d, want %d", got, tt.want)
			}
		})
	}
}

func TestDetailsCode(t *testing.T) {
	t.Parallel()
	tests := []struct {
		d    problem.Details
		want string
	}{
		{problem.Details{}, "INTERNAL_SERVER_ERROR"},
		{problem.Details{Kind: problem.NotFound}, "NOT_FOUND"},
		{problem.Details{Kind: problem.NotFound, Status: 409}, "NOT_FOUND"},
		{problem.Details{Kind: problem.OutcomeUnknown}, "INTERNAL_SERVER_ERROR"},
		{problem.Details{Kind: problem.OutcomeUnknown, Status: 409}, "CONFLICT"},
		{problem.Details{Kind: problem.OutcomeUnknown, Header: http.Header{"Retry-After": {"1"}}}, "UNAVAILABLE"},
		{problem.Details{Kind: problem.Unavailable}, "UNAVAILABLE"},
		{problem.Details{Kind: problem.Unavailable, Status: 409}, "CONFLICT"},
		{problem.Details{Kind: "own", Status: 503}, "UNAVAILABLE"},
		{problem.Details{Kind: "own"}, "INTERNAL_SERVER_ERROR"},
		{problem.Details{Kind: "own", Status: 400}, "BAD_USER_INPUT"},
		{problem.Details{Kind: "own", Status: 401}, "UNAUTHENTICATED"},
		{problem.Details{Kind: "own", Status: 402}, "BAD_USER_INPUT"},
		{problem.Details{Kind: "own", Status: 403}, "FORBIDDEN"},
		{problem.Details{Kind: "own", Status: 404}, "NOT_FOUND"},
		{problem.Details{Kind: "own", Status: 409}, "CONFLICT"},
		{problem.Details{Kind: "own", Status: 410}, "GONE"},
		{problem.Details{Kind: "own", Status: 412}, "PRECONDITION_FAILED"},
		{problem.Details{Kind: "own", Status: 428}, "PRECONDITION_FAILED"},
		{problem.Details{Kind: "own", Status: 429}, "RATE_LIMITED"},
		{problem.Details{Kind: "own", Status: 502}, "INTERNAL_SERVER_ERROR"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %d", tt.d.Kind, tt.d.Status), func(t *testing.T) {
			t.Parallel()
			if got := tt.d.Code(); got != tt.want {
				t.Errorf("Code() = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestError(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		d    *problem.Details
		want string
	}{
		{"the zero value", &problem.Details{}, "internal-error"},
		{"with detail", problem.New(problem.Gone, "deleted in May"), "gone: deleted in May"},
		{
			"with a violation",
			&problem.Details{Kind: problem.Invalid,
				Errors: []problem.Violation{{Pointer: "/a", Code: "required"}}},
			"invalid-content: /a required",
		},
		{
			"with a violation of the whole",
			&problem.Details{Kind: problem.Invalid, Errors: []problem.Violation{{Code: "type"}}},
			"invalid-content: type",
		},
		{
			"with a parameter",
			&problem.Details{Kind: problem.InvalidParameter,
				Errors: []problem.Violation{{Parameter: "sort", Code: "unknown"}}},
			"invalid-parameter: sort unknown",
		},
		{
			"with a detail and many violations",
			&problem.Details{Kind: problem.Invalid, Detail: "The content is not valid.",
				Errors: []problem.Violation{{Pointer: "/id", Code: "readOnly", Detail: "is set by the server"},
					{Code: "check"}, {Pointer: "/a", Code: "type"}, {Pointer: "/b", Code: "type"},
					{Pointer: "/c", Code: "type"}}},
			"invalid-content: The content is not valid. /id is set by the server; check; /a type and 2 more",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.d.Error()); diff != "" {
				t.Errorf("Error() mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDetailsTravelsAsError(t *testing.T) {
	t.Parallel()
	want := problem.New(problem.Conflict, "taken")
	err := fmt.Errorf("create: %w", errors.Join(errors.New("unique index"), want))
	var got *problem.Details
	if !errors.As(err, &got) || got != want {
		t.Errorf("errors.As found %v, want %v", got, want)
	}
}

func ExampleNew() {
	d := problem.New(problem.NotFound, "no order has this id")
	fmt.Println(d.StatusCode(), d)
	// Output: 404 not-found: no order has this id
}

// A kind of the application is a URI, and its Details set the status code.
func ExampleDetails() {
	d := &problem.Details{
		Kind:       "https://example.com/problems/out-of-stock",
		Status:     http.StatusConflict,
		Detail:     "item B00027Y5QG is no longer available",
		Extensions: map[string]any{"restock": "2026-12-01"},
	}
	fmt.Printf("%s\n", d.Append(nil))
	// Output: {"type":"https://example.com/problems/out-of-stock","title":"Out of stock","status":409,"detail":"item B00027Y5QG is no longer available","restock":"2026-12-01"}
}
