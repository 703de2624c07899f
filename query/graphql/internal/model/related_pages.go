package model

// Pages of related items: a connection beside the list of each relation to many. Called by outputs.go. The
// arguments are those of roots.go.

import (
	"strconv"

	"github.com/stoa-go/stoa/resource"
)

// pageSuffix follows the name of a relation in the field with its pages.
const pageSuffix = "Connection"

// addRelatedPages adds a connection for each relation to many. The list of the relation stays, with its fixed
// limit. If another field has the name, there is no connection: the catalog was valid before it had pages.
func (b *builder) addRelatedPages(set *fields, r *resource.Resource) {
	for _, relation := range r.Describe().Relations {
		target, most := r.Related(relation)
		name := fieldName(relation) + pageSuffix
		if _, taken := set.owners[name]; taken || !r.Paged(relation) || b.item(target) == nil {
			continue
		}
		f := &Field{Name: name, Source: RelatedPage, Resource: target, Relation: relation, Limit: most,
			Type: refTo(b.connection(target)),
			Doc:  "A page of the related items of `" + target.Name() + "`."}
		f.Args = append(b.selection(target), b.forward(target, most)...)
		f.Args[len(f.Args)-1].Doc += " The response must have this list of one item only."
		set.add(f, owner{"the pages of the relation " + strconv.Quote(relation),
			"give the relation " + strconv.Quote(relation) + " another name"})
	}
}
