package model

// Custom fields: those of the roots, and the computed fields of items. Called by roots.go and
// outputs.go. Package graphql makes the CustomField values from the options of the application, and
// checkCustom in reflect.go has checked them.

import (
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// addCustom adds the custom fields of a root type. All of them are nullable, so that an error of
// one does not discard the others.
func (b *builder) addCustom(set *fields, root string) {
	for _, c := range b.opts.Fields {
		if c == nil || c.On != root {
			continue
		}
		f := b.custom(c, "field "+c.Name+" of "+root, "")
		f.Source = Custom
		if f.Type == nil {
			f.Type = nonNull(b.scalar("Boolean"))
		}
		// Root fields of a mutation that fail must not hide the results of those before them
		// (section 6.4.4).
		f.Type.NonNull = false
		set.add(f, ofCustom(c))
	}
}

// addComputed adds the custom fields of a resource's items.
func (b *builder) addComputed(set *fields, r *resource.Resource) {
	for _, c := range b.opts.Fields {
		// checkCustom has reported a field without a result.
		if c == nil || c.On != r.Name() || c.Out == nil {
			continue
		}
		f := b.custom(c, "field "+c.Name+" of the resource "+r.Name(), b.names[r])
		f.Source, f.Resource = Computed, r
		set.add(f, ofCustom(c))
	}
}

// custom returns a custom field. subject names the field in errors, and base is the prefix for the
// names of its enums.
func (b *builder) custom(c *CustomField, subject, base string) *Field {
	f := &Field{Name: c.Name, Doc: c.Doc, Deprecated: c.Deprecated, Custom: c}
	base += pascal(c.Name)
	if c.In != nil && c.In.Kind == schema.Object { // checkCustom has reported other kinds
		f.Args = b.arguments(c.In, subject, base)
	}
	if c.Out != nil {
		s := position{name: "", base: base}
		f.Type = b.ref(c.Out, s, c.Nullable || c.Out.Kind == schema.Any, b.object)
	}
	return f
}

// ofCustom returns the owner of the name of a custom field.
func ofCustom(c *CustomField) owner {
	return owner{"the custom field " + c.Name, "rename the custom field " + c.Name}
}
