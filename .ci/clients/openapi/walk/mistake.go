package walk

import (
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// mistake is a way to spoil a valid question, so that the server has to refuse it.
type mistake struct {
	name string
	// spoil does it, and reports whether it could.
	spoil func(w *walker, q *question) bool
}

// mistakes are functions of the document, so that each suits all operations in which it is possible.
var mistakes = [...]mistake{
	{"an unknown parameter", func(w *walker, q *question) bool { return q.ask("nonesuch", "1") }},
	{"a parameter twice", func(w *walker, q *question) bool { return q.askIf("limit", "1", "2") }},
	{"a limit of none", func(w *walker, q *question) bool { return q.askIf("limit", "0") }},
	{"a limit without limits", func(w *walker, q *question) bool { return q.askIf("limit", "1000000000") }},
	{"a limit that is no number", func(w *walker, q *question) bool { return q.askIf("limit", "many") }},
	{"a sort by nothing known", func(w *walker, q *question) bool { return q.askIf("sort", "nonesuch") }},
	{"an unknown field", func(w *walker, q *question) bool { return q.askIf("fields", "nonesuch") }},
	{"an unknown relation", func(w *walker, q *question) bool { return q.askIf("expand", "nonesuch") }},
	{"a filter that is no JSON", func(w *walker, q *question) bool { return q.askIf("filter", "{") }},
	{"a forged cursor", func(w *walker, q *question) bool { return q.askIf("after", "bm9uZXN1Y2g") }},
	{"a parameter of another type", (*walker).mistype},
	{"an unknown version", func(w *walker, q *question) bool { return q.askIf("version", pick(w.rand, versions)) }},
	{"an unknown version in a field", (*walker).versionField},
	{"no such item", (*walker).missing},
	{"nothing acceptable", (*walker).unacceptable},
	{"an unknown version to accept", (*walker).unacceptableVersion},
	{"a media type that is not accepted", func(w *walker, q *question) bool { return q.setContentType("text/plain") }},
	{"no media type", func(w *walker, q *question) bool { return q.setContentType("") }},
	{"a stale tag", func(w *walker, q *question) bool { return q.match(`"stale"`) }},
	{"a weak tag", func(w *walker, q *question) bool { return q.match(`W/"weak"`) }},
	{"no tag at all", func(w *walker, q *question) bool { return q.match(`nonsense`) }},
	{"broken JSON", func(w *walker, q *question) bool { return q.content(`{"`) }},
	{"content after the content", func(w *walker, q *question) bool { return q.content("{} {}") }},
	{"a scalar", func(w *walker, q *question) bool { return q.content("42") }},
	{"nothing as content", func(w *walker, q *question) bool { return q.content("") }},
	{"a member twice", func(w *walker, q *question) bool { return q.content(`{"status":"placed","status":"paid"}`) }},
	{"too much content", func(w *walker, q *question) bool {
		return w.chance(0.1) && q.content(`{"note":"`+strings.Repeat("x", 9<<20)+`"}`)
	}},
	{"an unknown member", (*walker).unknownMember},
	{"a member of another type", (*walker).mistypeMember},
	{"a member too few", (*walker).missingMember},
	{"a patch of no kind", func(w *walker, q *question) bool {
		return q.header.Get("Content-Type") == jsonPatchType && q.content(`[{"op":"shuffle","path":"/id"}]`)
	}},
	{"a patch at no place", func(w *walker, q *question) bool {
		return q.header.Get("Content-Type") == jsonPatchType && q.content(`[{"op":"remove","path":"/nonesuch"}]`)
	}},
}

const jsonPatchType = "application/json-patch+json"

var versions = []string{"", "99", "v99.1", "01", "x", "1.2.3.4", "-1"}

// spoil puts one mistake into a valid question.
func (w *walker) spoil(q *question) {
	if q.op.method == http.MethodOptions {
		return // whose response does not depend on the rest of the request
	}
	for range 20 {
		m := pick(w.rand, mistakes[:])
		if m.spoil(w, q) {
			q.mistake = m.name
			q.header.Del("Prefer") // which could be to overlook mistakes
			return
		}
	}
}

// ask puts a parameter into the query.
func (q *question) ask(name string, values ...string) bool {
	if q.page != "" {
		return false
	}
	q.query[name] = values
	return true
}

func (q *question) askIf(name string, values ...string) bool {
	return q.op.parameter(openapi3.ParameterInQuery, name) != nil && q.ask(name, values...)
}

// mistype gives text to a parameter that takes none.
func (w *walker) mistype(q *question) bool {
	of := slices.DeleteFunc(slices.Clone(q.op.parameters), func(p *openapi3.Parameter) bool {
		return p.In != openapi3.ParameterInQuery || p.Schema == nil || !isStrict(p.Schema.Value)
	})
	return len(of) > 0 && q.ask(pick(w.rand, of).Name, "a~b")
}

// isStrict reports whether a schema permits numbers, booleans or times only.
func isStrict(s *openapi3.Schema) bool {
	if s.Type == nil || len(*s.Type) != 1 {
		return false
	}
	switch (*s.Type)[0] {
	case "integer", "number", "boolean":
		return true
	case "string":
		return s.Format == "date-time"
	}
	return false
}

// versionField names a version that is not served in the header field for it, if the document has one.
func (w *walker) versionField(q *question) bool {
	field := q.op.versionField()
	if field != nil {
		q.header.Set(field.Name, pick(w.rand, versions[1:]))
	}
	return field != nil
}

// nobodies are not among the ids that a walk could give.
var nobodies = []string{"999999999999", "nonesuch", "0000007", "+nonesuch", "none/such", "\x00nonesuch", "%nonesuch", ".."}

// missing requests an item that cannot exist. PUT could create one.
func (w *walker) missing(q *question) bool {
	name := q.op.idParameter()
	if name == "" || q.op.method == http.MethodPut {
		return false
	}
	q.id, q.alive = pick(w.rand, nobodies), false
	q.path[name] = q.id
	return true
}

func (w *walker) unacceptable(q *question) bool {
	if len(q.op.accepts()) == 0 {
		return false
	}
	q.header.Set("Accept", pick(w.rand, []string{"image/png", "application/json;q=0", "text/html"}))
	return true
}

// unacceptableVersion accepts only a version that is not served, in the vendor's own media type.
func (w *walker) unacceptableVersion(q *question) bool {
	for _, media := range q.op.accepts() {
		if vendor, ok := strings.CutPrefix(media, "application/vnd."); ok {
			vendor, _, _ = strings.Cut(vendor, ".")
			q.header.Set("Accept", "application/vnd."+vendor+".99.thing+json")
			return true
		}
	}
	return false
}

func (q *question) setContentType(media string) bool {
	if q.body == nil || q.raw {
		return false
	}
	q.header.Del("Content-Type")
	if media != "" {
		q.header.Set("Content-Type", media)
	}
	return true
}

// match states a condition that cannot be true of an item that there is.
func (q *question) match(tag string) bool {
	stream := q.header.Get("Accept") == eventStream // which has no tag that another could differ from
	if q.op.parameter(openapi3.ParameterInHeader, "If-Match") == nil || !q.alive || stream {
		return false
	}
	q.header.Set("If-Match", tag)
	return true
}

func (q *question) content(body string) bool {
	if q.body == nil || q.raw {
		return false
	}
	q.body = []byte(body)
	return true
}

func (w *walker) unknownMember(q *question) bool {
	object, ok := q.value.(map[string]any)
	if ok {
		object["nonesuch"] = true
		q.encode()
	}
	return ok
}

// mistypeMember puts an array with an object where no schema of the shop's has one.
func (w *walker) mistypeMember(q *question) bool {
	object, ok := q.value.(map[string]any)
	if !ok || len(object) == 0 {
		return false
	}
	object[pick(w.rand, sortedKeys(object))] = []any{map[string]any{"nonesuch": 1}}
	q.encode()
	return true
}

// missingMember leaves out one that is required.
func (w *walker) missingMember(q *question) bool {
	object, ok := q.value.(map[string]any)
	if !ok {
		return false
	}
	schema := q.op.body.Content[q.header.Get("Content-Type")].Schema.Value
	if len(schema.Required) == 0 {
		return false
	}
	delete(object, pick(w.rand, schema.Required))
	q.encode()
	return true
}
