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
		{"bare digits and letters", "12ab", "12ab", false},
		{"a UUID that begins with digits", "12345678-1234-4234-8234-123456789012",
			"12345678-1234-4234-8234-123456789012", false},
		{"a UUID of digits alone", "00000000-0000-0000-0000-000000000000",
			"00000000-0000-0000-0000-000000000000", false},
		{"a ULID", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAV", false},
		{"more digits than an Integer has", "1234567890123456", "1234567890123456", false},
		{"more digits than a Decimal has", "1234567890123.1", "1234567890123.1", false},
		{"a longer fraction than a Decimal has", "1.2345", "1.2345", false},
		{"no digits after the dot", "12.", "12.", false},
		{"no digits before the dot", ".5", ".5", false},
		{"an exponent", "1e5", "1e5", false},
		{"a version", "1.2.3", "1.2.3", false},
		{"a minus alone", "-", "-", false},
		{"a plus", "+12", "+12", false},
		{"two minus signs", "--12", "--12", false},
		{"a time", "12:30", "12:30", false},
		{"a token with all characters", "*a!#$%&'*+-.^_`|~:/0", "*a!#$%&'*+-.^_`|~:/0", false},
		{"signs of other types within", "a?1:@(%", "a?1:@(%", false},
		{"quoted number", `"12"`, "12", true},
		{"quoted boolean", `"?1"`, "?1", true},
		{"quoted byte sequence", `":YQ==:"`, ":YQ==:", true},
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
		// other structured types
		{"12"}, {"-12"}, {"0"}, {"-0"}, {"007"}, {"123456789012345"}, {"-123456789012345"},
		{"1.5"}, {"-1.5"}, {"123456789012.125"}, {"0.0"}, {" 12 "}, {"12;a=1"},
		{"?1"}, {"?0"}, {"?"}, {"?2"}, {":YQ==:"}, {"::"}, {":YQ=="}, {"@1659578233"}, {"@-1"}, {"@"},
		{`%"a"`}, {"%a"}, {"(a)"}, {"()"}, {"("},
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
