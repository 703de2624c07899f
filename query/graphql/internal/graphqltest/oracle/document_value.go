package oracle

// Values of arguments and variables for document.go: literals, JSON and the variables themselves. A
// value is valid for its type but not always for the catalog: an id may not exist, and a filter may
// be rejected. Both executors then have to report the same error.

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// value returns a literal or a variable for an input. depth is the number of enclosing lists and
// objects. At most 12 variables are defined. Every value counts towards the size of the document.
func (g *generator) value(in *model.Input, depth int) string {
	g.size++
	if g.chance(5) && len(g.definition) < 12 {
		return g.variable(in, depth)
	}
	return g.literal(in, in.Type, depth)
}

// variable defines a variable and returns its reference. The variable has a value, a default, both
// or, if the type permits it, neither. Its type is that of the input, except for NonNull. Each use
// has a variable of its own, so no type can conflict.
func (g *generator) variable(in *model.Input, depth int) string {
	name := g.name("v")
	t := in.Type
	def := "$" + name + ": " + t.String()
	nullable, hasDefault := !t.NonNull, false
	if nullable && g.chance(4) { // a non-null variable is allowed for a nullable input
		def += "!"
		nullable = false
		// section 5.8.5
	} else if t.NonNull && g.chance(8) && g.may("nullable variable with a default where null cannot be") {
		def = strings.TrimSuffix(def, "!")
		hasDefault = true
	}
	// A variable of a non-null type with a default is optional (section 6.1.2).
	if !hasDefault && g.chance(4) {
		hasDefault = nullable || g.may("variable of a non-null type with a default")
	}
	if hasDefault {
		def += " = " + g.constant(in, &model.Ref{Type: t.Type, Elem: t.Elem, NonNull: true}, depth)
	}
	// The head of the operation is written at the end, when all definitions are known.
	g.definition = append(g.definition, def)
	switch {
	// The variable has no value here, so the executor has to use its default or leave the input
	// out (section 6.4.1).
	case hasDefault && g.chance(2), nullable && g.chance(4) && g.may("variable without a value"):
	case nullable && g.chance(8) && g.may("null in variables"):
		g.variables[name] = jsontext.Value("null")
	default:
		g.variables[name] = g.json(in, &model.Ref{Type: t.Type, Elem: t.Elem, NonNull: true}, depth)
	}
	return "$" + name
}

// constant returns a literal without variables, which is not null. Defaults of variables must not
// contain any (section 2.11).
func (g *generator) constant(in *model.Input, t *model.Ref, depth int) string {
	defs := g.definition
	g.definition = make([]string, 99) // value adds no variable to a list of 12 or more
	defer func() { g.definition = defs }()
	return g.literal(in, t, depth)
}

// literal returns a literal of a type. in has the name and the member, which guide the choice of a
// scalar.
func (g *generator) literal(in *model.Input, t *model.Ref, depth int) string {
	switch {
	case !t.NonNull && g.chance(25) && g.may("null literal"):
		return "null"
	case t.Elem != nil:
		if g.chance(10) && t.Elem.Elem == nil && g.may("literal for a list of one") { // section 3.11
			return g.literal(in, &model.Ref{Type: t.Elem.Type, NonNull: true}, depth+1)
		}
		var items []string
		for range g.items() {
			items = append(items, g.value(&model.Input{Name: in.Name, Type: t.Elem, Member: in.Member},
				depth+1))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case t.Type.Kind == model.InputObject:
		var members []string
		for _, m := range g.members(t.Type, depth) {
			members = append(members, m.Name+": "+g.value(m, depth+1))
		}
		// Input fields are unordered (section 2.10.8).
		g.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		return "{" + strings.Join(members, ", ") + "}"
	}
	// The value has common indentation and an escape, both of which the lexer removes (section
	// 2.10.4).
	if t.Type.Name == "String" && g.chance(20) && g.may("block string on several lines") {
		return "\"\"\"\n    a \\\"\"\" b\n      c\n    \"\"\""
	}
	v := g.scalar(in, t.Type)
	if t.Type.Kind == model.Enum {
		return v.(string)
	}
	return g.literalOf(v)
}

// items returns the length of a list. Lists may be empty, also lists of filters.
func (g *generator) items() int {
	if g.full() {
		return 0
	}
	return g.IntN(3)
}

// literalOf formats a Go value as a GraphQL literal. Items of lists are separated by blanks only:
// commas are optional (section 2.1.4). Members of objects are in ascending order, because the order
// of a map varies.
func (g *generator) literalOf(v any) string {
	switch v := v.(type) {
	case []any:
		var items []string
		for _, one := range v {
			items = append(items, g.literalOf(one))
		}
		return "[" + strings.Join(items, " ") + "]"
	case map[string]any:
		var members []string
		for _, name := range sortedKeys(v) {
			members = append(members, name+": "+g.literalOf(v[name]))
		}
		return "{" + strings.Join(members, " ") + "}"
	case string:
		if g.chance(8) && !strings.ContainsAny(v, "\"\\\n\r\t") && v == strings.TrimSpace(v) &&
			g.may("block string") {
			return `"""` + v + `"""`
		}
		return g.quoted(v)
	}
	// A number or a boolean has one form in GraphQL and JSON.
	return string(marshal(v))
}

// quoted formats a string literal. Characters above U+FFFF may be escaped. An escape in JSON is
// also one in GraphQL. The two other forms are \u{...} and a surrogate pair.
func (g *generator) quoted(s string) string {
	out := string(marshal(s))
	if !strings.Contains(out, "\U0001F600") {
		return out
	}
	switch {
	case g.chance(4) && g.may("escape in braces"):
		return strings.ReplaceAll(out, "\U0001F600", `\u{1F600}`)
	case g.chance(4) && g.may("pair of surrogates"):
		return strings.ReplaceAll(out, "\U0001F600", `\uD83D\uDE00`)
	}
	return out
}

// members selects fields of an input object. All required ones are among them.
func (g *generator) members(t *model.Type, depth int) []*model.Input {
	var out []*model.Input
	// Deeper and wider objects have fewer of their optional members.
	odds := 2 + depth
	if len(t.Inputs) > 6 {
		odds += 2
	}
	for _, in := range t.Inputs {
		if required(in) || depth < 5 && !g.full() && g.chance(odds) {
			out = append(out, in)
		}
	}
	// Most filters would be empty without this. An empty object is valid if no field is required.
	if len(out) == 0 && depth < 4 && !g.full() && g.chance(3) {
		out = append(out, pick(g, t.Inputs))
	}
	return out
}

// json returns a value for a variable. It makes the same choices as literal. JSON contains no
// variables.
func (g *generator) json(in *model.Input, t *model.Ref, depth int) jsontext.Value {
	g.size++
	switch {
	case !t.NonNull && depth > 0 && g.chance(20) && g.may("null in variables"):
		return jsontext.Value("null")
	case t.Elem != nil:
		if g.chance(10) && t.Elem.Elem == nil && g.may("variable for a list of one") {
			return g.json(in, &model.Ref{Type: t.Elem.Type, NonNull: true}, depth+1)
		}
		var items []string
		for range g.items() {
			items = append(items, string(g.json(in, t.Elem, depth+1)))
		}
		return jsontext.Value("[" + strings.Join(items, ",") + "]")
	case t.Type.Kind == model.InputObject:
		var members []string
		for _, m := range g.members(t.Type, depth) {
			members = append(members, string(marshal(m.Name))+":"+string(g.json(m, m.Type, depth+1)))
		}
		return jsontext.Value("{" + strings.Join(members, ",") + "}")
	}
	return marshal(g.scalar(in, t.Type))
}

// marshal returns v as JSON, with the members of maps in order. The result is part of a document,
// so its order must not vary.
func marshal(v any) jsontext.Value {
	out, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("oracle: %v", err)) // all values are made in this file
	}
	return out
}

