package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// writeRoute is a method, path and media type that takes content.
type writeRoute struct {
	method, path, media string
	field               string // a member that is there, if it is of JSON
	named               bool   // the client chooses the last part of the path
	again               bool   // by an older contract, or another name of the type: what reads it is the same
}

// shape is how an input becomes content: the text before and after it.
type shape struct{ front, back string }

// shapes are all that a route has a place for, the input alone first.
func (r writeRoute) shapes() []shape {
	alone, quoted := shape{}, `{"`+r.field+`":`
	switch {
	case r.path == "/graphql":
		return []shape{alone, {`{"query":`, `}`}, {`{"query":"{__typename}","variables":`, `}`},
			{`{"query":"query($v:String){__typename @include(if:true)}","variables":{"v":`, `}}`},
			{`{"query":"{__typename}","extensions":`, `}`}}
	case strings.HasSuffix(r.media, "json-patch+json"):
		return []shape{alone, {`[{"op":"add","path":"/` + r.field + `","value":`, `}]`}, {`[{"op":"remove","path":`, `}]`}}
	case strings.HasSuffix(r.media, "batch+json"):
		return []shape{alone, {`{"operations":`, `}`}, {`{"operations":[{"op":"create","value":`, `}]}`}}
	case strings.HasSuffix(r.media, "ndjson"):
		return []shape{alone, {"", "\n{}\n"}, {quoted, "}\n"}}
	case strings.HasSuffix(r.media, "json"):
		return []shape{alone, {quoted, `}`}}
	}
	return []shape{alone}
}

// strict reports whether what is no JSON must be refused.
func (r writeRoute) strict() bool {
	return strings.HasSuffix(r.media, "json") && !strings.HasSuffix(r.media, "ndjson")
}

// fields are members that the shop's resources have, by the first part of their paths.
var fields = map[string]string{"orders": "note", "users": "email", "places": "name", "auth": "email"}

// document is what matters here of an OpenAPI document.
type openAPIDocument struct {
	Servers []struct{ URL string }
	Paths   map[string]map[string]json.RawMessage
}

// routes asks the shop for all its documents, and them for everything that takes content.
func findRoutes(base string) ([]writeRoute, error) {
	var list struct {
		Versions []struct {
			OpenAPI string
			Default bool
		}
	}
	if err := fetchJSON(base+"/openapi", &list); err != nil {
		return nil, err
	}
	all := []writeRoute{{method: http.MethodPost, path: "/graphql", media: "application/json", field: "query"}}
	for _, v := range list.Versions {
		if v.OpenAPI == "" {
			continue // retired
		}
		var d openAPIDocument
		if err := fetchJSON(base+v.OpenAPI, &d); err != nil {
			return nil, err
		}
		found, err := d.routes(!v.Default)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.OpenAPI, err)
		}
		all = append(all, found...)
	}
	if len(all) < 10 {
		return nil, fmt.Errorf("there are only %d routes", len(all))
	}
	return all, nil
}

func (d openAPIDocument) routes(older bool) (all []writeRoute, err error) {
	prefix := ""
	if len(d.Servers) > 0 && strings.HasPrefix(d.Servers[0].URL, "/") {
		prefix = strings.TrimSuffix(d.Servers[0].URL, "/")
	}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range []string{"post", "put", "patch"} {
			var operation struct {
				RequestBody struct{ Content map[string]any }
			}
			if text := d.Paths[path][method]; text == nil {
				continue
			} else if err := json.Unmarshal(text, &operation); err != nil {
				return nil, err
			}
			first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
			for _, media := range slices.Sorted(maps.Keys(operation.RequestBody.Content)) {
				r := writeRoute{method: strings.ToUpper(method), path: prefix + strings.ReplaceAll(path, "{id}", "1"), media: media,
					field: fields[first], again: older || strings.Contains(media, "vnd.shop.")}
				if media == "*/*" { // bytes, each to a name of their own, because concurrent replacements of one are refused
					r.media, r.path = "application/octet-stream", strings.TrimSuffix(r.path, "/1")
					r.named = r.path != prefix+path
				}
				all = append(all, r)
			}
		}
	}
	return all, nil
}

func fetchJSON(url string, into any) error {
	res, err := http.Get(url)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %d", url, res.StatusCode)
	}
	return json.Unmarshal(text, into)
}
