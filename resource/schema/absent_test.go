package schema_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

// A default inside of a struct that may be absent neither requires it nor makes it present.
func TestDecodeDefaultsOfOptionalStructs(t *testing.T) {
	t.Parallel()
	type zone struct {
		Name string `json:"name" default:"UTC"`
	}
	type address struct {
		City    string `json:"city" minLength:"1"`
		Country string `json:"country" default:"CH"`
		Zone    zone   `json:"zone"`
		Pin     string `json:"pin,omitzero" writeOnly:"true"`
	}
	type owner struct {
		Depot   address `json:"depot,omitzero"`
		Work    address `json:"work,omitempty"`
		Stored  zone    `json:"stored" default:"db"`
		Always  zone    `json:"always"`
		Nothing string  `json:"-"`
	}
	full := address{City: "Bern", Country: "CH", Zone: zone{"UTC"}}
	tests := []struct {
		name, data string
		want       owner
	}{
		{"absent", `{}`, owner{Always: zone{"UTC"}}},
		{"present", `{"depot":{"city":"Bern"},"work":{"city":"Bern","zone":{}},"stored":{}}`,
			owner{Depot: full, Work: full, Stored: zone{"UTC"}, Always: zone{"UTC"}}},
	}
	for _, tt := range tests {
		for _, mode := range []schema.Mode{schema.Create, schema.Replace} {
			t.Run(fmt.Sprint(tt.name, ", mode ", mode), func(t *testing.T) {
				t.Parallel()
				opts := &schema.DecodeOptions{Mode: mode, Base: &owner{Depot: full, Work: full}}
				if diff := cmp.Diff(&tt.want, decode[owner](t, tt.data, opts)); diff != "" {
					t.Errorf("Decode mismatch (-want +got):\n%s", diff)
				}
			})
		}
	}
	empty := found[owner](t, `{"depot":{"city":""}}`, nil)
	if diff := cmp.Diff([]string{"/depot/city minLength"}, empty); diff != "" {
		t.Errorf("an object that is present (-want +got):\n%s", diff)
	}
	completed := []struct{ name, doc, before, want string }{
		{"a new element", `{"list":[{}]}`, `{"list":[]}`, `{"list":[{"always":{"name":"UTC"}}]}`},
		{"an element with the object", `{"list":[{"depot":{"city":"Bern"}}]}`, `{"list":[]}`,
			`{"list":[{"depot":{"city":"Bern","country":"CH","zone":{"name":"UTC"}},"always":{"name":"UTC"}}]}`},
	}
	type owners struct {
		List []owner `json:"list"`
	}
	for _, tt := range completed {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := string(schema.For[owners]().Complete([]byte(tt.doc), []byte(tt.before), true))
			if got != tt.want {
				t.Errorf("Complete returns %s, want %s", got, tt.want)
			}
		})
	}
}

// An absent member with a zero value that is not valid is required, and its other constraints do not matter.
func TestDecodeAbsentIsRequired(t *testing.T) {
	t.Parallel()
	type secret struct {
		Key  string `json:"key" writeOnly:"true" minLength:"8"`
		Hint string `json:"hint"`
	}
	type place struct {
		Country string `json:"country" pattern:"^[A-Z]{2}$"`
		Kind    string `json:"kind" default:"city" enum:"city,town"`
	}
	type person struct {
		ID     string   `json:"id" minLength:"1"`
		Email  string   `json:"email" format:"email" minLength:"3"`
		Age    int      `json:"age" minimum:"18"`
		Plan   string   `json:"plan" enum:"free,paid"`
		Tags   []string `json:"tags" minItems:"1"`
		Depot  place    `json:"depot"`
		Second place    `json:"second,omitzero"`
		Login  secret   `json:"login"`
		Site   string   `json:"site,omitempty" format:"uri"`
		Phone  *string  `json:"phone" minLength:"5"`
		Level  string   `json:"level" default:"low" enum:"low,high"`
		Note   string   `json:"note" maxLength:"5"`
		Rank   int      `json:"rank" readOnly:"true" minimum:"1"`
		Code   string   `json:"code" default:"db" minLength:"2"`
	}
	all := []string{"/email required", "/age required", "/plan required", "/tags required", "/depot required",
		"/login required"}
	base := &person{ID: "1", Login: secret{Key: "12345678"}}
	withKey := slices.Clone(all[:5]) // the key of the base is kept
	filled := `"email":"a@example.com","age":20,"plan":"free","tags":["a"],"login":{"key":"12345678"}`
	tests := []struct {
		name, data string
		opts       schema.DecodeOptions
		want       []string
	}{
		{"new", `{}`, schema.DecodeOptions{Filled: []string{"id"}}, all},
		{"replaced", `{}`,
			schema.DecodeOptions{Mode: schema.Replace, ReadOnly: []string{"id"}, Base: base}, withKey},
		{"patched", `{"id":"1","rank":0,"level":"low","login":{"key":"12345678"}}`,
			schema.DecodeOptions{Mode: schema.Patched, ReadOnly: []string{"id"}, Base: base}, withKey},
		{"id", `{` + filled + `,"depot":{"country":"CH"}}`, schema.DecodeOptions{}, []string{"/id required"}},
		{"inside", `{"id":"1",` + filled + `,"depot":{}}`, schema.DecodeOptions{}, []string{"/depot/country required"}},
		{"given and not valid",
			`{"id":"","email":"","age":0,"plan":"","tags":[],"depot":{"country":""},"login":{"key":""}}`,
			schema.DecodeOptions{}, []string{"/id minLength", "/email minLength", "/email format", "/age minimum",
				"/plan enum", "/tags minItems", "/depot/country pattern", "/login/key minLength"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, found[person](t, tt.data, &tt.opts)); diff != "" {
				t.Errorf("Decode mismatch (-want +got):\n%s", diff)
			}
		})
	}
	var needed []string
	for _, f := range schema.For[person]().Fields {
		if f.NeedsValue() {
			needed = append(needed, "/"+f.Name+" required")
		}
	}
	if diff := cmp.Diff(append([]string{"/id required"}, all...), needed); diff != "" {
		t.Errorf("NeedsValue (-want +got):\n%s", diff)
	}
}
