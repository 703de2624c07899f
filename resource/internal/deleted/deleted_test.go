package deleted_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/internal/deleted"
)

func TestIDs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		most  int
		added string
		want  string
	}{
		{"none", 3, "", ""},
		{"some", 3, "a b", "a b"},
		{"too many", 3, "a b c d", "b c d"},
		{"again", 3, "a b c a d", "a c d"},
		{"negative", -1, "a b", ""},
		{"default", 0, "a b c d e", "a b c d e"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := deleted.New(tt.most)
			for _, id := range strings.Fields(tt.added) {
				s.Add(id)
			}
			var got []string
			for _, id := range strings.Fields("a b c d e") {
				if s.Has(id) {
					got = append(got, id)
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDefault: the default is a limit.
func TestDefault(t *testing.T) {
	t.Parallel()
	s := deleted.New(0)
	for i := range deleted.Default + 1 {
		s.Add(fmt.Sprint(i))
	}
	if s.Has("0") || !s.Has("1") {
		t.Errorf("has 0: %t, has 1: %t; want only 1", s.Has("0"), s.Has("1"))
	}
}
