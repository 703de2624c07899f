package header_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource/header"
)

func TestRule113Range(t *testing.T) {
	t.Parallel()
	const big = math.MaxInt64
	tests := []struct {
		name  string
		lines []string
		size  int64
		want  string
	}{
		{"absent", nil, 10, "whole"},
		{"two lines", []string{"bytes=0-1", "bytes=0-1"}, 10, "whole"},
		{"first byte of the largest", []string{"bytes=0-0"}, big, "0+1"},
		{"all of the largest", []string{"bytes=0-"}, big, fmt.Sprintf("0+%d", int64(big))},
		{"last byte of the largest", []string{"bytes=-1"}, big, fmt.Sprintf("%d+1", int64(big-1))},
		{"largest number", []string{"bytes=9223372036854775807-"}, big, "none"},
		{"one more", []string{"bytes=0-9223372036854775808"}, big, fmt.Sprintf("0+%d", int64(big))},
		{"both beyond", []string{"bytes=9223372036854775808-9223372036854775809"}, big, "none"},
		{"tabs", []string{"bytes=\t1-2\t"}, 10, "1+2"},
		{"nothing of nothing", []string{"bytes=0-0"}, 0, "none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			span, ok, err := header.Range(tt.lines, tt.size)
			got := "whole"
			switch {
			case errors.Is(err, header.ErrUnsatisfiable):
				got = "none"
			case err != nil:
				t.Fatal(err)
			case ok:
				got = fmt.Sprintf("%d+%d", span.Start, span.Length)
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestRule115IfRange(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 3, 1, 12, 0, 0, 5e8, time.UTC)
	const date = "Fri, 01 Mar 2024 12:00:00 GMT"
	tests := []struct {
		name  string
		lines []string
		now   time.Time
		want  bool
	}{
		{"absent", nil, at, true},
		{"tag", []string{`"a"`}, at, true},
		{"two lines", []string{`"a"`, `"a"`}, at, false},
		{"date of a second that is not over", []string{date}, at.Add(time.Millisecond), false},
		{"date of a second that is", []string{date}, at.Add(500 * time.Millisecond), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := header.IfRange(tt.lines, `"a"`, at, tt.now); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// FuzzRange checks that no field yields an empty span or one outside the representation.
func FuzzRange(f *testing.F) {
	for _, seed := range []string{"bytes=0-4", "bytes=-5", "bytes=9-", "bytes=0-1,2-3",
		"bytes=18446744073709551616-", "bytes=-0"} {
		f.Add(seed, int64(10))
	}
	f.Fuzz(func(t *testing.T, line string, size int64) {
		if size < 0 {
			return
		}
		span, ok, err := header.Range([]string{line}, size)
		switch {
		case err != nil && ok:
			t.Error("both a span and an error")
		case ok && (span.Start < 0 || span.Length < 1 || span.Start > size-span.Length):
			t.Errorf("%q of %d gives %+v", line, size, span)
		case !ok && span != header.Span{}:
			t.Errorf("%q of %d gives %+v, and says that it does not", line, size, span)
		}
	})
}

func ExampleRange() {
	span, ok, err := header.Range([]string{"bytes=-500"}, 10_000)
	fmt.Println(span.Start, span.Length, ok, err)
	_, _, err = header.Range([]string{"bytes=10000-"}, 10_000)
	fmt.Println(err)
	// Output:
	// 9500 500 true <nil>
	// header: the range is past the end of the representation
}
