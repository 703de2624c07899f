package inputerr_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/inputerr"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

func TestProblem(t *testing.T) {
	t.Parallel()
	two := 2
	for _, tt := range []struct {
		name string
		err  error
		kind problem.Kind
		want []problem.Violation
	}{
		{"document", schema.Violations{{Pointer: "/a", Code: "required", Detail: "is required"}}, problem.Invalid,
			[]problem.Violation{{Pointer: "/a", Code: "required", Detail: "is required"}}},
		{"syntax", &schema.SyntaxError{Pointer: "/a", Code: "depth", Detail: "too deep"}, problem.MalformedJSON,
			[]problem.Violation{{Pointer: "/a", Code: "depth", Detail: "too deep"}}},
		{"patch", &patch.Error{Kind: patch.Conflict, Operation: 2, Path: "/a", Code: "test"}, problem.PatchConflict,
			[]problem.Violation{{Pointer: "/a", Code: "test", Operation: &two}}},
		{"whole patch", &patch.Error{Kind: patch.TooLarge, Operation: -1, Code: "maxItems"}, problem.TooLarge,
			[]problem.Violation{{Code: "maxItems"}}},
		{"queries", query.Errors{{Parameter: "sort", Code: "unknown"}, {Parameter: "limit", Code: "range"}},
			problem.InvalidParameter,
			[]problem.Violation{{Parameter: "sort", Code: "unknown"}, {Parameter: "limit", Code: "range"}}},
		{"cursor", &query.Error{Parameter: "cursor", Code: "invalidCursor"}, problem.InvalidCursor,
			[]problem.Violation{{Parameter: "cursor", Code: "invalidCursor"}}},
	} {
		d := inputerr.Problem(fmt.Errorf("wrapped: %w", tt.err))
		if d == nil || d.Kind != tt.kind {
			t.Errorf("%s: %v, want kind %v", tt.name, d, tt.kind)
			continue
		}
		if diff := cmp.Diff(tt.want, d.Errors); diff != "" {
			t.Errorf("%s: errors (-want +got):\n%s", tt.name, diff)
		}
	}
	if d := inputerr.Problem(errors.New("other")); d != nil {
		t.Errorf("another error: %v", d)
	}
}
