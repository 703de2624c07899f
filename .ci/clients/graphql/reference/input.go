package reference

import (
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// Literal returns a literal for a type, without variables.
func (g *Typed) Literal(typ string) string { return g.value(g.typeOf(typ), 3, true) }

// JSON returns JSON for a type.
func (g *Typed) JSON(typ string) string { return g.json(g.typeOf(typ), 3) }

func (g *Typed) json(t *model.Ref, depth int) string {
	if g.wrong() {
		return g.pick("1", "1.5", "1.0", "1e2", `"12"`, `"x"`, "true", "null", `"PINK"`, "[1]", "[]", "{}", "[null]",
			`{"text":1}`, "3000000000", `[[1,"2"]]`, `{"text":"a","nothing":1}`, `{"id":null}`, `{"text":"a","stars":null}`)
	}
	switch {
	case t.NonNull:
		for {
			if text := g.json(t.Nullable(), depth); text != "null" {
				return text
			}
		}
	case t.Elem != nil:
		if g.chance(4) {
			return g.json(t.Elem, depth)
		}
		var items []string
		for range g.IntN(4) {
			items = append(items, g.json(t.Elem, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	case t.Type.Kind == model.InputObject:
		return g.jsonObject(t.Type, depth)
	}
	if g.chance(8) {
		return "null"
	}
	switch t.Type.Name {
	case "Int":
		return g.pick("0", "-1", "42", "2147483647", "-2147483648", "7.0", "1e3")
	case "Float":
		return g.pick("0", "1.5", "-2e10", "7", "-0.25")
	case "Boolean":
		return g.pick("true", "false")
	case "ID":
		return g.pick(`"a"`, "7", "-0", "9007199254740991", `"1e+10"`, `"é"`)
	case "Color":
		return g.pick(`"RED"`, `"GREEN"`, `"BLUE"`)
	case "Any":
		return g.pick("1", `"x"`, `[1,{"a":null}]`, `{"a":"RED","b":[true]}`, "1.5")
	}
	return g.pick(`"text"`, `""`, `"\u00e9\ud83d\ude00"`)
}

func (g *Typed) jsonObject(t *model.Type, depth int) string {
	if t.Name == "Pick" && !g.wrong() {
		name := g.pick("id", "name", "note")
		return `{"` + name + `":` + g.json(nonNull(t.Input(name).Type), depth-1) + "}"
	}
	var list []string
	for _, def := range sorted(t.Inputs) {
		if optional := !def.Required(); optional && (depth <= 0 || g.chance(2)) || g.wrong() {
			continue
		}
		list = append(list, `"`+def.Name+`":`+g.json(def.Type, depth-1))
	}
	if g.wrong() {
		list = append(list, `"nothing":1`)
	}
	return "{" + strings.Join(list, ",") + "}"
}
