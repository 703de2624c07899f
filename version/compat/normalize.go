package compat

// The form in which snapshots keep an OpenAPI document. Called by Record and Parse.

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// problemsKey is the extension in which a snapshot keeps the problem types of a response. Documents
// have them in examples.
const problemsKey = "x-problem-types"

// containers are keywords for maps from names to objects. The keys of such a map are no keywords.
var containers = map[string]bool{
	"properties": true, "patternProperties": true, "$defs": true, "dependentSchemas": true,
	"paths": true, "responses": true, "headers": true, "content": true, "schemas": true,
	"securitySchemes": true, "requestBodies": true, "pathItems": true, "scopes": true, "flows": true,
}

// dropped are the keywords that clients do not observe, and those that [Compare] does not compare.
var dropped = map[string]bool{
	"description": true, "summary": true, "title": true, "example": true, "examples": true,
	"externalDocs": true, "tags": true, "info": true, "servers": true, "operationId": true,
	"$comment": true, "links": true, "callbacks": true, "webhooks": true, "mapping": true, "xml": true,
}

// literals are keywords for data.
var literals = map[string]bool{"default": true, "enum": true, "const": true, "required": true,
	"x-extensible-enum": true, problemsKey: true, "security": true}

// versionPattern matches the pattern of a parameter or member that names the contract.
var versionPattern = regexp.MustCompile(`^\^v\?\([0-9.|\\]+\)\$$`)

// normalizer removes what is not observable from the document of a contract.
type normalizer struct {
	contract string
	document object
	gone     map[string]bool // the references to responses with the status 410
}

func normalizeOpenAPI(data json.RawMessage, contract string) (json.RawMessage, error) {
	document, err := decodeJSON(data)
	if err != nil {
		return nil, err
	}
	o, ok := document.(object)
	if !ok {
		return nil, errors.New("the document is not a JSON object")
	}
	if paths, ok := o["paths"].(object); ok {
		for path := range paths {
			switch {
			case strings.HasPrefix(path, "x-"): // an extension, not a path
				delete(paths, path)
			case !strings.HasPrefix(path, "/"):
				return nil, fmt.Errorf("path %q does not begin with a slash", path)
			}
		}
	}
	n := normalizer{contract: contract, document: o, gone: goneResponses(o)}
	o = n.keywords(o)
	keepPartlyDeprecated(o)
	return json.Marshal(o)
}

// keepPartlyDeprecated removes deprecated from the operations if all of them have it, because this
// follows from the dates of the contract.
func keepPartlyDeprecated(document object) {
	var all []object
	for _, item := range pathItems(document) {
		for _, method := range methods {
			o, ok := item.item[method].(object)
			if !ok {
				continue
			}
			if o["deprecated"] != true {
				return
			}
			all = append(all, o)
		}
	}
	for _, o := range all {
		delete(o, "deprecated")
	}
}

// keywords returns a copy of an object with keywords as keys.
func (n *normalizer) keywords(o object) object {
	all := object{}
	for key, v := range o {
		switch {
		case dropped[key] || strings.HasPrefix(key, "x-") && !literals[key]:
		case literals[key]:
			all[key] = v
		case key == "pattern":
			all[key] = n.pattern(v)
		case key == "responses":
			all[key] = n.responses(v)
		case key == "headers":
			all[key] = withoutDates(n.container(v, nil))
		case key == "content":
			all[key] = n.container(v, n.mediaType)
		case key == "components":
			all[key] = n.components(v)
		case containers[key]:
			all[key] = n.container(v, nil)
		default:
			all[key] = n.value(v)
		}
	}
	return all
}

func (n *normalizer) value(v any) any {
	switch v := v.(type) {
	case object:
		return n.keywords(v)
	case []any:
		all := make([]any, len(v))
		for i, e := range v {
			all[i] = n.value(e)
		}
		return all
	}
	return v
}

// container returns a copy of a map from names to objects. fn, if any, converts its elements.
func (n *normalizer) container(v any, fn func(name string, o object) (string, object)) any {
	o, ok := v.(object)
	if !ok {
		return v
	}
	all := object{}
	for _, name := range sorted(o) {
		element := o[name]
		e, ok := element.(object)
		if !ok {
			all[name] = element
			continue
		}
		converted := n.keywords(e)
		if fn != nil {
			var extra object
			name, extra = fn(name, e)
			maps.Copy(converted, extra)
		}
		all[name] = converted
	}
	return all
}

