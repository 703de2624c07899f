package graphql_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// newSales serves five sales with groups, by GraphQL and by REST.
func newSales(t *testing.T) (sales *graphql.Handler, items http.Handler) {
	t.Helper()
	// sale has a field of each kind of keys and values.
	type sale struct {
		ID     int64     `json:"id" readOnly:"true"`
		Status string    `json:"status" enum:"open,paid"`
		Region *string   `json:"region"`
		Total  string    `json:"total" format:"decimal"`
		Qty    int64     `json:"qty"`
		Weight float64   `json:"weight"`
		Rush   bool      `json:"rush"`
		Made   time.Time `json:"made"`
		Code   string    `json:"code" writeOnly:"true"`
	}
	numbers := query.Funcs()[1:]
	store := memory.New[sale](nil)
	north, made := "north", time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for i, v := range []sale{
		{Status: "paid", Region: &north, Total: "10.50", Qty: 1 << 62, Weight: 0.5},
		{Status: "paid", Total: "2", Qty: 1 << 62, Weight: 0.25, Rush: true},
		{Status: "paid", Region: &north, Total: "0.1", Qty: 3},
		{Status: "open", Region: &north, Total: "7", Qty: 5},
		{Status: "open", Total: "7", Qty: 6},
	} {
		v.Made = made.Add(time.Duration(i) * time.Hour)
		if _, err := store.Create(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
	r := resource.New("sales", store, &resource.Options[sale]{Public: true, MaxPageSize: 20, Query: query.Support{
		Filter: map[string][]query.Op{"status": {query.Eq}, "qty": {query.Gt}},
		Group:  []string{"status", "region", "rush"},
		Aggregate: map[string][]query.Func{"total": numbers, "qty": numbers, "weight": {query.Sum, query.Avg},
			"made": {query.Min, query.Max}, "status": {query.Min, query.Distinct}},
	}})
	catalog := resource.NewCatalog(&resource.CatalogOptions{Limits: resource.Limits{Terms: 3}}, r)
	return graphql.New(catalog, nil), rest.New(catalog, nil)
}

// salesAnswer returns the data of a document or, if there is none, the first error with its violations.
func salesAnswer(t *testing.T, h http.Handler, document string) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET",
		"/graphql?query="+url.QueryEscape(document), nil))
	var answer struct {
		Data   map[string]json.RawMessage
		Errors []struct {
			Message    string
			Extensions struct {
				Errors []struct{ Argument, Code, Detail string }
			}
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	if len(answer.Errors) > 0 {
		first := answer.Errors[0]
		for _, e := range first.Extensions.Errors {
			return e.Argument + ": " + e.Code + ": " + e.Detail
		}
		return first.Message
	}
	return string(answer.Data["salesAggregate"])
}

func TestAggregate(t *testing.T) {
	t.Parallel()
	h, _ := newSales(t)
	tests := []struct{ name, document, want string }{
		{"all functions", `{salesAggregate(groupBy:[status],filter:{status:{eq:paid}}){nodes{
			status count distinct{qty status} sum{total qty weight} avg{total qty}}}}`,
			`{"nodes":[{"status":"paid","count":3,"distinct":{"qty":2,"status":1},` +
				`"sum":{"total":"12.6","qty":"9223372036854775811","weight":0.75},` +
				`"avg":{"total":"4.2","qty":"3074457345618258603.666666666667"}}]}`},
		{"extremes", `{salesAggregate(filter:{status:{eq:paid}}){edges{node{avg{weight} min{made total status}
			max{made qty}}}}}`,
			`{"edges":[{"node":{"avg":{"weight":0.25},` +
				`"min":{"made":"2026-11-26T12:00:00Z","total":"0.1","status":"paid"},` +
				`"max":{"made":"2026-11-26T14:00:00Z","qty":4611686018427387904}}}]}`},
		{"null and booleans", `{salesAggregate(groupBy:[region,rush]){nodes{region rush status}}}`,
			`{"nodes":[{"region":null,"rush":false,"status":null},{"region":null,"rush":true,"status":null},` +
				`{"region":"north","rush":false,"status":null}]}`},
		{"one group", `{salesAggregate(filter:{qty:{gt:5000000000000000000}}){nodes{count sum{total}}}}`,
			`{"nodes":[{"count":0,"sum":{"total":null}}]}`},
		{"no values", `{salesAggregate{nodes{__typename} pageInfo{hasNextPage}}}`,
			`{"nodes":[{"__typename":"SaleGroup"}],"pageInfo":{"hasNextPage":false}}`},
		{"having and order", `{salesAggregate(groupBy:status,having:{sum:{total:{gt:12.61}},not:{count:{eq:3}}},
			orderBy:[{field:sum_total,direction:DESC}]){nodes{status}}}`, `{"nodes":[{"status":"open"}]}`},
		{"order by a number", `{salesAggregate(groupBy:region,orderBy:[{field:count,direction:DESC}]){nodes{region}}}`,
			`{"nodes":[{"region":"north"},{"region":null}]}`},
		{"aliases and skipped fields", `query($no:Boolean=false){salesAggregate(groupBy:status){nodes{
			s:sum{t:total again:total} avg @include(if:$no){qty}}}}`,
			`{"nodes":[{"s":{"t":"14","again":"14"}},{"s":{"t":"12.6","again":"12.6"}}]}`},
		{"nothing", `{salesAggregate(groupBy:status,first:0){nodes{status} pageInfo{hasNextPage endCursor}}}`,
			`{"nodes":[],"pageInfo":{"hasNextPage":true,"endCursor":null}}`},
		{"twice", `{salesAggregate(groupBy:[status,status]){nodes{count}}}`, "groupBy: invalidValue: names status twice"},
		{"order by another field", `{salesAggregate(groupBy:status,orderBy:{field:region}){nodes{count}}}`,
			`orderBy: unsupportedSort: cannot sort by "region", only by status and count`},
		{"too many values", `{salesAggregate{nodes{sum{total qty weight} avg{total qty weight} min{made total status}}}}`,
			"min: tooMany: there can be at most 8 aggregates"},
		{"too many comparisons", `{salesAggregate(filter:{qty:{gt:1},status:{eq:open}},having:{count:{gt:1,lt:3}}){
			nodes{count}}}`, "having.count: tooMany: there can be at most 3 comparisons"},
		{"page too large", `{salesAggregate(first:21){nodes{count}}}`, "first: range: must be a number from 0 to 20"},
		{"another cursor", `{salesAggregate(after:"x"){nodes{count}}}`, "after: invalidCursor: "},
		{"a field that is hidden", `{salesAggregate{nodes{min{code}}}}`, "Cannot query field"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := salesAnswer(t, h, tt.document)
			if strings.HasPrefix(tt.want, "{") && got != tt.want || !strings.HasPrefix(got, tt.want) {
				t.Errorf("answer (-want +got):\n%s", cmp.Diff(tt.want, got))
			}
		})
	}
}

