package fielderr_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/internal/fielderr"
	"github.com/stoa-go/stoa/resource/internal/pointer"
	"github.com/stoa-go/stoa/resource/problem"
)

func TestProblem(t *testing.T) {
	t.Parallel()
	taken := &fielderr.Error{Field: "a/b", Code: "taken", Taken: true}
	invalid := &fielderr.Error{Field: "c", Code: "unknown"}
	for _, tt := range []struct {
		name     string
		err      error
		kind     problem.Kind
		pointers []string
	}{
		{name: "no field", err: errors.New("other")},
		{"taken", fmt.Errorf("store: %w", taken), problem.Conflict, []string{"/a~1b"}},
		{"invalid", invalid, problem.Invalid, []string{"/c"}},
		{"both", errors.Join(taken, invalid), problem.Invalid, []string{"/a~1b", "/c"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := fielderr.Problem(tt.err, pointer.To)
			if d == nil {
				if tt.pointers != nil {
					t.Error("no problem")
				}
				if err := fielderr.Locate(tt.err, pointer.To); err != tt.err {
					t.Errorf("an error without fields became %v", err)
				}
				return
			}
			var pointers []string
			for _, v := range d.Errors {
				pointers = append(pointers, v.Pointer)
			}
			if diff := cmp.Diff(tt.pointers, pointers); diff != "" || d.Kind != tt.kind {
				t.Errorf("kind %v, want %v; pointers (-want +got):\n%s", d.Kind, tt.kind, diff)
			}
			if err := fielderr.Locate(tt.err, pointer.To); !errors.As(err, &d) || !errors.Is(err, tt.err) {
				t.Errorf("located: %v", err)
			}
		})
	}
	own := problem.New(problem.Forbidden, "")
	if err := errors.Join(own, taken); fielderr.Locate(err, pointer.To) != err {
		t.Error("an error with a problem was changed")
	}
}
