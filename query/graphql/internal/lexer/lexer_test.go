package lexer_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
)

// tokens returns the kind, location and text of each token, up to the end or the first error.
func tokens(text string) []string {
	l := lexer.NewLexer(text)
	list := []string{}
	for {
		t, err := l.Next()
		if err != nil {
			return append(list, err.Error())
		}
		if t.Kind == lexer.End {
			return append(list, fmt.Sprintf("end %d:%d", t.Line, t.Column))
		}
		value := l.Raw(t)
		if t.Kind == lexer.String || t.Kind == lexer.BlockString {
			value = l.Text(t)
		}
		list = append(list, fmt.Sprintf("%s %d:%d %s", t.Kind, t.Line, t.Column, value))
	}
}

func TestNext(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", []string{"end 1:1"}},
		{"ignored", "\ufeff \t,#c\n,\r\n#\r", []string{"end 4:1"}},
		{"punctuators", "!$&()...:=@[]{|}", []string{`"!" 1:1 !`, `"$" 1:2 $`, `"&" 1:3 &`, `"(" 1:4 (`,
			`")" 1:5 )`,
			`"..." 1:6 ...`, `":" 1:9 :`, `"=" 1:10 =`, `"@" 1:11 @`, `"[" 1:12 [`, `"]" 1:13 ]`,
			`"{" 1:14 {`, `"|" 1:15 |`,
			`"}" 1:16 }`, "end 1:17"}},
		{"names", "a _B9 ", []string{"Name 1:1 a", "Name 1:3 _B9", "end 1:7"}},
		{"numbers", "0 -0 12 1.5 -1e9 1E+2 3.0e-1",
			[]string{"Int 1:1 0", "Int 1:3 -0", "Int 1:6 12", "Float 1:9 1.5",
				"Float 1:13 -1e9", "Float 1:18 1E+2", "Float 1:23 3.0e-1", "end 1:29"}},
		{"strings", `"" "a\n" "\u{1F600}\ud83d\ude00"`,
			[]string{"String 1:1 ", "String 1:4 a\n", "String 1:10 😀😀", "end 1:33"}},
		{"columns are those of UTF-16", "\"😀é\"x\n#😀\ny",
			[]string{"String 1:1 😀é", "Name 1:6 x", "Name 3:1 y", "end 3:2"}},
		{"lines in block strings", "\"\"\"a\r\n😀\r\n\"\"\"x",
			[]string{"BlockString 1:1 a\n😀", "Name 3:4 x", "end 3:5"}},
		{"invalid UTF-8", "a \xff", []string{"Name 1:1 a",
			"Syntax Error: Invalid character: byte 0xFF. (1:3)"}},
		{"invalid UTF-8 in a string", "\"é\xff\"",
			[]string{"Syntax Error: Invalid character within String: byte 0xFF. (1:3)"}},
		{"invalid UTF-8 in a block string", "\"\"\"\n\xff", []string{
			"Syntax Error: Invalid character within String: byte 0xFF. (2:1)"}},
		{"invalid UTF-8 in a comment", "#\xff",
			[]string{"Syntax Error: Invalid character: byte 0xFF. (1:2)"}},
		{"invalid UTF-8 in an escape", "\"\\\xff\"",
			[]string{"Syntax Error: Invalid character escape sequence: \"\\\ufffd\". (1:2)"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tokens(tt.text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestGuard(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		limits     lexer.Limits
		want       string
	}{
		{"nothing", "", lexer.Limits{}, ""},
		{"bytes", "{abc}", lexer.Limits{Bytes: 4}, "The document has more than 4 bytes."},
		{"as many bytes", "{abc}", lexer.Limits{Bytes: 5}, ""},
		{"tokens", "{a b\nc}", lexer.Limits{Tokens: 4}, "The document has more than 4 tokens. (2:2)"},
		{"as many tokens", "{a,b#c d e\n}", lexer.Limits{Tokens: 4}, ""},
		{"nesting", "{a(b:[{c", lexer.Limits{Nesting: 3}, "The document nests deeper than 3 levels. (1:7)"},
		{"beside each other", "{a([])([]){}}", lexer.Limits{Nesting: 3}, ""},
		{"closed more than opened", "}}}{{{{", lexer.Limits{Nesting: 1}, ""},
		{"directives", "{a @b @c}", lexer.Limits{Directives: 1},
			"The document uses more than 1 directives. (1:7)"},
		{"not in strings and comments", "{a(b:\"{{{@@\" c:\"\"\"((([\"\"\") #@@@{{{\n}",
			lexer.Limits{Nesting: 2, Directives: 1}, ""},
		{"no tokens", "{a %}", lexer.Limits{}, `Syntax Error: Unexpected character: "%". (1:4)`},
		{"default bytes", strings.Repeat(" ", 1<<20+1), lexer.Limits{},
			"The document has more than 1048576 bytes."},
		{"default tokens", strings.Repeat("a ", 10_001), lexer.Limits{},
			"The document has more than 10000 tokens. (1:20001)"},
		{"default nesting", strings.Repeat("[", 61), lexer.Limits{},
			"The document nests deeper than 60 levels. (1:61)"},
		{"default directives", strings.Repeat("@", 51), lexer.Limits{},
			"The document uses more than 50 directives. (1:51)"},
		{"up to the defaults", strings.Repeat("[", 60) + strings.Repeat("@", 50) + strings.Repeat("a ", 9890),
			lexer.Limits{}, ""},
		{"numbers, marks and wide characters", "1 -2.5 \ufeff\"é😀\" \"\"\"é\"\"\" #é\n ...",
			lexer.Limits{Tokens: 5}, ""},
		{"a wide character", "é", lexer.Limits{}, "Syntax Error: Unexpected character: U+00E9. (1:1)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := lexer.Guard(tt.text, tt.limits)
			var e *lexer.Error
			got := ""
			if errors.As(err, &e) {
				got = e.Error()
				if e.Limit == strings.HasPrefix(got, "Syntax Error") {
					t.Errorf("limit is %v in %v", e.Limit, e)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// ordinary is a document of typical size.
const ordinary = `query Orders($first: Int = 10, $after: String) {
  orders(first: $first, after: $after, filter: {status: {eq: PAID}}) {
    nodes { id status customer { id email } lines { itemId qty } }
    pageInfo { hasNextPage endCursor }
  }
}`

func TestGuardAllocations(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		if err := lexer.Guard(ordinary, lexer.Limits{}); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkGuard(b *testing.B) {
	b.SetBytes(int64(len(ordinary)))
	b.ReportAllocs()
	for b.Loop() {
		if err := lexer.Guard(ordinary, lexer.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzGuard checks that Guard does not panic, that passes and the Lexer accept the same texts, and
// that each string token has a value.
func FuzzGuard(f *testing.F) {
	for _, text := range []string{ordinary, "\"\\u{41}\\uD83D\\uDE00\"", "\"\"\"\n \\\"\"\" x\r\n\"\"\"",
		"1.5e-3 0 -7", "\ufeff#x", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const all = 1 << 30
		guarded := lexer.Guard(text, lexer.Limits{Bytes: all, Tokens: all, Nesting: all, Directives: all})
		l := lexer.NewLexer(text)
		for before := 0; ; {
			tok, err := l.Next()
			if (err == nil && tok.Kind == lexer.End) || err != nil {
				if fmt.Sprint(err) != fmt.Sprint(guarded) {
					t.Fatalf("Guard returns %v, the Lexer %v", guarded, err)
				}
				return
			}
			if tok.Start < before || tok.End <= tok.Start || tok.Line < 1 || tok.Column < 1 {
				t.Fatalf("token %+v starts before offset %d", tok, before)
			}
			before = tok.End
			if tok.Kind == lexer.String || tok.Kind == lexer.BlockString {
				_ = l.Text(tok)
			}
		}
	})
}
