package model

// Global object identification, with Options.GlobalIDs: the interface Node and the fields that have
// it. Called by outputs.go and roots.go. Package fetch encodes and decodes the ids.

import "github.com/stoa-go/stoa/resource"

// nodeName is the name of the interface that Relay expects.
const nodeName = "Node"

// addGlobalID adds the field id of an item, which implements Node.
func (b *builder) addGlobalID(set *fields, r *resource.Resource) {
	if b.node == nil {
		b.node = &Type{Kind: Interface, Name: nodeName, Doc: "An item with a global id.",
			Fields: []*Field{{Name: "id", Doc: "The global id of the item.", Type: nonNull(b.scalar("ID")),
				Source: GlobalID}}}
		b.types[nodeName] = b.node
	}
	b.node.Possible = append(b.node.Possible, set.t)
	set.t.Interfaces = []*Type{b.node}
	set.add(&Field{Name: "id", Type: nonNull(b.scalar("ID")), Source: GlobalID, Resource: r,
		Doc: "The global id of the item, for `node` and for arguments that are an id."},
		owner{what: "the global id"})
}

// addNodes adds the fields that read items by global id. An id that is not valid is an error. An
// item that does not exist or is hidden is null, like that of get.
func (b *builder) addNodes(set *fields) {
	const hidden = "null if it does not exist or you are not allowed to see it."
	o := owner{what: "the items by global id"}
	id := b.idArg()
	set.add(&Field{Name: "node", Type: refTo(b.node), Source: ByID, Args: []*Input{id},
		Doc: "The item with a global id; " + hidden}, o)
	ids := &Input{Name: "ids", Type: listOf(b.scalar("ID"), true), Global: true,
		Doc: "The global ids of the items, at most 200."}
	set.add(&Field{Name: "nodes", Type: &Ref{Elem: refTo(b.node), NonNull: true}, Source: ByIDs,
		Args: []*Input{ids}, Doc: "The items with global ids, in their order. An item is " + hidden}, o)
}
