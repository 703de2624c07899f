package sqlquery_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stoa-go/stoa/query"
)

// FuzzText compares a text that PostgreSQL may not accept with a stored one. The translated
// condition must have the same result and be acceptable.
func FuzzText(f *testing.F) {
	f.Fuzz(func(t *testing.T, asked, stored string) {
		if !utf8.ValidString(stored) || strings.IndexByte(stored, 0) >= 0 {
			t.Skip("PostgreSQL does not keep it")
		}
		value := func(string) any { return stored }
		for _, op := range []query.Op{query.Eq, query.Ne, query.Lt, query.Lte, query.Gt, query.Gte, query.StartsWith} {
			filter := query.Where("mail", op, asked)
			if op == query.StartsWith && !utf8.ValidString(asked) {
				continue // an invalid part of a character is not contained in any text
			}
			c, err := postgres.Translate(query.Query{Filter: filter})
			if err != nil {
				t.Fatal(err)
			}
			for _, arg := range c.Args {
				if s := arg.(string); !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
					t.Errorf("%s %q is asked with %q", op, asked, s)
				}
			}
			if got, want := holds(t, c.Where, c.Args, stored), query.Match(filter, value); got != want {
				t.Errorf("%q %s %q is asked as %s with %q, which is %v", stored, op, asked, c.Where, c.Args,
					got)
			}
		}
	})
}

// holds evaluates conditions on the single column as PostgreSQL does.
func holds(t *testing.T, where string, args []any, stored string) bool {
	t.Helper()
	for part := range strings.SplitSeq(strings.Trim(where, "()"), " AND ") {
		words := strings.Fields(strings.TrimPrefix(strings.TrimPrefix(part, "(lower(mail))"), "lower(mail))"))
		switch {
		case part == "TRUE":
			continue
		case part == "FALSE":
			return false
		case words[0] == "COLLATE":
			words = words[2:]
		}
		arg := args[words[1][1]-'1'].(string)
		c := strings.Compare(stored, arg)
		if !map[string]bool{"=": c == 0, "<>": c != 0, "<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[words[0]] {
			return false
		}
	}
	return true
}
