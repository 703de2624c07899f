package compat

// Snapshots of running handlers. Called by versiontest and by applications. probe.go derives the
// requests from the OpenAPI document.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Source is a contract to be recorded. Only Contract is required.
type Source struct {
	// Contract is the full name, MAJOR.MINOR.PATCH.
	Contract string
	// Preview, Deprecated and Sunset are as in [Snapshot].
	Preview            bool
	Deprecated, Sunset time.Time
	// OpenAPI is the OpenAPI 3.1 document in JSON. Empty means that there is none.
	OpenAPI []byte
	// SDL is the GraphQL schema. Empty means that there is none.
	SDL string
	// Handler receives the requests of Probes. Nil means that no responses are recorded.
	Handler http.Handler
	// Prepare is called with each request before it is sent, to name the contract, set the host or add
	// credentials. Nil means that requests are sent as they are.
	Prepare func(r *http.Request)
	// Probes are the requests. Nil means those of [Probes].
	Probes []Probe
}

// Probe is a request. Its response is recorded.
type Probe struct {
	// Name identifies the request in snapshots. Default is the method and the path.
	Name string
	// Method, Path, Header and Body are those of the request. Path may have a query. Path may contain
	// {id}, which is replaced by the id of the first item in the list before it, such as /orders for
	// /orders/{id}; without an item the probe is left out.
	Method, Path string
	Header       http.Header
	Body         string
}

// Record returns the snapshot of a contract. It sends the probes one after another, each with ctx. It
// returns an error if a document is not valid, if two probes have the same name, or if a handler panics.
func Record(ctx context.Context, source Source) (*Snapshot, error) {
	s := &Snapshot{Contract: source.Contract, Preview: source.Preview, Deprecated: source.Deprecated,
		Sunset: source.Sunset, OpenAPI: bytes.Clone(source.OpenAPI), SDL: source.SDL}
	if err := s.normalize(); err != nil {
		return nil, fmt.Errorf("compat: record %s: %w", source.Contract, err)
	}
	if source.Handler == nil {
		return s, nil
	}
	probes := source.Probes
	if probes == nil {
		probes = Probes(source.OpenAPI)
	}
	p := prober{source: &source, ids: map[string]string{}}
	names := map[string]bool{}
	for _, probe := range probes {
		if names[probe.name()] {
			return nil, fmt.Errorf("compat: record %s: two probes have the name %q", source.Contract,
				probe.name())
		}
		names[probe.name()] = true
		r, err := p.send(ctx, probe)
		if err != nil {
			return nil, fmt.Errorf("compat: record %s: %s: %w", source.Contract, probe.name(), err)
		}
		if r != nil {
			s.Responses = append(s.Responses, *r)
		}
	}
	return s, nil
}

func (p Probe) name() string {
	if p.Name != "" {
		return p.Name
	}
	return p.Method + " " + p.Path
}

// prober sends probes.
type prober struct {
	source *Source
	ids    map[string]string // by the path of the list; "" if there is no item
}

// send sends a probe. It returns nil if the path needs an item and there is none.
func (p *prober) send(ctx context.Context, probe Probe) (*Response, error) {
	target := probe.Path
	if list, rest, ok := strings.Cut(target, "/{id}"); ok {
		id, err := p.id(ctx, cmp.Or(list, "/"))
		if err != nil || id == "" {
			return nil, err
		}
		target = list + "/" + url.PathEscape(id) + rest
	}
	w, err := p.exchange(ctx, probe, target)
	if err != nil {
		return nil, err
	}
	return w.response(probe.name(), p.source.Contract), nil
}

// id returns the id of the first item of a list.
func (p *prober) id(ctx context.Context, list string) (string, error) {
	if id, known := p.ids[list]; known {
		return id, nil
	}
	w, err := p.exchange(ctx, Probe{Method: http.MethodGet}, list)
	if err != nil {
		return "", err
	}
	p.ids[list] = ""
	for _, item := range itemsOf(w.body.Bytes()) {
		if id := text(item["id"]); id != "" {
			p.ids[list] = id
			break
		}
	}
	return p.ids[list], nil
}

// itemsOf returns the items of a list: a JSON array, or the first array that is a member.
func itemsOf(body []byte) (all []object) {
	document, err := decodeJSON(body)
	if err != nil {
		return nil
	}
	list, ok := document.([]any)
	o, _ := document.(object)
	for _, name := range sorted(o) {
		if ok {
			break
		}
		list, ok = o[name].([]any)
	}
	for _, v := range list {
		if item, ok := v.(object); ok {
			all = append(all, item)
		}
	}
	return all
}

// exchange sends a request to the handler.
func (p *prober) exchange(ctx context.Context, probe Probe, target string) (w *recorder, err error) {
	at, err := url.ParseRequestURI(target)
	if err != nil {
		return nil, err
	}
	r := (&http.Request{
		Method: probe.Method, URL: at, RequestURI: target, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: probe.Header.Clone(), Body: http.NoBody, ContentLength: int64(len(probe.Body)),
		Host: "localhost", RemoteAddr: "127.0.0.1:1",
	}).WithContext(ctx)
	if r.Header == nil {
		r.Header = http.Header{}
	}
	if probe.Body != "" {
		r.Body = io.NopCloser(strings.NewReader(probe.Body))
	}
	if p.source.Prepare != nil {
		p.source.Prepare(r)
		r.RequestURI = r.URL.RequestURI()
	}
	w = &recorder{header: http.Header{}}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the handler panicked: %v", v)
		}
	}()
	p.source.Handler.ServeHTTP(w, r)
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w, nil
}

