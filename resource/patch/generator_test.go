package patch_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator generates values and patches with few distinct names, so that many pointers exist.
type generator struct{ *rand.Rand }

func newGenerator() generator { return generator{rand.New(rand.NewPCG(6902, 7396))} }

func (g generator) value(depth int) string {
	kind := g.IntN(10)
	if depth == 0 {
		kind = 9
	}
	switch {
	case kind < 5:
		var list []string
		for _, i := range g.Perm(4)[:1+g.IntN(4)] {
			list = append(list, fmt.Sprintf(`"%c":%s`, "ab0~"[i], g.value(depth-1)))
		}
		return "{" + strings.Join(list, ",") + "}"
	case kind < 9:
		var list []string
		for range g.IntN(4) {
			list = append(list, g.value(depth-1))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	scalars := []string{`1`, `"1"`, `true`, `"x"`, `-7`, `null`, `1.0`}
	return scalars[g.IntN(len(scalars))]
}

func (g generator) pointer() string {
	steps := []string{"a", "b", "0", "0", "1", "-", "~0"}
	var p strings.Builder
	for range 1 + g.IntN(2) {
		p.WriteString("/" + steps[g.IntN(len(steps))])
	}
	return p.String()
}

// ops returns one to three operations.
func (g generator) ops() []string {
	verbs := []string{"add", "add", "remove", "replace", "move", "copy", "test"}
	var ops []string
	for range 1 + g.IntN(3) {
		path := g.pointer()
		if g.IntN(12) == 0 {
			path = ""
		}
		ops = append(ops, fmt.Sprintf(`{"op":%q,"path":%q,"from":%q,"value":%s}`,
			verbs[g.IntN(len(verbs))], path, g.pointer(), g.value(2)))
	}
	return ops
}

func patchOf(ops []string) string { return "[" + strings.Join(ops, ",") + "]" }
