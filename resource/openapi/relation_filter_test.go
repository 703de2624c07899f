package openapi_test

import (
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/openapi"
)

// TestRelationFilters: the document has a parameter for equality of each field of a related item, and its
// sort keys, and the schemas of filters refer to each other. The full profile has its groups.
func TestRelationFilters(t *testing.T) {
	t.Parallel()
	type guest struct {
		ID   string `json:"id"`
		Role string `json:"role"`
		Age  int    `json:"age"`
	}
	type stay struct {
		ID      string `json:"id"`
		GuestID string `json:"guestId"`
	}
	eq := []query.Op{query.Eq, query.In}
	catalog := resource.NewCatalog(nil,
		resource.New("guests", memory.New[guest](nil), &resource.Options[guest]{Public: true,
			Query: query.Support{Relations: []string{"stays"}, Sort: []string{"age"}, Group: []string{"age"},
				Filter: map[string][]query.Op{"role": eq, "age": {query.Gte}}},
			Relations: []resource.Relation[guest]{{Name: "stays", Target: "stays", By: "guestId"}}}),
		resource.New("stays", memory.New[stay](nil), &resource.Options[stay]{Public: true,
			Query: query.Support{Relations: []string{"guest"}, Sort: []string{"guest.age"},
				Group:  []string{"guest.age", "guest.id"},
				Filter: map[string][]query.Op{"guestId": eq}},
			Relations: []resource.Relation[stay]{{Name: "guest", Target: "guests", Field: "guestId"}}}))
	for _, profile := range []string{"", "?profile=full"} {
		w := httptest.NewRecorder()
		openapi.New(catalog, nil).ServeHTTP(w, httptest.NewRequest("GET", "/openapi.json"+profile, nil))
		var doc struct {
			Paths map[string]struct {
				Get struct {
					Parameters []struct {
						Name   string
						Schema struct{ Items struct{ Enum []string } }
					}
				}
			}
			Components struct {
				Schemas map[string]struct{ Properties map[string]json.RawMessage }
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
			t.Fatalf("%v: %.300s", err, w.Body)
		}
		for path, want := range map[string][]string{
			"/guests": {"stays.some.guestId"}, "/stays": {"guest.role"},
		} {
			var got []string
			for _, p := range doc.Paths[path].Get.Parameters {
				if strings.HasPrefix(p.Name, "stays.") || strings.HasPrefix(p.Name, "guest.") {
					got = append(got, p.Name)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s%s (-want +got):\n%s", path, profile, diff)
			}
		}
		enums := map[string][]string{}
		for _, p := range doc.Paths["/stays"].Get.Parameters {
			if p.Name == "sort" || p.Name == "group" {
				enums[p.Name] = p.Schema.Items.Enum
			}
		}
		want := map[string][]string{"sort": {"id", "-id", "guest.age", "-guest.age"}}
		if profile != "" {
			want["group"] = []string{"guest.age", "guest.id"}
			want["sort"] = append(want["sort"], "guest.id", "-guest.id", "count", "-count")
		}
		if diff := cmp.Diff(want, enums); diff != "" {
			t.Errorf("keys of /stays%s (-want +got):\n%s", profile, diff)
		}
		if profile == "" {
			continue // the parameter filter is a string
		}
		groups := string(doc.Components.Schemas["StaysGroups"].Properties["groups"])
		for _, part := range []string{`"guest.age":{"type":["integer","null"]`, `"guest.id":{"type":["string","null"]`} {
			if !strings.Contains(strings.Join(strings.Fields(groups), ""), part) {
				t.Errorf("the schema of groups lacks %s: %s", part, groups)
			}
		}
		for schema, member := range map[string]string{
			"GuestsFilter": `"some":{"$ref":"#/components/schemas/StaysFilter"`,
			"StaysFilter":  `"$ref":"#/components/schemas/GuestsFilter"`,
		} {
			properties := doc.Components.Schemas[schema].Properties
			all := slices.Concat(properties["guest"], properties["stays"])
			if !strings.Contains(strings.Join(strings.Fields(string(all)), ""), member) {
				t.Errorf("%s: %s lacks %s: %s", profile, schema, member, all)
			}
		}
	}
}
