package header_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/header"
)

func TestParseMediaType(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   string
		want header.MediaType
	}{
		{"bare", "application/json", header.MediaType{Type: "application/json"}},
		{"folded", "Application/Merge-Patch+JSON", header.MediaType{Type: "application/merge-patch+json"}},
		{"blanks around", " application/json\t", header.MediaType{Type: "application/json"}},
		{"semicolons after", "application/json; ;", header.MediaType{Type: "application/json"}},
		{
			"a parameter", "application/json; Charset=UTF-8",
			header.MediaType{Type: "application/json",
				Params: []header.Param{{Name: "charset", Value: "UTF-8"}}},
		},
		{
			"order is kept", "a/b;z=1 ;\ty=2",
			header.MediaType{Type: "a/b",
				Params: []header.Param{{Name: "z", Value: "1"}, {Name: "y", Value: "2"}}},
		},
		{
			"quoted", `a/b;x="a, \"b\" \\ ;c=d"`,
			header.MediaType{Type: "a/b", Params: []header.Param{{Name: "x", Value: `a, "b" \ ;c=d`}}},
		},
		{"an empty value", `a/b;x=""`, header.MediaType{Type: "a/b", Params: []header.Param{{Name: "x"}}}},
		{
			"bytes beyond ASCII in quotes", "a/b;x=\"\xe9\"",
			header.MediaType{Type: "a/b", Params: []header.Param{{Name: "x", Value: "\xe9"}}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := header.ParseMediaType(tt.in)
			if err != nil {
				t.Fatalf("ParseMediaType(%q): %v", tt.in, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ParseMediaType(%q) mismatch (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestRule060ContentTypeStrict(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", " ", "json", "application", "application/", "/json", "application/json/x", "application /json",
		"application/ json",
		"application/json, application/json", "application/json,", ",application/json",
		"text/plain, application/json",
		"application/json x", "application/json; x", "application/json; x=", "application/json; =x",
		"application/json; x =1",
		"application/json; x= 1", "application/json; x=1 2", "application/json; x=1, y=2",
		`application/json; x="1`,
		`application/json; x="1\`, `application/json; x="1"2`, "application/json; x=\"\x00\"",
		"application/json; x=\"\\\x01\"",
		"application/json; x=1; x=1", "application/json; x=1; X=2", "application/js\xf6n",
		"application/json; x=\xf6",
		"a/b" + numbered(33),
	} {
		t.Run(in, func(t *testing.T) {
			t.Parallel()
			if got, err := header.ParseMediaType(in); err == nil {
				t.Errorf("ParseMediaType(%q) = %+v, want an error", in, got)
			}
		})
	}
	if _, err := header.ParseMediaType("a/b" + numbered(32)); err != nil {
		t.Errorf("32 parameters: %v", err)
	}
}

// numbered returns n different parameters.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ";p%d=1", i)
	}
	return b.String()
}

// TestTokenBytes compares all bytes with the list of RFC 9110 section 5.6.2.
func TestTokenBytes(t *testing.T) {
	t.Parallel()
	const tchar = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for c := range 256 {
		in := "a/" + string([]byte{byte(c)})
		_, err := header.ParseMediaType(in)
		if got, want := err == nil, strings.IndexByte(tchar, byte(c)) >= 0; got != want {
			t.Errorf("%q is a token: %v, want %v", in[2:], got, want)
		}
	}
}

func TestRule061Charset(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want bool
	}{
		{"application/json", true},
		{"application/json; charset=utf-8", true},
		{"application/json; charset=UTF-8", true},
		{`application/json; charset="utf-8"`, true},
		{"application/json; q=1", true},
		{"application/json; charset=utf8", false},
		{"application/json; charset=utf-16", false},
		{"application/json; charset=iso-8859-1", false},
		{`application/json; charset=""`, false},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			m, err := header.ParseMediaType(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := m.UTF8(); got != tt.want {
				t.Errorf("UTF8() = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestMediaTypeAllocations(t *testing.T) {
	for in, want := range map[string]float64{"application/json": 0, "application/json; charset=utf-8": 1} {
		if n := testing.AllocsPerRun(100, func() { _, _ = header.ParseMediaType(in) }); n != want {
			t.Errorf("ParseMediaType(%q) allocates %v times, want %v", in, n, want)
		}
	}
}

func FuzzMediaType(f *testing.F) {
	f.Add("application/json")
	f.Add(`Text/Plain; CHARSET="utf\-8" ;; x=y`)
	f.Add("a/b,c/d")
	f.Add(`a/b;x="` + "\xff\\")
	f.Fuzz(func(t *testing.T, in string) {
		m, err := header.ParseMediaType(in)
		r, ok := slowParse(strings.Trim(in, " \t"))
		if err != nil {
			// The reference implements the grammar without duplicates and limits, and separates weights.
			if ok && r.weight == 1 && len(r.params) < 2 && !strings.Contains(strings.ToLower(in), "q=") {
				t.Fatalf("ParseMediaType(%q): %v, want %+v", in, err, r)
			}
			return
		}
		if m.Type != strings.ToLower(m.Type) || strings.Count(m.Type, "/") != 1 {
			t.Errorf("ParseMediaType(%q).Type = %q", in, m.Type)
		}
		// Parsing the formatted type, with each value quoted, yields the same type.
		var b strings.Builder
		b.WriteString(m.Type)
		for _, p := range m.Params {
			fmt.Fprintf(&b, `;%s="%s"`, p.Name, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p.Value))
		}
		again, err := header.ParseMediaType(b.String())
		if diff := cmp.Diff(m, again); diff != "" || err != nil {
			t.Errorf("ParseMediaType(%q) then (%q): %v (-want +got):\n%s", in, b.String(), err, diff)
		}
	})
}

func ExampleParseMediaType() {
	m, err := header.ParseMediaType(`Application/JSON; charset="utf-8"`)
	fmt.Println(m.Type, m.UTF8(), err)
	// Output: application/json true <nil>
}

func BenchmarkParseMediaType(b *testing.B) {
	for _, in := range []string{"application/json", "application/json; charset=utf-8"} {
		b.Run(in, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = header.ParseMediaType(in)
			}
		})
	}
}
