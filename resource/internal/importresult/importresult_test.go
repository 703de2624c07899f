package importresult_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/internal/importresult"
	"github.com/stoa-go/stoa/resource/problem"
)

func TestResponse(t *testing.T) {
	t.Parallel()
	d := problem.New(problem.Invalid, "")
	var first importresult.Result
	if got := first.Response(); got.Rejected == nil || len(got.Rejected) != 0 {
		t.Errorf("the rejected lines of an empty import are %v, want an empty list", got.Rejected)
	}
	first.Count(true)
	first.Reject(6, 1, d)
	first.Count(false)
	first.Reject(2, 3, d)
	want := &importresult.Result{Created: 1, Replaced: 1, Rejected: []importresult.RejectedLine{{2, d, 3}, {6, d, 1}}, Skipped: 4}
	if diff := cmp.Diff(want, first.Response()); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	long := problem.New(problem.Invalid, "")
	for range 100 {
		long.Errors = append(long.Errors, problem.Violation{Pointer: strings.Repeat("a", 1000)})
	}
	var r importresult.Result
	for line := range 60 {
		r.Reject(line+61, 0, long)
	}
	for line := range 60 {
		r.Reject(line+1, 0, long)
	}
	got := r.Response()
	if len(got.Rejected) != 100 || got.Total != 120 || got.Rejected[99].Line != 100 {
		t.Errorf("%d of %d lines, want 100 of 120", len(got.Rejected), got.Total)
	}
	if n := len(got.Rejected[0].Problem.Errors); n == 0 || n > 10 || len(long.Errors) != 100 {
		t.Errorf("%d violations in a shortened problem, and %d in the original", n, len(long.Errors))
	}
}
