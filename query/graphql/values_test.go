package graphql_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// newProducts serves two products.
func newProducts(t *testing.T) *graphql.Handler {
	// product has a field of each kind of values.
	type product struct {
		ID     int64    `json:"id" readOnly:"true"`
		Title  string   `json:"title"`
		Price  string   `json:"price" format:"decimal" precision:"10,2" default:"0.00"`
		Cost   string   `json:"cost,omitempty" format:"decimal"`
		Ships  *string  `json:"ships" format:"duration"`
		From   *string  `json:"from" format:"date"`
		Weight *float32 `json:"weight"`
		Tags   []string `json:"tags" enum:"new,office"`
		Names  []string `json:"names"`
		Sizes  *[]int32 `json:"sizes"`
		Prices []string `json:"prices" format:"decimal"`
		Serial uint64   `json:"serial,omitzero"`
		Stock  int64    `json:"stock,omitzero"`
	}
	t.Helper()
	ordered := []query.Op{query.Eq, query.Ne, query.In, query.NotIn, query.Lt, query.Lte, query.Gt, query.Gte}
	nullable := append(ordered[:len(ordered):len(ordered)], query.IsNull)
	store := memory.New[product](nil)
	day, hours, single := "P1D", "PT23H", float32(0.1)
	for _, p := range []product{
		{Title: "Pen", Price: "9.50", Cost: "1", Ships: &day, Weight: &single, Tags: []string{"new", "office"},
			Prices: []string{"9.50", "8"}, Serial: 1<<64 - 1},
		{Title: "Lamp", Price: "10", Ships: &hours, Tags: []string{"office"}, Names: []string{"a", "b"},
			Sizes: &[]int32{160}},
	} {
		if _, err := store.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	list := []query.Op{query.Contains}
	products := resource.New("products", store, &resource.Options[product]{Public: true, Query: query.Support{
		Filter: map[string][]query.Op{"price": ordered, "cost": nullable, "ships": nullable, "weight": nullable,
			"serial": ordered, "stock": ordered,
			"tags": list, "names": list, "sizes": append(list, query.IsNull), "prices": list},
		Sort: []string{"price", "ships"},
	}})
	return graphql.New(resource.NewCatalog(nil, products), nil)
}

func TestValues(t *testing.T) {
	t.Parallel()
	h := newProducts(t)
	tests := []struct {
		name, document, variables string
		want                      string // of the data or, if it begins with a letter, the first error
	}{
		{"a decimal as a string", `{products(filter:{price:{gt:"9.6"}}){nodes{price}}}`, "",
			`{"products":{"nodes":[{"price":"10"}]}}`},
		{"a decimal as a number", `{products(filter:{price:{eq:9.500}}){nodes{price}}}`, "",
			`{"products":{"nodes":[{"price":"9.50"}]}}`},
		{"variables", `query($p:[Decimal!],$d:String){` +
			`products(filter:{price:{in:$p},ships:{gte:$d}}){nodes{price}}}`,
			`{"p":["9.5",10.0],"d":"PT24H"}`, `{"products":{"nodes":[{"price":"9.50"}]}}`},
		{"order", `{products(orderBy:{field:price}){nodes{price}}}`, "",
			`{"products":{"nodes":[{"price":"9.50"},{"price":"10"}]}}`},
		{"order by duration", `{products(orderBy:{field:ships}){nodes{ships}}}`, "",
			`{"products":{"nodes":[{"ships":"PT23H"},{"ships":"P1D"}]}}`},
		{"an absent decimal is null", `{products(filter:{cost:{isNull:true}}){nodes{title cost}}}`, "",
			`{"products":{"nodes":[{"title":"Lamp","cost":null}]}}`},
		{"a float32", `{products(filter:{weight:{eq:0.1}}){nodes{weight}}}`, "",
			`{"products":{"nodes":[{"weight":0.1}]}}`},
		{"an enum in a list", `{products(filter:{tags:{contains:new}}){nodes{title tags}}}`, "",
			`{"products":{"nodes":[{"title":"Pen","tags":["new","office"]}]}}`},
		{"a text in a list", `{products(filter:{names:{contains:"b"}}){nodes{title}}}`, "",
			`{"products":{"nodes":[{"title":"Lamp"}]}}`},
		{"a part of a text in a list", `{products(filter:{names:{contains:""}}){nodes{title}}}`, "",
			`{"products":{"nodes":[]}}`},
		{"a number in a list", `{products(filter:{sizes:{contains:160}}){nodes{title}}}`, "",
			`{"products":{"nodes":[{"title":"Lamp"}]}}`},
		{"a null list", `{products(filter:{sizes:{isNull:true}}){nodes{title}}}`, "",
			`{"products":{"nodes":[{"title":"Pen"}]}}`},
		{"a decimal in a list", `{products(filter:{prices:{contains:8.0}}){nodes{prices}}}`, "",
			`{"products":{"nodes":[{"prices":["9.50","8"]}]}}`},
		{"a write", `mutation{createProduct(input:{title:"Desk",price:19.90,ships:"P2W"}){price ships}}`, "",
			`{"createProduct":{"price":"19.90","ships":"P2W"}}`},
		{"a default", `mutation{createProduct(input:{title:"Desk"}){price}}`, "",
			`{"createProduct":{"price":"0.00"}}`},
		{"an integer above the signed ones", `{products(filter:{serial:{gt:9223372036854775807}}){nodes{serial}}}`, "",
			`{"products":{"nodes":[{"serial":18446744073709551615}]}}`},
		{"it is sent back", `mutation($n:Int64!){createProduct(input:{title:"Desk",serial:$n}){serial}}`,
			`{"n":18446744073709551615}`, `{"createProduct":{"serial":18446744073709551615}}`},
		{"it is in a list", `query($n:[Int64!]){products(filter:{serial:{in:$n}}){nodes{title}}}`,
			`{"n":[1,18446744073709551615]}`, `{"products":{"nodes":[{"title":"Pen"},{"title":"Desk"}]}}`},
		{"it is not signed", `mutation{createProduct(input:{title:"Desk",stock:9223372036854775808}){stock}}`, "",
			`input.stock must be between -9223372036854775808 and 9223372036854775807`},
		{"it cannot be compared", `{products(filter:{stock:{lt:9223372036854775808}}){nodes{id}}}`, "",
			`filter.stock.lt: is out of range`},
		{"an integer above all", `mutation{createProduct(input:{title:"Desk",serial:18446744073709551616}){serial}}`, "",
			`Int64 cannot represent non 64-bit signed integer value: 18446744073709551616`},
		{"not a decimal", `{products(filter:{price:{gt:"9,5"}}){nodes{id}}}`, "",
			`Decimal cannot represent value: "9,5"`},
		{"not a duration", `{products(filter:{ships:{gt:"1d"}}){nodes{id}}}`, "",
			`filter.ships.gt: must be a duration as in ISO 8601, such as P1DT2H30M or PT-1.5S`},
		{"too many digits", `mutation{createProduct(input:{title:"Desk",price:"1.999"}){price}}`, "",
			`price must have at most 8 digits before the decimal point and at most 2 after it`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := graphql.Request{Query: tt.document}
			if tt.variables != "" {
				req.Variables = json.RawMessage(tt.variables)
			}
			got, err := json.Marshal(h.Execute(t.Context(), req))
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(tt.want, "{") {
				if diff := cmp.Diff(`{"data":`+tt.want+`}`, string(got)); diff != "" {
					t.Errorf("response (-want +got):\n%s", diff)
				}
			} else if want, _ := json.Marshal(tt.want); !strings.Contains(string(got), strings.Trim(string(want), `"`)) {
				t.Errorf("response %s, want the error %s", got, want)
			}
		})
	}
}

