package safe_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/internal/safe"
)

func TestCall(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	if err := safe.Call(func() error { return failed }); err != failed {
		t.Errorf("error of the function: %v, want %v", err, failed)
	}
	var p *safe.PanicError
	if err := safe.Call(func() error { panic("oops") }); !errors.As(err, &p) {
		t.Fatalf("error of a panic: %v", err)
	}
	if p.Error() != "panic: oops" || !strings.Contains(p.Stack(), "TestCall") {
		t.Errorf("%q with the stack\n%s", p.Error(), p.Stack())
	}
}

func TestTruncate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"short", "abc", "abc"},
		{"just fits", strings.Repeat("a", 256), strings.Repeat("a", 256)},
		{"too long", strings.Repeat("a", 257), strings.Repeat("a", 256) + "..."},
	} {
		if got := safe.Truncate(tt.in); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", `""`},
		{"quotation marks", `a"b`, `"a\"b"`},
		{"control character", "a\nb", `"a\nb"`},
		{"invalid UTF-8", "\xff", `"\xff"`},
		{"just fits", strings.Repeat("a", 64), `"` + strings.Repeat("a", 64) + `"`},
		{"too long", strings.Repeat("a", 65), `"` + strings.Repeat("a", 64) + `..."`},
		{"cut in a character", strings.Repeat("a", 63) + "\u00e4", `"` + strings.Repeat("a", 63) + `..."`},
	} {
		if got := safe.Quote(tt.in); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
