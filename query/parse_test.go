package query_test

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
)

// orders returns the options of these tests.
func orders() *query.ParseOptions {
	all := []query.Op{
		query.Eq, query.Ne, query.In, query.NotIn, query.Lt, query.Lte, query.Gt, query.Gte, query.IsNull,
	}
	text := append([]query.Op{query.Contains, query.StartsWith}, all...)
	return &query.ParseOptions{
		Support: query.Support{
			Filter: map[string][]query.Op{
				"status":  text,
				"total":   all,
				"weight":  all,
				"created": all,
				"paid":    all,
				"limit":   all,
				"version": all,
				"a.gte":   all,
				"ship.to": text,
				"or":      all,
				"few":     {query.Eq, query.Gte},
				"none":    {},
			},
			Sort: []string{"total", "-odd", "ship.to"},
		},
		Value:     orderValue,
		MaxTerms:  6,
		MaxValues: 4,
		MaxSort:   3,
		Ignore:    []string{"after", "version"},
	}
}

// orderValue parses values of an order; fields without a case are strings.
func orderValue(field, text string) (any, error) {
	switch field {
	case "total":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, errors.New("must be a whole number")
		}
		return n, nil
	case "weight":
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, errors.New("must be a number")
		}
		return f, nil
	case "created":
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return nil, errors.New("must be a date and time")
		}
		return at, nil
	case "paid":
		if text == "unknown" {
			return nil, nil
		}
		return text == "true", nil
	}
	return text, nil
}

func parse(t *testing.T, text string, opts *query.ParseOptions) (query.Query, error) {
	t.Helper()
	values, err := url.ParseQuery(text)
	if err != nil {
		t.Fatalf("ParseQuery(%q): %v", text, err)
	}
	return query.Parse(values, opts)
}

func term(field string, op query.Op, value any) query.Filter {
	return query.Filter{Op: op, Field: field, Value: value}
}

