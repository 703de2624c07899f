package model

// The root type Subscription, and the types of changes. Called by Reflect, and by connection in
// outputs.go for the cursor of a list. Package exec resolves the fields from a feed.Change.

import "github.com/stoa-go/stoa/resource"

// subscriptionType returns the subscription root, or nil if no resource has a feed.
func (b *builder) subscriptionType() *Type {
	t := &Type{Kind: Object, Name: onSubscription,
		Doc: "The subscriptions. Each message has one change. To resume without a gap, pass the `cursor` " +
			"of the last change as `after`."}
	set := b.fieldsOf(t)
	for _, r := range b.c.Resources() {
		if item := b.item(r); item != nil && r.Watches() {
			set.add(b.changed(r, item), ofResource(r, "the changes of the items"))
		}
	}
	if len(t.Fields) == 0 {
		return nil
	}
	b.types[onSubscription] = t
	return t
}

// changed returns the field for the changes of a resource, or of one of its items. All arguments
// are optional. Package fetch rejects the combination of id and filter, which types cannot express.
func (b *builder) changed(r *resource.Resource, item *Type) *Field {
	f := &Field{Name: lowerFirst(item.Name) + "Changed", Type: refTo(b.change(r, item)), Source: Watch,
		Resource: r,
		Doc: "The changes of `" + r.Name() + "`, from now on or after `after`. " +
			"An item that starts to match the filter, or becomes visible to you, is CREATED. " +
			"One that stops is DELETED. A list to which the changes are applied stays up to date."}
	id := b.idArg()
	id.Doc, id.Type.NonNull = "Only the item with this id.", false
	f.Args = append(f.Args, id)
	if filter := b.filter(r); filter != nil {
		f.Args = append(f.Args, &Input{Name: "filter", Type: refTo(filter),
			Doc: "A filter for the items. Default: all items. " +
				"An item that stops matching is DELETED. Cannot be used together with `id`."})
	}
	f.Args = append(f.Args, &Input{Name: "after", Type: refTo(b.scalar("String")),
		Doc: "The `cursor` of a change, or the `eventCursor` of a list. The changes after it are sent. " +
			"If they are no longer retained, the error has the code CURSOR_EXPIRED. " +
			"List again then, and subscribe from the new `eventCursor`."})
	return f
}

// change returns the type of a change. The item is nullable, because a deletion has none. The id is
// not, so that a client can remove the item from its cache.
func (b *builder) change(r *resource.Resource, item *Type) *Type {
	o := ofResource(r, "the changes")
	t := b.define(Object, item.Name+"Change", o)
	t.Doc, t.Resource = "A change of an item of `"+r.Name()+"`.", r
	set := b.fieldsOf(t)
	kind := b.shared(Enum, "ChangeKind", fillChangeKind)
	set.add(&Field{Name: "kind", Doc: "The kind of the change.", Type: nonNull(kind), Source: ChangeKind}, o)
	id := &Field{Name: "id", Doc: "The id of the item.", Type: nonNull(b.scalar("ID")), Source: ChangeID}
	if b.opts.GlobalIDs {
		// A change with the field id of its item would be the same object in a client's cache.
		id.Name, id.Doc, id.Resource = "nodeId", "The global id of the item.", r
	}
	set.add(id, o)
	set.add(&Field{Name: "cursor", Type: nonNull(b.scalar("String")), Source: ChangeCursor,
		Doc: "The cursor of the change, for the argument `after`. It is valid as long as changes are " +
			"retained."}, o)
	set.add(&Field{Name: lowerFirst(item.Name), Type: refTo(item), Source: ChangeItem, Resource: r,
		Doc: "The item after the change; null if it was DELETED. Related items are read when the " +
			"change is sent."}, o)
	return t
}

// fillChangeKind fills in the enum ChangeKind. The kinds describe what one subscriber can see, so
// they may differ from the kind of the write.
func fillChangeKind(t *Type) {
	t.Doc = "The kind of a change, as visible to you."
	t.Values = []*Value{
		{Name: "CREATED", Doc: "The item was created or became visible to you.", Go: "CREATED"},
		{Name: "UPDATED", Doc: "The item was changed.", Go: "UPDATED"},
		{Name: "DELETED", Doc: "The item was deleted or is no longer visible to you.", Go: "DELETED"},
	}
}

// eventCursor returns the field for the cursor that continues a list with a subscription. It is
// added for resources with a feed only.
func (b *builder) eventCursor(r *resource.Resource) *Field {
	return &Field{Name: "eventCursor", Type: nonNull(b.scalar("String")), Source: EventCursor, Resource: r,
		Doc: "A cursor from before the items were read, for `after` of a subscription, which then misses " +
			"no change. If the list has several pages, use the cursor of the first."}
}
