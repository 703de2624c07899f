package header_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/header"
)

func TestString(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		line       string
		want       string
		wantQuoted bool
	}{
		{"quoted", `"8e03978e-40d5-43dd-bc93-6894a57f9324"`, "8e03978e-40d5-43dd-bc93-6894a57f9324", true},
		{"escapes", `"a\"b\\c"`, `a"b\c`, true},
		{"blanks around", `  "a b"  `, "a b", true},
		{"an empty string", `""`, "", true},
		{"separators within", `"a, b; c"`, "a, b; c", true},
		{"bare", "8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324", false},
		{"bare base64", "aGVsbG8+/w==", "aGVsbG8+/w==", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, quoted, err := header.String([]string{tt.line})
			if got != tt.want || quoted != tt.wantQuoted || err != nil {
				t.Errorf("String(%q) = %q, %v, %v, want %q, %v, nil", tt.line, got, quoted, err, tt.want,
					tt.wantQuoted)
			}
		})
	}
}

func TestStringRefuses(t *testing.T) {
	t.Parallel()
	for _, lines := range [][]string{
		nil, {""}, {"  "}, {`"a"`, `"a"`}, {`"a"`, ""}, {`"a", "b"`},
		{"a,b"}, {"a b"}, {"a;b"}, {`a"b`}, {`a\b`}, {"é"}, {"a\x7f"},
		{`"a`}, {`"`}, {`"a\"`}, {`"a\`}, {`"a\b"`}, {`"a"b`}, {`"a";x=1`}, {`"é"`},
		{"\"a\tb\""}, {"\"\x00\""}, {"\"\x7f\""}, {"\t\"a\""},
	} {
		t.Run(strings.Join(lines, "|"), func(t *testing.T) {
			t.Parallel()
			if got, _, err := header.String(lines); err == nil || got != "" {
				t.Errorf("String(%q) = %q, %v, want an error", lines, got, err)
			}
		})
	}
}

func TestStringAllocations(t *testing.T) {
	lines := []string{`"8e03978e-40d5-43dd-bc93-6894a57f9324"`}
	if n := testing.AllocsPerRun(100, func() { _, _, _ = header.String(lines) }); n != 0 {
		t.Errorf("String allocates %v times, want 0", n)
	}
}

func ExampleString() {
	fmt.Println(header.String([]string{`"a \"b\""`}))
	fmt.Println(header.String([]string{"bare-word"}))
	// Output:
	// a "b" true <nil>
	// bare-word false <nil>
}
