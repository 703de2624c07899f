package rest

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

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
	typ := x.route.lookup.Input()
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
		if name := strings.TrimPrefix(
			v.Pointer,
			"/",
		); params.Has(
			name,
		) { // what is absent breaks no rule but required
			refuse(name, v.Code, v.Detail)
		}
	}
	return bad
}
