package compat

// Requests that show header fields and errors of a contract. Called by Record.

import (
	"net/http"
	"slices"
	"strings"
)

// Probes returns requests for the paths of an OpenAPI document: lists and items, with OPTIONS, and
// requests that are rejected because of their method, media type, syntax or precondition. No probe
// writes: each write is rejected by any server that implements the document. It returns none for a
// document that is not valid.
func Probes(document []byte) (all []Probe) {
	d, err := decodeJSON(document)
	o, ok := d.(object)
	if err != nil || !ok {
		return nil
	}
	paths, _ := o["paths"].(object)
	for _, path := range sorted(paths) {
		item, ok := paths[path].(object)
		if !ok {
			continue
		}
		t := target{document: o, item: item, path: path}
		switch {
		case !strings.Contains(path, "{"):
			all = append(all, t.listProbes()...)
		case strings.HasSuffix(path, "}") && strings.Count(path, "{") == 1:
			all = append(all, t.itemProbes()...)
		}
	}
	return all
}

// target is a path of a document.
type target struct {
	document, item object
	path           string
}

const (
	unknownType = "application/x-unknown"
	staleTag    = `"unknown"`
)

// has reports whether the path has a method.
func (t *target) has(method string) bool { return t.item[strings.ToLower(method)] != nil }

// conditional reports whether a method has the parameter If-Match. A server that ignores it would
// write.
func (t *target) conditional(method string) bool {
	o, _ := t.item[strings.ToLower(method)].(object)
	_, ok := operation{o, pathItem{t.path, t.item}, t.document}.parameters()["header if-match"]
	return ok
}

// probe returns a request and names it after the header fields that it has.
func (t *target) probe(method, path, query, body string, header ...string) Probe {
	p := Probe{Name: method + " " + t.path + query, Method: method, Path: path + query, Body: body,
		Header: http.Header{}}
	for i := 0; i+1 < len(header); i += 2 {
		p.Header.Set(header[i], header[i+1])
		p.Name += " " + header[i] + ": " + header[i+1]
	}
	if body != "" {
		p.Name += " " + body
	}
	return p
}

// listProbes returns the requests for a path without parameters: a list or a command.
func (t *target) listProbes() (all []Probe) {
	if t.has(http.MethodGet) {
		all = append(all,
			t.probe(http.MethodGet, t.path, "", ""),
			t.probe(http.MethodGet, t.path, "", "", "Accept", unknownType),
			t.probe(http.MethodGet, t.path, "?unknown-parameter=1", ""))
	}
	if len(all) > 0 || t.has(http.MethodPost) {
		all = append(all, t.probe(http.MethodOptions, t.path, "", ""))
	}
	all = append(all, t.bodyProbes(http.MethodPost, t.path)...)
	for _, method := range []string{http.MethodPost, http.MethodDelete, http.MethodPatch} {
		if !t.has(method) {
			return append(all, t.probe(method, t.path, "", ""))
		}
	}
	return all
}

// itemProbes returns the requests for a path that ends in the id of an item.
func (t *target) itemProbes() (all []Probe) {
	list := t.path[:strings.LastIndexByte(t.path, '/')]
	existing, missing := list+"/{id}", list+"/unknown-id"
	if t.has(http.MethodGet) {
		all = append(all,
			t.probe(http.MethodGet, existing, "", ""),
			t.probe(http.MethodGet, existing, "", "", "Accept", unknownType),
			t.probe(http.MethodGet, existing, "", "", "If-Match", staleTag),
			t.probe(http.MethodGet, existing, "", "", "If-None-Match", "*"),
			t.probe(http.MethodOptions, existing, "", ""))
		all = append(all, renamed(t.probe(http.MethodGet, missing, "", ""), " of an unknown id"))
	}
	for _, method := range []string{http.MethodPut, http.MethodPatch} {
		all = append(all, t.bodyProbes(method, existing)...)
	}
	if t.conditional(http.MethodDelete) {
		all = append(all, t.probe(http.MethodDelete, existing, "", "", "If-Match", staleTag))
	}
	if !t.has(http.MethodPost) {
		all = append(all, t.probe(http.MethodPost, existing, "", ""))
	}
	return all
}

func renamed(p Probe, suffix string) Probe {
	p.Name += suffix
	return p
}

// bodyProbes returns requests with a body that is rejected: an unknown media type, malformed JSON, and
// JSON that is not an object. Bodies of any type cannot be rejected, so there are none for those. A
// server may store malformed JSON unless the schema requires an object: blobs can be JSON.
func (t *target) bodyProbes(method, path string) (all []Probe) {
	operation, _ := t.item[strings.ToLower(method)].(object)
	body, _ := resolve(t.document, operation["requestBody"])
	content, _ := body["content"].(object)
	types := sorted(content)
	anyType := func(media string) bool { return strings.Contains(media, "*") }
	if len(types) == 0 || slices.ContainsFunc(types, anyType) {
		return nil
	}
	all = append(all, t.probe(method, path, "", "?", "Content-Type", unknownType))
	for _, media := range types {
		if media != "application/json" && media != "application/merge-patch+json" {
			continue
		}
		m, _ := content[media].(object)
		if t.requiresObject(m["schema"], 0) {
			all = append(all, t.probe(method, path, "", "{", "Content-Type", media),
				t.probe(method, path, "", `"text"`, "Content-Type", media))
		}
		if t.conditional(method) {
			all = append(all, t.probe(method, path, "", "{}", "Content-Type", media, "If-Match", staleTag))
		}
	}
	return all
}

// requiresObject reports whether only objects are valid for a schema, in each of its branches.
func (t *target) requiresObject(v any, depth int) bool {
	const maxDepth = 8
	o, _ := resolve(t.document, v)
	for _, keyword := range []string{"oneOf", "anyOf"} {
		branches, _ := o[keyword].([]any)
		accepts := func(v any) bool { return !t.requiresObject(v, depth+1) }
		if len(branches) > 0 && depth < maxDepth {
			return !slices.ContainsFunc(branches, accepts)
		}
	}
	return o["type"] == "object"
}
