package resource

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// Lookup is a named way to one item, for those who do not know its id: the hero of an episode, the newest order. It is
// a [Part] of a [Catalog]: in REST a GET whose parameters are the fields of its input.
type Lookup struct {
	name   string
	target string
	in     *schema.Type
	find   func(ctx context.Context, in any) (string, error)
}

// NewLookup returns a lookup that is served at /name and leads to items of the resource target. find returns the id; an
// empty one, and [ErrNotFound], mean that there is none. What the caller may not see is not found. It panics if In is no
// struct of single values.
//
//	resource.NewLookup("hero", "characters", func(ctx context.Context, in Episode) (string, error) { ... })
func NewLookup[In any](name, target string, find func(ctx context.Context, in In) (id string, err error)) *Lookup {
	if !validName.MatchString(name) {
		panic(fmt.Sprintf("resource: %q cannot be the name of a lookup: letters, digits and -_.~ can", name))
	}
	typ := schema.For[In]()
	for _, f := range typ.Fields {
		if !f.Comparable() {
			panic(fmt.Sprintf("resource: lookup %s: the field %q is no single value", name, f.Name))
		}
	}
	return &Lookup{name: name, target: target, in: typ, find: func(ctx context.Context, in any) (string, error) {
		return find(ctx, *in.(*In))
	}}
}

// Name returns the name it was given.
func (l *Lookup) Name() string { return l.name }

// Target returns the name of the resource it leads to.
func (l *Lookup) Target() string { return l.target }

// Input returns the schema of what it is asked with.
func (l *Lookup) Input() *schema.Type { return l.in }

// Find returns the item of target that in, a pointer to a value of the type of Input, leads to.
func (l *Lookup) Find(ctx context.Context, in any, target *Resource) (Entry, error) {
	id, err := l.find(ctx, in)
	if err == nil && id == "" {
		err = ErrNotFound
	}
	if err != nil {
		return Entry{}, target.wrap(OpGet, "", err)
	}
	return target.Get(ctx, id)
}

func (l *Lookup) addTo(*Catalog) *route {
	vary := []string{"Accept, Accept-Encoding"}
	return &route{name: l.name, lookup: l, allowList: []string{"GET, HEAD, OPTIONS"}, varyItem: vary, varyList: vary}
}

// serveLookup answers on the path of a lookup: with the item it leads to, and in Content-Location where that lives.
func (x *call) serveLookup() error {
	switch x.r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		return x.options(x.route.allowList)
	default:
		return notAllowed(x.route.allowList)
	}
	if err := x.acceptable(); err != nil {
		return err
	}
	enc, err := x.encodings()
	if err != nil {
		return err
	}
	in, p, err := x.lookupInput()
	if err != nil {
		return err
	}
	e, err := x.route.lookup.Find(x.r.Context(), in, x.route.resource)
	if err != nil {
		return err
	}
	x.w.Header()["Content-Location"] = []string{x.href(x.route.resource.Name(), e.ID, p.query())}
	return x.sendCurrent(&e, &p, enc)
}

// lookupInput reads the parameters into the input of the lookup.
func (x *call) lookupInput() (any, selection, error) {
	params, err := x.params()
	if err != nil {
		return nil, selection{}, err
	}
	typ := x.route.lookup.in
	in := typ.New()
	bad := readParameters(typ, in, params)
	if len(bad) > 0 {
		d := problem.New(problem.InvalidParameter, "A parameter of the request is not valid.")
		d.Errors = bad
		return nil, selection{}, d
	}
	p, err := x.parseSelection(params)
	return in, p, err
}

// readParameters sets the fields of in, a value of typ, and returns all that is wrong with the parameters.
func readParameters(typ *schema.Type, in any, params url.Values) (bad []problem.Violation) {
	refuse := func(name, code, detail string) {
		bad = append(bad, problem.Violation{Parameter: name, Code: code, Detail: detail})
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		values, f := params[name], typ.Field(name)
		switch {
		case f == nil && name != "fields" && name != "expand":
			refuse(name, "unknownParameter", "there is no such parameter here")
		case name != "expand" && slices.ContainsFunc(values, func(v string) bool { return v != values[0] }):
			refuse(name, "duplicateParameter", "one value is wanted")
		case f != nil:
			if err := f.SetText(in, values[0]); err != nil {
				refuse(name, "invalidValue", err.Error())
			}
		}
	}
	for _, f := range typ.Fields {
		if f.Required && !params.Has(f.Name) {
			refuse(f.Name, "required", "a value is required")
		}
	}
	if len(bad) > 0 {
		return bad
	}
	for _, v := range typ.Validate(in) {
		if name := strings.TrimPrefix(v.Pointer, "/"); params.Has(name) { // what is absent breaks no rule but required
			refuse(name, v.Code, v.Detail)
		}
	}
	return bad
}
