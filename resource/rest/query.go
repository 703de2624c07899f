package rest

// QUERY of a list or a lookup (RFC 10008): the parameters of GET, sent as content. Called by
// route.go. The handlers of GET continue with the equivalent URL, so both methods return the same
// representations, entity tags and cursors.

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/internal/pointer"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// methodQuery is not among the constants of net/http.
const methodQuery = "QUERY"

// mediaURLForm is the content type of a form without files, in the syntax of the URL's query.
const mediaURLForm = "application/x-www-form-urlencoded"

// queryTypes are the media types of the content of QUERY. A vendor type is not among them, because
// it names the representation of an item.
var queryTypes = []string{mediaURLForm, mediaJSON}

const queryTypesText = mediaURLForm + " or " + mediaJSON

// acceptQuery is the value of Accept-Query, a list of structured fields (RFC 10008 section 3).
var acceptQuery = []string{mediaJSON + ", " + mediaURLForm}

// maxEquivalent is the size in bytes to which the URL in Location and Content-Location is limited.
// With a Link of maxLink bytes, the header stays below the 4 KiB that many proxies allow.
const maxEquivalent = 768

// queryType is the type of JSON content: its members are the parameters.
var queryType = schema.For[map[string]json.RawMessage]()

func (c *call) queryList() error   { return c.query((*call).getList) }
func (c *call) queryLookup() error { return c.query((*call).getLookup) }

// query handles QUERY. get is the handler of GET.
func (c *call) query(get func(*call) error) error {
	content, isJSON, err := c.queryContent()
	if err != nil {
		return err
	}
	params, err := c.params()
	if err != nil {
		return err
	}
	for name, values := range content {
		// A gateway may have set a filter in the URL, which the content must not extend.
		if old := params[name]; old != nil && !slices.Equal(old, values) {
			err := badParameter(name, "duplicateParameter", "must not differ from the parameter of the URL")
			return contentError(err, content, isJSON)
		}
		params[name] = values
	}
	r := *c.r
	at := *r.URL
	at.RawQuery = params.Encode()
	r.URL, c.r = &at, &r
	if err = get(c); err != nil {
		delete(c.w.Header(), "Location")
	}
	return contentError(err, content, isJSON)
}

// setEquivalent sets Location to the URL at which GET repeats the query, and Content-Location to that
// of the result (RFC 10008 sections 2.3 and 2.4). It is called for successful responses to QUERY.
func (c *call) setEquivalent(h http.Header) {
	if c.r.Method != methodQuery || c.route.hideQuery ||
		len(c.path())+len(c.r.URL.RawQuery) > maxEquivalent ||
		// Parameters that were ignored would be errors in the equivalent GET.
		strings.Contains(h.Get("Preference-Applied"), "handling=lenient") {
		return
	}
	at := withParams(c.base()+c.path(), joinParams(c.r.URL.RawQuery, c.sel.Query()))
	if len(at) > maxEquivalent {
		return
	}
	h["Location"] = []string{at}
	if h["Content-Location"] == nil { // a lookup has set the URL of the item
		h["Content-Location"] = h["Location"]
	}
}

