package ecma_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/openapi/internal/ecma"
)

func TestPattern(t *testing.T) {
	t.Parallel()
	tests := []struct{ pattern, want string }{
		// The same in both syntaxes.
		{`^[A-Z]{2}$`, `^[A-Z]{2}$`},
		{`^\d{3}-\d{4}$`, `^\d{3}-\d{4}$`},
		{`^(draft|paid|placed)$`, `^(draft|paid|placed)$`},
		{`^(?:a|b)+?\.[\w.\-]{1,}$`, `^(?:a|b)+?\.[\w.\-]{1,}$`},
		{`^[^/\x00-\x1f\x7f-\x9f]+$`, `^[^/\x00-\x1f\x7f-\x9f]+$`},
		{`\bé[-a][a-]\/`, `\bé[-a][a-]\/`},
		{``, ``},
		// Errors in ECMA-262.
		{`^[\w-.]*$`, `^[\-.0-9A-Z_a-z]*$`},
		{`^{.*}$`, `^\{[^\n]*\}$`},
		{`^a{,3}$`, `^a\{,3\}$`},
		{`^[]a]+$`, `^[\]a]+$`},
		{`a]`, `a\]`},
		{`^*a`, `(?:^)*a`},
		{`\-\"\_`, `-"_`},
		{`[[:alpha:]]`, `[A-Za-z]`},
		{`^\Qa.b\E$`, `^a\.b$`},
		{`\x{1F600}`, "\U0001F600"},
		{`^(?P<year>\d+)\z`, `^([0-9]+)$`},
		{`\A(?i)ab`, `^[Aa][Bb]`},
		// Other meanings in ECMA-262.
		{`.`, `[^\n]`},
		{`(?s).`, `[\s\S]`},
		{`^\s$`, `^[\t\n\f\r ]$`},
		{`^\S$`, `^[^\t\n\f\r ]$`},
		{`^[^\s]+$`, `^[^\t\n\f\r ]+$`},
		{`(?i)^[k]+$`, "^[Kk\u212a]+$"},
		{`[^ -~]`, `[^ -~]`},
		{`[a[]`, `[\[a]`},
		{`\a[\a-\x{100}\x{ffff}]`, `\x07[\x07-Ā\u{ffff}]`},
		{`(|a)(?:ab){2,3}(?:a|bc)(a*)*`, `(|a)(?:ab){2,3}(?:a|bc)(a*)*`},
		{`.{2}(?:ab){2,3}(?:xy|bc){2,}(ab)?()`, `[^\n]{2}(?:ab){2,3}(?:xy|bc){2,}(ab)?((?:))`},
		// Without a counterpart, or with one of too many ranges.
		{`(?m)^a$`, ``},
		{`^\p{L}+$`, ``},
		{`[^\x00-\x{10FFFF}]`, ``},
		{`[\x{d800}-\x{dbff}]`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.pattern, func(t *testing.T) {
			t.Parallel()
			got, ok := ecma.Pattern(tt.pattern)
			if diff := cmp.Diff(tt.want, got); diff != "" || ok != (tt.want != "" || tt.pattern == "") {
				t.Errorf("ok is %v (-want +got):\n%s", ok, diff)
			}
		})
	}
}

// parts of random patterns, which contain what the two syntaxes read differently.
var parts = []string{`a`, `b`, `é`, `-`, `{`, `}`, `]`, `\]`, `.`, `^`, `$`, `\s`, `\S`, `\w`, `\W`, `\d`, `\D`, `\b`, `\B`,
	`[ab]`, `[^a]`, `[]a]`, `[^]a]`, `[\w-.]`, `[a-]`, `[-a]`, `[\s\d]`, `[^\s]`, `[[:space:]]`, `[[:^alpha:]]`, `(?i)k`, `(?i)`,
	`(?s).`, `(?s)`, `\x{1F600}`, `\x41`, `\.`, `\/`, `\n`, `\Q.*\E`, `*`, `+`, `?`, `{2}`, `{,3}`, `{1,2}`, `{1,}`, `(`, `)`, `(?:`,
	`|`, `\z`, `\A`, "\U0001F600", "ſ", "[\U0001F600-\U0001F64F]", `\-`, `\_`, `[a^]`, `[^^]`, `[\^a-c]`, "\u2028"}

