package walk

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// question is a request in the terms of the document.
type question struct {
	op      *operation
	head    bool              // HEAD is sent instead of GET
	id      string            // of the item it is about; "" if it is about none
	alive   bool              // there is such an item
	path    map[string]string // the parameters of the path, not escaped
	server  string
	query   url.Values
	page    string // a whole query that the server gave us; then query is empty
	header  http.Header
	value   any // the content, if it is JSON
	body    []byte
	raw     bool   // the content is taken whatever it is
	mistake string // what was spoilt; "" if nothing
}

// valid makes a question that the document permits.
func (w *walker) valid(op *operation) *question {
	q := &question{op: op, path: map[string]string{}, query: url.Values{}, header: http.Header{}}
	q.head = op.method == http.MethodGet && !w.opts.Prism && w.chance(0.05)
	if len(op.servers) > 0 {
		q.server = pick(w.rand, op.servers)
	}
	optional := 0
	for _, p := range op.parameters {
		if !p.Required {
			optional++
		}
	}
	for _, p := range op.parameters {
		if p.Name == "fields" && op.isCommand() {
			continue // only some forms of CSV have it
		}
		if p.Required || w.chance(min(0.3, 2.5/float64(optional))) {
			w.set(q, p)
		}
	}
	if page, ok := some(w.rand, w.memory[op.collection].pages); ok && op.parameter("query", "after") != nil && w.chance(0.2) {
		q.page, q.query = page, url.Values{}
	}
	w.setBody(q)
	if media := q.accepts(); len(media) > 0 && w.chance(0.5) {
		q.header.Set("Accept", pick(w.rand, media))
	}
	if q.header.Get("Accept") == eventStream {
		w.listen(q)
	}
	if isLines(q.header.Get("Accept")) && (strings.Contains(q.page, "before=") || strings.Contains(q.page, "group=")) {
		q.header.Del("Accept") // a stream of all items has no page before, and groups are not in lines
	}
	w.group(q)
	w.name(q)
	return q
}

// eventStream is an answer that has no end: a walk asks for its header only. That has the
// parameters that a list shares with its feed.
const eventStream = "text/event-stream"

func (w *walker) listen(q *question) {
	if w.opts.Prism { // which has no words for it
		q.header.Del("Accept")
		return
	}
	q.head, q.page = true, ""
	for _, name := range []string{"sort", "limit", "expand", "q", "filter"} {
		q.query.Del(name)
	}
	for _, p := range q.op.parameters {
		if strings.Contains(p.Description, " the related item") { // events are selected by the item alone
			q.query.Del(p.Name)
		}
	}
}

// named matches the URL of a server that names the contract in its path or its host.
var named = regexp.MustCompile(`(^|[^/])/v?\d|//[^/.:]*-v\d`)

// name names the contract in the query or in a field if the document has parameters for that and
// the URL of the server does not name it.
func (w *walker) name(q *question) {
	query := q.op.parameter(openapi3.ParameterInQuery, "version")
	field := q.op.versionField()
	switch {
	case query == nil || field == nil || named.MatchString(q.server):
	case q.page != "" || w.chance(0.5):
		q.header.Set(field.Name, text(w.value(field.Schema.Value)))
	default:
		q.query.Set(query.Name, text(w.value(query.Schema.Value)))
	}
}

// set gives a parameter a value.
func (w *walker) set(q *question, p *openapi3.Parameter) {
	switch p.In {
	case openapi3.ParameterInPath:
		q.path[p.Name] = w.pathValue(q, p)
	case openapi3.ParameterInHeader:
		if v := w.headerValue(q, p); v != "" {
			q.header.Set(p.Name, v)
		}
	case openapi3.ParameterInQuery:
		if p.Name != "after" && p.Name != "before" && p.Name != "lastEventId" { // cursors come from the server
			w.setQuery(q, p)
		}
	}
}

// pathValue is an id: mostly one of an item, sometimes of one that is no more, and where PUT
// creates a new one.
func (w *walker) pathValue(q *question, p *openapi3.Parameter) string {
	if p.Name != q.op.idParameter() {
		return fmt.Sprint(w.value(p.Schema.Value))
	}
	m := w.memory[q.op.collection]
	q.id, q.alive = some(w.rand, m.alive)
	if id, ok := some(w.rand, m.dead); ok && w.chance(0.1) {
		q.id, q.alive = id, false
	}
	if q.id == "" || w.chance(0.05) || q.op.method == http.MethodPut && w.chance(0.2) {
		q.id = text(w.value(p.Schema.Value))
		q.alive = m.isAlive(q.id)
	}
	return q.id
}

