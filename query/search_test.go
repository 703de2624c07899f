package query_test

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
)

func TestParseSearch(t *testing.T) {
	word := func(words ...string) query.Term { return query.Term{Words: words} }
	not := func(t query.Term) query.Term { t.Not = true; return t }
	prefix := func(t query.Term) query.Term { t.Prefix = true; return t }
	many := strings.TrimSpace(strings.Repeat("a ", 33))
	for _, tt := range []struct {
		text      string
		want      [][]query.Term
		canonical string // text if empty
		code      string // of the error
	}{
		{text: "", want: nil},
		{text: " \t", want: nil, canonical: " "},
		{text: "tea", want: [][]query.Term{{word("tea")}}},
		{text: " Green  TEA ", want: [][]query.Term{{word("green"), word("tea")}}, canonical: "green tea"},
		{text: `"Green Tea" x`, want: [][]query.Term{{word("green", "tea"), word("x")}}, canonical: `"green tea" x`},
		{text: `"green tea`, want: [][]query.Term{{word("green", "tea")}}, canonical: `"green tea"`},
		{text: `"one" a"two"`, want: [][]query.Term{{word("one"), word("a"), word("two")}}, canonical: "one a two"},
		{text: "gre*", want: [][]query.Term{{prefix(word("gre"))}}},
		{text: `"green te"*`, want: [][]query.Term{{prefix(word("green", "te"))}}},
		{text: "tea -black", want: [][]query.Term{{word("tea"), not(word("black"))}}},
		{text: `-"black tea"* tea`, want: [][]query.Term{{not(prefix(word("black", "tea"))), word("tea")}}},
		{text: "tea OR coffee -milk", want: [][]query.Term{{word("tea")}, {word("coffee"), not(word("milk"))}}},
		{text: "OR tea OR OR coffee OR", want: [][]query.Term{{word("tea")}, {word("coffee")}}, canonical: "tea OR coffee"},
		{text: "tea or coffee", want: [][]query.Term{{word("tea"), word("or"), word("coffee")}}},
		{text: `"OR"`, want: [][]query.Term{{word("or")}}, canonical: "or"},
		{text: "-OR x", want: [][]query.Term{{not(word("or")), word("x")}}, canonical: "-or x"},
		{text: strings.Repeat("é", 127) + "e", want: [][]query.Term{{word(strings.Repeat("é", 127) + "e")}}},
		{text: "tea " + strings.Repeat("é", 128), code: "tooMany"},
		{text: "ΟΔΟΣ οδος", want: [][]query.Term{{word("οδοσ"), word("οδοσ")}}, canonical: "οδοσ οδοσ"},
		{text: "e-mail", want: [][]query.Term{{word("e", "mail")}}, canonical: `"e mail"`},
		{text: "--x y", want: [][]query.Term{{not(word("x")), word("y")}}, canonical: "-x y"},
		{text: "- tea & milk", want: [][]query.Term{{word("tea"), word("milk")}}, canonical: "tea milk"},
		{text: "São ΠΌΛΗ 東京 ٣", want: [][]query.Term{{word("são"), word("πόλη"), word("東京"), word("٣")}}, canonical: "são πόλη 東京 ٣"},
		{text: "a\u0301b की \u0301 tea\u2764\ufe0f",
			want: [][]query.Term{{word("a\u0301b"), word("की"), word("tea")}}, canonical: "a\u0301b की tea"},
		{text: "Ｓ µg", want: [][]query.Term{{word("ｓ"), word("μg")}}, canonical: "ｓ μg"},
		{text: "!?", code: "invalidValue"},
		{text: `""`, code: "invalidValue"},
		{text: "-tea", code: "invalidValue"},
		{text: "tea OR -milk", code: "invalidValue"},
		{text: many, code: "tooMany"},
		{text: many[2:], want: [][]query.Term{slices.Repeat([]query.Term{word("a")}, 32)}},
	} {
		t.Run(tt.text, func(t *testing.T) {
			got, err := query.ParseSearch(tt.text)
			var fault *query.Error
			if errors.As(err, &fault) != (tt.code != "") || tt.code != "" && fault.Code != tt.code {
				t.Fatalf("error %v, want code %q", err, tt.code)
			}
			if diff := cmp.Diff(tt.want, got.Any); diff != "" {
				t.Errorf("search (-want +got):\n%s", diff)
			}
			want := strings.TrimSpace(tt.text)
			if tt.canonical != "" {
				want = strings.TrimSpace(tt.canonical)
			}
			if err == nil && got.String() != want {
				t.Errorf("String() = %q, want %q", got.String(), want)
			}
		})
	}
}

