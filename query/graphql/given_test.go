package graphql_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

type mirror struct {
	ID    string       `json:"id"`
	Hooks []mirrorHook `json:"hooks"`
	Main  *mirrorHook  `json:"main"`
}

type mirrorHook struct {
	URL    string `json:"url"`
	Number int    `json:"number" readOnly:"true"`
	Mode   string `json:"mode" enum:"on,off" default:"on"`
	Secret string `json:"secret" writeOnly:"true"`
}

// TestInputsKeepSecretsAndSetDefaults: new objects have the defaults, in lists and alone, and elements that are
// sent back keep what clients cannot send.
func TestInputsKeepSecretsAndSetDefaults(t *testing.T) {
	t.Parallel()
	a, b := mirrorHook{"a", 1, "off", "sa"}, mirrorHook{"b", 2, "on", "sb"}
	tests := []struct {
		name, mutation string
		before, want   mirror
	}{
		{"patch, swapped and new", `patchMirror(id: "m", input: {hooks: [{url: "b"}, {url: "n"}, {url: "a", mode: off}]})`,
			mirror{Hooks: []mirrorHook{a, b}}, mirror{Hooks: []mirrorHook{b, {URL: "n", Mode: "on"}, a}}},
		{"replace, swapped and changed", `replaceMirror(id: "m", input: {hooks: [{url: "n"}, {url: "a", mode: off}]})`,
			mirror{Hooks: []mirrorHook{a, b}}, mirror{Hooks: []mirrorHook{{URL: "n", Mode: "on"}, a}}},
		{"patch, an object in place of null", `patchMirror(id: "m", input: {main: {url: "n"}})`,
			mirror{Hooks: []mirrorHook{}}, mirror{Hooks: []mirrorHook{}, Main: &mirrorHook{URL: "n", Mode: "on"}}},
		{"patch, an old object", `patchMirror(id: "m", input: {main: {url: "n"}})`,
			mirror{Hooks: []mirrorHook{}, Main: &a},
			mirror{Hooks: []mirrorHook{}, Main: &mirrorHook{"n", 1, "off", "sa"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := memory.New[mirror](nil)
			if _, err := store.Insert(t.Context(), "m", tt.before); err != nil {
				t.Fatal(err)
			}
			h := graphql.New(resource.NewCatalog(nil, resource.New("mirrors", store, nil)), nil)
			if got := answerTo(t, h, "mutation { "+tt.mutation+" { id } }"); codes(t, got) != nil {
				t.Fatal(got)
			}
			item, err := store.Get(t.Context(), "m")
			if err != nil {
				t.Fatal(err)
			}
			tt.want.ID = "m"
			if diff := cmp.Diff(tt.want, item.Value); diff != "" {
				t.Errorf("stored (-want +got):\n%s", diff)
			}
		})
	}
}
