package validate

// Hints to names that the schema has in place of unknown ones. Called by selections.go, arguments.go and
// values.go.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// enclosing is the field with the selection set that is being checked.
type enclosing struct {
	parent *model.Type
	def    *model.Field
}

// fieldHint returns the hint to a field that parent does not have: the nodes of a connection, the
// connection of a list, or fields with similar names.
func (v *validator) fieldHint(parent *model.Type, name string) string {
	if strings.HasPrefix(name, "__") {
		return ""
	}
	if nodes := parent.Field("nodes"); nodes != nil && nodes.Type.Named().Field(name) != nil {
		return didYouMean([]string{"nodes { " + name + " }"})
	}
	if in := v.in; in.def != nil && in.def.Type.Elem != nil && slices.Contains(connectionFields, name) {
		if pages := in.def.Name + "Connection"; in.parent.Field(pages) != nil {
			return didYouMean([]string{pages + " { " + name + " }"})
		}
		return fmt.Sprintf("%q is a list, not a connection; select fields of %q.", in.def.Name, parent.Name)
	}
	return similar(name, parent.Fields, func(f *model.Field) string { return f.Name })
}

// connectionFields are the fields of connections that a list does not have.
var connectionFields = []string{"nodes", "edges", "pageInfo", "totalCount"}

// inputHint returns the hint to an argument or a field of an input type.
func inputHint(name string, inputs []*model.Input) string {
	return similar(name, inputs, func(in *model.Input) string { return in.Name })
}

// similar returns the hint to up to five names that differ from name in a few letters, or of which one is
// the beginning of the other, such as genres and genresConnection. The most similar one is first.
func similar[T any](name string, list []T, nameOf func(T) string) string {
	const most, shortest = 5, 3
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	asked, limit := strings.ToLower(name), 1+len(name)/4
	for _, item := range list {
		c := candidate{name: nameOf(item)}
		lower := strings.ToLower(c.name)
		c.distance = max(len(asked), len(lower)) - min(len(asked), len(lower))
		switch {
		case min(len(asked), len(lower)) >= shortest &&
			(strings.HasPrefix(lower, asked) || strings.HasPrefix(asked, lower)):
		case c.distance > limit: // the real distance is not smaller, and need not be computed
			continue
		default:
			if c.distance = distance(asked, lower); c.distance > limit {
				continue
			}
		}
		found = append(found, c)
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.name, b.name))
	})
	var names []string
	for _, c := range found[:min(len(found), most)] {
		names = append(names, c.name)
	}
	return didYouMean(names)
}

// didYouMean returns the question of the reference implementation, or "" without names.
func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	for i, name := range names {
		names[i] = `"` + name + `"`
	}
	last := len(names) - 1
	switch last {
	case 0:
		return "Did you mean " + names[0] + "?"
	case 1:
		return "Did you mean " + names[0] + " or " + names[1] + "?"
	}
	return "Did you mean " + strings.Join(names[:last], ", ") + ", or " + names[last] + "?"
}

// distance returns how many letters must be inserted, removed or replaced to make b from a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