func TestSearchMatch(t *testing.T) {
	drink := item{"name": "Green Tea, e-mail", "note": "No black tea; teapot", "empty": nil, "size": int64(3)}
	for _, tt := range []struct {
		text string
		want bool
	}{
		{text: "tea", want: true},
		{text: "TEA green", want: true},
		{text: "te", want: false},
		{text: "te*", want: true},
		{text: "teapots*", want: false},
		{text: "green black", want: true}, // of two fields
		{text: `"green tea"`, want: true},
		{text: `"tea green"`, want: false},
		{text: `"mail no"`, want: false}, // across two fields
		{text: `"black te"*`, want: true},
		{text: `"black te"`, want: false},
		{text: "email", want: false},
		{text: "e-mail", want: true},
		{text: "tea -black", want: false},
		{text: "tea -red", want: true},
		{text: "red OR teapot", want: true},
		{text: "red OR teapot -no", want: false},
		{text: "3", want: false}, // a number is no text
	} {
		t.Run(tt.text, func(t *testing.T) {
			s, err := query.ParseSearch(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			s.Fields = []string{"name", "note", "empty", "size"}
			rank, got := s.Match(drink.field)
			if got != tt.want || got != (rank > 0) {
				t.Errorf("Match = %v, %v, want %v", rank, got, tt.want)
			}
		})
	}
}

// TestSearchRank checks the order in which the reference ranks items.
func TestSearchRank(t *testing.T) {
	best := []item{ // the best is first
		{"id": int64(4), "name": "Paris Paris"},
		{"id": int64(3), "name": "Paris"},
		{"id": int64(1), "name": "Paris, the city of light"},
		{"id": int64(5), "name": "Lyon", "note": "Paris"},
	}
	q := query.Query{Sort: []query.Order{{Field: query.Rank, Desc: true}, {Field: "id"}}}
	q.Search = query.Search{Any: [][]query.Term{{{Words: []string{"paris"}}}}, Fields: []string{"name", "note"}}
	items := append(slices.Clone(best), item{"id": int64(2), "name": "Rome"})
	slices.Reverse(items)
	field := func(i *item, name string) any { return i.field(name) }
	if diff := cmp.Diff(best, query.Select(q, items, field)); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
	// Pages of one item, forwards.
	q.Limit = 1
	for i := range best {
		if diff := cmp.Diff(best[i:i+1], query.Select(q, items, field)); diff != "" {
			t.Errorf("page %d (-want +got):\n%s", i, diff)
		}
		rank, _ := q.Search.Match(best[i].field)
		q.After = []any{rank, best[i]["id"]}
	}
	if got := query.Select(q, items, field); got != nil {
		t.Errorf("after the last page: %v", got)
	}
}

func TestSearchHighlight(t *testing.T) {
	for _, tt := range []struct{ search, text, want string }{
		{"tea", "Tea, <b>TEA</b> teapot", "[Tea], <b>[TEA]</b> teapot"},
		{"te*", "Tea teapot", "[Tea] [teapot]"},
		{`"green tea" tea-time`, "green tea time", "[green tea time]"},
		{`"a b" b`, "x a b", "x [a b]"},
		{"são", "São Paulo", "[São] Paulo"},
		{"-tea milk", "tea", ""},
		{"1", "1\ufe0f\u20e3 and 2", "[1\ufe0f\u20e3] and 2"}, // one character
		{"क*", "की का", "[की] [का]"},
		{"cafe", "cafe\u0301", ""},
		{"tea", "", ""},
	} {
		s, err := query.ParseSearch(tt.search)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range s.Highlight(tt.text) {
			if p.Match {
				p.Text = "[" + p.Text + "]"
			}
			got += p.Text
		}
		if got != tt.want {
			t.Errorf("Highlight(%q) of %q: %q, want %q", tt.text, tt.search, got, tt.want)
		}
	}
}

// TestSearchFold: letters that unicode.SimpleFold relates are equal, for all code points.
func TestSearchFold(t *testing.T) {
	wordsOf := func(r rune) []string {
		text := "a" + string(r)
		return query.Search{Fields: []string{"f"}}.Words(func(string) any { return text })
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		f := unicode.SimpleFold(r)
		if f == r || !unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) {
			continue
		}
		if diff := cmp.Diff(wordsOf(r), wordsOf(f)); diff != "" {
			t.Errorf("%U and %U (-first +second):\n%s", r, f, diff)
		}
	}
}

