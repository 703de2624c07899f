package openapi_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/openapi"
)

// Item has a field of each kind of values.
type Item struct {
	ID     int64    `json:"id" readOnly:"true"`
	Price  string   `json:"price" format:"decimal" precision:"10,2" minimum:"0" default:"0.00" enum:"0.00,1.50"`
	Share  *string  `json:"share" format:"decimal" precision:"2,2" maximum:"0.9"`
	Whole  string   `json:"whole,omitempty" format:"decimal" precision:"3"`
	Any    string   `json:"any" format:"decimal" example:"12.50"`
	Ships  string   `json:"ships" format:"duration"`
	Opens  string   `json:"opens" format:"time-local"`
	State  string   `json:"state" default:"db"`
	Tags   []string `json:"tags" enum:"new,old"`
	Sizes  []int32  `json:"sizes"`
	Prices []string `json:"prices" format:"decimal" precision:"4,1"`
	Words  []string `json:"words"`
}

func newItems() *openapi.Document {
	all := []query.Op{query.Eq, query.In, query.Lt}
	list := []query.Op{query.Contains, query.IsNull}
	items := resource.New("items", memory.New[Item](nil), &resource.Options[Item]{Public: true, Query: query.Support{
		Filter: map[string][]query.Op{"price": all, "any": all, "ships": all, "tags": list, "sizes": list, "prices": list, "words": list},
		Sort:   []string{"price"},
	}})
	return openapi.New(resource.NewCatalog(nil, items), nil)
}

// TestValues checks the schemas of decimals, durations, times and lists, and of their filters.
func TestValues(t *testing.T) {
	t.Parallel()
	d := described(t, newItems())
	fields := []struct{ field, want string }{
		{"price", `{"type":"string","format":"decimal","pattern":"^-?(0|[1-9][0-9]{0,7})(\\.[0-9]{1,2})?$",` +
			`"default":"0.00","description":"The number is at least 0. ` + "The value equals one of `0.00`, `1.50`." + `"}`},
		{"share", `{"type":["string","null"],"format":"decimal","pattern":"^-?0(\\.[0-9]{1,2})?$",` +
			`"description":"The number is at most 0.9."}`},
		{"whole", `{"type":"string","format":"decimal","pattern":"^-?(0|[1-9][0-9]{0,2})$"}`},
		{"any", `{"type":"string","format":"decimal","pattern":"^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$","examples":["12.50"]}`},
		{"ships", `{"type":"string","format":"duration"}`},
		{"opens", `{"type":"string","format":"time-local"}`},
		{"state", `{"type":"string","description":"If it is absent, the server sets it."}`},
		{"tags", `{"type":"array","items":{"type":"string","enum":["new","old"]}}`},
		{"prices", `{"type":"array","items":{"type":"string","format":"decimal",` +
			`"pattern":"^-?(0|[1-9][0-9]{0,2})(\\.[0-9]{1,1})?$"}}`},
	}
	for _, tt := range fields {
		checkJSON(t, tt.field, tt.want, d.at(d.root, "components", "schemas", "ItemCreate", "properties", tt.field))
	}
	parameters := d.parameters("/items", "GET")
	filters := []struct{ name, want string }{
		{"price", `{"type":"string","format":"decimal"}`},
		{"price.in", `{"type":"array","items":{"type":"string","format":"decimal"},"minItems":1,"maxItems":200}`},
		{"ships.lt", `{"type":"string","format":"duration"}`},
		{"tags.contains", `{"type":"string","enum":["new","old"]}`},
		{"tags.isNull", `{"type":"boolean"}`},
		{"sizes.contains", `{"type":"integer","format":"int32"}`},
		{"prices.contains", `{"type":"string","format":"decimal"}`},
		{"words.contains", `{"type":"string","minLength":1}`},
		{"words.isNull", `{"type":"boolean"}`},
	}
	for _, tt := range filters {
		checkJSON(t, tt.name, tt.want, d.at(parameters[tt.name], "schema"))
	}
}

// checkJSON compares a value of a document with JSON.
func checkJSON(t *testing.T, name, want string, got any) {
	t.Helper()
	var wanted any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