func TestSDLOfValues(t *testing.T) {
	t.Parallel()
	sdl := newProducts(t).SDL()
	for _, part := range []string{
		"scalar Decimal\n",
		"  price: Decimal!\n", "  cost: Decimal\n", "  price: Decimal = \"0.00\"\n", "  prices: [Decimal!]!\n",
		"  price: DecimalFilter\n", "  cost: NullableDecimalFilter\n", "  ships: NullableDurationFilter\n",
		"  tags: ProductTagsFilter\n", "  names: StringListFilter\n", "  sizes: NullableIntListFilter\n",
		"  prices: DecimalListFilter\n",
		"input NullableIntListFilter {\n  \"\"\"An element equals this value.\"\"\"\n  contains: Int\n",
		"input ProductTagsFilter {\n  \"\"\"An element equals this value.\"\"\"\n  contains: ProductTags\n}",
		"input NullableDurationFilter {\n  \"\"\"Equal to this value.\"\"\"\n  eq: String\n",
	} {
		if !strings.Contains(sdl, part) {
			t.Errorf("the schema lacks %q", part)
		}
	}
	for _, part := range []string{"names: StringFilter", "startsWith"} {
		if strings.Contains(sdl, part) {
			t.Errorf("the schema has %q", part)
		}
	}
}
