package deleted_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/internal/deleted"
)

// remember adds an id that has been deleted.
func remember(s *deleted.IDs, id string) {
	s.Begin(id)
	s.End(id, true)
}

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
				remember(s, id)
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
		remember(s, fmt.Sprint(i))
	}
	if s.Has("0") || !s.Has("1") {
		t.Errorf("has 0: %t, has 1: %t; want only 1", s.Has("0"), s.Has("1"))
	}
}

// TestOutcomes: an id remains if a deletion of it was successful, may have been, or is pending.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		steps string // b: Begin, y: End with true, n: End with false
		want  bool
	}{
		{"pending", "b", true},
		{"deleted", "by", true},
		{"failed", "bn", false},
		{"one of two failed before the other", "bbny", true},
		{"one of two failed after the other", "bbyn", true},
		{"one of two is pending", "bbn", true},
		{"both failed", "bbnn", false},
		{"deleted before", "bybn", true},
		{"failed before", "bnby", true},
		{"not begun", "n", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := deleted.New(0)
			for _, step := range tt.steps {
				if step == 'b' {
					s.Begin("a")
				} else {
					s.End("a", step == 'y')
				}
			}
			if got := s.Has("a"); got != tt.want {
				t.Errorf("Has returned %t, want %t", got, tt.want)
			}
		})
	}
}

// TestEvicted: the end of a deletion that the set has forgotten adds nothing.
func TestEvicted(t *testing.T) {
	t.Parallel()
	s := deleted.New(1)
	s.Begin("a")
	remember(s, "b")
	s.End("a", true)
	if s.Has("a") || !s.Has("b") {
		t.Errorf("has a: %t, has b: %t; want only b", s.Has("a"), s.Has("b"))
	}
}

// TestMemory: the set does not retain the URLs that the ids are a part of.
func TestMemory(t *testing.T) {
	s := deleted.New(0)
	before := heap()
	for i := range 100 {
		url := fmt.Sprintf("%03d?", i) + strings.Repeat("x", 1<<20)
		remember(s, url[:3])
	}
	if used := heap() - before; used > 10<<20 {
		t.Errorf("100 ids retain %d bytes", used)
	}
	if !s.Has("099") {
		t.Error("an id is missing")
	}
}

// heap returns the bytes in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
