package model

// The root types Query and Mutation. Called by Reflect. Every other type is defined when the first
// field refers to it, so the schema has no unused types. outputs.go, inputs.go and filters.go
// define them.

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
)

// queryType returns the query root: an item and a list field for each resource, lookups, and custom
// fields. It is made by shared, because define rejects reserved names.
func (b *builder) queryType() *Type {
	t := b.shared(Object, onQuery, func(t *Type) { t.Doc = "The queries." })
	set := b.fieldsOf(t)
	for _, r := range b.c.Resources() {
		if item := b.item(r); item != nil {
			// The field of an item is named after its type, and that of a list after the resource.
			set.add(b.get(r, item), ofResource(r, "the item"))
			set.add(b.list(r), ofField(r, "the list"))
			if groups := b.aggregate(r); groups != nil {
				set.add(groups, ofField(r, "the groups"))
			}
		}
	}
	if b.node != nil {
		b.addNodes(set)
	}
	for _, l := range resource.PartsOf[*resource.Lookup](b.c) {
		if f := b.lookup(l); f != nil {
			set.add(f, owner{"the lookup " + l.Name(), "rename the lookup " + l.Name()})
		}
	}
	b.addCustom(set, onQuery)
	return t
}

// ofField returns the owner of a field that has the name of a resource.
func ofField(r *resource.Resource, part string) owner {
	return owner{part + " of the resource " + r.Name(), "rename the resource " + r.Name()}
}

// get returns the field for one item of a resource. The field is nullable, and a hidden item is
// null like a missing one, so a response does not reveal that the item exists.
func (b *builder) get(r *resource.Resource, item *Type) *Field {
	return &Field{Name: lowerFirst(item.Name), Type: refTo(item), Source: Get, Resource: r,
		Doc: "The item of `" + r.Name() +
			"` with an id; null if it does not exist or you are not allowed to see it.",
		Args: []*Input{b.idArg()}}
}

// idArg returns the argument id. The result is new for each call, so that a caller can change it.
func (b *builder) idArg() *Input {
	return &Input{Name: "id", Doc: "The id of the item.", Type: nonNull(b.scalar("ID")),
		Global: b.opts.GlobalIDs}
}

// list returns the field for a page of a resource. A store with natural order supports only one
// order and forward paging. The page sizes are part of the descriptions, because an argument above
// the maximum is an error.
func (b *builder) list(r *resource.Resource) *Field {
	f := &Field{Name: camel(r.Name()), Type: refTo(b.connection(r)), Source: List, Resource: r}
	policy := r.Describe()
	f.Args = append(b.selection(r, b.searchArg(r)...), b.forward(r, policy.PageSize)...)
	// Backward paging reverses the order, so it needs one that can be sorted.
	if f.Arg("orderBy") == nil {
		f.Doc = "A page of `" + r.Name() + "`, in the order of the store."
		return f
	}
	f.Doc = "A page of `" + r.Name() + "`."
	f.Args = append(f.Args,
		&Input{Name: "last", Type: refTo(b.scalar("Int")),
			Doc: "The number of items from the end, or before `before`: at most " +
				strconv.Itoa(policy.MaxPageSize) + "."},
		&Input{Name: "before", Doc: "Return items before this cursor.", Type: refTo(b.scalar("String"))})
	return f
}

// selection returns the arguments of pages that select and sort items. search is that of a search.
func (b *builder) selection(r *resource.Resource, search ...*Input) (args []*Input) {
	if filter := b.filter(r); filter != nil {
		args = append(args, &Input{Name: "filter", Doc: "A filter for the items. Default: all items.",
			Type: refTo(filter)})
	}
	args = append(args, search...)
	if sort := b.sort(r); sort != nil {
		args = append(args, &Input{Name: "orderBy", Type: listOf(sort, false),
			Doc: "The sort keys, at most 4. The next key decides if items are equal by the previous " +
				"ones. The last key is the id."})
	}
	return args
}

// forward returns the arguments of forward paging. size is the default.
func (b *builder) forward(r *resource.Resource, size int) []*Input {
	return []*Input{
		{Name: "first", Type: refTo(b.scalar("Int")),
			Doc: "The number of items from the start, or after `after`: at most " +
				strconv.Itoa(r.Describe().MaxPageSize) + ". Default " + strconv.Itoa(size) + "."},
		{Name: "after", Doc: "Return items after this cursor.", Type: refTo(b.scalar("String"))},
	}
}

// lookup returns the field for a lookup, or nil if the target has no item type. The
// lookup itself returns only an id. The item is read from the target, under its policy.
func (b *builder) lookup(l *resource.Lookup) *Field {
	target := b.c.Target(l)
	item := b.item(target)
	if item == nil {
		return nil
	}
	f := &Field{Name: camel(l.Name()), Type: refTo(item), Source: Lookup, Resource: target, Lookup: l,
		Doc: "An item of `" + target.Name() +
			"`; null if it does not exist or you are not allowed to see it."}
	f.Args = b.arguments(l.Input(), "lookup "+l.Name(), pascal(l.Name()))
	return f
}

// mutationType returns the mutation root, or nil if there are no writes: writes of each resource,
// commands, and custom fields.
func (b *builder) mutationType() *Type {
	// The type is added to b.types at the end, because an object type needs a field (section 3.6).
	t := &Type{Kind: Object, Name: onMutation,
		Doc: sentences("The mutations. The fields of an operation are executed serially.",
			b.keys())}
	set := b.fieldsOf(t)
	for _, r := range b.c.Resources() {
		if item := b.item(r); item != nil {
			b.addWrites(set, r, item)
		}
	}
	for _, c := range resource.PartsOf[*command.Command](b.c) {
		if c.Into() == nil { // an import streams several results and has no field
			set.add(b.command(c), owner{"the command " + c.Name(), "rename the command " + c.Name()})
		}
	}
	b.addCustom(set, onMutation)
	if len(t.Fields) == 0 {
		return nil
	}
	b.types[onMutation] = t
	return t
}

