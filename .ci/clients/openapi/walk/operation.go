package walk

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// operation is one of the document.
type operation struct {
	id, method, path string
	collection       string // the first segment of the path
	parameters       []*openapi3.Parameter
	servers          []string
	route            *routers.Route
	body             *openapi3.RequestBody // nil if none is documented
}

// load reads and validates a document.
func load(ctx context.Context, document []byte) ([]*operation, error) {
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return nil, fmt.Errorf("the document: %w", err)
	}
	if err := doc.Validate(ctx); err != nil {
		return nil, fmt.Errorf("the document: %w", err)
	}
	var out []*operation
	for _, path := range sortedKeys(doc.Paths.Map()) {
		item := doc.Paths.Value(path)
		operations := item.Operations()
		for _, method := range sortedKeys(operations) {
			out = append(out, newOperation(doc, path, item, method, operations[method]))
		}
	}
	if len(out) == 0 {
		return nil, errors.New("the document has no operations")
	}
	return out, nil
}

func newOperation(doc *openapi3.T, path string, item *openapi3.PathItem, method string, o *openapi3.Operation) *operation {
	first, _, _ := strings.Cut(path[1:], "/")
	op := &operation{
		id: o.OperationID, method: method, path: path, collection: first,
		route: &routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: o},
	}
	for _, p := range item.Parameters {
		if o.Parameters.GetByInAndName(p.Value.In, p.Value.Name) == nil {
			op.parameters = append(op.parameters, p.Value)
		}
	}
	for _, p := range o.Parameters {
		op.parameters = append(op.parameters, p.Value)
	}
	for _, s := range doc.Servers {
		op.servers = append(op.servers, s.URL)
	}
	if o.RequestBody != nil {
		op.body = o.RequestBody.Value
	}
	op.register()
	return op
}

// register teaches the validator how to read the media types of the document: it knows some, and
// none of a vendor.
func (op *operation) register() {
	for _, content := range op.contents() {
		for _, media := range sortedKeys(content) {
			switch {
			case content[media].Schema == nil: // bytes, which are not read
			case isLines(media):
				openapi3filter.RegisterBodyDecoder(media, openapi3filter.PlainBodyDecoder)
			case openapi3filter.RegisteredBodyDecoder(media) != nil:
			default:
				openapi3filter.RegisterBodyDecoder(media, openapi3filter.JSONBodyDecoder)
			}
		}
	}
}

const ndjson, textCSV = "application/x-ndjson", "text/csv"

// isLines reports whether content of a media type has an item in each line or row, which no schema describes.
func isLines(media string) bool { return media == ndjson || media == textCSV }

// contents are those of the request and of all responses.
func (op *operation) contents() []openapi3.Content {
	var out []openapi3.Content
	if op.body != nil {
		out = append(out, op.body.Content)
	}
	for _, status := range sortedKeys(op.route.Operation.Responses.Map()) {
		out = append(out, op.route.Operation.Responses.Value(status).Value.Content)
	}
	return out
}

// parameter returns the parameter of a name, and nil if there is none. Names of header fields have no case.
func (op *operation) parameter(in, name string) *openapi3.Parameter {
	i := slices.IndexFunc(op.parameters, func(p *openapi3.Parameter) bool {
		return p.In == in && (p.Name == name || in == openapi3.ParameterInHeader && strings.EqualFold(p.Name, name))
	})
	if i < 0 {
		return nil
	}
	return op.parameters[i]
}

// versionField is the parameter that is a header field and names the contract; nil if there is none.
func (op *operation) versionField() *openapi3.Parameter {
	i := slices.IndexFunc(op.parameters, func(p *openapi3.Parameter) bool {
		return p.In == openapi3.ParameterInHeader && strings.HasSuffix(strings.ToLower(p.Name), "version")
	})
	if i < 0 {
		return nil
	}
	return op.parameters[i]
}

// idParameter is the name of the last segment of the path, if that is one.
func (op *operation) idParameter() string {
	last := op.path[strings.LastIndexByte(op.path, '/')+1:]
	if strings.HasPrefix(last, "{") && strings.HasSuffix(last, "}") {
		return last[1 : len(last)-1]
	}
	return ""
}

// isCommand reports whether the path is that of a command: /area/action.
func (op *operation) isCommand() bool {
	return strings.Count(op.path, "/") == 2 && op.idParameter() == ""
}

// accepts are the media types that a successful response can have.
func (op *operation) accepts() []string {
	var out []string
	for status, response := range op.route.Operation.Responses.Map() {
		if status[0] == '2' {
			out = append(out, sortedKeys(response.Value.Content)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// accepts are the media types in which this question can be answered: those of an item do not name
// a batch, nor those of a job what a command gives.
func (q *question) accepts() []string {
	var status int
	switch {
	case q.op.isCommand(), q.isBatch():
		status = http.StatusOK
	case q.op.method == http.MethodPost:
		status = http.StatusCreated
	default:
		return q.op.accepts()
	}
	if r := q.op.response(status); r != nil {
		return sortedKeys(r.Content)
	}
	return nil
}

// response returns the documented response of a status, and nil if there is none. The response
// default does not count: it is for unforeseen responses, and a walk expects documented ones only.
func (op *operation) response(status int) *openapi3.Response {
	ref := op.route.Operation.Responses.Status(status)
	if ref == nil {
		return nil
	}
	return ref.Value
}

// media returns the schema of the content of a response in one of its media types; nil if there is none.
func (op *operation) media(status int, name string) *openapi3.Schema {
	r := op.response(status)
	if r == nil {
		return nil
	}
	m := r.Content.Get(name)
	if m == nil || m.Schema == nil {
		return nil
	}
	return m.Schema.Value
}

// isReadOnly reports whether clients cannot change a member of an item, by the schema of what they
// are answered.
func (op *operation) isReadOnly(member string) bool {
	for _, status := range []int{http.StatusOK, http.StatusCreated} {
		if s := op.media(status, "application/json"); s != nil {
			if p := property(s, member); p != nil {
				return p.ReadOnly
			}
		}
	}
	return false
}

// item is the schema of one item of the collection that a list shows; nil if this is no list.
func (op *operation) item() *openapi3.Schema {
	if op.method != http.MethodGet {
		return nil
	}
	s := op.media(http.StatusOK, "application/json")
	if s == nil {
		return nil
	}
	items := property(s, "items") // also of a page that is an alternative of groups
	if items == nil || items.Items == nil {
		return nil
	}
	return items.Items.Value
}