// headerValue returns a value with the meaning of the field, or one that is made from its schema.
func (w *walker) headerValue(q *question, p *openapi3.Parameter) string {
	tag := w.memory[q.op.collection].tags[q.id]
	switch http.CanonicalHeaderKey(p.Name) {
	case "If-Match":
		if tag == "" || w.chance(0.1) {
			return "*"
		}
		return tag
	case "If-None-Match":
		if tag == "" || w.chance(0.3) {
			return pick(w.rand, []string{"*", `"nothing"`, `W/"a", "b"`})
		}
		return tag
	case "Range":
		return pick(w.rand, []string{"bytes=0-9", "bytes=3-", "bytes=-5", "bytes=5000-", "bytes=9-1", "lines=1"})
	case "If-Range":
		return cmp.Or(tag, `"nothing"`)
	case "Idempotency-Key":
		key := w.newKey()
		if w.chance(0.5) {
			key = strconv.Quote(key)
		}
		return key
	case "Last-Event-Id":
		return "" // as above
	case "Repr-Digest", "Content-Digest":
		return "" // the content is made later
	case "Prefer":
		if w.opts.Prism {
			return "return=representation" // OpenAPI cannot describe a 201 with optional content, and Prism expects content
		}
		return pick(w.rand, []string{"return=minimal", "return=representation", "handling=lenient", "count=exact",
			"respond-async", "wait=1"})
	case "If-Modified-Since", "If-Unmodified-Since":
		return pick(w.rand, []string{"Sat, 01 Jan 2000 00:00:00 GMT", "Fri, 01 Jan 2100 00:00:00 GMT"})
	}
	return strings.Map(func(r rune) rune {
		if r > '~' {
			return '_'
		}
		return r
	}, text(w.parameterValue(p)))
}

// setQuery writes a value in the style of the parameter, with its explode.
func (w *walker) setQuery(q *question, p *openapi3.Parameter) {
	v := w.parameterValue(p)
	list, ok := v.([]any)
	if !ok {
		q.query.Set(p.Name, text(v))
		return
	}
	var texts []string
	for _, v := range list {
		t := strings.Map(func(r rune) rune {
			if r == ',' || r == '\\' {
				return '_' // what separates values, and what escapes that
			}
			return r
		}, text(v))
		t = cmp.Or(t, "_") // a list of one empty text would be written as no list at all
		// To sort by a field in both directions is to name it twice.
		if p.Name != "sort" || !slices.ContainsFunc(texts, func(s string) bool { return "-"+s == t || s == "-"+t }) {
			texts = append(texts, t)
		}
	}
	if p.Explode != nil && !*p.Explode {
		texts = []string{strings.Join(texts, ",")}
	}
	q.query[p.Name] = texts
}

// parameterValue is made from the schema, or is one of the examples, where what the value means is
// not in its schema.
func (w *walker) parameterValue(p *openapi3.Parameter) any {
	if content := p.Content.Get("application/json"); content != nil {
		if p.Example != nil || content.Example != nil {
			b, _ := json.Marshal(firstOf(p.Example, content.Example))
			return string(b)
		}
		b, _ := json.Marshal(w.value(content.Schema.Value))
		return string(b)
	}
	switch p.Name {
	case "filter", "expand", "q":
		if example := firstOf(p.Example, p.Schema.Value.Example); example != nil {
			return example
		}
	}
	return w.value(p.Schema.Value)
}

// ofGroups are the parameters that a request for groups has alone.
var ofGroups = []string{"group", "count", "distinct", "sum", "avg", "min", "max", "having"}

// group makes a question about groups of one about items, or removes the parameters of groups, and
// highlight without q: which parameters belong together is not in their schemas.
func (w *walker) group(q *question) {
	group := q.op.parameter(openapi3.ParameterInQuery, "group")
	for _, name := range ofGroups {
		q.query.Del(name)
	}
	if q.query.Get("q") == "" {
		q.query.Del("highlight")
	}
	accept := q.header.Get("Accept")
	if group == nil || q.page != "" || accept != "" && accept != "application/json" || w.chance(0.8) {
		w.sortItems(q, group)
		return
	}
	for _, name := range []string{"sort", "expand", "fields", "q", "highlight"} {
		q.query.Del(name)
	}
	w.setQuery(q, group)
	q.query.Set("count", "true")
	if w.chance(0.5) {
		q.query.Set("having", `{"count":{"gte":1}}`)
	}
	if w.chance(0.5) {
		q.query.Set("sort", pick(w.rand, []string{"count", "-count"}))
	}
	for _, name := range []string{"distinct", "sum", "avg", "min", "max"} {
		if p := q.op.parameter(openapi3.ParameterInQuery, name); p != nil && w.chance(0.3) {
			w.setQuery(q, p)
		}
	}
}

// sortItems leaves out the keys of sort that only groups have, and fields of related items that can
// be both. group may be nil.
func (w *walker) sortItems(q *question, group *openapi3.Parameter) {
	keys := slices.DeleteFunc(strings.Split(q.query.Get("sort"), ","), func(key string) bool {
		key = strings.TrimPrefix(key, "-")
		name, _, _ := strings.Cut(key, ".")
		related := group != nil && strings.Contains(key, ".") && slices.Contains(group.Schema.Value.Items.Value.Enum, any(key))
		return key == "" || related || slices.Contains(ofGroups, name)
	})
	if len(keys) > 0 {
		q.query.Set("sort", strings.Join(keys, ","))
	} else {
		q.query.Del("sort")
	}
}

