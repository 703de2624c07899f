package problem_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/problem"
)

// TestKinds lists the kinds as clients see them. A changed line breaks clients.
func TestKinds(t *testing.T) {
	t.Parallel()
	want := []string{
		"bad-request 400 Bad Request BAD_USER_INPUT",
		"invalid-parameter 400 Invalid Parameter BAD_USER_INPUT",
		"invalid-cursor 400 Invalid Cursor BAD_USER_INPUT",
		"invalid-header 400 Invalid Header BAD_USER_INPUT",
		"malformed-json 400 Malformed JSON BAD_USER_INPUT",
		"digest-mismatch 400 Digest Mismatch BAD_USER_INPUT",
		"malformed-patch 400 Malformed Patch BAD_USER_INPUT",
		"malformed-version 400 Malformed Version BAD_USER_INPUT",
		"unsupported-version 400 Unsupported Version BAD_USER_INPUT",
		"ambiguous-version 400 Ambiguous Version BAD_USER_INPUT",
		"version-required 400 Version Required BAD_USER_INPUT",
		"version-retired 410 Version Retired GONE",
		"unauthenticated 401 Unauthenticated UNAUTHENTICATED",
		"forbidden 403 Forbidden FORBIDDEN",
		"not-found 404 Not Found NOT_FOUND",
		"method-not-allowed 405 Method Not Allowed BAD_USER_INPUT",
		"not-acceptable 406 Not Acceptable BAD_USER_INPUT",
		"conflict 409 Conflict CONFLICT",
		"already-exists 409 Already Exists CONFLICT",
		"patch-conflict 409 Patch Conflict CONFLICT",
		"gone 410 Gone GONE",
		"cursor-expired 410 Cursor Expired CURSOR_EXPIRED",
		"precondition-failed 412 Precondition Failed PRECONDITION_FAILED",
		"content-too-large 413 Content Too Large BAD_USER_INPUT",
		"uri-too-long 414 URI Too Long BAD_USER_INPUT",
		"unsupported-media-type 415 Unsupported Media Type BAD_USER_INPUT",
		"range-not-satisfiable 416 Range Not Satisfiable BAD_USER_INPUT",
		"misdirected-request 421 Misdirected Request BAD_USER_INPUT",
		"invalid-content 422 Invalid Content BAD_USER_INPUT",
		"precondition-required 428 Precondition Required PRECONDITION_FAILED",
		"quota-exceeded 429 Quota Exceeded RATE_LIMITED",
		"headers-too-large 431 Header Fields Too Large BAD_USER_INPUT",
		"idempotency-key-missing 400 Idempotency-Key Missing BAD_USER_INPUT",
		"idempotency-key-expired 400 Idempotency-Key Expired BAD_USER_INPUT",
		"idempotency-key-reused 422 Idempotency-Key Reused BAD_USER_INPUT",
		"request-in-flight 409 Request In Flight CONFLICT",
		"internal-error 500 Internal Error INTERNAL_SERVER_ERROR",
		"not-implemented 501 Not Implemented INTERNAL_SERVER_ERROR",
		"unavailable 503 Unavailable UNAVAILABLE",
		"insufficient-storage 507 Insufficient Storage INTERNAL_SERVER_ERROR",
		"outcome-unknown 503 Outcome Unknown INTERNAL_SERVER_ERROR",
		"bad-gateway 502 Bad Gateway UNAVAILABLE",
		"gateway-timeout 504 Gateway Timeout UNAVAILABLE",
		"loop-detected 508 Loop Detected INTERNAL_SERVER_ERROR",
	}
	var got []string
	for kind := range problem.Kinds() {
		got = append(got, fmt.Sprintf("%s %d %s %s", kind, kind.Status(), kind.Title(), kind.Code()))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Kinds() mismatch (-want +got):\n%s", diff)
	}
}

func TestKindsStops(t *testing.T) {
	t.Parallel()
	n := 0
	for range problem.Kinds() {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d kinds after the first one, want 1", n)
	}
}

// TestKindsDiffer checks that no two kinds have the same type, because clients distinguish problems
// by type.
func TestKindsDiffer(t *testing.T) {
	t.Parallel()
	seen := make(map[string]problem.Kind)
	for kind := range problem.Kinds() {
		if other, twice := seen[kind.URI()]; twice {
			t.Errorf("%s and %s have the type %s", kind, other, kind.URI())
		}
		seen[kind.URI()] = kind
	}
}

func TestUnknownKind(t *testing.T) {
	t.Parallel()
	type facts struct {
		URI, Title, Code string
		Status           int
	}
	tests := []struct {
		kind problem.Kind
		want facts
	}{
		{"", facts{"https://stoa-go.github.io/problems/internal-error", "Internal Error",
			"INTERNAL_SERVER_ERROR", 500}},
		{"out-of-stock", facts{"https://stoa-go.github.io/problems/out-of-stock", "Out of stock",
			"INTERNAL_SERVER_ERROR", 500}},
		{"https://example.com/p/a_b/",
			facts{"https://example.com/p/a_b/", "A b", "INTERNAL_SERVER_ERROR", 500}},
		{"https://example.com/p#c", facts{"https://example.com/p#c", "C", "INTERNAL_SERVER_ERROR", 500}},
		{"about:blank", facts{"about:blank", "Blank", "INTERNAL_SERVER_ERROR", 500}},
		{":", facts{":", ":", "INTERNAL_SERVER_ERROR", 500}},
	}
	for _, tt := range tests {
		t.Run(string(tt.kind), func(t *testing.T) {
			t.Parallel()
			got := facts{tt.kind.URI(), tt.kind.Title(), tt.kind.Code(), tt.kind.Status()}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRule140QuotaExceededType(t *testing.T) {
	t.Parallel()
	want := "https://iana.org/assignments/http-problem-types#quota-exceeded"
	if got := problem.TooManyRequests.URI(); got != want {
		t.Errorf("URI() = %s, want %s", got, want)
	}
	if got, want := problem.Gone.URI(), "https://stoa-go.github.io/problems/gone"; got != want {
		t.Errorf("URI() = %s, want %s", got, want)
	}
}

func ExampleKinds() {
	for kind := range problem.Kinds() {
		if kind.Status() == 409 {
			fmt.Println(kind.Title(), kind.URI())
		}
	}
	// Output:
	// Conflict https://stoa-go.github.io/problems/conflict
	// Already Exists https://stoa-go.github.io/problems/already-exists
	// Patch Conflict https://stoa-go.github.io/problems/patch-conflict
	// Request In Flight https://stoa-go.github.io/problems/request-in-flight
}