func TestRule021ParseConditions(t *testing.T) {
	t.Parallel()
	paid := term("status", query.Eq, "paid")
	tests := []struct {
		name, url string
		want      query.Filter
	}{
		{"nothing", "", query.Filter{}},
		{"equal", "status=paid", paid},
		{"equal, by name", "status.eq=paid", paid},
		{"equal to the empty string", "status=", term("status", query.Eq, "")},
		{"text is not trimmed", "status=%20paid+", term("status", query.Eq, " paid ")},
		{"comparison", "total.gte=100", term("total", query.Gte, int64(100))},
		{
			"typed",
			"weight.lt=1e3&paid=true",
			and(term("paid", query.Eq, true), term("weight", query.Lt, 1000.0)),
		},
		{
			"time, in UTC", "created.gt=2026-01-01T01:00:00%2B01:00",
			term("created", query.Gt, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
		},
		{"contains", "status.contains=ai", term("status", query.Contains, "ai")},
		{"isNull", "total.isNull=true", term("total", query.IsNull, true)},
		{"isNull false", "total.isNull=false", term("total", query.IsNull, false)},
		{
			"in the order of names",
			"total=1&status=paid&status.ne=sent",
			and(paid, term("status", query.Ne, "sent"), term("total", query.Eq, int64(1))),
		},
		{"in", "status.in=paid,sent", term("status", query.In, []any{"paid", "sent"})},
		{"in, typed", "total.notIn=1,2", term("total", query.NotIn, []any{int64(1), int64(2)})},
		{"in of one", "status.in=paid", term("status", query.In, []any{"paid"})},
		{"in of the empty string", "status.in=", term("status", query.In, []any{""})},
		{"in of empty strings", "status.in=,", term("status", query.In, []any{"", ""})},
		{"in with escapes", `status.in=a\,b,c\\,d`, term("status", query.In, []any{"a,b", `c\`, "d"})},
		{
			"in, repeated",
			"status.in=c,a&status.in=b&status.in=a",
			term("status", query.In, []any{"c", "a", "b", "a"}),
		},
		{"misplaced backslash", `status=a\,b`, term("status", query.Eq, `a\,b`)},
		{"twice the same", "status=paid&status=paid&status.eq=paid", paid},
		{"field with a dot", "ship.to=Ulm", term("ship.to", query.Eq, "Ulm")},
		{"field with a dot, compared", "ship.to.startsWith=U", term("ship.to", query.StartsWith, "U")},
		{"field that ends like a comparison", "a.gte.eq=1", term("a.gte", query.Eq, "1")},
		{"field called limit", "limit.eq=5", term("limit", query.Eq, "5")},
		{"field with an ignored name", "version=9&version.eq=1", term("version", query.Eq, "1")},
		{"field called or", "or=5", term("or", query.Eq, "5")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := parse(t, tt.url, orders())
			if err != nil {
				t.Fatalf("Parse(%q): %v", tt.url, err)
			}
			if diff := cmp.Diff(query.Query{Filter: tt.want, Limit: 50}, got); diff != "" {
				t.Errorf("Parse(%q) (-want +got):\n%s", tt.url, diff)
			}
		})
	}
}

func TestRule021ParseTree(t *testing.T) {
	t.Parallel()
	paid, sent := term("status", query.Eq, "paid"), term("status", query.Eq, "sent")
	gte, lt := term("total", query.Gte, int64(100)), term("total", query.Lt, int64(200))
	tests := []struct {
		name, tree string
		want       query.Filter
	}{
		{"empty", `{}`, query.Filter{}},
		{"field without comparisons", `{"status":{}}`, query.Filter{}},
		{"comparison", `{"status":{"eq":"paid"}}`, paid},
		{"comparisons of one field", `{"total":{"gte":100,"lt":200}}`, and(gte, lt)},
		{"members, sorted at the top", `{"total":{"gte":100},"status":{"eq":"paid"}}`, and(paid, gte)},
		{
			"members, as written below",
			`{"or":[{"total":{"gte":100},"status":{"eq":"paid"}},{"status":{"eq":"sent"}}]}`,
			or(and(gte, paid), sent),
		},
		{"or with nothing", `{"or":[{"status":{"eq":"paid"}},{"not":{}}]}`, paid},
		{"or", `{"or":[{"status":{"eq":"sent"}},{"status":{"eq":"paid"}}]}`, or(sent, paid)},
		{"or of nothing", `{"or":[]}`, nothing},
		{"or of everything", `{"or":[{},{"status":{"eq":"paid"}}]}`, query.Filter{}},
		{"and", `{"and":[{"status":{"eq":"paid"}},{"status":{"eq":"sent"}}]}`, and(paid, sent)},
		{"and of nothing", `{"and":[]}`, query.Filter{}},
		{"not", `{"not":{"status":{"eq":"paid"}}}`, not(paid)},
		{"not not", `{"not":{"not":{"status":{"eq":"paid"}}}}`, paid},
		{"not everything", `{"not":{}}`, nothing},
		{
			"all together",
			`{"or":[{"status":{"eq":"paid"}},{"total":{"lt":200}}],"not":{"status":{"eq":"sent"}},"total":{"gte":100}}`,
			and(gte, or(paid, lt), not(sent)),
		},
		{"text of a number", `{"total":{"gte":"100"}}`, gte},
		{"whole number with a fraction", `{"total":{"gte":100.0}}`, gte},
		{"whole number with an exponent", `{"total":{"in":[1e2,1.0E2]}}`, term("total", query.In, []any{int64(100), int64(100)})},
		{"no filter", ``, query.Filter{}},
		{"number of a text", `{"status":{"eq":1.50}}`, term("status", query.Eq, "1.50")},
		{"bool", `{"paid":{"eq":true}}`, term("paid", query.Eq, true)},
		{"isNull", `{"total":{"isNull":false}}`, term("total", query.IsNull, false)},
		{"in", `{"total":{"in":[3,"1"]}}`, term("total", query.In, []any{int64(3), int64(1)})},
		{"in of nothing", `{"status":{"in":[]}}`, term("status", query.In, []any{})},
		{"a comma needs no escape", `{"status":{"in":["a,b\\"]}}`, term("status", query.In, []any{`a,b\`})},
		{"escapes of JSON", `{"st\u0061tus":{"eq":"\u0070aid"}}`, paid},
		{"space", " {\n\"status\" : { \"eq\" : \"paid\" } } ", paid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := query.Parse(url.Values{"filter": {tt.tree}}, orders())
			if err != nil {
				t.Fatalf("Parse(filter=%s): %v", tt.tree, err)
			}
			if diff := cmp.Diff(query.Query{Filter: tt.want, Limit: 50}, got); diff != "" {
				t.Errorf("Parse(filter=%s) (-want +got):\n%s", tt.tree, diff)
			}
		})
	}
}

func TestParseJoinsParametersAndTree(t *testing.T) {
	t.Parallel()
	got, err := parse(t,
		`total.gte=100&filter={"or":[{"few":{"eq":1}},{"few":{"eq":2}}],"status":{"eq":"paid"}}`, orders())
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	want := and(term("status", query.Eq, "paid"), term("total", query.Gte, int64(100)),
		or(term("few", query.Eq, "1"), term("few", query.Eq, "2")))
	if diff := cmp.Diff(want, got.Filter); diff != "" {
		t.Errorf("filter (-want +got):\n%s", diff)
	}
}

func TestParseTheRest(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, url string
		opts      *query.ParseOptions
		want      query.Query
	}{
		{"defaults", "", nil, query.Query{Limit: 50}},
		{"limit", "limit=200", nil, query.Query{Limit: 200}},
		{"limit given twice", "limit=7&limit=7", nil, query.Query{Limit: 7}},
		{"other default", "", &query.ParseOptions{DefaultLimit: 9}, query.Query{Limit: 9}},
		{"default above the maximum", "", &query.ParseOptions{MaxLimit: 10}, query.Query{Limit: 10}},
		{
			"negative options are defaults",
			"",
			&query.ParseOptions{DefaultLimit: -1, MaxLimit: -1},
			query.Query{Limit: 50},
		},
		{"larger maximum", "limit=1000", &query.ParseOptions{MaxLimit: 1000}, query.Query{Limit: 1000}},
		{
			"sort by id",
			"sort=-id",
			nil,
			query.Query{Limit: 50, Sort: []query.Order{{Field: "id", Desc: true}}},
		},
		{
			"sort by another id",
			"sort=key",
			&query.ParseOptions{ID: "key"},
			query.Query{Limit: 50, Sort: []query.Order{{Field: "key"}}},
		},
		{
			"sort by several",
			"sort=-total,ship.to,id",
			orders(),
			query.Query{
				Limit: 50,
				Sort:  []query.Order{{Field: "total", Desc: true}, {Field: "ship.to"}, {Field: "id"}},
			},
		},
		{
			"field with a minus",
			"sort=--odd",
			orders(),
			query.Query{Limit: 50, Sort: []query.Order{{Field: "-odd", Desc: true}}},
		},
		{"fields", "fields=id,total", nil, query.Query{Limit: 50, Fields: []string{"id", "total"}}},
		{"fields twice", "fields=b,a,b", nil, query.Query{Limit: 50, Fields: []string{"b", "a"}}},
		{"ignored", "after=x&version=1&version=2", orders(), query.Query{Limit: 50}},
		{"lenient", "utm=1&nope.gte=2&after=x", &query.ParseOptions{Lenient: true}, query.Query{Limit: 50}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := parse(t, tt.url, tt.opts)
			if err != nil {
				t.Fatalf("Parse(%q): %v", tt.url, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Parse(%q) (-want +got):\n%s", tt.url, diff)
			}
		})
	}
}

func TestParseKeepsStringsWithoutValue(t *testing.T) {
	t.Parallel()
	opts := orders()
	opts.Value = nil
	got, err := parse(t, `total=007&paid=true&filter={"weight":{"in":[1.50,true,"a"]}}`, opts)
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	want := and(term("paid", query.Eq, "true"), term("total", query.Eq, "007"),
		term("weight", query.In, []any{"1.50", "true", "a"}))
	if diff := cmp.Diff(want, got.Filter); diff != "" {
		t.Errorf("filter (-want +got):\n%s", diff)
	}
}

// TestParseDoesNotTypeParts: Value is not called for Contains and StartsWith.
func TestParseDoesNotTypeParts(t *testing.T) {
	t.Parallel()
	opts := orders()
	opts.Value = func(field, text string) (any, error) { return nil, fmt.Errorf("asked for %s %s", field, text) }
	want := and(term("status", query.Contains, "pa"), term("status", query.IsNull, false),
		term("status", query.StartsWith, "p"))
	for _, text := range []string{
		"status.contains=pa&status.startsWith=p&status.isNull=false",
		`filter={"status":{"contains":"pa","startsWith":"p","isNull":false}}`,
	} {
		got, err := parse(t, text, opts)
		if err != nil {
			t.Errorf("Parse(%q): %v", text, err)
		}
		if diff := cmp.Diff(want, got.Filter); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", text, diff)
		}
	}
}

func TestParseMakesValuesCanonical(t *testing.T) {
	t.Parallel()
	opts := orders()
	opts.Value = func(_, text string) (any, error) { n, err := strconv.Atoi(text); return uint16(n), err }
	got, err := parse(t, "few=5", opts)
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	if diff := cmp.Diff(term("few", query.Eq, int64(5)), got.Filter); diff != "" {
		t.Errorf("filter (-want +got):\n%s", diff)
	}
}

func TestParseLeavesItsParametersAlone(t *testing.T) {
	t.Parallel()
	values := url.Values{"after": {"x"}, "status": {"paid"}}
	if _, err := query.Parse(values, orders()); err != nil {
		t.Fatalf("Parse: %v", err)
	}
	if diff := cmp.Diff(url.Values{"after": {"x"}, "status": {"paid"}}, values); diff != "" {
		t.Errorf("parameters after Parse (-want +got):\n%s", diff)
	}
}