// queryContent reads the content of QUERY as parameters.
func (c *call) queryContent() (params url.Values, isJSON bool, err error) {
	// RFC 10008 section 2.1 recommends 400 for a request without a type, and not 415.
	if len(c.r.Header["Content-Type"]) == 0 {
		return nil, false, problem.New(problem.BadRequest, unsupportedType(c.r, queryTypesText))
	}
	media, err := c.checkContent(queryTypes...)
	if err != nil {
		return nil, false, err
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	if err := c.readContent(buf); err != nil {
		return nil, false, err
	}
	if media == mediaJSON {
		params, err := c.jsonParameters(*buf)
		return params, true, err
	}
	if bytes.Count(*buf, []byte("&")) >= c.h.limits.Names {
		return nil, false, problem.New(problem.BadRequest, "The content has more than "+
			strconv.Itoa(c.h.limits.Names)+" parameters.")
	}
	if params, err = parsePairs(string(*buf)); err != nil {
		err = problem.New(problem.BadRequest, "The content is not a valid form.")
	}
	return params, false, err
}

// jsonParameters returns the members of a JSON object as parameters.
func (c *call) jsonParameters(content []byte) (url.Values, error) {
	limits := schema.DecodeOptions{MaxDepth: c.h.limits.Depth, MaxNames: c.h.limits.Names}
	v, err := queryType.Decode(content, &limits)
	if err != nil {
		return nil, err
	}
	members := *v.(*map[string]json.RawMessage)
	params, d := url.Values{}, problem.New(problem.Invalid, "The content is not valid.")
	for _, name := range slices.Sorted(maps.Keys(members)) {
		text, wrong := parameterText(jsontext.Value(members[name]), c.kindOfParameter(name))
		if wrong != "" {
			d.Errors = append(d.Errors,
				problem.Violation{Pointer: pointer.To(name), Code: "type", Detail: wrong})
		}
		params.Set(name, text)
		if len(d.Errors) == maxViolations {
			break
		}
	}
	if len(d.Errors) > 0 {
		return nil, d
	}
	return params, nil
}

// parameterKind is the form of a parameter in JSON.
type parameterKind int

const (
	isScalar    parameterKind = iota
	isList                    // an array, or the text of a list
	isRelations               // a list with commas in parentheses
	isTree                    // an object: a filter
)

// kindOfParameter returns the form of a parameter of the route.
func (c *call) kindOfParameter(name string) parameterKind {
	groups := c.route.lookup == nil && c.route.resource.Describe().Query.CanAggregate()
	switch name {
	case "fields":
		return isList
	case "expand":
		return isRelations
	case "sort":
		if c.route.lookup == nil {
			return isList
		}
	case "filter":
		if c.route.lookup == nil {
			return isTree
		}
	case "having":
		if groups {
			return isTree
		}
	case "group", "distinct", "sum", "avg", "min", "max":
		if groups {
			return isList
		}
	}
	if strings.HasSuffix(name, ".in") || strings.HasSuffix(name, ".notIn") {
		return isList
	}
	return isScalar
}

// parameterText returns the text that a member has as a parameter, or the detail of an error.
func parameterText(v jsontext.Value, kind parameterKind) (text, wrong string) {
	if kind == isTree {
		if v.Kind() != '{' {
			return "", "must be an object"
		}
		// The whitespace would only make the URL longer.
		if err := v.Compact(); err != nil {
			return "", "must be valid JSON"
		}
		return string(v), ""
	}
	if v.Kind() != '[' {
		text, ok := scalarText(v)
		if !ok {
			return "", "must be a string, a number or a boolean"
		}
		return text, ""
	}
	if kind != isList && kind != isRelations {
		return "", "must not be an array"
	}
	var elements []jsontext.Value
	if err := json.Unmarshal(v, &elements); err != nil || len(elements) == 0 {
		return "", "must not be an empty array"
	}
	texts := make([]string, len(elements))
	for i, e := range elements {
		one, ok := scalarText(e)
		if !ok {
			return "", "must have only strings, numbers and booleans"
		}
		if texts[i] = one; kind == isList {
			texts[i] = listEscaper.Replace(one)
		}
	}
	return strings.Join(texts, ","), ""
}

// listEscaper escapes an element of a list, as query.Parse reads it.
var listEscaper = strings.NewReplacer(`\`, `\\`, `,`, `\,`)

// scalarText returns the text of a string, a number or a boolean.
func scalarText(v jsontext.Value) (text string, ok bool) {
	switch v.Kind() {
	case '"':
		b, err := jsontext.AppendUnquote(nil, v)
		return string(b), err == nil
	case '0', 't', 'f':
		return string(v), true
	}
	return "", false
}

// contentError returns err with the violations of parameters moved from the URL to the content, with
// a pointer if that is JSON. The status is then 422: the content is well-formed, and cannot be
// processed (RFC 10008 section 2.1).
func contentError(err error, content url.Values, isJSON bool) error {
	if err == nil {
		return nil
	}
	d := *resource.Problem(err)
	if d.Kind != problem.InvalidParameter && d.Kind != problem.InvalidCursor {
		return err
	}
	d.Errors = slices.Clone(d.Errors)
	for i := range d.Errors {
		v := &d.Errors[i]
		if !content.Has(v.Parameter) && v.Code != "required" {
			continue
		}
		if d.Kind == problem.InvalidParameter {
			d.Kind, d.Detail = problem.Invalid, "The content is not valid."
		}
		if isJSON {
			v.Pointer, v.Parameter = pointer.To(v.Parameter), ""
		}
	}
	return &d
}
