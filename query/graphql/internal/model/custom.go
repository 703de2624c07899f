package model

import (
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// addCustom adds the custom fields of a root. They may all be null: one that fails leaves the others as they are.
func (b *builder) addCustom(set *fields, root string) {
	for _, c := range b.opts.Fields {
		if c == nil || c.On != root {
			continue
		}
		f := b.custom(c, "field "+c.Name+" of "+root, "")
		f.Source = Custom
		if f.Type == nil {
			f.Type = must(b.scalar("Boolean"))
		}
		f.Type.NonNull = false
		set.add(f, ofCustom(c))
	}
}

// addComputed adds the custom fields of the items of a resource.
func (b *builder) addComputed(set *fields, r *resource.Resource) {
	for _, c := range b.opts.Fields {
		if c == nil || c.On != r.Name() || c.Out == nil {
			continue
		}
		f := b.custom(c, "field "+c.Name+" of the resource "+r.Name(), b.names[r])
		f.Source, f.Resource = Computed, r
		set.add(f, ofCustom(c))
	}
}

// custom returns a custom field. base is what the names of its enums begin with, in front of its own.
func (b *builder) custom(c *CustomField, who, base string) *Field {
	f := &Field{Name: c.Name, Doc: c.Doc, Deprecated: c.Deprecated, Custom: c}
	base += pascal(c.Name)
	if c.In != nil && c.In.Kind == schema.Object { // the rest is told already
		f.Args = b.arguments(c.In, who, base)
	}
	if c.Out != nil {
		s := spot{name: "", base: base}
		f.Type = b.ref(c.Out, s, c.Nullable || c.Out.Kind == schema.Any, b.object)
	}
	return f
}

func ofCustom(c *CustomField) owner {
	return owner{"the custom field " + c.Name, "rename the custom field " + c.Name}
}
