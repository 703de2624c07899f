package openapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/version"
)

func TestRender(t *testing.T) {
	t.Parallel()
	doc := openapi.New(newShop(t).now, &openapi.Options{REST: shopREST})
	tests := []struct {
		name    string
		variant *openapi.Variant
		target  string // the same variant over HTTP
		want    string // the first line with the version
	}{
		{"nil", nil, "/", `  "openapi": "3.1.0",`},
		{"zero", &openapi.Variant{}, "/?openapi=3.1&profile=default", `  "openapi": "3.1.0",`},
		{"3.0", &openapi.Variant{Version: "3.0"}, "/?openapi=3.0", `  "openapi": "3.0.3",`},
		{"patch version", &openapi.Variant{Version: "3.0.3"}, "/?openapi=3.0.3", `  "openapi": "3.0.3",`},
		{"3.2", &openapi.Variant{Version: "3.2", Full: true}, "/?openapi=3.2&profile=full",
			`  "openapi": "3.2.0",`},
		{"yaml", &openapi.Variant{YAML: true}, "/.yaml", `openapi: "3.1.0"`},
		{"full yaml", &openapi.Variant{YAML: true, Full: true}, "/.yaml?profile=full", `openapi: "3.1.0"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := doc.Render(tt.variant)
			if !strings.Contains(string(got), tt.want+"\n") {
				t.Errorf("no line %s in %.60s", tt.want, got)
			}
			body, err := io.ReadAll(send(doc, "GET "+tt.target, "").Body)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(body, got) {
				t.Errorf("GET %s is another document: %.60s", tt.target, body)
			}
		})
	}
	if !bytes.Equal(doc.JSON(), doc.Render(nil)) || !bytes.Equal(doc.YAML(), doc.Render(&openapi.Variant{YAML: true})) {
		t.Error("JSON and YAML are not the default variant")
	}
}

func TestRenderPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if got, _ := recover().(string); !strings.Contains(got, `"2.0" is not 3.0, 3.1 or 3.2`) {
			t.Errorf("panic %q", got)
		}
	}()
	openapi.New(newShop(t).now, nil).Render(&openapi.Variant{Version: "2.0"})
}

// TestNotAcceptableListsTypes checks that 406 has the media types of the requested version only.
func TestNotAcceptableListsTypes(t *testing.T) {
	t.Parallel()
	doc := openapi.New(newShop(t).now, nil)
	var body struct{ Available []string }
	res := send(doc, "GET /?openapi=3.0", "", "Accept: text/html")
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil {
		t.Fatal(err)
	}
	want := []string{"application/json", "application/openapi+json", "application/openapi+json;version=3.0",
		"application/openapi+json;version=3.0.3", "application/vnd.oai.openapi+json",
		"application/vnd.oai.openapi+json;version=3.0", "application/vnd.oai.openapi+json;version=3.0.3",
		"application/yaml", "application/openapi+yaml", "application/openapi+yaml;version=3.0",
		"application/openapi+yaml;version=3.0.3", "application/vnd.oai.openapi",
		"application/vnd.oai.openapi;version=3.0", "application/vnd.oai.openapi;version=3.0.3"}
	if diff := cmp.Diff(want, body.Available); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestServersFollowTheMount checks the default of Servers below prefixes and the path of a version.
func TestServersFollowTheMount(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	plain := openapi.New(shop.now, &openapi.Options{REST: shopREST})
	fixed := openapi.New(shop.now, &openapi.Options{REST: shopREST, Servers: []string{"/fixed"}})
	// The document of 1.0.0 is served by the handler of the contract, below the segment that names it.
	inside := http.NewServeMux()
	api := version.New([]version.Contract{{Name: "1.0.0", Handler: inside}}, []version.Strategy{version.Path{}}, nil)
	versioned := openapi.New(resource.NewCatalog(nil, resource.New("books", memory.New[country](
		&memory.Options[country]{ID: "code"}), &resource.Options[country]{ID: "code"})),
		&openapi.Options{Contract: "1.0.0", Negotiator: api})
	inside.Handle("/openapi.json", versioned)
	based := func(base string) http.Handler {
		o := *shopREST
		o.Base = base
		return openapi.New(shop.now, &openapi.Options{REST: &o})
	}
	stripped := func(prefix string, h http.Handler) http.Handler { return http.StripPrefix(prefix, h) }
	tests := []struct {
		name, target, want string
		handler            http.Handler
	}{
		{"root", "/openapi.json", "/", plain},
		{"prefix", "/api/openapi.json", "/api", stripped("/api", plain)},
		{"prefix with a slash", "/api/openapi.json", "/api", stripped("/api/", plain)},
		{"two prefixes", "/a/b/openapi.json?profile=full", "/a/b", stripped("/a", stripped("/b", plain))},
		{"escaped prefix", "/a%20b/openapi.json", "/a%20b", stripped("/a b", plain)},
		{"absolute form", "http://example.com/api/openapi.json", "/api", stripped("/api", plain)},
		{"rewritten path", "/other", "/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.URL.Path = "/openapi.json"
			plain.ServeHTTP(w, r)
		})},
		{"options", "/api/openapi.json", "/fixed", stripped("/api", fixed)},
		{"proxy", "/openapi.json", "/gate", based("/gate")},
		{"proxy and mount", "/api/openapi.json", "/gate/api", stripped("/api", based("/gate"))},
		{"origin and mount", "/api/openapi.json", "https://example.com/a/api",
			stripped("/api", based("https://example.com/a"))},
		{"version beside", "/openapi.json", "/v1", versioned},
		{"version beside, prefix", "/api/openapi.json", "/api/v1", stripped("/api", versioned)},
		{"below the version", "/v1/openapi.json", "/v1", api},
		{"below prefix and version", "/api/v1.0/openapi.json", "/api/v1", stripped("/api", api)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var body struct{ Servers []struct{ URL string } }
			if err := json.NewDecoder(send(tt.handler, "GET "+tt.target, "").Body).Decode(&body); err != nil {
				t.Fatal(err)
			}
			if len(body.Servers) == 0 || body.Servers[0].URL != tt.want {
				t.Errorf("servers %v, want %s", body.Servers, tt.want)
			}
		})
	}
}

// TestManyMounts checks that a document works below more prefixes than it keeps renderings of.
func TestManyMounts(t *testing.T) {
	t.Parallel()
	plain := openapi.New(resource.NewCatalog(nil), nil)
	for range 2 {
		for _, c := range strings.Repeat("abcdefghijklmnopqrstuvwxyz", 3) {
			prefix := "/" + string(c)
			for _, query := range []string{"", "?profile=full", "?openapi=3.0"} {
				res := send(http.StripPrefix(prefix, plain), "GET "+prefix+"/openapi.json"+query, "")
				body, err := io.ReadAll(res.Body)
				if want := `"url": "` + prefix + `"`; err != nil || !bytes.Contains(body, []byte(want)) {
					t.Fatalf("%s: no %s: %v", prefix, want, err)
				}
			}
		}
	}
}

// TestOpenAPI30 checks that a document of version 3.0 has no keyword that this version lacks.
func TestOpenAPI30(t *testing.T) {
	t.Parallel()
	d := read(t, openapi.New(newShop(t).now, &openapi.Options{REST: shopREST,
		License: &openapi.License{Name: "MIT", Identifier: "MIT"}}).Render(&openapi.Variant{Version: "3.0", Full: true}))
	var visit func(v any, at string)
	visit = func(v any, at string) {
		switch v := v.(type) {
		case []any:
			for _, elem := range v {
				visit(elem, at)
			}
		case object:
			if _, ok := v["type"].([]any); ok || v["type"] == "null" {
				t.Errorf("%s: type %v", at, v["type"])
			}
			if v["nullable"] == true && v["type"] == nil {
				t.Errorf("%s: nullable without type", at)
			}
			if v["$ref"] != nil && len(v) > 1 {
				t.Errorf("%s: keywords beside $ref: %v", at, v)
			}
			for name, member := range v {
				switch name {
				case "const", "contentEncoding", "itemSchema", "identifier":
					t.Errorf("%s has %s", at, name)
				case "example", "value", "default", "enum", "properties": // data, or names of members
					if name != "properties" {
						continue
					}
					for property, s := range member.(object) {
						visit(s, at+"/"+property)
					}
					continue
				}
				visit(member, at+"/"+name)
			}
		}
	}
	visit(d.root, "")
	schemas := d.at(d.root, "components", "schemas")
	tests := []struct {
		name string
		path []string
		want string
	}{
		{"nullable string", []string{"OrderCreate", "properties", "note"},
			`{"type":"string","nullable":true,"maxLength":500,"example":"Ring twice."}`},
		{"nullable reference", []string{"PlaceCreate", "properties", "area"},
			`{"type":"object","nullable":true,"allOf":[{"$ref":"#/components/schemas/AreaCreate"}]}`},
		{"const", []string{"OrderBatchDelete", "properties", "op"},
			`{"type":"string","enum":["delete"],"description":"The kind of the operation."}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var want any
			if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, d.at(schemas, tt.path...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	bytesOf := d.at(d.root, "paths", "/files/{id}", "get", "responses", "200", "content", "*/*", "schema")
	if diff := cmp.Diff(object{"type": "string", "format": "binary"}, bytesOf); diff != "" {
		t.Errorf("binary content (-want +got):\n%s", diff)
	}
}

// TestStreamsHaveItemSchemas checks the two forms of a stream: a text, and since 3.2 the schema of each
// item.
func TestStreamsHaveItemSchemas(t *testing.T) {
	t.Parallel()
	doc := openapi.New(watchedCatalog(t), nil)
	for v, streams := range map[string]bool{"3.0": false, "3.1": false, "3.2": true} {
		d := read(t, doc.Render(&openapi.Variant{Version: v, Full: true}))
		content := d.at(d.root, "paths", "/notes", "get", "responses", "200", "content")
		for media, item := range map[string][]string{
			"application/x-ndjson": {"properties", "text", "type"},
			"text/event-stream":    {"properties", "data", "contentSchema", "properties", "text", "type"},
		} {
			m := d.at(content, media).(object)
			if (m["schema"] == nil) != streams || (m["itemSchema"] != nil) != streams {
				t.Errorf("%s: %s is %v", v, media, m)
			}
			if streams && d.at(m["itemSchema"], item...) != "string" {
				t.Errorf("%s: the items of %s are %v", v, media, m["itemSchema"])
			}
		}
	}
}