// components converts the components except examples and links. Parameters there have names, too.
func (n *normalizer) components(v any) any {
	o, _ := v.(object)
	all := object{}
	for key, list := range o {
		if key != "examples" && key != "links" && key != "callbacks" {
			all[key] = n.container(list, nil)
		}
	}
	if headers, ok := all["headers"]; ok {
		all["headers"] = withoutDates(headers)
	}
	responses, _ := all["responses"].(object)
	for name, r := range responses {
		if n.gone["#/components/responses/"+name] {
			withoutRetry(r)
		}
	}
	return all
}

// pattern replaces the pattern of the names of a contract, because it depends on the contracts beside
// it.
func (n *normalizer) pattern(v any) any {
	text, _ := v.(string)
	if versionPattern.MatchString(text) && strings.Contains(text, strings.ReplaceAll(n.contract, ".", `\.`)) {
		return neutralName
	}
	return v
}

// neutralName replaces the name of the contract in its own snapshot.
const neutralName = "{contract}"

// mediaType replaces the name of the contract in a media type, and keeps the problem types of the
// examples.
func (n *normalizer) mediaType(name string, o object) (string, object) {
	name = neutral(mediaName(name), n.contract)
	if _, known := o[problemsKey]; known || name != "application/problem+json" {
		return name, nil
	}
	examples, _ := o["examples"].(object)
	var types []string
	for _, v := range examples {
		example, _ := resolve(n.document, v)
		value, _ := example["value"].(object)
		if t, ok := value["type"].(string); ok && !isRetired(t) {
			types = append(types, t)
		}
	}
	if len(types) == 0 {
		return name, nil
	}
	slices.Sort(types)
	return name, object{problemsKey: anySlice(slices.Compact(types))}
}

// mediaName returns a media type in lower case, with sorted parameters and without charset=utf-8.
func mediaName(text string) string {
	media, parameters, _ := strings.Cut(text, ";")
	var all []string
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		value = strings.Trim(value, `"`)
		if name = strings.ToLower(name); name == "charset" {
			value = strings.ToLower(value)
		}
		if name != "" && name+value != "charsetutf-8" {
			all = append(all, "; "+name+"="+value)
		}
	}
	slices.Sort(all)
	return strings.ToLower(strings.TrimSpace(media)) + strings.Join(all, "")
}

// neutral replaces the name of a contract in the vendor tree of a media type.
func neutral(text, contract string) string {
	return strings.ReplaceAll(text, "."+contract+".", "."+neutralName+".")
}

// isRetired reports whether a problem type is that of a retired contract. Responses have it because of
// the dates of the contract.
func isRetired(problem string) bool { return strings.HasSuffix(problem, "/version-retired") }

// withoutDates removes the header fields about the dates of the contract. Documents have Link in all
// responses of a deprecated contract. The relation types of other links are in the recorded responses.
func withoutDates(v any) any {
	if headers, ok := v.(object); ok {
		delete(headers, "Deprecation")
		delete(headers, "Sunset")
		delete(headers, "Link")
	}
	return v
}

// withoutRetry removes Retry-After from a 410, which has it because of the brownouts of the contract.
func withoutRetry(v any) {
	r, _ := v.(object)
	if headers, ok := r["headers"].(object); ok {
		delete(headers, "Retry-After")
	}
}

// goneResponses returns the references of the operations to responses with the status 410.
func goneResponses(document object) map[string]bool {
	all := map[string]bool{}
	paths, _ := document["paths"].(object)
	for _, v := range paths {
		item, _ := v.(object)
		for _, method := range methods {
			o, _ := item[method].(object)
			responses, _ := o["responses"].(object)
			r, _ := responses["410"].(object)
			if ref, ok := r["$ref"].(string); ok {
				all[ref] = true
			}
		}
	}
	return all
}

// responses converts the responses of an operation. A 410 that only a retired contract sends is left
// out, as it follows from the dates of the contract.
func (n *normalizer) responses(v any) any {
	o, ok := v.(object)
	if !ok {
		return v
	}
	all := object{}
	for status, element := range o {
		if status == "410" && n.onlyRetired(element) {
			continue
		}
		all[status] = n.value(element)
		if status == "410" {
			withoutRetry(all[status])
		}
	}
	return all
}

func (n *normalizer) onlyRetired(v any) bool {
	r, _ := resolve(n.document, v)
	content, _ := r["content"].(object)
	media, _ := content["application/problem+json"].(object)
	examples, _ := media["examples"].(object)
	for _, v := range examples {
		example, _ := resolve(n.document, v)
		value, _ := example["value"].(object)
		if t, _ := value["type"].(string); !isRetired(t) {
			return false
		}
	}
	return len(examples) > 0
}