func TestParseQ(t *testing.T) {
	opts := orders()
	_, err := query.Parse(url.Values{"q": {"tea"}}, opts)
	var fault *query.Error
	if !errors.As(err, &fault) || fault.Code != "unsupportedSearch" || fault.Parameter != "q" {
		t.Errorf("without support: %v", err)
	}
	opts.Support.Search = []string{"status"}
	for _, tt := range []struct{ text, want string }{
		{"q=tea+OR+%22a+b%22", `tea OR "a b"`}, {"q=", ""}, {"q=+", ""},
	} {
		values, _ := url.ParseQuery(tt.text)
		q, err := query.Parse(values, opts)
		if err != nil || q.Search.String() != tt.want {
			t.Errorf("%s: %v, %v, want %q", tt.text, q.Search, err, tt.want)
		}
		if got := q.Values().Get("q"); got != tt.want {
			t.Errorf("%s: written as %q, want %q", tt.text, got, tt.want)
		}
	}
	if _, err := query.Parse(url.Values{"q": {"-tea"}}, opts); !errors.As(err, &fault) || fault.Parameter != "q" {
		t.Errorf("without a word to find: %v", err)
	}
	// The order by rank is for searches only.
	byRank := query.Query{Sort: []query.Order{{Field: query.Rank}}}
	if err := opts.Support.Check(byRank, "id"); err == nil {
		t.Error("Check accepts the order by rank without a search")
	}
	byRank.Search.Any = [][]query.Term{{{Words: []string{"tea"}}}}
	if err := opts.Support.Check(byRank, "id"); err != nil {
		t.Errorf("Check of the order by rank: %v", err)
	}
}

func FuzzSearch(f *testing.F) {
	f.Add(`tea OR "green te"* -milk e-mail`, "Green tea, <e-mail>")
	f.Add("İ ǅ ß ΟΔΟΣ", "İstanbul ǆ SS οδος")
	f.Fuzz(func(t *testing.T, text, doc string) {
		s, err := query.ParseSearch(text)
		if err != nil {
			return
		}
		again, err := query.ParseSearch(s.String())
		if err != nil {
			t.Fatalf("ParseSearch(%q), of %q: %v", s, text, err)
		}
		if diff := cmp.Diff(s, again); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", s, diff)
		}
		s.Fields = []string{"doc"}
		rank, found := s.Match(func(string) any { return doc })
		if found && !s.IsZero() && rank <= 0 {
			t.Errorf("rank %v", rank)
		}
		parts := s.Highlight(doc)
		var b strings.Builder
		for _, p := range parts {
			b.WriteString(p.Text)
			if p.Text == "" || p.Match && !strings.ContainsFunc(p.Text, func(r rune) bool {
				return unicode.IsLetter(r) || unicode.IsDigit(r)
			}) {
				t.Errorf("part %+v", p)
			}
		}
		if parts != nil && b.String() != doc {
			t.Errorf("parts of %q: %q", doc, b.String())
		}
		if found && !s.IsZero() && parts == nil {
			t.Errorf("%q matches %q and nothing is marked", s, doc)
		}
	})
}

func ExampleParseSearch() {
	s, _ := query.ParseSearch(`"Green Tea" -black OR coff*`)
	s.Fields = []string{"name"}
	for _, name := range []string{"green tea", "green and black tea", "Coffee"} {
		_, ok := s.Match(func(string) any { return name })
		fmt.Println(name, ok)
	}
	fmt.Println(s)
	// Output:
	// green tea true
	// green and black tea false
	// Coffee true
	// "green tea" -black OR coff*
}
