package compat_test

import (
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/version/compat"
)

// dumpTo is a folder to which tests write the documents that they compare. The check compat in
// .ci/clients passes them to other tools.
var dumpTo = flag.String("dump", "", "write the compared documents to this folder")

// dump writes a pair of documents. The extension is json for OpenAPI and graphql for SDL.
func dump(t *testing.T, name, extension, before, after string) {
	t.Helper()
	if *dumpTo == "" || before == after {
		return
	}
	name = strings.NewReplacer(" ", "-", ":", "").Replace(name)
	for part, text := range map[string]string{"before": before, "after": after} {
		file := filepath.Join(*dumpTo, name+"."+part+"."+extension)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// Order is the item of the contract to which changes are made.
type Order struct {
	ID     int64    `json:"id" readOnly:"true"`
	Status string   `json:"status" enum:"placed,paid,shipped" default:"placed"`
	Qty    int      `json:"qty" required:"true" minimum:"1" maximum:"100"`
	Note   *string  `json:"note" maxLength:"500"`
	Tags   []string `json:"tags" maxItems:"5"`
}

// plan is a contract as a program serves it: a catalog over REST and GraphQL. Cases change it.
type plan struct {
	t        *testing.T
	catalog  *resource.Catalog
	rest     *rest.Options
	document map[string]any // the OpenAPI document
	sdl      string
	wrap     func(http.Handler) http.Handler // around REST
	probes   []compat.Probe
	source   compat.Source
}

// orders returns a catalog with a collection of orders. The type may be another than Order.
func orders[T any](t *testing.T, opts *resource.Options[T], bodies ...string) *resource.Catalog {
	t.Helper()
	return ordersBeside(t, opts, nil, bodies...)
}

// ordersBeside returns a catalog with orders and other parts.
func ordersBeside[T any](
	t *testing.T, opts *resource.Options[T], parts []resource.Part, bodies ...string,
) *resource.Catalog {
	t.Helper()
	if opts == nil {
		opts = &resource.Options[T]{}
	}
	opts.Public = true
	if opts.Query.Sort == nil {
		opts.Query = query.Support{Sort: []string{"status", "qty"},
			Filter: map[string][]query.Op{"status": {query.Eq, query.In}, "qty": {query.Eq, query.Gte}}}
	}
	catalog := resource.NewCatalog(nil, append(parts, resource.New("orders", memory.New[T](nil), opts))...)
	if bodies == nil {
		bodies = []string{`{"qty":1,"status":"placed","note":"x","tags":["a"]}`, `{"qty":2,"status":"paid"}`}
	}
	api := rest.New(catalog, nil)
	for _, body := range bodies {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/orders", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if api.ServeHTTP(w, r); w.Code != http.StatusCreated {
			t.Fatalf("creating %s: %d %s", body, w.Code, w.Body)
		}
	}
	return catalog
}

// newPlan returns the contract without a change.
func newPlan(t *testing.T) *plan {
	t.Helper()
	p := &plan{t: t, wrap: func(h http.Handler) http.Handler { return h }, source: compat.Source{Contract: "1.0.0"}}
	p.serve(orders[Order](t, nil))
	return p
}

// serve replaces the catalog and the documents made from it.
func (p *plan) serve(c *resource.Catalog) {
	p.t.Helper()
	p.catalog = c
	document := openapi.New(c, &openapi.Options{Title: "Orders", REST: p.rest})
	p.document = nil
	if err := json.Unmarshal(document.Render(&openapi.Variant{Full: true}), &p.document); err != nil {
		p.t.Fatal(err)
	}
	p.sdl = graphql.New(c, nil).SDL()
}

// openAPI returns the document as JSON.
func (p *plan) openAPI() []byte {
	p.t.Helper()
	document, err := json.Marshal(p.document)
	if err != nil {
		p.t.Fatal(err)
	}
	return document
}

// snapshot records the contract.
func (p *plan) snapshot() *compat.Snapshot {
	p.t.Helper()
	document, source := p.openAPI(), p.source
	source.OpenAPI, source.SDL = document, p.sdl
	source.Handler = p.wrap(rest.New(p.catalog, p.rest))
	source.Probes = append(compat.Probes(document), p.probes...)
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	s, err := compat.Record(ctx, source)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// at returns the object of the document at a path of names that are separated by spaces. References are
// followed.
func (p *plan) at(path string) map[string]any {
	p.t.Helper()
	o := p.document
	for name := range strings.FieldsSeq(path) {
		next, ok := o[name].(map[string]any)
		if !ok {
			p.t.Fatalf("the document has no object %s in %s", name, path)
		}
		if ref, ok := next["$ref"].(string); ok {
			next = p.at(strings.ReplaceAll(strings.TrimPrefix(ref, "#/"), "/", " "))
		}
		o = next
	}
	return o
}

// parameter returns a parameter of an operation.
func (p *plan) parameter(operation, name string) map[string]any {
	p.t.Helper()
	for _, v := range p.at(operation)["parameters"].([]any) {
		o := v.(map[string]any)
		if ref, ok := o["$ref"].(string); ok {
			o = p.at(strings.ReplaceAll(strings.TrimPrefix(ref, "#/"), "/", " "))
		}
		if o["name"] == name {
			return o
		}
	}
	p.t.Fatalf("%s has no parameter %s", operation, name)
	return nil
}

// addParameter adds a parameter to an operation.
func (p *plan) addParameter(operation string, parameter map[string]any) {
	o := p.at(operation)
	o["parameters"] = append(o["parameters"].([]any), parameter)
}

// graphql replaces text in the GraphQL schema.
func (p *plan) graphql(old, new string) {
	p.t.Helper()
	if !strings.Contains(p.sdl, old) {
		p.t.Fatalf("the schema does not contain %q:\n%s", old, p.sdl)
	}
	p.sdl = strings.Replace(p.sdl, old, new, 1)
}

// respond changes the responses of the handler before they are sent.
func (p *plan) respond(change func(r *http.Request, w *httptest.ResponseRecorder)) {
	p.wrap = func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			recorded := httptest.NewRecorder()
			h.ServeHTTP(recorded, r)
			change(r, recorded)
			for name, lines := range recorded.Header() {
				w.Header()[name] = lines
			}
			w.WriteHeader(recorded.Code)
			_, _ = w.Write(recorded.Body.Bytes())
		})
	}
}

// replaceBody replaces text in the body of a response.
func replaceBody(w *httptest.ResponseRecorder, old, new string) {
	body := strings.ReplaceAll(w.Body.String(), old, new)
	w.Body.Reset()
	w.Body.WriteString(body)
}