// keys describes idempotency keys, and is empty if the catalog does not support them.
// The root type contains the text, because generic GraphQL tools show no other documentation.
func (b *builder) keys() string {
	once := b.c.Idempotency()
	if once == nil {
		return ""
	}
	ttl := once.Options().TTL.String()
	// 24h0m0s is how Go prints a day.
	if hours, whole := strings.CutSuffix(ttl, "h0m0s"); whole {
		ttl = hours + " hours"
	}
	text := "An operation with an idempotency key, in the header `" + idempotency.KeyField +
		"` or in `extensions.idempotencyKey`, can be repeated for " + ttl +
		". It is executed once, and completely or not at all. " +
		"A mutation that cannot be rolled back must be its only field."
	if once.Options().Required {
		text += " A key is required."
	}
	return text
}

// addWrites adds the mutations of a resource. All of them are nullable. An error of one mutation
// then keeps the results of those before it (section 6.4.4).
func (b *builder) addWrites(set *fields, r *resource.Resource, item *Type) {
	name, o := "`"+r.Name()+"`", ofResource(r, "a write")
	if r.Can(resource.OpCreate) {
		in := inputArg(b.createInput(r), "The new item.")
		set.add(&Field{Name: "create" + item.Name, Type: refTo(item), Source: Create, Resource: r, Args: in,
			Doc: "Creates an item of " + name + " and returns it."}, o)
	}
	// The fields that change an existing item have the same form: id, input and ifMatch.
	change := func(verb, doc string, source Source, in []*Input) {
		args := append(append([]*Input{b.idArg()}, in...), b.ifMatchArg(r))
		set.add(&Field{Name: verb + item.Name, Doc: doc, Type: refTo(item), Source: source, Resource: r,
			Args: args}, o)
	}
	// The input is nil if clients can set no member.
	if in := b.replaceInput(r); in != nil {
		change("replace", "Replaces an item of "+name+" and returns it.", Replace,
			inputArg(in, "The complete new value."))
	}
	if in := b.patchInput(r); in != nil {
		change("patch", "Changes parts of an item of "+name+" and returns it.", Patch,
			inputArg(in, "The changes."))
	}
	if r.Can(resource.OpDelete) {
		change("delete", "Deletes an item of "+name+" and returns it as it was before.", Delete, nil)
	}
	if r.Can(resource.OpRestore) {
		set.add(&Field{Name: "restore" + item.Name, Type: refTo(item), Source: Restore, Resource: r,
			Args: []*Input{b.idArg()}, Doc: "Restores a deleted item of " + name + " and returns it."}, o)
	}
	for _, relation := range r.Describe().Relations {
		b.addLinks(set, r, relation, item)
	}
}

// addLinks adds the mutations that link and unlink items, for a relation with a resource of links.
func (b *builder) addLinks(set *fields, r *resource.Resource, relation string, item *Type) {
	join, _ := r.LinkedBy(relation)
	target, _ := r.Related(relation)
	if join == nil || b.item(target) == nil {
		return
	}
	add := func(verb, doc, again string, source Source) {
		to := b.idArg()
		to.Name, to.Doc = "to", "The id of the item of `"+target.Name()+"`."
		set.add(&Field{Name: verb + item.Name + pascal(relation), Type: refTo(item), Source: source,
			Resource: r, Relation: relation, Args: []*Input{b.idArg(), to},
			Doc: doc + " by `" + join.Name() + "`. Returns the item of `" + r.Name() + "`. " + again},
			owner{"the links of the relation " + strconv.Quote(relation), "give the relation " +
				strconv.Quote(relation) + " another name"})
	}
	both := " an item of `" + r.Name() + "` and one of `" + target.Name() + "`"
	if join.Describe().TakesIDs {
		add("link", "Links"+both, "An existing link is not an error.", Link)
	}
	if join.Can(resource.OpDelete) {
		add("unlink", "Removes the link between"+both, "A missing link is not an error.", Unlink)
	}
}

// inputArg returns the argument input, or nil if there is no input type. Delete has none, and
// neither has a command without input.
func inputArg(input *Type, doc string) []*Input {
	if input == nil {
		return nil
	}
	return []*Input{{Name: "input", Doc: doc, Type: nonNull(input)}}
}

// ifMatchArg returns the argument for a precondition. It is nullable even if it is required. The
// resource then reports a missing precondition with a code of its own, as it does for REST.
func (b *builder) ifMatchArg(r *resource.Resource) *Input {
	doc := "A precondition in the form of the header If-Match: an `etag`, several separated by commas, " +
		"or `*`. If the item does not have one of these revisions, nothing is changed."
	if r.Describe().RequireIfMatch {
		doc += " It is required."
	}
	return &Input{Name: "ifMatch", Doc: doc, Type: refTo(b.scalar("String"))}
}

// command returns the field for a command. A command without output returns true.
func (b *builder) command(c *command.Command) *Field {
	f := &Field{Name: camel(c.Name()), Doc: cmp.Or(c.Doc(), "Executes the command `"+c.Name()+"`."),
		Source:  Invoke,
		Command: c}
	f.Args = inputArg(b.commandInput(c), "The input of the command.")
	if out := c.Output(); out != nil {
		f.Type = refTo(b.object(out, pascal(c.Name())+"Output"))
	} else {
		f.Type = refTo(b.scalar("Boolean"))
	}
	return f
}
