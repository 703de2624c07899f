package model

// The root type Subscription, and the types of changes.

import "github.com/stoa-go/stoa/resource"

// subscriptionType returns the subscription root, or nil if no resource has a feed.
func (b *builder) subscriptionType() *Type {
	t := &Type{Kind: Object, Name: onSubscription,
		Doc: "What can be listened to. Each message has one change; a client that keeps the `cursor` of " +
			"the last one goes on " +
			"behind it with `after`, and misses nothing."}
	set := b.fieldsOf(t)
	for _, r := range b.c.Resources() {
		if item := b.item(r); item != nil && r.Watches() {
			set.add(b.changed(r, item), ofResource(r, "what happens to the items"))
		}
	}
	if len(t.Fields) == 0 {
		return nil
	}
	b.types[onSubscription] = t
	return t
}

// changed returns the field for the changes of a resource, or of one of its items.
func (b *builder) changed(r *resource.Resource, item *Type) *Field {
	f := &Field{Name: lowerFirst(item.Name) + "Changed", Type: refTo(b.change(r, item)), Source: Watch,
		Resource: r,
		Doc: "What happens to the items of `" + r.Name() +
			"`, from now on or behind `after`. What comes into sight is CREATED and " +
			"what leaves it is DELETED, for whatever reason, so that a list to which all of it is done " +
			"stays what a list would show."}
	id := b.idArg()
	id.Doc, id.Type.NonNull = "Only the item with this id.", false
	f.Args = append(f.Args, id)
	if filter := b.filter(r); filter != nil {
		f.Args = append(f.Args, &Input{Name: "filter", Type: refTo(filter),
			Doc: "A filter for the items. Default: all items. " +
				"An item that does not fit any more is DELETED. It cannot be given together with `id`."})
	}
	f.Args = append(f.Args, &Input{Name: "after", Type: refTo(b.scalar("String")),
		Doc: "The `cursor` of the last change that you know, or the " +
			"`eventCursor` of a list: you are told what has happened since. An error with the code " +
			"CURSOR_EXPIRED says that this is not " +
			"known any more; then list anew, and go on from there."})
	return f
}

// change returns the type of a change.
func (b *builder) change(r *resource.Resource, item *Type) *Type {
	o := ofResource(r, "the changes")
	t := b.define(Object, item.Name+"Change", o)
	t.Doc, t.Resource = "What happened to an item of `"+r.Name()+"`.", r
	set := b.fieldsOf(t)
	kind := b.shared(Enum, "ChangeKind", fillChangeKind)
	set.add(&Field{Name: "kind", Doc: "What happened.", Type: nonNull(kind), Source: ChangeKind}, o)
	set.add(&Field{Name: "id", Doc: "The id of the item.", Type: nonNull(b.scalar("ID")), Source: ChangeID},
		o)
	set.add(&Field{Name: "cursor", Type: nonNull(b.scalar("String")), Source: ChangeCursor,
		Doc: "The cursor of the change, for the argument `after`. It is valid as long as changes are " +
			"retained."}, o)
	set.add(&Field{Name: lowerFirst(item.Name), Type: refTo(item), Source: ChangeItem, Resource: r,
		Doc: "The item as the change has left it; null if it was DELETED. What related items are is " +
			"asked when " +
			"the change is told."}, o)
	return t
}

// fillChangeKind fills in the enum ChangeKind.
func fillChangeKind(t *Type) {
	t.Doc = "The kind of a change, as visible to you."
	t.Values = []*Value{
		{Name: "CREATED", Doc: "The item was created or became visible to you.", Go: "CREATED"},
		{Name: "UPDATED", Doc: "It is another now.", Go: "UPDATED"},
		{Name: "DELETED", Doc: "The item was deleted or is no longer visible to you.", Go: "DELETED"},
	}
}

// eventCursor returns the field for the cursor that continues a list with a subscription.
func (b *builder) eventCursor(r *resource.Resource) *Field {
	return &Field{Name: "eventCursor", Type: nonNull(b.scalar("String")), Source: Place, Resource: r,
		Doc: "A place from before the items were read, for `after` of a subscription: whatever is not in " +
			"the list yet is told there. " +
			"Of several pages, that of the first counts."}
}
