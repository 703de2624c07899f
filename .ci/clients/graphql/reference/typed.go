package reference

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// Typed writes documents for a schema that are valid except for the requested mistakes.
type Typed struct {
	*rand.Rand
	Schema *model.Schema
	// Mistakes is how likely it is to do the wrong thing where there is a choice, from 0 to 1.
	Mistakes float64
	// Clashes is how likely a field has a key that others are likely to have too, from 0 to 1.
	Clashes float64

	depth     int
	serial    int
	variables map[string]string // what the operation at hand has to define, with types
	fragments []string          // type conditions; fragment number i spreads only later ones
	current   int               // the fragment at hand, or -1
	composite []*model.Type
}

func (g *Typed) wrong() bool { return g.Float64() < g.Mistakes }

func (g *Typed) chance(n int) bool { return g.IntN(n) == 0 }

func (g *Typed) pick(choices ...string) string { return choices[g.IntN(len(choices))] }

// Document returns one document.
func (g *Typed) Document() string {
	g.composite = nil
	for _, t := range g.Schema.Types {
		if t.IsComposite() && !strings.HasPrefix(t.Name, "__") && t.Name != "Mutation" && t.Name != "Subscription" {
			g.composite = append(g.composite, t)
		}
	}
	g.fragments = nil
	for range g.IntN(4) {
		g.fragments = append(g.fragments, g.composite[g.IntN(len(g.composite))].Name)
	}
	g.variables = map[string]string{}
	operations := 1
	if g.chance(6) {
		operations = 2
	}
	var fragments, parts []string
	for i := range g.fragments {
		g.current, g.depth = i, 3
		fragments = append(fragments, g.fragment(i))
	}
	shared := g.variables // all operations may reach all fragments
	for i := range operations {
		g.variables = maps.Clone(shared)
		parts = append(parts, g.operation(i, operations))
	}
	return strings.Join(append(parts, fragments...), "\n")
}

func (g *Typed) fragment(i int) string {
	on := g.fragments[i]
	t := g.Schema.Type(on)
	if g.wrong() {
		on = g.pick("Nothing", "Int", "Note", "Stone", "Query")
	}
	name := fmt.Sprintf("F%d", i)
	if g.wrong() {
		name = "F0"
	}
	return "fragment " + name + " on " + on + g.directives("FRAGMENT_DEFINITION") + g.selections(t)
}

func (g *Typed) operation(i, of int) string {
	g.current, g.depth = -1, 0
	kind, root := "query", g.Schema.Query
	switch elsewhere := len(g.fragments) == 0 || g.wrong(); { // fragments are spread in queries
	case !elsewhere:
	case g.chance(4):
		kind, root = "mutation", g.Schema.Mutation
	case g.chance(4):
		kind, root = "subscription", g.Schema.Subscription
	}
	head := kind
	if of > 1 || g.chance(2) {
		head += fmt.Sprintf(" Op%d", i)
		if g.wrong() {
			head = kind + g.pick("", " Op0")
		}
	}
	directives := g.directives(strings.ToUpper(kind))
	body := g.selections(root)
	if of == 1 && kind == "query" && len(g.variables) == 0 && directives == "" && g.chance(2) {
		return body
	}
	// Fragments are spread here, so that none is unused, whichever were spread above.
	var spread strings.Builder
	for i, on := range g.fragments {
		if !g.wrong() {
			fmt.Fprintf(&spread, " %s", g.toReach(kind, on, i))
		}
	}
	body = strings.TrimSuffix(body, "}") + spread.String() + "}"
	return head + g.definitions() + directives + body
}

// toReach selects something of a query's root below which a fragment on a type can be spread.
func (g *Typed) toReach(kind, on string, i int) string {
	if kind != "query" {
		return fmt.Sprintf("... on Nowhere%d { ...F%d }", i, i)
	}
	g.serial++
	spread := fmt.Sprintf("{ ...F%d }", i)
	switch on {
	case "Query":
		return fmt.Sprintf("... on Query %s", spread)
	case "Human", "Being":
		return fmt.Sprintf("r%d: human %s", g.serial, spread)
	case "Dog", "Pet":
		return fmt.Sprintf("r%d: dog %s", g.serial, spread)
	case "Cat", "Animal":
		return fmt.Sprintf("r%d: animals %s", g.serial, spread)
	case "Stone", "Thing":
		return fmt.Sprintf("r%d: stones %s", g.serial, spread)
	}
	return spread
}

