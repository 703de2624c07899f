package openapi

// The operations of lookups. document.go calls lookup for each of them.

import (
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// lookup describes the path of a lookup, which returns an item of another path. The prefix Find is
// removed from the result of unique. A second lookup of the same name in Pascal case then has a
// number in both operation ids.
func (b *builder) lookup(l *resource.Lookup) {
	target := b.c.Target(l)
	d := &described{builder: b, r: target, name: target.Name(), word: b.itemWord(target),
		policy: target.Describe(), settings: b.o.REST.Resource(target)}
	// The same model as in describeResource, so this is a reference to the existing component.
	d.item = b.component(model{typ: target.Type(), mode: shown})
	d.samples.item = b.sampleOf(d.item)
	id := b.nouns.unique("Find" + pascal(l.Name()))
	op := b.newOperation("find"+id[len("Find"):], target.Name(), l.Name(), resource.OpGet,
		"Find "+article(d.word),
		"Returns the item that matches the parameters. `Content-Location` is its path")
	var params []*parameter
	for _, f := range l.Input().Fields {
		params = append(params, b.inputParameter(f))
	}
	op.Parameters = append(append(params, d.partParameters()...), d.readConditions()...)
	headers := append([]string{"Content-Location"}, d.itemHeaders()...)
	op.Responses = d.answers(d.withCommonErrors(d.withGone(400, 404, 406, 412)...),
		d.answer(200, "The item.", headers, d.itemContent()),
		d.unchanged(headers))
	path := &pathItem{Parameters: b.versionParameters(), Get: op}
	if b.queries {
		path.Query = b.newOperation("query"+id[len("Find"):], target.Name(), l.Name(), resource.OpGet,
			"Find "+article(d.word), queryText)
		d.addQuery(path.Query, nil, op.Parameters, op.Responses)
	}
	path.Options = b.options("options"+id[len("Find"):], target.Name(), "the lookup of "+target.Name(),
		"Accept-Query")
	b.doc.Paths.add("/"+l.Name(), path)
}

// inputParameter describes a field of the input of a lookup. Values are validated against all
// constraints of its tags.
func (b *builder) inputParameter(f *schema.Field) *parameter {
	s := b.constrained(f, created)
	p := &parameter{Name: f.Name, In: "query", Required: f.Required, Schema: s,
		Description: withList(describeField(f), enumList(f))}
	if f.Example != nil {
		p.Example = exampleOf(f)
	}
	return p
}
