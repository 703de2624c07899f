package openapi

// The paths of links, for relations with Relation.Through. Called by document.go for each resource.

import (
	"github.com/stoa-go/stoa/resource"
)

// links describes PUT and DELETE of the links of each relation of a resource.
func (d *described) links() {
	for _, relation := range d.r.Describe().Relations {
		join, _ := d.r.LinkedBy(relation)
		if join == nil {
			continue
		}
		target, _ := d.r.Related(relation)
		noun := d.noun + pascal(relation)
		id := scalar(target.Type().Field(target.Describe().ID).Type)
		item := &pathItem{Parameters: append([]*parameter{d.idParameter(), {Name: "target", In: "path",
			Required: true, Schema: id, Description: "The id of the item of `" + target.Name() +
				"`, percent-encoded as one path segment."}}, d.versionParameters()...)}
		both := article(d.word) + " and an item of " + target.Name()
		if join.Describe().TakesIDs {
			item.Put = d.linkMethod("link"+noun, resource.OpReplace, "Link "+both, join,
				"Stores an item of `"+join.Name()+"`. Nothing happens if both are linked. There is no body",
				d.answer(201, "The items are linked now.", []string{"Location", "Cache-Control", "Vary"},
					nil),
				d.empty(204, "The items were linked before.", "Cache-Control"))
		}
		if join.Can(resource.OpDelete) {
			item.Delete = d.linkMethod("unlink"+noun, resource.OpDelete, "Unlink "+both, join,
				"Deletes the item of `"+join.Name()+"`. Nothing happens if the two are not linked",
				d.empty(204, "The items are not linked now.", "Cache-Control"))
		}
		item.Options = d.options("options"+noun+"Link", d.name, "a link")
		d.doc.Paths.add("/"+d.name+"/{id}/"+relation+"/{target}", item)
	}
}

// linkMethod describes one method of a link.
func (d *described) linkMethod(
	id string, of resource.Op, summary string, join *resource.Resource, does string, good ...entry[*response],
) *operation {
	op := d.resourceOperation(id, of, summary, does, d.keyText(join.Name(), false))
	op.Parameters = append([]*parameter{d.prefer("handling=lenient")}, d.writeConditions(true)...)
	op.Parameters = append(op.Parameters, d.keyParameter()...)
	op.Responses = d.answers(d.withCommonErrors(d.withKeyErrors(400, 404, 409, 410, 412, 422)...), good...)
	return op
}
