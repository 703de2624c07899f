package openapi_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/openapi"
)

// TestSchemas checks the schema of a single field.
func TestSchemas(t *testing.T) {
	t.Parallel()
	d := described(t, openapi.New(newShop(t).now, &openapi.Options{REST: shopREST}))
	tests := []struct{ schema, field, want string }{
		{"Order", "id", `{"type":"integer","format":"int64","readOnly":true,"description":"Assigned by the shop."}`},
		{"Order", "status", `{"type":"string","enum":["placed","paid","shipped","cancelled"]}`},
		{"Order", "note", `{"type":["string","null"],"maxLength":500,"examples":["Ring twice."]}`},
		{"Order", "customerId", `{"type":"integer","format":"int64","description":"The user it is for."}`},
		{"Order", "lines", `{"type":"array","items":{"$ref":"#/components/schemas/Line"},"minItems":1,"maxItems":50}`},
		{"Order", "customer",
			`{"anyOf":[{"$ref":"#/components/schemas/User"},{"type":"null"}],"description":"With ` +
				"`expand=customer`" + `."}`},
		{"OrderCreate", "id", `null`},
		{"OrderCreate", "status",
			`{"type":"string","enum":["placed","paid","shipped","cancelled"],"default":"placed"}`},
		{"OrderCreate", "customerId",
			`{"type":["integer","null"],"format":"int64","description":"The user it is for."}`},
		{"OrderPatch", "status", `{"type":"string","enum":["placed","paid","shipped","cancelled"]}`},
		{"PlaceCreate", "id",
			`{"type":"string","description":"Chosen by the client, or assigned.","maxLength":64,"pattern":"^[^\\x00-\\x1f\\x7f-\\x9f]*$","not":{"enum":[".",".."]}}`},
		{"OrderPatch", "lines",
			`{"type":"array","items":{"$ref":"#/components/schemas/LineReplace"},"minItems":1,"maxItems":50}`},
		{"User", "password", `null`},
		{"UserCreate", "password", `{"type":"string","writeOnly":true,"minLength":8}`},
		{"UserPatch", "password", `{"type":["string","null"],"writeOnly":true,"minLength":8}`},
		{"UserCreate", "email",
			`{"type":"string","format":"email","description":"It is unique among all items."}`},
		{"Place", "elevation", `{"type":"integer","format":"int32","minimum":-32768,"maximum":32767}`},
		{"PlaceCreate", "elevation", `{"type":"integer","format":"int32","minimum":-500,"maximum":32767}`},
		{"Place", "serial", `{"type":"string","format":"int64","pattern":"^(0|-?[1-9][0-9]{0,18})$"}`},
		{"PlaceCreate", "visits", `{"type":"integer","format":"uint64","minimum":0,"default":0}`},
		{"Place", "tags", `{"type":"array","items":{"type":"string","minLength":2},"maxItems":9,"uniqueItems":true}`},
		{"Place", "names", `{"type":"object","additionalProperties":{"type":"string","maxLength":200},"maxProperties":99}`},
		{"PlacePatch", "names",
			`{"type":["object","null"],"additionalProperties":{"type":["string","null"],"maxLength":200}}`},
		{"Place", "box", `{"type":"array","items":{"type":"number","format":"float"},"minItems":4,"maxItems":4}`},
		{"Place", "icon", `{"type":"string","format":"byte","contentEncoding":"base64"}`},
		{"Place", "code", `{"type":"string","pattern":"^[A-Za-zſ\u212a]+$"}`},
		{"Place", "extra", `{}`},
		{"Place", "country", `{"type":"string","pattern":"^[A-Z]{2}$","description":"ISO 3166-1 alpha-2"}`},
		{"Area", "near", `{"type":"object","additionalProperties":{"$ref":"#/components/schemas/Area"}}`},
		{"AreaPatch", "parts",
			`{"type":["array","null"],"items":{"$ref":"#/components/schemas/AreaReplace"}}`},
		{"OwnerCreate", "since", `null`},
		{"OwnerReplace", "since",
			`{"type":"string","format":"date-time","description":"It cannot be changed: omit it, or send the current value."}`},
	}
	for _, tt := range tests {
		t.Run(tt.schema+"/"+tt.field, func(t *testing.T) {
			t.Parallel()
			var want any
			if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
				t.Fatal(err)
			}
			s := d.at(d.root, "components", "schemas", tt.schema, "properties").(object)
			if diff := cmp.Diff(want, s[tt.field]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequired(t *testing.T) {
	t.Parallel()
	tests := []struct {
		schema string
		simple bool
		want   string
	}{
		{"OrderCreate", false, "lines"},
		{"LineCreate", false, "itemId qty"},
		{"PlaceCreate", false, "name country"}, // an empty country breaks the pattern
		{"PlaceReplace", false, "name country"},
		{"PlacePatch", false, ""},
		{"UserReplace", false, "email active"},
		{"CountryCreate", false, "code name"},
		{"CountryReplace", false, "name"},
		{"Order", false, ""}, // ?fields= leaves out anything
		{"Order", true, "id status lines note createdAt"},
		{"Line", false, "itemId qty"},
		{"Owner", false, "name since"},
	}
	shop := newShop(t)
	documents := map[bool]reader{
		false: described(t, openapi.New(shop.now, &openapi.Options{REST: shopREST})),
		true:  read(t, openapi.New(shop.now, &openapi.Options{REST: shopREST}).JSON()),
	}
	for _, tt := range tests {
		t.Run(tt.schema, func(t *testing.T) {
			t.Parallel()
			d := documents[tt.simple]
			list, _ := d.at(d.root, "components", "schemas", tt.schema, "required").([]any)
			var got []string
			for _, name := range list {
				got = append(got, name.(string))
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if fields := d.parameters("/orders", "GET")["fields"]; (fields == nil) != tt.simple {
				t.Errorf("the parameter fields is %v", fields)
			}
		})
	}
}

// TestInputsAreClosed and outputs are open, at every depth.
func TestInputsAreClosed(t *testing.T) {
	t.Parallel()
	d := described(t, openapi.New(newShop(t).now, &openapi.Options{REST: shopREST}))
	for name, s := range d.at(d.root, "components", "schemas").(object) {
		o := s.(object)
		if o["properties"] == nil {
			continue
		}
		input := regexp.MustCompile("(Create|Replace|Patch|Filter|Input|Batch|BatchDelete)$").MatchString(name)
		if closed := o["additionalProperties"] == false; closed != input {
			t.Errorf("%s: closed is %v", name, closed)
		}
	}
}

// TestAgreement asks the library about documents that the schema judges as well.
func TestAgreement(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		valid      bool
	}{
		{"least", `{"name":"x","country":"GR"}`, true},
		{"no country", `{"name":"x"}`, false},
		{"country in lower case", `{"name":"x","country":"gr"}`, false},
		{"unknown member", `{"name":"x","country":"GR","nope":1}`, false},
		{"null for a pointer", `{"name":"x","country":"GR","population":null}`, true},
		{"null for a string", `{"name":null,"country":"GR"}`, false},
		{"recursive", `{"name":"x","country":"GR","area":{"name":"a","parts":[{"name":"b","of":{"name":"c"}}]}}`, true},
		{"recursive and wrong", `{"name":"x","country":"GR","area":{"name":"a","parts":[{"name":""}]}}`,
			false},
		{"read-only inside", `{"name":"x","country":"GR","owner":{"since":"2026-11-21T00:00:00Z"}}`, false},
		{"short element", `{"name":"x","country":"GR","tags":["a"]}`, false},
		{"number that is a string", `{"name":"x","country":"GR","serial":"12"}`, true},
		{"number that should be a string", `{"name":"x","country":"GR","serial":12}`, false},
		{"too small", `{"name":"x","country":"GR","elevation":-501}`, false},
		{"fixed array", `{"name":"x","country":"GR","box":[1,2,3,4]}`, true},
		{"fixed array too short", `{"name":"x","country":"GR","box":[1,2,3]}`, false},
		{"anything", `{"name":"x","country":"GR","extra":{"a":[null]}}`, true},
		{"id", `{"id":"mine","name":"x","country":"GR"}`, true},
	}
	d := described(t, openapi.New(newShop(t).now, &openapi.Options{REST: shopREST}))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var v any
			if err := json.Unmarshal([]byte(tt.body), &v); err != nil {
				t.Fatal(err)
			}
			bad := d.invalid(object{"$ref": "#/components/schemas/PlaceCreate"}, v, "")
			if (len(bad) == 0) != tt.valid {
				t.Errorf("the schema says %q", bad)
			}
			status := send(newShop(t).handler(), "POST /places", tt.body).StatusCode
			if ok := status == http.StatusCreated; ok != tt.valid || !ok &&
				status != http.StatusUnprocessableEntity {
				t.Errorf("the library says %d", status)
			}
		})
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	d := described(t, openapi.New(shop.now, &openapi.Options{REST: shopREST}))
	tests := []struct{ path, method, name, want string }{
		{"/orders/{id}", "GET", "id", `{"type":"integer","format":"int64"}`},
		{"/places/{id}", "GET", "id", `{"type":"string","minLength":1}`},
		{"/places", "GET", "population.gte", `{"type":"integer","format":"int64"}`},
		{"/places", "GET", "capital", `{"type":"boolean"}`},
		{"/places", "GET", "name.contains", `{"type":"string"}`},
		{"/places", "GET", "limit", `{"type":"integer","minimum":1,"maximum":20,"default":10}`},
		{"/orders", "GET", "status.in",
			`{"type":"array","minItems":1,"maxItems":200,"items":{"type":"string","enum":["placed","paid","shipped","cancelled"]}}`},
		{"/orders", "GET", "note.isNull", `{"type":"boolean"}`},
		{"/orders", "GET", "createdAt", `{"type":"string","format":"date-time"}`},
		{"/countries", "GET", "sort",
			`{"type":"array","minItems":1,"maxItems":4,"uniqueItems":true,"items":{"type":"string","enum":["code","-code"]}}`},
		{"/users/{id}", "GET", "fields",
			`{"type":"array","minItems":1,"items":{"type":"string","enum":["id","email","active","role"]}}`},
		{"/orders", "POST", "expand",
			`{"type":"array","minItems":1,"maxItems":8,"items":{"type":"string","enum":["customer"]}}`},
		{"/capital", "GET", "country", `{"type":"string","pattern":"^[A-Z]{2}$"}`},
		{"/capital", "GET", "year", `{"type":"integer","format":"int64","minimum":1}`},
		{"/places", "GET", "password", `null`},
	}
	for _, tt := range tests {
		t.Run(tt.path+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			var want any
			if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
				t.Fatal(err)
			}
			p := d.parameters(tt.path, tt.method)[tt.name]
			if diff := cmp.Diff(want, p["schema"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if list := p["schema"] != nil && strings.Contains(tt.want, `"array"`); list &&
				(p["style"] != "form" || p["explode"] != false) {
				t.Errorf("style is %v, explode is %v", p["style"], p["explode"])
			}
		})
	}
	if p := d.parameters("/capital", "GET")["country"]; p["required"] != true || p["example"] != "GR" {
		t.Errorf("the country of a capital is %v", p)
	}
	if p := d.parameters("/countries/{id}", "DELETE")["If-Match"]; p["required"] != true {
		t.Errorf("If-Match of a country is %v", p)
	}
}

// TestEveryParameterIsTaken asks with each parameter of each list: none is unknown to the library.
func TestEveryParameterIsTaken(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	d := described(t, openapi.New(shop.now, &openapi.Options{REST: shopREST}))
	tried := 0
	for _, path := range []string{"/orders", "/users", "/places", "/countries", "/order-archive",
		"/capital"} {
		for name, p := range d.parameters(path, "GET") {
			if p["in"] != "query" {
				continue
			}
			body := problemOf(t, send(shop.handler(), "GET "+path+"?"+name+"=", ""))
			if slices.ContainsFunc(body.Errors, func(e struct{ Code string }) bool {
				return e.Code == "unknownParameter"
			}) {
				t.Errorf("%s: %s is described, and not known", path, name)
			}
			tried++
		}
	}
	if tried < 100 {
		t.Errorf("only %d parameters", tried)
	}
}

func problemOf(t *testing.T, res *http.Response) (body struct{ Errors []struct{ Code string } }) {
	t.Helper()
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil {
		t.Fatal(err)
	}
	return body
}
