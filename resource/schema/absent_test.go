package schema_test

import (
	"fmt"
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
