package schema_test

import (
	"reflect"
	"regexp"
	"strconv"
	"testing"

	"github.com/stoa-go/stoa/resource/schema"
)

// TestPatterns compares the constraint with package regexp, for patterns that are matched without it and
// for those that are not.
func TestPatterns(t *testing.T) {
	t.Parallel()
	patterns := []string{`^[A-Z]{2}$`, `^[a-z0-9-]+$`, `^[0-9]*$`, `^[ab]?$`, `^[ab]$`, `^[ab]{2,3}$`, `^[ab]{2,}$`,
		`^\d{3}$`, `^\w+$`, `^[^a]+$`, `^[[:alpha:]]+$`, `^(?i)[a-c]+$`, `^(?i)[k]+$`, `^a+$`, `^ab$`, `[ab]+`,
		`^[ab]+`, `[ab]+$`, `^(?:[ab])+$`, `^([ab])+$`, `^([ab]+)$`, `^[ab]+?$`, `(?m)^[ab]+$`, `(?s)^.$`, `^[é]+$`,
		`^[a-é]+$`, `^$`, `^[ab]+[cd]$`, `^[ab]{0}$`, `^(?:[ab]{2})?$`, `^[\x00-\x7f]*$`, `^[ab]+\z`, `\A[ab]+\z`}
	texts := []string{"", "a", "b", "ab", "aB", "AB", "ABC", "abab", "aaa", "123", "12", "a-1", "é", "aé", "\x80",
		"a\x80", "ab\n", "\nab", "a\nb", "K", "k", "\u212a", "\x00", "\x7f", "abcd", "abc", "c"}
	for _, pattern := range patterns {
		field := reflect.StructField{Name: "Text", Type: reflect.TypeFor[string](),
			Tag: reflect.StructTag(`json:"text" pattern:` + strconv.Quote(pattern))}
		typ, err := schema.Of(reflect.StructOf([]reflect.StructField{field}))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			v := reflect.New(typ.GoType)
			v.Elem().Field(0).SetString(text)
			want := regexp.MustCompile(pattern).MatchString(text)
			if got := typ.Validate(v.Interface()) == nil; got != want {
				t.Errorf("%q matches %s: %v, want %v", text, pattern, got, want)
			}
		}
	}
}
