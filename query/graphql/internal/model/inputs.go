package model

// Input types: for create, replace, patch, commands and arguments. An input type is derived from
// the same schema.Type as the output type, but which members are required depends on its use.

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/schema"
)

// form is the use of an input type, which decides which members are required and have defaults.
type form uint8

const (
	creating  form = iota // a new item, the input of a command, or arguments; defaults apply
	replacing             // a complete value for an existing item
	part                  // a struct within one of the two above
	patching              // a merge patch (RFC 7396) or a struct within one; all members are optional
)

// createInput returns the input type for new items, or nil if clients can set no member. Defaults
// of members are part of the type, so clients can read them by introspection.
func (b *builder) createInput(r *resource.Resource) *Type {
	t := b.itemInput(r, "Create", creating)
	if t != nil {
		t.Doc = "A new item of `" + r.Name() + "`."
	}
	return t
}

// replaceInput returns the input type for a replacement, or nil if items cannot be replaced. The id
// is an argument and not part of it.
func (b *builder) replaceInput(r *resource.Resource) *Type {
	if !changes(r) {
		return nil
	}
	t := b.itemInput(r, "Replace", replacing)
	if t != nil {
		t.Doc = "An item of `" + r.Name() + "`, complete. A field that is left out gets the value " +
			"that it has in a new item."
		if slices.ContainsFunc(t.Inputs, func(in *Input) bool { return in.Member.WriteOnly }) {
			t.Doc += " Write-only fields that are left out keep their values."
		}
	}
	return t
}

// patchInput returns the input type for a patch, or nil if items cannot be changed. Its members
// have no defaults: an absent member keeps its value.
func (b *builder) patchInput(r *resource.Resource) *Type {
	if !changes(r) {
		return nil
	}
	t := b.itemInput(r, "Patch", patching)
	if t != nil {
		t.Doc = "Changes to an item of `" + r.Name() +
			"`. Fields that are left out keep their values, and null removes a value."
	}
	return t
}

// itemInput returns an input type for items of a resource. It contains the id only for new items,
// and only if clients may choose ids.
func (b *builder) itemInput(r *resource.Resource, verb string, form form) *Type {
	name, policy := b.names[r], r.Describe()
	var inputs []*Input
	for _, m := range b.membersOf(r.Type(), "resource "+r.Name()) {
		isID := m.Name == r.Describe().ID
		// In replace and patch the id is an argument, so that a body cannot contradict it.
		if m.ReadOnly || isID && (form != creating || !policy.TakesIDs) {
			continue
		}
		// The key of a composite id cannot change.
		if form != creating && slices.Contains(policy.Key, m.Field.Name) {
			continue
		}
		in := b.inputOf(m, position{m.Field, m.name, name, isID}, form)
		// A client has to give the id unless the store can assign one.
		if isID {
			in.Type.NonNull = !policy.AssignsIDs
		}
		inputs = append(inputs, in)
	}
	if len(inputs) == 0 {
		return nil
	}
	t := b.define(InputObject, verb+name+"Input", ofResource(r, "the input of "+lower(verb)+name))
	// exec decodes the input into the Go type of the resource.
	t.Go, t.Resource, t.Inputs = r.Type(), r, inputs
	return t
}

// inputOf returns the input field for a member.
func (b *builder) inputOf(m member, s position, form form) *Input {
	in := &Input{Name: m.name, Doc: m.Doc, Deprecated: m.Deprecated, Member: m.Field}
	object := b.inputObject
	// a patch replaces arrays as a whole
	if form == patching && m.Type.Kind == schema.Object {
		object = b.patchObject
	}
	in.Type = b.ref(m.Type, s, true, object)
	if form == patching {
		return in
	}
	// Write-only members are optional unless the item is new, because clients cannot read and
	// repeat them. They have no default then, because a default would overwrite the stored value.
	// In a part the use is unknown, so they are optional too.
	hidden := m.WriteOnly && form != creating
	in.Type.NonNull = m.NeedsValue() && !m.Nullable && m.Type.Kind != schema.Any && !hidden
	if !hidden && in.Type.Elem == nil {
		in.Default, in.HasDefault = defaultOf(m.Field, in.Type.Type)
	}
	if in.Deprecated != "" && in.Type.NonNull { // a required field cannot be deprecated (section 3.13.3)
		in.Doc, in.Deprecated = sentences(in.Doc, "Deprecated: "+in.Deprecated), ""
	}
	return in
}

