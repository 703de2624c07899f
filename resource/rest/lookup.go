package rest

// Lookups: GET of an item by other keys than its id. Called by route.go; calls Lookup.Find. The
// query parameters are the fields of the lookup's input.

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// serveLookup serves the path of a lookup.
func (c *call) serveLookup() error {
	switch c.r.Method {
	case http.MethodGet, http.MethodHead:
		return c.getLookup()
	case methodQuery:
		return c.onHeap((*call).queryLookup)
	case http.MethodOptions:
		return c.options(c.route.allowList)
	}
	return notAllowed(c.route.allowList)
}

// getLookup handles GET and HEAD of a lookup. It sends the item, with the URL of the item in
// Content-Location.
func (c *call) getLookup() error {
	if err := c.acceptable(); err != nil {
		return err
	}
	enc, err := c.encodings()
	if err != nil {
		return err
	}
	in, p, err := c.lookupInput()
	if err != nil {
		return err
	}
	e, err := c.route.lookup.Find(c.r.Context(), in, c.route.resource)
	if err != nil {
		return err
	}
	// The representation is that of an item, which has a URL of its own. Clients write to that URL
	// and not to the lookup (RFC 9110 section 8.7).
	h := c.w.Header()
	h["Content-Location"] = []string{c.href(c.route.resource.Name(), e.ID, p.query())}
	c.setEquivalent(h)
	return c.sendCurrent(&e, &p, enc)
}

// lookupInput reads the input of a lookup from the query, which may also select fields.
func (c *call) lookupInput() (any, selection, error) {
	params, err := c.params()
	if err != nil {
		return nil, selection{}, err
	}
	typ := c.route.lookup.Input()
	in := typ.New()
	bad := readParameters(typ, in, params)
	if len(bad) > 0 {
		d := problem.New(problem.InvalidParameter, "A parameter of the request is not valid.")
		d.Errors = bad
		return nil, selection{}, d
	}
	p, err := c.parseSelection(params)
	return in, p, err
}

// lookupParameters returns the names of all parameters of a lookup.
func lookupParameters(typ *schema.Type) []string {
	names := make([]string, 0, len(typ.Fields)+2)
	for _, f := range typ.Fields {
		names = append(names, f.Name)
	}
	return append(names, "fields", "expand")
}

// maxViolations limits the errors of one response. Package query has the same limit.
const maxViolations = 20

// readParameters sets the fields of in, a value of typ. It returns all errors and not only the
// first one, so that a client can correct them together.
func readParameters(typ *schema.Type, in any, params url.Values) (bad []problem.Violation) {
	refuse := func(name, code, detail string) {
		bad = append(bad, problem.Violation{Parameter: name, Code: code, Detail: detail})
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		values, f := params[name], typ.Field(name)
		switch {
		case f == nil && name != "fields" && name != "expand":
			refuse(name, "unknownParameter", unknownParameter(lookupParameters(typ)...))
		// expand may be repeated: parseSelection joins its values.
		case name != "expand" && slices.ContainsFunc(values, func(v string) bool { return v != values[0] }):
			refuse(name, "duplicateParameter", "must not be repeated with different values")
		case f != nil:
			if err := f.SetText(in, f.Spell(values[0])); err != nil {
				refuse(name, "invalidValue", err.Error())
			}
		}
		if len(bad) == maxViolations {
			return bad
		}
	}
	for _, f := range typ.Fields {
		if f.Required && !params.Has(f.Name) {
			refuse(f.Name, "required", "is required")
		}
	}
	if len(bad) > 0 {
		return bad
	}
	// Constraints such as maxLength apply to values that could be parsed.
	for _, v := range typ.Validate(in) {
		// An absent field can violate only required.
		if name := strings.TrimPrefix(v.Pointer, "/"); params.Has(name) {
			refuse(name, v.Code, v.Detail)
		}
	}
	return bad
}
