package compat

// Operations, parameters, bodies and responses of two OpenAPI documents. Called by Compare. Schemas
// are in compare_schema.go.

import (
	"cmp"
	"encoding/json"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// object is a JSON object of an OpenAPI document.
type object = map[string]any

// methods are the operations of a path item, as OpenAPI spells them.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

// openAPI compares two documents.
type openAPI struct {
	*comparison
	before, after object
	seen          map[schemaPair]bool
}

func (c *comparison) compareOpenAPI(before, after json.RawMessage) {
	d := &openAPI{comparison: c, seen: map[schemaPair]bool{}}
	d.before, d.after = decodeObject(before), decodeObject(after)
	a, b := pathItems(d.before), pathItems(d.after)
	for _, path := range sorted(a) {
		d.comparePath(a[path], b[path])
	}
	for _, path := range sorted(b) {
		if _, known := a[path]; !known {
			d.comparePath(pathItem{name: b[path].name}, b[path])
		}
	}
}

// decodeObject decodes a document that normalizeOpenAPI has accepted. Equal numbers become equal texts.
func decodeObject(data json.RawMessage) object {
	document, _ := decodeJSON(data)
	o, _ := plainNumbers(document).(object)
	return o
}

func plainNumbers(v any) any {
	switch v := v.(type) {
	case object:
		for key, e := range v {
			v[key] = plainNumbers(e)
		}
	case []any:
		for i, e := range v {
			v[i] = plainNumbers(e)
		}
	case json.Number:
		const most = 256 // binary digits
		if f := numberOf(v); f != nil && f.MantExp(nil) <= most && f.MantExp(nil) >= -most {
			return json.Number(f.Add(f, new(big.Float)).Text('f', -1)) // the sum is 0 for -0
		}
	}
	return v
}

// pathItem is a path item with its template.
type pathItem struct {
	name string
	item object
}

var templateName = regexp.MustCompile(`\{[^{}]*\}`)

// pathItems returns the path items by their template without names of parameters, because clients do
// not see those.
func pathItems(document object) map[string]pathItem {
	all := map[string]pathItem{}
	paths, _ := document["paths"].(object)
	for name, item := range paths {
		if item, ok := item.(object); ok {
			all[templateName.ReplaceAllString(name, "{}")] = pathItem{name, item}
		}
	}
	return all
}

func (d *openAPI) comparePath(before, after pathItem) {
	for _, method := range methods {
		a, had := before.item[method].(object)
		b, has := after.item[method].(object)
		place := strings.ToUpper(method) + " " + before.name
		switch {
		case had && !has:
			d.add(operationRemoved, place, place, "", "The operation was removed.")
		case has && !had:
			d.add(operationAdded, place, "", place, "The operation was added.")
		case had && has:
			d.compareOperation(place, operation{a, before, d.before}, operation{b, after, d.after})
		}
	}
}

// operation is an operation with its path item, which can have parameters for all methods.
type operation struct {
	object
	path     pathItem
	document object
}

// resolve follows references. It returns the name of the last one.
func resolve(document object, v any) (o object, ref string) {
	o, _ = v.(object)
	for range 16 {
		target, ok := o["$ref"].(string)
		if !ok {
			return o, ref
		}
		ref = target
		o, _ = lookup(document, target).(object)
	}
	return o, ref
}

func (d *openAPI) compareOperation(place string, a, b operation) {
	was, is := a.object["deprecated"] == true, b.object["deprecated"] == true
	switch {
	case is && !was:
		d.add(operationDeprecated, place, "", "deprecated", "The operation is deprecated.")
	case was && !is:
		d.add(operationDeprecated, place, "deprecated", "", "The operation is no longer deprecated.")
	}
	d.compareParameters(place, a, b)
	d.compareBody(place, a, b)
	d.compareStatuses(place, a, b)
	d.compareSecurity(place, a, b)
}

// parameters returns the parameters of an operation by location and name. Those of the path have
// their position in place of a name, because clients do not see it.
func (o operation) parameters() map[string]object {
	all := map[string]object{}
	for _, list := range []any{o.path.item["parameters"], o.object["parameters"]} {
		values, _ := list.([]any)
		for _, v := range values {
			p, _ := resolve(o.document, v)
			in, _ := p["in"].(string)
			name, _ := p["name"].(string)
			switch in {
			case "path":
				position := strings.Index(o.path.name, "{"+name+"}")
				name = strings.Repeat("{", strings.Count(o.path.name[:max(position, 0)], "{")+1)
			case "header":
				name = strings.ToLower(name)
			}
			all[in+" "+name] = p
		}
	}
	return all
}

func (d *openAPI) compareParameters(place string, a, b operation) {
	before, after := a.parameters(), b.parameters()
	for _, key := range sorted(before) {
		p, q := before[key], after[key]
		at := place + ": " + parameterName(p)
		if _, ok := after[key]; !ok {
			d.add(parameterRemoved, at, parameterName(p), "", "The parameter was removed.")
			continue
		}
		was, is := p["required"] == true, q["required"] == true
		switch {
		case is && !was:
			d.add(parameterRequired, at, "optional", "required", "The parameter is required.")
		case was && !is:
			d.add(parameterOptional, at, "required", "optional", "The parameter is optional.")
		}
		scalar := isScalar(d.before, p["schema"]) && isScalar(d.after, q["schema"])
		if x, y := encodingOf(p, scalar), encodingOf(q, scalar); x != y {
			d.add(parameterEncodingChanged, at, x, y, "The encoding changed from "+x+" to "+y+".")
		}
		switch x, y := p["allowReserved"] == true, q["allowReserved"] == true; {
		case x && !y:
			d.add(requestSyntaxNarrowed, at, "allowReserved", "", "Reserved characters must be encoded.")
		case y && !x:
			d.add(requestSyntaxWidened, at, "", "allowReserved", "Reserved characters need not be encoded.")
		}
		d.compareContent(at, request, p, q)
		if !was {
			d.compareDefault(at, p["schema"], q["schema"])
		}
	}
	for _, key := range sorted(after) {
		p := after[key]
		if _, ok := before[key]; ok {
			continue
		}
		at := place + ": " + parameterName(p)
		if p["required"] == true {
			d.add(parameterRequired, at, "", "required", "A required parameter was added.")
			continue
		}
		d.add(parameterAdded, at, "", parameterName(p), "An optional parameter was added.")
	}
}

// parameterName returns the location and the name of a parameter.
func parameterName(p object) string {
	in, _ := p["in"].(string)
	name, _ := p["name"].(string)
	return in + " parameter " + name
}

// isScalar reports whether neither arrays nor objects are valid.
func isScalar(document object, v any) bool {
	f := formOf(document, v)
	if _, branches, _ := branchesOf(document, f.object); len(branches) > 0 {
		return !slices.ContainsFunc(branches, func(v any) bool { return !isScalar(document, v) })
	}
	types := valueTypes(f.object)
	return len(types) > 0 && !slices.Contains(types, "array") && !slices.Contains(types, "object")
}

// encodingOf returns how a parameter is written, with the defaults of OpenAPI. The keyword explode has
// no effect on scalars.
func encodingOf(p object, scalar bool) string {
	if _, ok := p["content"]; ok {
		return "content"
	}
	style, _ := p["style"].(string)
	if style == "" {
		style = map[any]string{"query": "form", "cookie": "form"}[p["in"]]
	}
	if style == "" {
		style = "simple"
	}
	explode, ok := p["explode"].(bool)
	if !ok {
		explode = style == "form"
	}
	if explode && !scalar {
		return style + ", explode"
	}
	return style
}

// compareContent compares the schemas of two parameters or header fields.
func (d *openAPI) compareContent(place string, dir direction, a, b object) {
	if a["content"] == nil || b["content"] == nil {
		d.compareSchemas(place, dir, a, b)
		return
	}
	d.compareMediaTypes(place, dir, a["content"], b["content"])
}

// compareSchemas compares the member schema. Without it, any content is valid.
func (d *openAPI) compareSchemas(place string, dir direction, a, b object) {
	if a["schema"] != nil || b["schema"] != nil {
		d.compareSchema(place, dir, cmp.Or[any](a["schema"], true), cmp.Or[any](b["schema"], true))
	}
}

func (d *openAPI) compareBody(place string, a, b operation) {
	p, _ := resolve(a.document, a.object["requestBody"])
	q, _ := resolve(b.document, b.object["requestBody"])
	at := place + ": body"
	was, is := p["required"] == true, q["required"] == true
	switch {
	case p == nil && q == nil:
		return
	case is && !was:
		d.add(requestBodyRequired, at, "optional", "required", "The request body is required.")
	case was && !is, p == nil:
		d.add(requestBodyOptional, at, "", "optional", "The request body is optional.")
	}
	d.compareMediaTypes(at, request, p["content"], q["content"])
}

// direction is that of a value: from the client to the server, or back.
type direction int

const (
	request direction = iota
	response
)

// pick returns the first kind for requests and the second for responses.
func (dir direction) pick(forRequest, forResponse Kind) Kind {
	if dir == request {
		return forRequest
	}
	return forResponse
}

func (d *openAPI) compareMediaTypes(place string, dir direction, before, after any) {
	a, _ := before.(object)
	b, _ := after.(object)
	for _, name := range sorted(a) {
		was, _ := a[name].(object)
		is, _ := b[name].(object)
		if _, ok := b[name]; !ok {
			d.add(dir.pick(requestMediaTypeRemoved, responseMediaTypeRemoved), place, name, "",
				"The media type "+name+" was removed.")
			continue
		}
		d.compareProblems(place, stringsOf(was[problemsKey]), stringsOf(is[problemsKey]))
		d.compareSchemas(place, dir, was, is)
	}
	for _, name := range sorted(b) {
		if _, ok := a[name]; !ok {
			d.add(dir.pick(requestMediaTypeAdded, responseMediaTypeAdded), place, "", name,
				"The media type "+name+" was added.")
		}
	}
}

// compareProblems compares the problem types that a response can have.
func (d *openAPI) compareProblems(place string, before, after []string) {
	for _, v := range lost(before, after) {
		d.add(problemRemoved, place, v, "", "The problem type "+v+" was removed.")
	}
	for _, v := range lost(after, before) {
		d.add(problemAdded, place, "", v, "The problem type "+v+" was added.")
	}
}

func (d *openAPI) compareStatuses(place string, a, b operation) {
	before, _ := a.object["responses"].(object)
	after, _ := b.object["responses"].(object)
	for _, status := range sorted(before) {
		p, refA := resolve(a.document, before[status])
		q, refB := resolve(b.document, after[status])
		at := place + ": " + status
		if _, ok := after[status]; !ok {
			d.add(responseStatusRemoved, place, status, "", "The status "+status+" was removed.")
			continue
		}
		if refA != "" && refB != "" { // many operations share it
			at = refB[strings.LastIndexByte(refB, '/')+1:] + ":"
			if d.seenBefore(response, refA, refB) {
				continue
			}
		}
		d.compareHeaders(at, p, q)
		d.compareMediaTypes(at+" body", response, p["content"], q["content"])
	}
	for _, status := range sorted(after) {
		if _, ok := before[status]; !ok {
			d.add(responseStatusAdded, place, "", status, "The status "+status+" was added.")
		}
	}
}

// seenBefore reports whether a pair of components has been compared already, and remembers it.
func (d *openAPI) seenBefore(dir direction, before, after string) bool {
	pair := schemaPair{dir, before, after}
	seen := d.seen[pair]
	d.seen[pair] = true
	return seen
}

func (d *openAPI) compareHeaders(place string, a, b object) {
	before, after := headersOf(a), headersOf(b)
	for _, name := range sorted(before) {
		p, refA := resolve(d.before, before[name])
		q, refB := resolve(d.after, after[name])
		at := place + " " + name
		if _, ok := after[name]; !ok {
			d.add(headerRemoved, at, name, "", "The header field "+name+" was removed.")
			continue
		}
		was, is := p["required"] == true, q["required"] == true
		switch {
		case was && !is:
			d.add(headerOptional, at, "required", "optional", "The header field "+name+" may be absent.")
		case is && !was:
			d.add(headerRequired, at, "optional", "required", "The header field "+name+" is always present.")
		}
		if refA == "" || refB == "" || !d.seenBefore(response, refA, refB) {
			d.compareContent(at, response, p, q)
		}
	}
	for _, name := range sorted(after) {
		if _, ok := before[name]; !ok {
			d.add(headerAdded, place+" "+name, "", name, "The header field "+name+" was added.")
		}
	}
}

// headersOf returns the header fields of a response by their names in lower case.
func headersOf(response object) object {
	all := object{}
	headers, _ := response["headers"].(object)
	for name, v := range headers {
		all[strings.ToLower(name)] = v
	}
	return all
}

// compareSecurity compares the alternatives of an operation. The empty alternative means that no
// authentication is required. An alternative still suffices if a new one needs no more.
func (d *openAPI) compareSecurity(place string, a, b operation) {
	before, after := a.security(), b.security()
	texts := func(list []requirement) (all []string) {
		for _, r := range list {
			all = append(all, r.text)
		}
		return all
	}
	for _, r := range before {
		switch {
		case slices.ContainsFunc(after, r.suffices):
		case len(r.needs) == 0:
			d.add(securityAdded, place, "none", join(texts(after)), "Authentication is required.")
			return
		default:
			d.add(securityAdded, place, r.text, join(texts(after)),
				"The security requirement "+r.text+" no longer suffices.")
		}
	}
	for _, r := range after {
		if !slices.ContainsFunc(before, r.suffices) {
			d.add(securityRemoved, place, join(texts(before)), r.text,
				"The security requirement "+r.text+" suffices.")
		}
	}
}

// requirement is one alternative: all of its schemes are needed.
type requirement struct {
	text  string
	needs []credential
}

// credential is a security scheme with the scopes that an operation requires.
type credential struct {
	scheme string   // as JSON, without its flows
	offers []string // the flows, their URLs and scopes
	scopes []string
}

// suffices reports whether the credentials of r are those of another requirement, or more.
func (r requirement) suffices(other requirement) bool {
	return !slices.ContainsFunc(other.needs, func(needed credential) bool {
		return !slices.ContainsFunc(r.needs, func(c credential) bool {
			return c.scheme == needed.scheme && len(lost(c.offers, needed.offers)) == 0 &&
				len(lost(needed.scopes, c.scopes)) == 0
		})
	})
}

// credentialOf returns a scheme without what clients do not observe. Names of HTTP have no case.
func credentialOf(scheme object, scopes []string) credential {
	c := credential{scopes: scopes}
	flows, _ := scheme["flows"].(object)
	for name, v := range flows {
		flow, _ := v.(object)
		for key, v := range flow {
			offered, ok := v.(object)
			for scope := range offered {
				c.offers = append(c.offers, name+" "+scope)
			}
			if !ok {
				c.offers = append(c.offers, name+" "+key+" "+canonical(v))
			}
		}
	}
	scheme = maps.Clone(scheme)
	maps.DeleteFunc(scheme, func(key string, _ any) bool { return key == "flows" || key == "bearerFormat" })
	for _, key := range []string{"scheme", "name"} {
		if name, ok := scheme[key].(string); ok && scheme["in"] != "query" && scheme["in"] != "cookie" {
			scheme[key] = strings.ToLower(name)
		}
	}
	c.scheme = canonical(scheme)
	return c
}

// security returns the alternatives of an operation.
func (o operation) security() (all []requirement) {
	list, ok := o.object["security"].([]any)
	if !ok {
		list = listOf(o.document["security"])
	}
	for _, v := range list {
		r := requirement{text: canonical(v)}
		schemes, _ := v.(object)
		for _, name := range sorted(schemes) {
			scheme, _ := resolve(o.document, lookup(o.document, "#/components/securitySchemes/"+name))
			if scheme == nil {
				scheme = object{"type": name}
			}
			r.needs = append(r.needs, credentialOf(scheme, stringsOf(schemes[name])))
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		return []requirement{{text: "{}"}}
	}
	return all
}

// canonical returns a value as JSON with sorted keys.
func canonical(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(data)
}

// listOf returns a list; nil if v is none.
func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}

// stringsOf returns the strings of a list.
func stringsOf(v any) (all []string) {
	for _, e := range listOf(v) {
		if s, ok := e.(string); ok {
			all = append(all, s)
		}
	}
	return all
}