// inputObject returns the input type for a struct within an input. It has the form that callbacks
// of ref need.
func (b *builder) inputObject(t *schema.Type, hint string) *Type { return b.partObject(t, hint, part) }

// patchObject returns the input type for a struct within a patch.
func (b *builder) patchObject(t *schema.Type, hint string) *Type {
	return b.partObject(t, hint, patching)
}

// partObject returns the input type for a struct, which input types of the same form share.
func (b *builder) partObject(t *schema.Type, hint string, form form) *Type {
	if !writable(t) {
		// an input object needs a field (section 3.10); the struct is an empty JSON object
		return b.scalar("JSON")
	}
	// The forms creating, replacing and part share a type: members of a nested struct do not depend
	// on the request that contains it.
	key := nested{t, form == patching}
	if known := b.inputs[key]; known != nil {
		return known
	}
	// A patch and a complete value need different types, because only the patch has optional
	// members.
	name, base := b.valueName(t, hint)
	o := ofGo(t, "the input for the Go type ")
	if key.patch {
		name, o = "Patch"+name, ofGo(t, "the patch for the Go type ")
	}
	obj := b.define(InputObject, name+"Input", o)
	b.inputs[key] = obj // before its fields, because types may be recursive
	obj.Go, obj.Doc = t, typeDoc(t)
	if key.patch {
		obj.Doc = "Changes to a nested object. Fields that are left out keep their values, and null " +
			"removes a value."
	}
	for _, m := range b.membersOf(t, "Go type "+t.GoType.String()) {
		if !m.ReadOnly {
			obj.Inputs = append(obj.Inputs, b.inputOf(m, position{m.Field, m.name, base, m.Name == b.idOf(t)},
				form))
		}
	}
	return obj
}

// writable reports whether clients can set any member of t.
func writable(t *schema.Type) bool {
	return slices.ContainsFunc(t.Fields, func(f *schema.Field) bool { return !f.ReadOnly })
}

// arguments returns arguments for the members of a struct, and nil if t is nil. subject names the
// struct in errors, and base is the prefix for the names of enums. An absent argument violates no
// constraint but required.
func (b *builder) arguments(t *schema.Type, subject, base string) []*Input {
	args := b.memberInputs(t, subject, base)
	for _, in := range args {
		in.Type.NonNull = in.Type.NonNull && in.Member.Required
	}
	return args
}

// memberInputs returns inputs for the members of a struct, like arguments. The constraints apply to
// absent ones, too.
func (b *builder) memberInputs(t *schema.Type, subject, base string) []*Input {
	if t == nil {
		return nil
	}
	var args []*Input
	for _, m := range b.membersOf(t, subject) {
		if !m.ReadOnly {
			args = append(args, b.inputOf(m, position{m.Field, m.name, base, false}, creating))
		}
	}
	return args
}

// commandInput returns the input type of a command, or nil if it has no input. Each command has a
// type of its own, even if two share a Go type, because its name follows from the command.
func (b *builder) commandInput(c *command.Command) *Type {
	in := c.Input()
	if in == nil || !writable(in) {
		return nil
	}
	base := pascal(c.Name())
	t := b.define(InputObject, base+"Input", owner{"the input of the command " + c.Name(),
		"rename the command " + c.Name()})
	t.Go, t.Doc = in, cmp.Or(typeDoc(in), "The input of `"+camel(c.Name())+"`.")
	t.Inputs = b.memberInputs(in, "command "+c.Name(), base)
	return t
}

// defaultOf returns the default of a member as a value of type t. ok is false if there is none, or
// if t cannot represent it; it then applies when the member is decoded. The result has the Go type
// that package coerce returns for t, because execution uses it in place of a coerced value.
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
		// A quoted integer is a String in GraphQL, and so is its default.
		return strconv.FormatInt(v, 10), t.Name == "String"
	case uint64:
		return strconv.FormatUint(v, 10), t.Name == "String"
	case float64:
		if t.Name == "String" {
			return strconv.FormatFloat(v, 'g', -1, 64), true
		}
		return v, true
	default: // string, including enums; bool; time.Time
		return v, true
	}
}
