package openapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/openapi"
)

// object is a JSON object of a document.
type object = map[string]any

// reader reads a document as a client would: by its words, and not by what made it.
type reader struct{ root object }

func read(t testing.TB, doc []byte) reader {
	t.Helper()
	var d reader
	if err := json.Unmarshal(doc, &d.root); err != nil {
		t.Fatal(err)
	}
	return d
}

// described reads the full document of a catalog.
func described(t testing.TB, h *openapi.Document) reader {
	return read(t, full(h))
}

// full returns a document with everything that the API supports.
func full(h *openapi.Document) []byte { return h.Render(&openapi.Variant{Full: true}) }

// latest reads a document of everything that the API supports in OpenAPI 3.2, which has QUERY.
func latest(t testing.TB, h *openapi.Document) reader {
	return read(t, h.Render(&openapi.Variant{Full: true, Version: "3.2"}))
}

// at follows names and references.
func (d reader) at(v any, path ...string) any {
	v = d.follow(v)
	for _, name := range path {
		o, ok := v.(object)
		if !ok {
			return nil
		}
		v = d.follow(o[name])
	}
	return v
}

// follow resolves a reference. It ignores the members beside it, which are documentation.
func (d reader) follow(v any) any {
	for {
		o, ok := v.(object)
		if !ok || o["$ref"] == nil {
			return v
		}
		v = d.root
		for _, step := range strings.Split(strings.TrimPrefix(o["$ref"].(string), "#/"), "/") {
			v = v.(object)[step]
		}
	}
}

var methods = []string{"get", "put", "post", "patch", "delete", "options", "query"}

// operations calls yield for each operation.
func (d reader) operations(yield func(path, method string, op object)) {
	paths := d.root["paths"].(object)
	for path := range paths {
		for _, method := range methods {
			if op, ok := d.at(paths, path, method).(object); ok {
				yield(path, strings.ToUpper(method), op)
			}
		}
	}
}

// schemaOf returns the schema of a media type; nil if there is none.
func (d reader) schemaOf(v any, media string) any {
	media, _, _ = strings.Cut(media, ";") // documents name types without parameters
	if schema := d.at(v, "content", media, "schema"); schema != nil {
		return schema
	}
	return d.at(v, "content", media, "itemSchema") // of lines, in OpenAPI 3.2
}

// parameters returns the parameters of an operation by name.
func (d reader) parameters(path, method string) map[string]object {
	out := map[string]object{}
	for _, where := range []any{d.at(d.root, "paths", path),
		d.at(d.root, "paths", path, strings.ToLower(method))} {
		list, _ := d.at(where, "parameters").([]any)
		for _, p := range list {
			p := d.follow(p).(object)
			out[p["name"].(string)] = p
		}
	}
	return out
}

// invalid returns where a value violates a schema. It supports the keywords that this package uses.
func (d reader) invalid(schema, v any, at string) []string {
	s, _ := d.follow(schema).(object)
	var bad []string
	say := func(format string, args ...any) { bad = append(bad, at+": "+fmt.Sprintf(format, args...)) }
	if any, ok := s["anyOf"].([]any); ok {
		if !slices.ContainsFunc(any, func(one interface{}) bool { return len(d.invalid(one, v, at)) == 0 }) {
			say("none of anyOf")
		}
		return bad
	}
	if types := typesOf(s); types != nil && !slices.ContainsFunc(types, func(name string) bool {
		return isType(name, v)
	}) {
		say("%v is not %v", v, types)
		return bad
	}
	if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, v) {
		say("%v is not in %v", v, enum)
	}
	switch v := v.(type) {
	case object:
		bad = append(bad, d.invalidObject(s, v, at)...)
	case []any:
		if low, ok := s["minItems"].(float64); ok && len(v) < int(low) {
			say("too short")
		}
		for i, elem := range v {
			bad = append(bad, d.invalid(s["items"], elem, fmt.Sprint(at, "/", i))...)
		}
	case string:
		if p, ok := s["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(v) {
			say("%q does not match %s", v, p)
		}
		if low, ok := s["minLength"].(float64); ok && len(v) < int(low) {
			say("too short")
		}
	case float64:
		if low, ok := s["minimum"].(float64); ok && v < low {
			say("%v is less than %v", v, low)
		}
	}
	return bad
}

func (d reader) invalidObject(s, v object, at string) []string {
	var bad []string
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			bad = append(bad, at+"/"+name.(string)+": is required")
		}
	}
	properties, _ := s["properties"].(object)
	for name, value := range v {
		if p, ok := properties[name]; ok {
			bad = append(bad, d.invalid(p, value, at+"/"+name)...)
		} else if more, closed := s["additionalProperties"].(bool); closed && !more {
			bad = append(bad, at+"/"+name+": is not there")
		} else if more, ok := s["additionalProperties"].(object); ok {
			bad = append(bad, d.invalid(more, value, at+"/"+name)...)
		}
	}
	return bad
}

func typesOf(s object) []string {
	switch t := s["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, name := range t {
			out = append(out, name.(string))
		}
		return out
	}
	return nil
}

func isType(name string, v any) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case string:
		return name == "string"
	case bool:
		return name == "boolean"
	case float64:
		return name == "number" || name == "integer" && v == float64(int64(v))
	case []any:
		return name == "array"
	}
	return name == "object"
}

// unknown returns the members of v that the schema has no word for, though it may admit them.
func (d reader) unknown(schema, v any, at string) []string {
	s, _ := d.follow(schema).(object)
	var out []string
	switch v := v.(type) {
	case object:
		if one, ok := s["anyOf"].([]any); ok {
			return d.unknown(one[0], v, at)
		}
		properties, described := s["properties"].(object)
		for name, value := range v {
			if p, ok := properties[name]; ok {
				out = append(out, d.unknown(p, value, at+"/"+name)...)
			} else if described {
				out = append(out, at+"/"+name)
			}
		}
	case []any:
		for i, elem := range v {
			out = append(out, d.unknown(s["items"], elem, fmt.Sprint(at, "/", i))...)
		}
	}
	return out
}

// send makes a request: a method and a target, and then header fields as "Name: value".
func send(h http.Handler, request, body string, header ...string) *http.Response {
	method, target, _ := strings.Cut(request, " ")
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body == "" {
		r = httptest.NewRequest(method, target, nil)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}
