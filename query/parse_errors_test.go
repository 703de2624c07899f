package query_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
)

const filterable = "a.gte, created, few, limit, or, paid, ship.to, status, total, version " +
	"and weight"

func TestRule021ParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, url               string
		parameter, code, detail string
	}{
		{
			"twice with different values",
			"status=paid&status=sent",
			"status",
			"duplicateParameter",
			"must not be repeated with different values",
		},
		{
			"twice in different spellings",
			"status.eq=sent&status=paid",
			"status",
			"duplicateParameter",
			"must not be repeated with different values",
		},
		{
			"comparison twice",
			"total.gte=1&total.gte=2",
			"total.gte",
			"duplicateParameter",
			"must not be repeated with different values",
		},
		{
			"same number in two spellings",
			"total=1&total=01",
			"total",
			"duplicateParameter",
			"must not be repeated with different values",
		},
		{
			"limit twice",
			"limit=1&limit=2",
			"limit",
			"duplicateParameter",
			"must not be repeated with different values",
		},
		{
			"sort twice",
			"sort=total&sort=id",
			"sort",
			"duplicateParameter",
			"must not be repeated with different values",
		},
		{
			"fields twice",
			"fields=a&fields=b",
			"fields",
			"duplicateParameter",
			"must not be repeated with different values",
		},
		{
			"filter twice",
			"filter={}&filter={%20}",
			"filter",
			"duplicateParameter",
			"must not be repeated with different values",
		},

		{
			"unknown",
			"colour=red",
			"colour",
			"unknownParameter",
			"unknown parameter; the filters of this list are " + filterable,
		},
		{
			"unknown, compared",
			"colour.gte=red",
			"colour.gte",
			"unknownParameter",
			"unknown parameter; the filters of this list are " + filterable,
		},
		{
			"unknown comparison",
			"status.like=p",
			"status.like",
			"unknownParameter",
			"unknown parameter; status can be compared with contains, startsWith, eq, ne, in, notIn, lt, lte, gt, gte and isNull",
		},
		{
			"comparisons mind their case",
			"status.EQ=p",
			"status.EQ",
			"unknownParameter",
			"unknown parameter; status can be compared with contains, startsWith, eq, ne, in, notIn, lt, lte, gt, gte and isNull",
		},
		{
			"unknown comparison of a field with a dot", "ship.to.like=p", "ship.to.like", "unknownParameter",
			"unknown parameter; ship.to can be compared with contains, startsWith, eq, ne, in, notIn, lt, lte, gt, gte and isNull",
		},
		{
			"unknown comparison without operand", "few.like=", "few.like", "unknownParameter",
			"unknown parameter; few can be compared with eq and gte",
		},
		{
			"the beginning of a field is another", "fewer=p", "fewer", "unknownParameter",
			"unknown parameter; the filters of this list are " + filterable,
		},
		{
			"unknown comparison of a field that declares none", "none.like=p", "none.like", "unknownParameter",
			"unknown parameter; the filters of this list are " + filterable,
		},
		{
			"reserved, not ignored",
			"before=x",
			"before",
			"unknownParameter",
			"unknown parameter; the filters of this list are " + filterable,
		},
		{
			"a page number", "page=2", "page", "unknownParameter",
			"unknown parameter; use limit for the number of items, and after to continue a list",
		},
		{
			"a total", "count=exact", "count", "unknownParameter",
			"unknown parameter; send Prefer: count=exact for the number of items",
		},
		{
			"an offset", "offset=1", "offset", "unknownParameter",
			"unknown parameter; use limit for the number of items, and after to continue a list",
		},
		{"a search", "q=x", "q", "unsupportedSearch",
			"search is not supported by this list; it can be filtered by " + filterable},
		{"no name", "=5", "", "unknownParameter", "unknown parameter; the filters of this list are " + filterable},
		{
			"only a comparison",
			".eq=5",
			".eq",
			"unknownParameter",
			"unknown parameter; the filters of this list are " + filterable,
		},
		{"not declared", "few.lt=5", "few.lt", "unsupportedFilter", "few can be compared with eq and gte"},
		{
			"declared without comparisons",
			"none=1",
			"none",
			"unsupportedFilter",
			`cannot filter by "none", only by ` + filterable,
		},

		{"bad value", "total=many", "total", "invalidValue", "must be a whole number"},
		{"bad value in a list", "total.in=1,,2", "total.in", "invalidValue", "must be a whole number"},
		{"no UTF-8", "status=%ff", "status", "invalidValue", "is not valid UTF-8"},
		{
			"no UTF-8 in a list",
			"status.in=a&status.in=%ff",
			"status.in",
			"invalidValue",
			"is not valid UTF-8",
		},
		{"no UTF-8 in fields", "fields=a,%ff", "fields", "invalidValue", "is not valid UTF-8"},
		{"isNull", "status.isNull=1", "status.isNull", "invalidValue", "must be true or false"},
		{"isNull without a value", "status.isNull", "status.isNull", "invalidValue", "must be true or false"},
		{
			"null by way of Value",
			"paid=unknown",
			"paid",
			"invalidValue",
			"null is not a value; use paid.isNull",
		},
		{
			"before the year 0",
			"created=0000-01-01T00:00:00%2B01:00",
			"created",
			"invalidValue",
			"must be in the years 0 to 9999, in UTC",
		},
		{
			"after the year 9999",
			"created=9999-12-31T23:59:59-00:01",
			"created",
			"invalidValue",
			"must be in the years 0 to 9999, in UTC",
		},
		{
			"escape of something",
			`status.in=a\b`,
			"status.in",
			"invalidValue",
			"a backslash must be followed by a comma or another backslash",
		},
		{
			"escape of nothing",
			`status.in=a\`,
			"status.in",
			"invalidValue",
			"a backslash must be followed by a comma or another backslash",
		},
		{
			"too many values",
			"status.in=1,2,3&status.in=4,5",
			"status.in",
			"tooMany",
			"there can be at most 4 values",
		},
		{
			"too many comparisons", "status=1&status.ne=2&few=3&few.gte=4&total=5&total.gt=6&total.lt=7",
			"total.lt", "tooMany", "there can be at most 6 comparisons",
		},

		{"limit 0", "limit=0", "limit", "invalidValue", "must be a whole number from 1 to 200"},
		{"limit below 0", "limit=-1", "limit", "invalidValue", "must be a whole number from 1 to 200"},
		{"limit too large", "limit=201", "limit", "invalidValue", "must be a whole number from 1 to 200"},
		{
			"limit far too large",
			"limit=99999999999999999999",
			"limit",
			"invalidValue",
			"must be a whole number from 1 to 200",
		},
		{
			"limit with a zero in front",
			"limit=010",
			"limit",
			"invalidValue",
			"must be a whole number from 1 to 200",
		},
		{"limit with a plus", "limit=%2B10", "limit", "invalidValue", "must be a whole number from 1 to 200"},
		{
			"limit with an underscore",
			"limit=1_0",
			"limit",
			"invalidValue",
			"must be a whole number from 1 to 200",
		},
		{"limit empty", "limit=", "limit", "invalidValue", "must be a whole number from 1 to 200"},
		{"limit no number", "limit=ten", "limit", "invalidValue", "must be a whole number from 1 to 200"},

		{"sort empty", "sort=", "sort", "invalidValue", "must name at least one field"},
		{
			"sort not declared",
			"sort=status",
			"sort",
			"unsupportedSort",
			`cannot sort by "status", only by total, -odd, ship.to and id`,
		},
		{
			"sort with an empty name",
			"sort=total,",
			"sort",
			"unsupportedSort",
			`cannot sort by "", only by total, -odd, ship.to and id`,
		},
		{
			"sort with a plus",
			"sort=+total",
			"sort",
			"unsupportedSort",
			`cannot sort by " total", only by total, -odd, ship.to and id`,
		},
		{"sort by one field twice", "sort=total,-total", "sort", "invalidValue", "names total twice"},
		{"sort by too many", "sort=a,b,c,d", "sort", "tooMany", "can have at most 3 fields"},

		{"fields empty", "fields=", "fields", "invalidValue", "must be field names separated by commas"},
		{
			"fields with an empty name",
			"fields=a,,b",
			"fields",
			"invalidValue",
			"must be field names separated by commas",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := parse(t, tt.url, orders())
			want := query.Errors{{Parameter: tt.parameter, Code: tt.code, Detail: tt.detail}}
			var faults query.Errors
			if !errors.As(err, &faults) {
				t.Fatalf("Parse(%q) = %+v, %v, want query.Errors", tt.url, got, err)
			}
			if diff := cmp.Diff(want, faults); diff != "" {
				t.Errorf("Parse(%q) (-want +got):\n%s", tt.url, diff)
			}
			if diff := cmp.Diff(query.Query{}, got); diff != "" {
				t.Errorf("Parse(%q) with an error (-want +got):\n%s", tt.url, diff)
			}
		})
	}
}

// deep nests n connectives around one comparison.
func deep(n int) string {
	text := `{"few":{"eq":1}}`
	for i := range n {
		if i%2 == 0 {
			text = `{"or":[` + text + `,{"few":{"eq":2}}]}`
		} else {
			text = `{"not":` + text + `}`
		}
	}
	return text
}

func TestRule021ParseTreeRefuses(t *testing.T) {
	t.Parallel()
	invalid := func(detail string) query.Errors { return query.Errors{{"filter", "invalidFilter", detail}} }
	one := func(code, detail string) query.Errors { return query.Errors{{"filter", code, detail}} }
	tooDeep := one("tooMany", "and, or and not can be nested at most 8 deep")
	tests := []struct {
		name, tree string
		want       query.Errors
	}{
		{"no JSON", `status=paid`, invalid("is not valid JSON, at byte 0")},
		{"unfinished", `{"status":`, invalid("is not valid JSON, at byte 10")},
		{"unfinished list", `{"status":{"in":["a"`, invalid("is not valid JSON, at byte 20")},
		{"unfinished or", `{"or":[{}`, invalid("is not valid JSON, at byte 9")},
		{"bad literal", `{"paid":{"eq":troo}}`, invalid("is not valid JSON, at byte 16")},
		{"no UTF-8", "{\"status\":{\"eq\":\"\xff\"}}", one("invalidValue", "is not valid UTF-8")},
		{"half a surrogate", `{"status":{"eq":"\ud800"}}`, invalid("is not valid JSON, at byte 17")},
		{"more than one", `{} {}`, invalid("must be a single JSON object")},
		{"trailing comma", `{},`, invalid("must be a single JSON object")},
		{"array", `[]`, invalid("a filter must be an object")},
		{"null", `null`, invalid("a filter must be an object")},
		{
			"field twice",
			`{"status":{"eq":"a"},"status":{"ne":"b"}}`,
			invalid("an object has two members of the same name"),
		},
		{
			"field twice, escaped",
			`{"status":{},"\u0073tatus":{}}`,
			invalid("an object has two members of the same name"),
		},
		{
			"comparison twice",
			`{"status":{"eq":"a","eq":"a"}}`,
			invalid("an object has two members of the same name"),
		},
		{"or twice", `{"or":[],"or":[]}`, invalid("an object has two members of the same name")},
		{
			"twice in what is skipped",
			`{"nope":{"a":1,"a":2}}`,
			append(
				one("unsupportedFilter", `cannot filter by "nope", only by `+filterable),
				invalid("an object has two members of the same name")...),
		},
		{"and of an object", `{"and":{}}`, invalid("and must be an array of filters")},
		{"or of an object", `{"or":{"status":{"eq":"a"}}}`, invalid("or must be an array of filters")},
		{"or of strings", `{"or":["a"]}`, invalid("a filter must be an object")},
		{"not of an array", `{"not":[]}`, invalid("a filter must be an object")},
		{
			"field without comparison",
			`{"status":"paid"}`,
			invalid(`status must be an object of comparisons, such as {"eq": 1}`),
		},
		{
			"field null",
			`{"status":null}`,
			invalid(`status must be an object of comparisons, such as {"eq": 1}`),
		},
		{
			"list for eq",
			`{"status":{"eq":["a"]}}`,
			invalid("status.eq must be a string, a number, true or false"),
		},
		{
			"object for eq",
			`{"status":{"eq":{}}}`,
			invalid("status.eq must be a string, a number, true or false"),
		},
		{"string for in", `{"status":{"in":"a,b"}}`, invalid("status.in must be an array")},
		{
			"list in a list",
			`{"status":{"in":[["a"]]}}`,
			invalid("status.in must be a string, a number, true or false"),
		},

		{
			"unknown field",
			`{"nope":{"eq":1}}`,
			one("unsupportedFilter", `cannot filter by "nope", only by `+filterable),
		},
		{
			"unknown field, empty",
			`{"nope":{}}`,
			one("unsupportedFilter", `cannot filter by "nope", only by `+filterable),
		},
		{
			"names with dots are fields",
			`{"total.gte":1}`,
			one("unsupportedFilter", `cannot filter by "total.gte", only by `+filterable),
		},
		{
			"unknown comparison",
			`{"few":{"like":1}}`,
			one("unsupportedFilter", "few can be compared with eq and gte"),
		},
		{
			"comparison not declared",
			`{"few":{"lt":1}}`,
			one("unsupportedFilter", "few can be compared with eq and gte"),
		},
		{
			"connective as comparison",
			`{"few":{"or":[]}}`,
			one("unsupportedFilter", "few can be compared with eq and gte"),
		},
		{
			"no comparisons declared",
			`{"none":{"eq":1}}`,
			one("unsupportedFilter", `cannot filter by "none", only by `+filterable),
		},
		{"bad value", `{"total":{"eq":1.5}}`, one("invalidValue", "total: must be a whole number")},
		{
			"null",
			`{"total":{"eq":null}}`,
			one("invalidValue", "null is not a value; use total.isNull"),
		},
		{
			"null in a list",
			`{"total":{"in":[1,null]}}`,
			one("invalidValue", "null is not a value; use total.isNull"),
		},
		{
			"isNull null",
			`{"total":{"isNull":null}}`,
			one("invalidValue", "null is not a value; use total.isNull"),
		},
		{"isNull number", `{"total":{"isNull":1}}`, one("invalidValue", "total: must be true or false")},
		{
			"too many values",
			`{"total":{"in":[1,2,3,4,5]}}`,
			one("tooMany", "total: there can be at most 4 values"),
		},
		{
			"too many comparisons", `{"or":[` + strings.Repeat(`{"few":{"eq":1}},`, 6) + `{"few":{"eq":1}}]}`,
			one("tooMany", "there can be at most 6 comparisons"),
		},
		{"too deep", deep(9), tooDeep},
		{"far too deep", strings.Repeat(`{"not":`, 5000) + `{}` + strings.Repeat(`}`, 5000), tooDeep},
		{
			"too deep although nothing remains",
			strings.Repeat(`{"and":[`, 10) + strings.Repeat(`]}`, 10),
			tooDeep,
		},
		{
			"too deep once the ands are spelled out",
			strings.Repeat(`{"few":{"gte":1},"not":`, 5) + `{"few":{"eq":2}}` + strings.Repeat(`}`, 5),
			tooDeep,
		},
		{"several", `{"few":{"lt":1,"gt":1},"total":{"eq":"x"}}`, query.Errors{
			{"filter", "unsupportedFilter", "few can be compared with eq and gte"},
			{"filter", "unsupportedFilter", "few can be compared with eq and gte"},
			{"filter", "invalidValue", "total: must be a whole number"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := query.Parse(url.Values{"filter": {tt.tree}}, orders())
			var faults query.Errors
			if !errors.As(err, &faults) {
				t.Fatalf("Parse(filter=%s): %v, want query.Errors", tt.tree, err)
			}
			if diff := cmp.Diff(tt.want, faults); diff != "" {
				t.Errorf("Parse(filter=%s) (-want +got):\n%s", tt.tree, diff)
			}
		})
	}
}

func TestParseAcceptsTheDeepestTree(t *testing.T) {
	t.Parallel()
	if _, err := query.Parse(url.Values{"filter": {deep(8)}}, orders()); err != nil {
		t.Errorf("Parse: %v", err)
	}
}

// TestParseCountsTermsOfParametersAndTree: comparisons in parameters and in the tree are counted
// together.
func TestParseCountsTermsOfParametersAndTree(t *testing.T) {
	t.Parallel()
	_, err := parse(
		t,
		`few=1&few.gte=1&total=1&filter={"or":[{"few":{"eq":1}},{"few":{"eq":2}},{"few":{"eq":3}},{"few":{"eq":4}}]}`,
		orders(),
	)
	want := query.Errors{{"filter", "tooMany", "there can be at most 6 comparisons"}}
	if diff := cmp.Diff(error(want), err); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

func TestParseFindsAllFaults(t *testing.T) {
	t.Parallel()
	_, err := parse(t, `zzz=1&total=x&sort=nope,-nix&limit=0&filter=[]&few.lt=1&fields=`, orders())
	sorts := ", only by total, -odd, ship.to and id"
	want := query.Errors{
		{"few.lt", "unsupportedFilter", "few can be compared with eq and gte"},
		{"fields", "invalidValue", "must be field names separated by commas"},
		{"filter", "invalidFilter", "a filter must be an object"},
		{"limit", "invalidValue", "must be a whole number from 1 to 200"},
		{"sort", "unsupportedSort", `cannot sort by "nope"` + sorts},
		{"sort", "unsupportedSort", `cannot sort by "nix"` + sorts},
		{"total", "invalidValue", "must be a whole number"},
		{"zzz", "unknownParameter", "unknown parameter; the filters of this list are " + filterable},
	}
	if diff := cmp.Diff(error(want), err); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

func TestParseBoundsItsFaults(t *testing.T) {
	t.Parallel()
	values := make(url.Values)
	for i := range 5000 {
		values.Set(fmt.Sprintf("unknown%04d", i), "1")
	}
	_, err := query.Parse(values, nil)
	var faults query.Errors
	if !errors.As(err, &faults) || len(faults) != 20 {
		t.Fatalf("Parse returned %d errors, want 20", len(faults))
	}
	if got := faults[19].Parameter; got != "unknown0019" {
		t.Errorf("the last error is of %s, want the first names", got)
	}
}

// TestLenientStillRefuses: Lenient ignores unknown parameters, not unsupported queries.
func TestLenientStillRefuses(t *testing.T) {
	t.Parallel()
	opts := orders()
	opts.Lenient = true
	for _, text := range []string{"few.lt=1", "total=x", "sort=nope", `filter={"nope":{"eq":1}}`, "limit=0"} {
		if q, err := parse(t, text, opts); err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", text, q)
		}
	}
}

func TestParseNatural(t *testing.T) {
	t.Parallel()
	opts := &query.ParseOptions{Support: query.Support{Natural: true}}
	_, err := parse(t, "sort=id", opts)
	want := query.Errors{{"sort", "unsupportedSort", "sort is not supported: this list has a fixed order"}}
	if diff := cmp.Diff(error(want), err); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}
