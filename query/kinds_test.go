package query_test

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
)

// products are the options of a list with decimals, durations and lists.
func products() *query.ParseOptions {
	all := []query.Op{query.Eq, query.Ne, query.In, query.Lt, query.Gt, query.IsNull}
	list := []query.Op{query.Contains, query.IsNull}
	return &query.ParseOptions{
		Support: query.Support{
			Filter: map[string][]query.Op{
				"price": all, "length": all, "tags": list, "prices": list, "name": {query.Contains},
			},
			Sort: []string{"price", "length"},
		},
		Value: func(field, text string) (any, error) {
			switch field {
			case "price", "prices":
				return query.ParseDecimal(text)
			case "length":
				return query.ParseDuration(text)
			}
			return text, nil
		},
		IsList: func(field string) bool { return field == "tags" || field == "prices" },
	}
}

func TestParseKinds(t *testing.T) {
	t.Parallel()
	where := query.Where
	tests := []struct {
		text string
		want query.Filter
	}{
		{"price.gt=9.50", where("price", query.Gt, decimal("9.5"))},
		{"price.in=1,2.0", where("price", query.In, []any{decimal("1"), decimal("2")})},
		{"length.lt=P1DT2H", where("length", query.Lt, duration("P1DT2H"))},
		{"tags.contains=a,b", where("tags", query.Contains, "a,b")}, // one element
		{"tags.isNull=true", where("tags", query.IsNull, true)},
		{"prices.contains=2.0", where("prices", query.Contains, decimal("2"))},
		{"name.contains=2.0", where("name", query.Contains, "2.0")},
		{`filter={"price":{"gt":9.50}}`, where("price", query.Gt, decimal("9.5"))},
		{`filter={"price":{"gt":"9.50"}}`, where("price", query.Gt, decimal("9.5"))},
		{`filter={"price":{"eq":1e20}}`, where("price", query.Eq, decimal("100000000000000000000"))},
		{`filter={"price":{"eq":0.1000000000000000000001}}`,
			where("price", query.Eq, decimal("0.1000000000000000000001"))},
		{`filter={"length":{"eq":"PT36H"}}`, where("length", query.Eq, duration("PT36H"))},
		{`filter={"tags":{"contains":""}}`, where("tags", query.Contains, "")},
		{"name.contains=", where("name", query.Contains, "")},
		{`filter={"prices":{"contains":2}}`, where("prices", query.Contains, decimal("2"))},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			q, err := parse(t, tt.text, products())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, q.Filter); diff != "" {
				t.Errorf("filter (-want +got):\n%s", diff)
			}
			again, err := parse(t, q.Values().Encode(), products())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(q, again); diff != "" {
				t.Errorf("query of Values (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseKindsRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"price.gt=9,5", "price.gt: must be a decimal number, such as 12.5"},
		{"price.contains=9", "price.contains: price can be compared with eq, ne, in, lt, gt and isNull"},
		{"prices.contains=x", "prices.contains: must be a decimal number, such as 12.5"},
		{"length.lt=1d", "length.lt: must be a duration as in ISO 8601, such as P1DT2H30M or PT-1.5S"},
		{"tags=a", "tags: tags can be compared with contains and isNull"},
		{"tags.contains=a&tags.contains=b", "tags.contains: must not be repeated with different values"},
		{"tags.contains=", "tags.contains: must be an element; leave the parameter out for all items"},
		{"prices.contains=", "prices.contains: must be a decimal number, such as 12.5"},
		{"sort=tags", `sort: cannot sort by "tags", only by price, length and id`},
		{`filter={"tags":{"contains":["a"]}}`, "filter: tags.contains must be a string, a number, true or false"},
		{`filter={"price":{"eq":1e1001}}`, "filter: price: must be a decimal number, such as 12.5"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			if _, err := parse(t, tt.text, products()); err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func FuzzParseKinds(f *testing.F) {
	for _, text := range []string{
		"price.gt=9.50", "price.in=1,2.0", "length.lt=P1DT2H", "tags.contains=a", "prices.contains=2.0",
		`filter={"price":{"gt":9.50}}`, `filter={"not":{"length":{"eq":"PT36H"}}}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		values, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		q, err := query.Parse(values, products())
		if err != nil {
			return
		}
		again, err := parse(t, q.Values().Encode(), products())
		if err != nil {
			t.Fatalf("%q of %q: %v", q.Values().Encode(), text, err)
		}
		if diff := cmp.Diff(q, again); diff != "" {
			t.Errorf("query of Values (-want +got):\n%s", diff)
		}
	})
}