// scalar returns a value of a scalar type, or the name of an enum value. The lists have limits of
// the type, values of items in World, and values that no item has.
func (g *generator) scalar(in *model.Input, t *model.Type) any {
	if t.Kind == model.Enum {
		return pick(g, t.Values).Name
	}
	switch t.Name {
	case "Int":
		// Small numbers are often the ids of items, and the others are at or beyond limits.
		return pick(g, []int{0, 1, 2, 3, 5, 7, 10, 11, 100, 1914, -1, 2147483647})
	case "Int64": // includes the largest integers that JavaScript represents exactly
		return pick(g, []int64{0, 1, 2, 4, 6, 77, -3, 5_000_000_000, 1 << 53, -1 << 53})
	case "Float":
		// The shortest form of some of them has an exponent.
		return pick(g, []float64{0, 1, -0.5, 0.25, 1e21, 3.3, 1.1e-7, -2})
	case "Boolean":
		return g.chance(2)
	case "DateTime":
		// The first is the time of a book. The second has an offset, which comparisons ignore.
		return pick(g, []string{"1953-03-01T12:00:00.000003Z", "1960-01-01T00:00:00+02:00",
			"2026-11-21T06:00:00Z"})
	case "JSON":
		return g.any(0)
	case "ID":
		return g.id(in)
	}
	return g.text(in)
}

// id returns the id of an item that may exist, as a string or a number. An ID is a string or an
// integer in literals and in JSON (section 3.5.5).
func (g *generator) id(in *model.Input) any {
	// About half of the ids exist. The others have a form that a store may confuse with one of
	// them.
	n := g.IntN(13)
	switch g.IntN(6) {
	case 0, 1:
		return n
	case 2, 3:
		return "b" + strconv.Itoa(n)
	case 4:
		return pick(g, []string{"", "01", "x", "n1", "77"})
	}
	return strconv.Itoa(n)
}

// text returns a string. Some have a meaning for the input, such as a type name or a cursor. Among
// the others are names of items, enum values as strings, and a text above every maxLength. Two of
// the names are special to the policy of World.
func (g *generator) text(in *model.Input) string {
	if g.opts.Texts != nil && !g.chance(5) {
		if list := g.opts.Texts(in); len(list) > 0 {
			return pick(g, list)
		}
	}
	if in.Name == "name" && in.Member == nil { // the argument of __type
		return pick(g, g.s.Types).Name
	}
	return pick(g, []string{"", "Author 1", "Author", "Title 4", "a", "é", "\U0001F600", "x\"y\\z",
		"line\nend", "\t", "FR",
		"Nobody", "Forbidden", "bad", "12", "3298534883328",
		"a text that is longer than any of them may be, by far"})
}

// any returns an arbitrary JSON value. It contains no null, which the feature "null literal"
// covers.
func (g *generator) any(depth int) any {
	// From a depth of 3 on there are only scalars.
	n := g.IntN(8)
	if depth > 2 {
		n %= 5
	}
	switch n {
	case 0:
		return g.IntN(1000)
	case 1:
		return "text"
	case 2:
		return g.chance(2)
	case 3:
		return 1.5
	case 4:
		return -7
	case 5:
		return []any{g.any(depth + 1), g.any(depth + 1)}
	}
	return map[string]any{"a": g.any(depth + 1), "b": g.any(depth + 1)}
}
