package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// documents are GraphQL that costs its reader more than its writer. In those with a place for a field, that is one
// which every schema has.
func documents() []input {
	repeat := strings.Repeat
	texts := map[string]string{
		"fields, 10,000 deep":                repeat("{a", 10_000) + repeat("}", 10_000),
		"fields, 100,000 deep and open":      repeat("{a", 100_000),
		"lists of arguments, 100,000 deep":   `{a(b:` + repeat("[", 100_000) + repeat("]", 100_000) + `)}`,
		"objects of arguments, 50,000 deep":  `{a(b:` + repeat("{c:", 50_000) + "1" + repeat("}", 50_000) + `)}`,
		"types of variables, 100,000 deep":   `query($a:` + repeat("[", 100_000) + "Int" + repeat("]", 100_000) + `){__typename}`,
		"100,000 aliases":                    "{" + numbered(60_000, "a%d:__typename ") + "}",
		"the same field, 100,000 times":      "{" + repeat("__typename ", 80_000) + "}",
		"100,000 directives":                 "{__typename" + repeat(" @a", 100_000) + "}",
		"the same directive, 10,000 times":   "{__typename" + repeat(" @skip(if:false)", 10_000) + "}",
		"a fragment of itself":               "{...A} fragment A on Query{...A}",
		"two fragments of each other":        "{...A} fragment A on Query{...B} fragment B on Query{...A}",
		"fragments that double, 2^30 fields": doubling(30),
		"10,000 fragments in a row":          "{...F0} " + numbered(10_000, "fragment F%[1]d on Query{...F%[1]d1 __typename} "),
		"10,000 operations":                  numbered(10_000, "query Q%d{__typename} "),
		"20,000 variables":                   "query(" + numbered(20_000, "$v%d:Int ") + "){__typename}",
		"fields that cannot be merged":       "{" + numbered(5_000, "a:__typename a:b%d ") + "}",
		"introspection, on and on":           "{__schema{types{" + repeat("fields{type{", 200) + "name" + repeat("}}", 200) + "}}}",
		"a string that does not end":         `{a(b:"` + repeat("x", 500_000),
		"a block that does not end":          `{a(b:"""` + repeat("\n x", 200_000),
		"a comment of 900 kB":                "#" + repeat("x", 900_000) + "\n{__typename}",
		"commas":                             "{" + repeat(",", 900_000) + "__typename}",
		"a name of 900 kB":                   "{" + repeat("n", 900_000) + "}",
		"a number of 900 kB":                 "{a(b:" + repeat("9", 900_000) + ")}",
		"a subscription":                     "subscription{__typename}",
		"definitions of types":               "type A{a:A} " + repeat("extend type A{b:A} ", 10_000),
		"marks and zeros":                    "\ufeff{\x00}",
		"braces alone":                       repeat("}", 100_000),
		"mutations without end":              "mutation{" + numbered(5_000, `a%d:deleteOrder(id:"1"){id} `) + "}",
	}
	var all []input
	for name, text := range texts {
		content, err := json.Marshal(map[string]string{"query": text})
		if err != nil {
			panic(err) // a map of strings can be encoded
		}
		all = append(all, input{name: "document: " + name, content: content, whole: true})
	}
	list := []byte("[" + strings.TrimSuffix(repeat(`{"query":"{__typename}"},`, 5_000), ",") + "]")
	return append(all, input{name: "document: a list of 5,000", content: list, whole: true})
}

func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// doubling has n fragments, each of which is there twice in the one before.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString("{...F0}")
	for i := range n {
		fmt.Fprintf(&b, " fragment F%d on Query{a:__typename ...F%d ...F%d}", i, i+1, i+1)
	}
	fmt.Fprintf(&b, " fragment F%d on Query{__typename}", n)
	return b.String()
}
