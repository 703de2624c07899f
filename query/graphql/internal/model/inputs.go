package model

import (
	"slices"
	"strconv"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// form is what an input is for, which decides what must be in it.
type form uint8

const (
	creating  form = iota // a new item, the input of a command, or arguments: defaults step in
	replacing             // all of an item that is there
	part                  // a struct in one of the two above
	patching              // a merge patch (RFC 7396), outside and inside: all of it may be left out
)

// createInput returns the input of a new item, nil if nothing can be said about it.
func (b *builder) createInput(r *resource.Resource) *Type {
	t := b.itemInput(r, "Create", creating)
	if t != nil {
		t.Doc = "A new item of `" + r.Name() + "`."
	}
	return t
}

// replaceInput returns the input of a replacement, nil if nothing can be replaced. The id is an argument.
func (b *builder) replaceInput(r *resource.Resource) *Type {
	if !changes(r) {
		return nil
	}
	t := b.itemInput(r, "Replace", replacing)
	if t != nil {
		t.Doc = "All of an item of `" + r.Name() + "`: what is left out becomes what it is in a new item."
		if slices.ContainsFunc(t.Inputs, func(in *Input) bool { return in.Member.WriteOnly }) {
			t.Doc += " Only what is never shown stays as it is."
		}
	}
	return t
}

// patchInput returns the input of a patch, nil if nothing can be changed.
func (b *builder) patchInput(r *resource.Resource) *Type {
	if !changes(r) {
		return nil
	}
	t := b.itemInput(r, "Patch", patching)
	if t != nil {
		t.Doc = "Changes to an item of `" + r.Name() +
			"`: what is left out stays as it is, and null takes away."
	}
	return t
}

// itemInput returns the input for items of a resource. A new item has its id among its members, if it is the client's to
// choose.
func (b *builder) itemInput(r *resource.Resource, verb string, form form) *Type {
	name, policy := b.names[r], r.Policy()
	var inputs []*Input
	for _, m := range b.membersOf(r.Type(), "resource "+r.Name()) {
		isID := m.Name == r.ID()
		if m.ReadOnly || isID && (form != creating || !policy.TakesIDs) {
			continue
		}
		in := b.inputOf(m, spot{m.Field, m.name, name, isID}, form)
		if isID {
			in.Type.NonNull = !policy.AssignsIDs
		}
		inputs = append(inputs, in)
	}
	if len(inputs) == 0 {
		return nil
	}
	t := b.define(InputObject, verb+name+"Input", ofResource(r, "the input of "+lower(verb)+name))
	t.Go, t.Resource, t.Inputs = r.Type(), r, inputs
	return t
}

// inputOf returns the input that fills a member.
func (b *builder) inputOf(m member, s spot, form form) *Input {
	in := &Input{Name: m.name, Doc: m.Doc, Deprecated: m.Deprecated, Member: m.Field}
	object := b.inputObject
	// an array in a patch replaces all of the one that is there
	if form == patching && m.Type.Kind == schema.Object {
		object = b.patchObject
	}
	in.Type = b.ref(m.Type, s, true, object)
	if form == patching {
		return in
	}
	// What clients never see they need not repeat, and no default overwrites it. In a part nobody knows which of the two it
	// is for.
	hidden := m.WriteOnly && form != creating
	in.Type.NonNull = m.Required && !m.Nullable && m.Type.Kind != schema.Any && !hidden
	if !hidden && in.Type.Elem == nil {
		in.Default, in.HasDefault = defaultOf(m.Field, in.Type.Type)
	}
	if in.Deprecated != "" && in.Type.NonNull { // what must be given cannot be deprecated (section 3.13.3)
		in.Doc, in.Deprecated = sentences(in.Doc, "Deprecated: "+in.Deprecated), ""
	}
	return in
}

// inputObject returns the type of a struct inside of an input.
func (b *builder) inputObject(t *schema.Type, hint string) *Type { return b.partObject(t, hint, part) }

// patchObject returns the type of a struct inside of a patch, which is a patch as well.
func (b *builder) patchObject(t *schema.Type, hint string) *Type {
	return b.partObject(t, hint, patching)
}

func (b *builder) partObject(t *schema.Type, hint string, form form) *Type {
	if !writable(t) {
		// an input object needs a field (section 3.10); what this is for an empty object will do
		return b.scalar("JSON")
	}
	key := nested{t, form == patching}
	if known := b.inputs[key]; known != nil {
		return known
	}
	name, base := b.valueName(t, hint)
	o := ofGo(t, "the input for the Go type ")
	if key.patch {
		name, o = "Patch"+name, ofGo(t, "the patch for the Go type ")
	}
	obj := b.define(InputObject, name+"Input", o)
	b.inputs[key] = obj // before its fields, which may lead back to it
	obj.Go = t
	if key.patch {
		obj.Doc = "Changes to a part: what is left out stays as it is, and null takes away."
	}
	for _, m := range b.membersOf(t, "Go type "+t.GoType.String()) {
		if !m.ReadOnly {
			obj.Inputs = append(obj.Inputs, b.inputOf(m, spot{m.Field, m.name, base, m.Name == b.idOf(t)},
				form))
		}
	}
	return obj
}

// writable reports whether clients can set anything in a struct.
func writable(t *schema.Type) bool {
	return slices.ContainsFunc(t.Fields, func(f *schema.Field) bool { return !f.ReadOnly })
}

// arguments returns the members of a struct as the arguments of a field. A nil struct has none. who is the struct in
// errors, and base what the names of enums begin with.
func (b *builder) arguments(t *schema.Type, who, base string) []*Input {
	if t == nil {
		return nil
	}
	var args []*Input
	for _, m := range b.membersOf(t, who) {
		if !m.ReadOnly {
			args = append(args, b.inputOf(m, spot{m.Field, m.name, base, false}, creating))
		}
	}
	return args
}

// commandInput returns the input of a command, nil if it takes nothing.
func (b *builder) commandInput(c *resource.Command) *Type {
	in := c.Input()
	if in == nil || !writable(in) {
		return nil
	}
	base := pascal(c.Name())
	t := b.define(InputObject, base+"Input", owner{"the input of the command " + c.Name(),
		"rename the command " + c.Name()})
	t.Go, t.Doc = in, "What `"+camel(c.Name())+"` takes."
	t.Inputs = b.arguments(in, "command "+c.Name(), base)
	return t
}

// defaultOf returns the default of a member as a value of its type. A default that the type cannot hold is none: it steps
// in all the same when the member is read.
func defaultOf(f *schema.Field, t *Type) (any, bool) {
	switch v := f.Default.(type) {
	case nil:
		return nil, false
	case int64:
		switch t.Name {
		case "Int":
			return int(v), true
		case "Int64":
			return v, true
		}
		return strconv.FormatInt(v, 10), t.Name == "String"
	case uint64:
		return strconv.FormatUint(v, 10), t.Name == "String"
	case float64:
		if t.Name == "String" {
			return strconv.FormatFloat(v, 'g', -1, 64), true
		}
		return v, true
	default: // a string, for an enum too; a bool; a time
		return v, true
	}
}
