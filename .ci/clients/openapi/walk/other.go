package walk

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// What is neither an item nor a patch: batches, and content that is taken as it is.

// isBatch reports whether the content is a list of operations.
func (q *question) isBatch() bool {
	return strings.Contains(q.header.Get("Content-Type"), "batch+json")
}

// batch makes a list of operations on items that there are. What is deleted the walk would ask for
// later, so nothing is. The parameters of POST are for single items.
func (w *walker) batch(q *question, s *openapi3.Schema) {
	for name := range q.query {
		if name != "version" {
			q.query.Del(name)
		}
	}
	list := s.Properties["operations"].Value.Items.Value
	forms := slices.DeleteFunc(slices.Clone(list.OneOf), func(form *openapi3.SchemaRef) bool {
		return form.Value.Properties["op"].Value.Const == "delete"
	})
	operations := []any{}
	for range 1 + w.rand.IntN(3) {
		id, ok := some(w.rand, w.memory[q.op.collection].alive)
		form, _ := w.value(pick(w.rand, forms).Value).(map[string]any)
		if form["op"] != "create" && !ok {
			continue
		}
		about := *q
		if form["op"] != "create" {
			form["id"], about.id = id, id
			delete(form, "ifMatch")
		}
		for _, member := range []string{"value", "patch"} {
			if object, ok := form[member].(map[string]any); ok {
				w.adapt(&about, object)
				delete(object, "version") // which names the contract of the whole, if anything
			}
		}
		if _, ok := form["patch"].([]any); ok {
			form["patch"] = []any{}
		}
		operations = append(operations, form)
	}
	if len(operations) == 0 {
		q.header.Set("Content-Type", "application/json")
		q.value = w.value(q.op.body.Content["application/json"].Schema.Value)
		return
	}
	q.value = map[string]any{"operations": operations}
}

// bytes makes content that is no JSON: the example, if it is text, or anything.
func (w *walker) bytes(q *question, content *openapi3.MediaType) {
	q.raw = true
	text, ok := exampleOf(content).(string)
	if !ok {
		text = w.letters(1 + w.rand.IntN(40))
		if strings.Contains(q.header.Get("Content-Type"), "*") {
			q.header.Set("Content-Type", "application/octet-stream")
		}
	}
	q.body = []byte(text)
	if q.op.parameter(openapi3.ParameterInHeader, "Repr-Digest") != nil && w.chance(0.3) {
		sum := sha256.Sum256(q.body)
		q.header.Set("Repr-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":")
	}
}

// exampleOf is the first example of some content, a copy of it; nil if there is none.
func exampleOf(m *openapi3.MediaType) (v any) {
	for _, name := range sortedKeys(m.Examples) {
		b, _ := json.Marshal(m.Examples[name].Value.Value)
		json.Unmarshal(b, &v)
		break
	}
	return v
}