func firstOf(values ...any) any {
	i := slices.IndexFunc(values, func(v any) bool { return v != nil })
	if i < 0 {
		return nil
	}
	return values[i]
}

// setBody makes content in one of the media types of the request.
func (w *walker) setBody(q *question) {
	if q.op.body == nil || !q.op.body.Required && w.chance(0.2) {
		return
	}
	media := pick(w.rand, sortedKeys(q.op.body.Content))
	if media == jsonPatchType && w.opts.Prism {
		// Prism 5.16 takes all types that end alike for the same one, here for a merge patch.
		media = "application/merge-patch+json"
	}
	q.header.Set("Content-Type", media)
	switch content := q.op.body.Content[media]; {
	case content.Schema == nil || isLines(media):
		w.bytes(q, content)
		return
	case q.op.isCommand():
		// What a command takes has meanings that its schema does not know.
		if q.value = exampleOf(content); q.value == nil {
			q.value = w.value(content.Schema.Value)
		}
	case media == jsonPatchType:
		q.value = w.jsonPatch(q)
	case q.isBatch() && w.opts.Prism:
		// As above, Prism takes it for an item.
		q.header.Set("Content-Type", "application/json")
		q.value = w.value(q.op.body.Content["application/json"].Schema.Value)
	case q.isBatch():
		w.batch(q, content.Schema.Value)
	default:
		q.value = w.value(content.Schema.Value)
	}
	if object, ok := q.value.(map[string]any); ok {
		w.adapt(q, object)
	}
	q.encode()
}

func (q *question) encode() { q.body, _ = json.Marshal(q.value) }

// adapt sets members that a schema cannot describe: the id is that of the path, members that cannot
// be changed have their current value, and references are ids of existing items.
func (w *walker) adapt(q *question, object map[string]any) {
	shown := w.memory[q.op.collection].items[q.id]
	for name := range object {
		if !q.op.isReadOnly(name) {
			continue
		}
		if v, ok := shown[name]; ok {
			object[name] = v
		} else {
			delete(object, name)
		}
	}
	if _, ok := object["id"].(string); ok && q.id != "" {
		object["id"] = q.id
	}
	if _, ok := object["customerId"].(int64); ok {
		id, ok := some(w.rand, w.memory["users"].alive)
		if !ok {
			delete(object, "customerId")
			return
		}
		object["customerId"] = json.Number(id)
	}
}

// jsonPatch changes one member: a patch of random operations at random places would only ever be refused.
func (w *walker) jsonPatch(q *question) any {
	put := q.op.route.PathItem.Put
	if put == nil {
		return []any{}
	}
	object, _ := w.value(put.RequestBody.Value.Content["application/json"].Schema.Value).(map[string]any)
	delete(object, "id")
	delete(object, "version")
	w.adapt(q, object)
	patch := []any{}
	for _, name := range sortedKeys(object) {
		if w.chance(0.4) {
			patch = append(patch, map[string]any{"op": "add", "path": "/" + name, "value": object[name]})
		}
	}
	return patch
}

func (q *question) method() string {
	if q.head {
		return http.MethodHead
	}
	return q.op.method
}

// request is the question as it is sent.
func (w *walker) request(ctx context.Context, q *question) (*http.Request, error) {
	path := q.op.path
	for name, value := range q.path {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	base, host := w.opts.URL, ""
	if !w.opts.Prism {
		base, host = w.server(q.server)
	}
	target := base + path
	query := q.query.Encode()
	if q.page != "" {
		query = q.page
	}
	if query != "" {
		target += "?" + query
	}
	req, err := http.NewRequestWithContext(ctx, q.method(), target, bytes.NewReader(q.body))
	if err != nil {
		return nil, err
	}
	if q.body == nil {
		req.Body, req.GetBody, req.ContentLength = http.NoBody, nil, 0
	}
	req.Header = q.header.Clone()
	req.Host = host
	return req, nil
}

// server resolves a server of the document. One on another host is the same server under another name.
func (w *walker) server(s string) (base, host string) {
	own, err := url.Parse(w.opts.URL)
	if err != nil {
		return w.opts.URL, ""
	}
	u, err := own.Parse(s)
	if err != nil {
		return w.opts.URL, ""
	}
	if u.Host != own.Host {
		host = u.Hostname()
	}
	return w.opts.URL + strings.TrimSuffix(u.EscapedPath(), "/"), host
}

// newKey is one that no other request has, also not in a walk through another document or with
// another seed: the same key is for the same request.
func (w *walker) newKey() string {
	w.keys++
	sum := sha256.Sum256(w.opts.Document)
	return fmt.Sprintf("%x-%t-%d-%d", sum[:6], w.opts.Prism, w.opts.Seed, w.keys)
}