// definitions defines the variables that the operation uses, with some that it does not, some
// missing and some of another type where mistakes are to be made.
func (g *Typed) definitions() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(g.variables)) {
		if g.wrong() {
			continue
		}
		typ := g.variables[name]
		def := "$" + name + ": " + typ
		if t := g.typeOf(typ); t != nil && g.chance(4) {
			def += " = " + g.value(t, 2, true)
		}
		list = append(list, def+g.directives("VARIABLE_DEFINITION"))
		if g.wrong() {
			list = append(list, def)
		}
	}
	if g.wrong() {
		list = append(list, g.pick("$unused: Int", "$unused: Human", "$unused: [Nothing!]", "$unused: Int = \"1\"",
			"$unused: Note = {text: null}", "$unused: Int! = null"))
	}
	if len(list) == 0 {
		return ""
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// typeOf is the input type that a text means.
func (g *Typed) typeOf(text string) *model.Ref {
	if inner, ok := strings.CutSuffix(text, "!"); ok {
		return nonNull(g.typeOf(inner))
	}
	if strings.HasPrefix(text, "[") {
		return &model.Ref{Elem: g.typeOf(text[1 : len(text)-1])}
	}
	if t := g.Schema.Type(text); t != nil {
		return &model.Ref{Type: t}
	}
	return nil
}

func nonNull(r *model.Ref) *model.Ref { return &model.Ref{Type: r.Type, Elem: r.Elem, NonNull: true} }

// fieldsOf returns the fields of a type, sorted by name.
func fieldsOf(t *model.Type) []*model.Field {
	return slices.SortedFunc(slices.Values(t.Fields), func(a, b *model.Field) int { return strings.Compare(a.Name, b.Name) })
}

// sorted returns arguments or input fields, sorted by name.
func sorted(list []*model.Input) []*model.Input {
	return slices.SortedFunc(slices.Values(list), func(a, b *model.Input) int { return strings.Compare(a.Name, b.Name) })
}

func (g *Typed) selections(t *model.Type) string {
	g.depth++
	defer func() { g.depth-- }()
	var parts []string
	for range 1 + g.IntN(4) {
		parts = append(parts, g.selection(t))
	}
	return " {" + strings.Join(parts, " ") + "}"
}

func (g *Typed) selection(t *model.Type) string {
	switch {
	case g.chance(8) && g.depth < 6:
		return g.inlineFragment(t)
	case g.chance(8) || g.wrong():
		if i := g.spreadable(t); i >= 0 {
			return fmt.Sprintf("...F%d", i) + g.directives("FRAGMENT_SPREAD")
		}
	}
	fields := fieldsOf(t)
	if len(fields) == 0 || g.chance(12) {
		return g.pick("", "", "t: ") + "__typename"
	}
	def := fields[g.IntN(len(fields))]
	for range 5 { // deeper down, something without fields
		if g.depth < 5 || def.Type.Named().IsLeaf() {
			break
		}
		def = fields[g.IntN(len(fields))]
	}
	return g.field(def)
}

func (g *Typed) field(def *model.Field) string {
	g.serial++
	alias, name := fmt.Sprintf("k%d: ", g.serial), def.Name
	if g.chance(4) && len(def.Args) == 0 {
		alias = ""
	}
	if g.wrong() || g.Float64() < g.Clashes {
		alias = g.pick("", "name: ", "self: ", "x: ")
	}
	if g.wrong() {
		name = g.pick("nothing", "__schema", "meows", "height", "name")
	}
	text := alias + name + g.arguments(def.Args) + g.directives("FIELD")
	if leaf := def.Type.Named().IsLeaf(); leaf == g.wrong() {
		if leaf {
			return text + " { name }"
		}
		if g.depth > 7 {
			return text + " { __typename }"
		}
		return text + g.selections(def.Type.Named())
	}
	return text
}

func (g *Typed) inlineFragment(t *model.Type) string {
	on := t
	if possible := slices.Clone(t.Possible); len(possible) > 0 && g.chance(2) {
		slices.SortFunc(possible, func(a, b *model.Type) int { return strings.Compare(a.Name, b.Name) })
		on = possible[g.IntN(len(possible))]
	}
	if g.wrong() {
		on = g.composite[g.IntN(len(g.composite))]
	}
	condition := " on " + on.Name
	switch {
	case g.wrong():
		condition = g.pick(" on Nothing", " on Int", "")
	case on == t && g.chance(2):
		condition = ""
	}
	return "..." + condition + g.directives("INLINE_FRAGMENT") + g.selections(on)
}

// spreadable finds a fragment that can be spread on a type without a circle, and any where a
// mistake is to be made.
func (g *Typed) spreadable(t *model.Type) int {
	if g.wrong() {
		return g.IntN(5)
	}
	for i := g.current + 1; i < len(g.fragments); i++ {
		if g.fragments[i] == t.Name {
			return i
		}
	}
	return -1
}

func (g *Typed) arguments(defs []*model.Input) string {
	var list []string
	for _, def := range sorted(defs) {
		if !def.Type.NonNull && g.chance(2) || g.wrong() {
			continue
		}
		list = append(list, def.Name+": "+g.argument(def.Type, def.HasDefault))
		if g.wrong() {
			list = append(list, def.Name+": 1")
		}
	}
	if g.wrong() {
		list = append(list, g.pick("nothing: 1", "color: RED", "id: $any", "nothing: {a: $x, a: [$y]}"))
	}
	if len(list) == 0 {
		return ""
	}
	return "(" + strings.Join(list, ", ") + ")"
}

func (g *Typed) argument(t *model.Ref, hasDefault bool) string {
	if g.chance(3) {
		return g.variable(t, hasDefault)
	}
	return g.value(t, 3, false)
}

// variable uses a variable of a type that fits, or nearly.
func (g *Typed) variable(t *model.Ref, hasDefault bool) string {
	typ := t.String()
	switch {
	case g.wrong():
		typ = g.pick("Int", "Int!", "[Int]", "String", "ID!", "Note", "Note!", "[Note!]", "Color", "Any", "Pick")
	case hasDefault && g.chance(2):
		typ = strings.TrimSuffix(typ, "!")
	case !strings.HasSuffix(typ, "!") && g.chance(3):
		typ += "!"
	}
	name := "v" + strings.NewReplacer("!", "R", "[", "L", "]", "").Replace(typ)
	if g.wrong() {
		name = g.pick("vInt", "vNoteR", "other")
	} else {
		g.variables[name] = typ
	}
	return "$" + name
}

// value writes a literal of a type.
func (g *Typed) value(t *model.Ref, depth int, constant bool) string {
	if g.wrong() {
		return g.pick("1", "1.5", "-1e3", `"x"`, `"""x"""`, "true", "null", "RED", "PINK", "[1]", "[]", "{}", "[null]",
			"{text: 1}", "3000000000", `[[1, "2"]]`, `{text: "a", nothing: 1}`, `{text: "a", text: "b"}`, "{id: null}")
	}
	switch {
	case t.NonNull:
		for {
			if text := g.value(t.Nullable(), depth, constant); text != "null" {
				return text
			}
		}
	case t.Elem != nil:
		if g.chance(4) {
			return g.value(t.Elem, depth, constant)
		}
		var items []string
		for range g.IntN(3) {
			items = append(items, g.item(t.Elem, depth, constant, false))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case t.Type.Kind == model.InputObject:
		if depth == 0 && t.Type.Name != "Note" && t.Type.Name != "Pick" {
			return "{}"
		}
		return g.object(t.Type, depth, constant)
	}
	if g.chance(8) {
		return "null"
	}
	switch t.Type.Name {
	case "Int":
		return g.pick("0", "-1", "42", "2147483647", "-2147483648")
	case "Float":
		return g.pick("0", "1.5", "-2e10", "7")
	case "Boolean":
		return g.pick("true", "false")
	case "ID":
		return g.pick(`"a"`, "7", "-0", "99999999999")
	case "Color":
		return g.pick("RED", "GREEN", "BLUE")
	case "Any":
		return g.pick("1", `"x"`, "[1, {a: null}]", "{a: RED, b: [true]}", "PINK")
	}
	return g.pick(`"text"`, `""`, `"""block"""`)
}

func (g *Typed) item(t *model.Ref, depth int, constant, hasDefault bool) string {
	if !constant && g.chance(5) {
		return g.variable(t, hasDefault)
	}
	return g.value(t, depth-1, constant)
}

func (g *Typed) object(t *model.Type, depth int, constant bool) string {
	if t.Name == "Pick" && !g.wrong() {
		name := g.pick("id", "name", "note")
		return "{" + name + ": " + g.value(nonNull(t.Input(name).Type), depth-1, constant) + "}"
	}
	var list []string
	for _, def := range sorted(t.Inputs) {
		if optional := !def.Required(); optional && (depth <= 0 || g.chance(2)) || g.wrong() {
			continue
		}
		list = append(list, def.Name+": "+g.item(def.Type, depth, constant, def.HasDefault))
	}
	if g.wrong() {
		list = append(list, "nothing: 1")
	}
	return "{" + strings.Join(list, ", ") + "}"
}

func (g *Typed) directives(location string) string {
	if !g.chance(8) && !g.wrong() {
		return ""
	}
	var choices []string
	switch location {
	case "FIELD":
		choices = []string{" @skip(if: false)", " @include(if: true)", ` @tag(name: "a") @tag(name: "b")`, " @once",
			` @once(note: {text: "a"})`}
		if g.chance(2) && g.current < 0 {
			choices = append(choices, " @skip(if: "+g.variable(g.typeOf("Boolean!"), false)+")")
		}
	case "QUERY":
		choices = []string{` @tag(name: "q")`, " @once"}
	case "MUTATION":
		choices = []string{" @once"}
	case "VARIABLE_DEFINITION", "FRAGMENT_DEFINITION":
		choices = []string{` @tag(name: "v", weight: 2)`, ` @tag(name: "v", weight: null)`}
	case "INLINE_FRAGMENT", "FRAGMENT_SPREAD":
		choices = []string{" @include(if: true)", " @once"}
	default:
		choices = []string{""}
	}
	if g.wrong() {
		choices = []string{" @nothing", " @nothing(a: 1)", " @skip", ` @tag(name: 1)`, " @tag", " @once @once",
			" @include(if: null)", " @include(if: true, if: false)", " @deprecated", " @once(note: {})", " @skip(unless: 1)"}
	}
	return g.pick(choices...)
}