// recorder is an [http.ResponseWriter] that keeps the response. Package httptest registers flags, so
// it is not used outside of tests.
type recorder struct {
	header http.Header
	sent   http.Header
	status int
	body   bytes.Buffer
}

// maxBody limits what is kept of a body.
const maxBody = 1 << 20

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if w.status != 0 || status < 200 {
		return
	}
	w.status, w.sent = status, w.header.Clone()
}

func (w *recorder) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.body.Len()+len(b) > maxBody {
		return 0, io.ErrShortWrite
	}
	return w.body.Write(b)
}

// Flush implements [http.Flusher].
func (w *recorder) Flush() { w.WriteHeader(http.StatusOK) }

// unstable are fields that differ between equal responses, or that follow from the dates of the
// contract.
var unstable = []string{"Date", "Content-Length", "Connection", "Transfer-Encoding", "Age", "Deprecation",
	"Sunset"}

// valued are fields with elements that clients depend on.
var valued = []string{"Allow", "Vary", "Accept", "Accept-Patch", "Accept-Post", "Accept-Ranges",
	"Access-Control-Allow-Headers", "Access-Control-Allow-Methods", "Access-Control-Expose-Headers"}

// response returns what a snapshot keeps.
func (w *recorder) response(name, contract string) *Response {
	r := &Response{Request: name, Status: w.status, Header: map[string]string{}}
	for field, lines := range w.sent {
		if slices.Contains(unstable, field) || len(lines) == 0 {
			continue
		}
		value := ""
		switch {
		case field == "Content-Type":
			value, _, _ = strings.Cut(lines[0], ";")
		case field == "Link":
			if value = relations(lines); value == "" {
				continue
			}
		case field == "Www-Authenticate":
			value = schemes(lines)
		case slices.Contains(valued, field):
			value = elements(lines)
		}
		r.Header[field] = neutral(value, contract)
	}
	w.describe(r)
	return r
}

// elements returns the elements of a list field, sorted. Parameters are part of their element.
func elements(lines []string) string {
	var all []string
	for _, line := range lines {
		for element := range strings.SplitSeq(line, ",") {
			if element = strings.TrimSpace(element); element != "" {
				all = append(all, element)
			}
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// relations returns the relation types of Link without those that follow from the dates of a contract.
func relations(lines []string) string {
	var all []string
	for _, line := range lines {
		for _, part := range strings.Split(line, `rel="`)[1:] {
			rels, _, _ := strings.Cut(part, `"`)
			for rel := range strings.FieldsSeq(rels) {
				if rel != "successor-version" && rel != "deprecation" && rel != "sunset" {
					all = append(all, rel)
				}
			}
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// schemes returns the authentication schemes, each of which begins a line.
func schemes(lines []string) string {
	var all []string
	for _, line := range lines {
		scheme, _, _ := strings.Cut(line, " ")
		all = append(all, scheme)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// describe records the body if it is JSON.
func (w *recorder) describe(r *Response) {
	media, _, _ := strings.Cut(mediaName(w.sent.Get("Content-Type")), ";")
	if media != "application/json" && !strings.HasSuffix(media, "+json") {
		return
	}
	document, err := decodeJSON(w.body.Bytes())
	if err != nil {
		return
	}
	r.Members = map[string]string{}
	addMembers(r.Members, "", document, 0)
	if o, ok := document.(object); ok && media == "application/problem+json" {
		r.Problem, _ = o["type"].(string)
		r.Title, _ = o["title"].(string)
		errors, _ := o["errors"].([]any)
		for _, v := range errors {
			violation, _ := v.(object)
			if code, ok := violation["code"].(string); ok {
				r.Codes = append(r.Codes, code)
			}
		}
		slices.Sort(r.Codes)
		return
	}
	r.Order = orderOf(itemsOf(w.body.Bytes()))
}

// addMembers adds the members of a value with their types. Elements of a list share a name.
func addMembers(all map[string]string, name string, v any, depth int) {
	const maxDepth = 8
	if depth > maxDepth {
		return
	}
	typ := "null"
	switch v := v.(type) {
	case object:
		typ = "object"
		for key, e := range v {
			addMembers(all, strings.TrimPrefix(name+"."+key, "."), e, depth+1)
		}
	case []any:
		typ = "array"
		for _, e := range v {
			addMembers(all, name+"[]", e, depth+1)
		}
	case string:
		typ = "string"
	case bool:
		typ = "boolean"
	case json.Number:
		typ = "number"
	}
	if known := all[name]; name != "" && (known == "" || known == "null") {
		all[name] = typ
	}
}

// orderOf returns the members by which items are sorted. A member with equal values is
// left out.
func orderOf(items []object) (order []string) {
	if len(items) < 2 {
		return nil
	}
	for _, name := range sorted(items[0]) {
		up, down := true, true
		for i := 1; i < len(items); i++ {
			sign, ok := compareValues(items[i-1][name], items[i][name])
			up, down = up && ok && sign <= 0, down && ok && sign >= 0
		}
		switch {
		case up && !down:
			order = append(order, name)
		case down && !up:
			order = append(order, "-"+name)
		}
	}
	return order
}

// compareValues compares two strings or two numbers.
func compareValues(a, b any) (sign int, ok bool) {
	if x, isString := a.(string); isString {
		y, ok := b.(string)
		return strings.Compare(x, y), ok
	}
	_, isNumber := a.(json.Number)
	_, isToo := b.(json.Number)
	if !isNumber || !isToo {
		return 0, false
	}
	x, y := numberOf(a), numberOf(b)
	if x == nil || y == nil {
		return 0, false
	}
	return x.Cmp(y), true
}