// texts have no \B between halves of a surrogate pair alone, where V8 finds one.
var texts = []string{"", "a", "b", "ab", "aab", "{", "}", "a{,3}", "]", "-", ".", "A", "k", "K", "\u212a", "s", "ſ", "S", "é", "1", "_",
	" ", "\n", "\r", "\u2028", "\u00a0", "\u0085", "\ufeff", "\v", "a\nb", "a\rb", "\U0001F600", "a\U0001F600-b", ".*", "^", "$a", "a-b", "/", "\x00"}

// randomPatterns returns patterns that package regexp accepts and that have a counterpart.
func randomPatterns(n int) (patterns, converted []string) {
	rnd := rand.New(rand.NewPCG(50, 6))
	for len(patterns) < n {
		var b strings.Builder
		for range 1 + rnd.IntN(6) {
			b.WriteString(parts[rnd.IntN(len(parts))])
		}
		if _, err := regexp.Compile(b.String()); err != nil {
			continue
		}
		if to, ok := ecma.Pattern(b.String()); ok {
			patterns, converted = append(patterns, b.String()), append(converted, to)
		}
	}
	return patterns, converted
}

// TestPatternsInGo compares random patterns with their counterparts, which package regexp can read but for
// one escape.
func TestPatternsInGo(t *testing.T) {
	t.Parallel()
	patterns, converted := randomPatterns(5000)
	hex := regexp.MustCompile(`\\u(\{[0-9a-f]+\})`)
	for i, pattern := range patterns {
		want := regexp.MustCompile(pattern)
		got, err := regexp.Compile(hex.ReplaceAllString(converted[i], `\x$1`))
		if err != nil {
			t.Fatalf("%q becomes %q: %v", pattern, converted[i], err)
		}
		for _, text := range texts {
			if want.MatchString(text) != got.MatchString(text) {
				t.Errorf("%q becomes %q: %q matches is %v", pattern, converted[i], text, got.MatchString(text))
			}
		}
	}
}

// TestPatternsInJavaScript compares them with the engine of Node.js, with the flag u, as validators do.
func TestPatternsInJavaScript(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("Node.js is not installed")
	}
	patterns, converted := randomPatterns(20_000)
	input, err := json.Marshal(map[string][]string{"patterns": converted, "texts": texts})
	if err != nil {
		t.Fatal(err)
	}
	const script = `const { patterns, texts } = JSON.parse(require('fs').readFileSync(0, 'utf8'))
		const matches = p => { const re = new RegExp(p, 'u'); return texts.map(s => re.test(s) ? 1 : 0).join('') }
		console.log(JSON.stringify(patterns.map(p => { try { return matches(p) } catch (e) { return String(e) } })))`
	cmd := exec.CommandContext(t.Context(), "node", "-e", script)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var results []string
	if err := json.Unmarshal(out, &results); err != nil || len(results) != len(patterns) {
		t.Fatalf("%d results: %v", len(results), err)
	}
	for i, pattern := range patterns {
		var want strings.Builder
		re := regexp.MustCompile(pattern)
		for _, text := range texts {
			want.WriteByte("01"[len(re.FindStringIndex(text))/2])
		}
		if want.String() != results[i] {
			t.Errorf("%q becomes %q: matches are %s, want %s", pattern, converted[i], results[i], want.String())
		}
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	integer := func(bits int, unsigned bool) string {
		pattern, format := ecma.Integer(bits, unsigned)
		return format + " " + pattern
	}
	want := []string{
		`int8 ^(0|-?[1-9][0-9]{0,2})$`, `uint16 ^(0|[1-9][0-9]{0,4})$`, `int64 ^(0|-?[1-9][0-9]{0,18})$`,
		`uint64 ^(0|[1-9][0-9]{0,19})$`, `^[A-Za-z0-9+/]{0}$`, `^[A-Za-z0-9+/]{2}==$`, `^[A-Za-z0-9+/]{3}=$`, `^[A-Za-z0-9+/]{4}$`,
		`^[A-Za-z0-9+/]{22}==$`}
	got := []string{integer(8, false), integer(16, true), integer(64, false), integer(64, true), ecma.Base64(0),
		ecma.Base64(1), ecma.Base64(2), ecma.Base64(3), ecma.Base64(16)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
