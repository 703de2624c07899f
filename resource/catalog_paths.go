package resource

// Sort keys of lists in a catalog, and fields by which items are grouped, that are fields of related items.
// Called by catalog_filter.go. It calls relation_filter.go.

import (
	"fmt"
	"slices"
	"strings"
)

// attachPaths sets the fields of the links of r for a use of paths, and returns their paths in the names of
// the catalog. It panics if the store cannot answer one of them.
func (c *Catalog) attachPaths(r *Resource, use pathUse) (paths []string) {
	list, declared := use.declared(r.core.query)
	for _, path := range declared {
		if !isPath(path, r.core.typ) {
			continue
		}
		relation, name, _ := strings.Cut(path, ".")
		l := c.links[r][relation]
		if l == nil {
			continue // the view does not have the relation
		}
		at := fmt.Sprintf("resource: %s: Options.Query.%s names %q: ", r.Name(), list, path)
		target := l.target.core
		_, fields := use.declared(target.query)
		switch f := target.typ.Field(name); {
		case f == nil:
			panic(fmt.Sprintf("%s%s has no field %q", at, target.name, name))
		case f.Key != nil:
			panic(fmt.Sprintf("%s%q is a composite id; name one of its fields", at, name))
		case name != target.id.Name && !slices.Contains(fields, name):
			panic(fmt.Sprintf("%sdeclare %q in Options.Query.%s of %s", at, name, list, target.name))
		}
		h := l.pathHop(r)
		if why := h.joinMistake(); why != "" {
			panic(at + why)
		}
		shown := l.target.projection.fieldOf(name)
		if shown == "" || l.target.projection.typ.Field(shown).WriteOnly {
			continue
		}
		if l.paths[use] == nil {
			l.paths[use] = map[string]*relatedField{}
		}
		l.paths[use][shown] = &relatedField{hop: h, field: name}
		r.core.joins.Store(h.join, target)
		paths = append(paths, relation+"."+shown)
	}
	return paths
}
