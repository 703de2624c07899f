package graphqltest

// Attacks on servers of GraphQL. Each multiplies a cost: parsing, expanding fragments, merging
// fields, coercing values, or reporting errors. Tests of validate and of the handler send all of
// them, and the fuzz targets use them as seeds.

import (
	"fmt"
	"strings"
)

// Hostile returns documents that try to crash or overload a server, by a description of the attack.
// Most are about as large as the limits allow. The names are part of the contract: a table in the
// tests of validate has the expected verdict for each name. The documents select fields of the
// schema of [New].
func Hostile() map[string]string {
	return map[string]string{
		// A server that expands fragments before it searches for cycles does not return.
		"cycle of two fragments":  "{...A} fragment A on Query{...B} fragment B on Query{...A}",
		"cycle of many fragments": cycle(1200),
		// A recursive parser without a limit overflows its stack. The first document is above the
		// default limit of bytes and the second below it.
		"2 MB of brackets":   "{a(b:" + strings.Repeat("[", 2<<20),
		"1 MB of brackets":   "{a(b:" + strings.Repeat("[", 1<<20-100),
		"1 MB of selections": strings.Repeat("a{", 1<<19-10),
		"brackets at the limit": strings.Repeat("{count(ints:"+strings.Repeat("[", 58)+strings.Repeat("]",
			58)+")}", 80),
		"1000 nested fields": strings.Repeat("{self", 1000) + strings.Repeat("}", 1000),
		// The document has a few hundred bytes, and its expansion a million fields.
		"20 doubling fragments": doubling("Query", "...F%[2]d ...F%[2]d", 20),
		"20 aliased fragments":  doubling("Dog", "a:self{...F%[2]d} b:self{...F%[2]d}", 20),
		"doubling inside":       doubling("Dog", "self{...F%[2]d} ...F%[2]d", 20),
		// Each field is an error. The server must stop collecting them.
		"9990 unknown fields": "{" + strings.Repeat("x ", 9990) + "}",
		"9990 known fields":   "{dog{" + strings.Repeat("id ", 9990) + "}}",
		// Merging compares fields with one response key, which is quadratic if done by pairs.
		"same composite field": "{dog{" + strings.Repeat("self{id} ", 2400) + "}}",
		"alias web":            web(300, 5),
		"conflicting aliases":  "{dog{" + strings.Repeat("a:id a:name ", 1600) + "}}",
		"conflicts further down": "{dog{" + strings.Repeat("self{self{a:id}} self{self{a:name}} ", 500) +
			"}}",
		// Fields of an interface merge with those of each object type that implements it.
		"partitions": "{animals" + partitions(5) + "}",
		// Each directive is checked against the schema and for uniqueness.
		"directive flood":         "{dog{id " + strings.Repeat("@a ", 4000) + "}}",
		"directives at the limit": "{dog{id " + strings.Repeat("@skip(if:true) ", 50) + "}}",
		// Comments are no tokens, so a limit of tokens alone does not bound them.
		"10000 tokens of comments": "{#" + strings.Repeat("\n#,", 300_000) + "\n dog{id}}",
		"one long string":          `{count(required:1 text:"` + strings.Repeat(`\u{1F600}`, 100_000) + `")}`,
		"one long block string":    `{count(required:1 text:"""` + strings.Repeat("\n  x", 200_000) + `""")}`,
		// The variables of each operation are checked through all fragments that it reaches.
		"many operations": operations(400),
		"many variables":  variables(1200),
		"many fragments of one": "{dog{" + strings.Repeat("...F ", 3000) + "}} fragment F on Dog{" +
			strings.Repeat("id ", 900) + "}",
		// Each member has the same name, so a check by pairs would be quadratic.
		"wide objects": "{stones(any:{" + strings.Repeat("a:1 ", 3300) + "}){color}}",
		// The types of a schema form cycles, so each level multiplies the size of the response.
		"deep introspection": "{__schema{types{" + strings.Repeat("fields{type{", 25) + "name" +
			strings.Repeat("}}", 25) + "}}}",
	}
}

// cycle returns n fragments that each spread the next; the last one spreads the first.
func cycle(n int) string {
	var b strings.Builder
	b.WriteString("{...F0}")
	for i := range n {
		fmt.Fprintf(&b, " fragment F%d on Query{...F%d}", i, (i+1)%n)
	}
	return b.String()
}

// doubling returns fragments that each spread the next twice, so their expansion has 2^n fields.
// each is the selection of a fragment as a format: its second argument is the number of the next
// fragment.
func doubling(on, each string, n int) string {
	var b strings.Builder
	begin, end := "{...F0} ", "dog{id}"
	if on == "Dog" {
		begin, end = "{dog{...F0}} ", "id"
	}
	b.WriteString(begin)
	for i := range n {
		fmt.Fprintf(&b, "fragment F%d on "+on+"{"+each+"} ", i, i+1)
	}
	fmt.Fprintf(&b, "fragment F%d on %s{%s}", n, on, end)
	return b.String()
}

// web returns fragments that each spread up to the given number of the fragments that follow. All
// of them use the same aliases, so field merging reaches each fragment on many paths.
func web(fragments, spreads int) string {
	var b strings.Builder
	b.WriteString("{dog{...F0}} ")
	for i := range fragments {
		fmt.Fprintf(&b, "fragment F%d on Dog{self{a:id b:name", i)
		for j := i + 1; j < min(i+1+spreads, fragments); j++ {
			fmt.Fprintf(&b, " ...F%d", j)
		}
		b.WriteString("}} ")
	}
	return b.String()
}

// partitions returns nested fields that two object types and their interface all select. Field
// merging has to compare each pair of types at each level. The number of pairs grows exponentially
// with depth, unless results are reused.
func partitions(depth int) string {
	if depth == 0 {
		return "{__typename}"
	}
	inner := "owner" + "{pets" + partitions(depth-1) + "}"
	return "{...on Pet{" + inner + "} ...on Dog{" + inner + "} ...on Cat{" + inner + "}}"
}

// operations returns n operations and n fragments. Each operation reaches all fragments. The work
// is n*n if fragments are visited for each operation.
func operations(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "query Q%d{...F0} ", i)
	}
	for i := range n {
		fmt.Fprintf(&b, "fragment F%d on Query{...F%d} ", i, i+1)
	}
	fmt.Fprintf(&b, "fragment F%d on Query{dog{id}}", n)
	return b.String()
}

// variables returns an operation with n variables, all of them used. The list contains each
// variable, so that each definition and each usage is checked.
func variables(n int) string {
	var b strings.Builder
	b.WriteString("query(")
	for i := range n {
		fmt.Fprintf(&b, "$v%d:Int ", i)
	}
	b.WriteString("){count(required:1 ints:[")
	for i := range n {
		fmt.Fprintf(&b, "$v%d ", i)
	}
	b.WriteString("])}")
	return b.String()
}