// The pages together are all groups, from each cursor.
func TestAggregatePages(t *testing.T) {
	t.Parallel()
	h, _ := newSales(t)
	var got []string
	after := ""
	for range 10 {
		answer := salesAnswer(t, h, `{salesAggregate(groupBy:[status,region],first:1`+after+
			`,orderBy:{field:max_qty}){edges{cursor node{max{qty}}} pageInfo{hasNextPage endCursor}}}`)
		var page struct {
			Edges []struct {
				Cursor string
				Node   struct{ Max struct{ Qty json.Number } }
			}
			PageInfo struct {
				HasNextPage bool
				EndCursor   string
			}
		}
		if err := json.Unmarshal([]byte(answer), &page); err != nil || len(page.Edges) != 1 {
			t.Fatalf("%v: %s", err, answer)
		}
		got = append(got, page.Edges[0].Node.Max.Qty.String())
		if page.PageInfo.EndCursor != page.Edges[0].Cursor {
			t.Errorf("endCursor is %q, want the cursor %q", page.PageInfo.EndCursor, page.Edges[0].Cursor)
		}
		if !page.PageInfo.HasNextPage {
			break
		}
		after = `,after:"` + page.Edges[0].Cursor + `"`
	}
	if diff := cmp.Diff("5 6 4611686018427387904 4611686018427387904", strings.Join(got, " ")); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

// GraphQL and REST have the same groups.
func TestAggregateAsREST(t *testing.T) {
	t.Parallel()
	h, items := newSales(t)
	w := httptest.NewRecorder()
	items.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET",
		"/sales?group=status&count&sum=total&sort=-sum.total&"+
			url.Values{"having": {`{"count":{"gt":1}}`}}.Encode(), nil))
	got := salesAnswer(t, h, `{salesAggregate(groupBy:status,orderBy:{field:sum_total,direction:DESC},
		having:{count:{gt:1}}){groups:nodes{status count sum{total}}}}`)
	if diff := cmp.Diff(w.Body.String(), got); diff != "" {
		t.Errorf("groups (-REST +GraphQL):\n%s", diff)
	}
}

func TestSDLOfGroups(t *testing.T) {
	t.Parallel()
	h, _ := newSales(t)
	sdl := h.SDL()
	for _, part := range []string{
		"salesAggregate(", "filter: SaleFilter", "groupBy: [SaleGroupField!]", "having: SaleHaving",
		"orderBy: [SaleGroupSort!]", "): SaleGroupConnection", "type SaleGroup {", "status: SaleStatus",
		"count: Int!", "sum: SaleGroupSum!", "weight: Float", "made: DateTime", "sum_total", "nodes: [SaleGroup!]!",
		"pageInfo: SaleGroupPageInfo!", "count: NullableInt64Filter", "total: NullableDecimalFilter",
	} {
		if !strings.Contains(sdl, part) {
			t.Errorf("the SDL lacks %q", part)
		}
	}
	if t.Failed() {
		t.Log(sdl)
	}
}
