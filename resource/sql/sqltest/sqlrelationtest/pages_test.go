package sqlrelationtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/resourcetest/relationtest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
)

// row is an item of the reference, and rows are those of each resource.
type (
	row  map[string]any
	rows map[string][]row
)

// of returns the items of a relation of an item. Those that policy hides are absent.
func (all rows) of(relation string, it row) (out []row) {
	for _, other := range all[map[string]string{"customer": "customers"}[relation]+strings.TrimSuffix(relation, "customer")] {
		switch {
		case relation == "orders" && other["customerId"] == it["id"] && other["status"] != "secret",
			relation == "lines" && other["orderId"] == it["id"],
			relation == "customer" && other["id"] == it["customerId"]:
			out = append(out, other)
		case relation == "tags":
			linked := func(l row) bool { return l["orderId"] == it["id"] && l["tagId"] == other["id"] }
			if slices.ContainsFunc(all["orderTags"], linked) {
				out = append(out, other)
			}
		}
	}
	return out
}

// value returns the fields and relations of an item, for query.Match.
func (all rows) value(it row) func(string) any {
	return func(name string) any {
		if v, ok := it[name]; ok {
			return v
		}
		return query.Related(func(yield func(func(string) any) bool) {
			for _, other := range all.of(name, it) {
				if !yield(all.value(other)) {
					return
				}
			}
		})
	}
}

// fill inserts random items into empty stores.
func fill(t *testing.T, s relationtest.Stores) rows {
	t.Helper()
	all, rnd := rows{}, rand.New(rand.NewPCG(7, 9))
	add := func(name string, it row, err error) {
		if err != nil {
			t.Fatal(err)
		}
		all[name] = append(all[name], it)
	}
	for i := range int64(7) {
		_, err := s.Customers.Insert(t.Context(), fmt.Sprint(i+1), relationtest.Customer{ID: i + 1, Age: int(i % 3)})
		add("customers", row{"id": i + 1, "age": i % 3}, err)
	}
	for i := range 60 {
		o := relationtest.Order{ID: fmt.Sprintf("o%02d", i), CustomerID: rnd.Int64N(7) + 1, Total: rnd.IntN(5),
			Status: []string{"a", "b", "secret"}[rnd.IntN(3)]}
		_, err := s.Orders.Insert(t.Context(), o.ID, o)
		add("orders", row{"id": o.ID, "customerId": o.CustomerID, "total": int64(o.Total), "status": o.Status}, err)
	}
	for i := range int64(200) {
		l := relationtest.Line{ID: i + 1, OrderID: fmt.Sprintf("o%02d", rnd.IntN(60)), ItemID: i % 4, Qty: rnd.IntN(4)}
		_, err := s.Lines.Insert(t.Context(), fmt.Sprint(l.ID), l)
		add("lines", row{"id": l.ID, "orderId": l.OrderID, "qty": int64(l.Qty)}, err)
	}
	for i := range 6 {
		tag := relationtest.Tag{ID: fmt.Sprint("t", i), Label: []string{"x", "y"}[i%2]}
		_, err := s.Tags.Insert(t.Context(), tag.ID, tag)
		add("tags", row{"id": tag.ID, "label": tag.Label}, err)
	}
	for i := range 60 {
		for j := range 6 {
			if rnd.IntN(3) == 0 {
				l := relationtest.OrderTag{OrderID: fmt.Sprintf("o%02d", i), TagID: fmt.Sprint("t", j)}
				_, err := s.OrderTags.Insert(t.Context(), l.OrderID+","+l.TagID, l)
				add("orderTags", row{"orderId": l.OrderID, "tagId": l.TagID}, err)
			}
		}
	}
	return all
}

// servePages serves the stores over GraphQL.
func servePages(s relationtest.Stores) *graphql.Handler {
	ops := []query.Op{query.Eq, query.Gte, query.In}
	support := func(relations []string, fields ...string) query.Support {
		out := query.Support{Sort: fields, Filter: map[string][]query.Op{}, Relations: relations}
		for _, name := range fields {
			out.Filter[name] = ops
		}
		return out
	}
	return graphql.New(resource.NewCatalog(nil,
		s.Customers.Resource("customers", &resource.Options[relationtest.Customer]{Public: true,
			Query:     support(nil, "id", "age"),
			Relations: []resource.Relation[relationtest.Customer]{{Name: "orders", Target: "orders", By: "customerId"}}}),
		s.Orders.Resource("orders", &resource.Options[relationtest.Order]{
			Query: support([]string{"lines", "customer"}, "id", "customerId", "total", "status"),
			Scope: func(context.Context) (query.Filter, error) {
				return query.Where("status", query.Ne, "secret"), nil
			},
			Relations: []resource.Relation[relationtest.Order]{{Name: "lines", Target: "lines", By: "orderId"},
				{Name: "customer", Target: "customers", Field: "customerId"},
				{Name: "tags", Target: "tags", Through: "orderTags", By: "orderId", To: "tagId"}}}),
		s.Lines.Resource("lines", &resource.Options[relationtest.Line]{Public: true, Query: support(nil, "id", "orderId", "qty")}),
		s.Tags.Resource("tags", &resource.Options[relationtest.Tag]{Public: true, Query: support(nil, "id", "label")}),
		s.OrderTags.Resource("orderTags", &resource.Options[relationtest.OrderTag]{Public: true, AllowRecreate: true,
			Query: support(nil, "orderId", "tagId")})), &graphql.Options{Limits: graphql.Limits{Cost: 1 << 30}})
}

// level is a random page of a relation, and of one of its items.
type level struct {
	relation, filterText string
	filter               query.Filter
	sort                 []query.Order
	first                int
	total                bool
	sub                  *level
}

// randomLevel returns a page of orders of a customer, or of lines or tags of an order.
func randomLevel(rnd *rand.Rand, relation string) *level {
	l := &level{relation: relation, first: rnd.IntN(5) + 1, total: rnd.IntN(2) == 0}
	n := rnd.Int64N(4)
	type filter struct {
		text string
		f    query.Filter
	}
	filters := map[string][]filter{
		"orders": {{fmt.Sprintf("{total: {gte: %d}}", n), query.Where("total", query.Gte, n)},
			{`{status: {eq: "a"}}`, query.Where("status", query.Eq, "a")},
			{fmt.Sprintf("{lines: {some: {qty: {gte: %d}}}}", n), query.Some("lines", query.Where("qty", query.Gte, n))},
			{fmt.Sprintf("{not: {customer: {age: {gte: %d}}}}", n),
				query.Not(query.Some("customer", query.Where("age", query.Gte, n)))}},
		"lines": {{fmt.Sprintf("{qty: {gte: %d}}", n), query.Where("qty", query.Gte, n)}},
		"tags":  {{`{label: {eq: "x"}}`, query.Where("label", query.Eq, "x")}},
	}[relation]
	if i := rnd.IntN(2 * len(filters)); i < len(filters) {
		l.filterText, l.filter = filters[i].text, filters[i].f
	}
	if rnd.IntN(3) > 0 {
		field := map[string]string{"orders": "total", "lines": "qty", "tags": "label"}[relation]
		l.sort = []query.Order{{Field: field, Desc: rnd.IntN(2) == 0}}
	}
	if relation == "orders" && rnd.IntN(3) > 0 {
		l.sub = randomLevel(rnd, []string{"lines", "tags"}[rnd.IntN(2)])
	}
	return l
}

// document returns the field of the page. after is a cursor, or empty.
func (l *level) document(after string) string {
	args := []string{fmt.Sprint("first: ", l.first)}
	if l.filterText != "" {
		args = append(args, "filter: "+l.filterText)
	}
	for _, o := range l.sort {
		args = append(args, fmt.Sprintf("orderBy: [{field: %s, direction: %s}]", o.Field, map[bool]string{true: "DESC", false: "ASC"}[o.Desc]))
	}
	if after != "" {
		args = append(args, fmt.Sprintf("after: %q", after))
	}
	total, sub := "", ""
	if l.total {
		total = " totalCount"
	}
	if l.sub != nil {
		sub = " " + l.sub.document("")
	}
	return l.relation + "Connection(" + strings.Join(args, ", ") + ") {" + total + " pageInfo {hasNextPage endCursor} nodes {id" + sub + "}}"
}

// expected returns the items of the page of one item, from a start on, in the form of shown.
func (l *level) expected(all rows, it row, start int) any {
	var items []row
	for _, other := range all.of(l.relation, it) {
		if query.Match(l.filter, all.value(other)) {
			items = append(items, other)
		}
	}
	slices.SortFunc(items, func(a, b row) int {
		for _, o := range l.sort {
			if c := query.Compare(a[o.Field], b[o.Field]); c != 0 {
				if o.Desc {
					return -c
				}
				return c
			}
		}
		return query.Compare(a["id"], b["id"])
	})
	out := []any{}
	for _, other := range items[min(start, len(items)):min(start+l.first, len(items))] {
		node := []any{fmt.Sprint(other["id"])}
		if l.sub != nil {
			node = append(node, l.sub.expected(all, other, 0))
		}
		out = append(out, node)
	}
	page := []any{out, start+l.first < len(items)}
	if l.total {
		page = append(page, len(items))
	}
	return page
}

// shown returns the items of a page in a response: ids with the pages of their items, whether more follow,
// and the total.
func (l *level) shown(of map[string]any) any {
	page, _ := of[l.relation+"Connection"].(map[string]any)
	nodes, _ := page["nodes"].([]any)
	out := []any{}
	for _, n := range nodes {
		n := n.(map[string]any)
		node := []any{fmt.Sprint(n["id"])}
		if l.sub != nil {
			node = append(node, l.sub.shown(n))
		}
		out = append(out, node)
	}
	info, _ := page["pageInfo"].(map[string]any)
	shown := []any{out, info["hasNextPage"]}
	if l.total {
		total, _ := page["totalCount"].(float64)
		shown = append(shown, int(total))
	}
	return shown
}

// ask executes a query and returns its data.
func ask(t *testing.T, h *graphql.Handler, document string) map[string]any {
	t.Helper()
	res := h.Execute(t.Context(), graphql.Request{Query: document})
	var data map[string]any
	if err := errors.Join(res.Err(), res.Decode(&data)); err != nil {
		t.Fatalf("%s: %v", document, err)
	}
	return data
}

// statements is how many statements a level causes at most, whatever the number of items.
func (l *level) statements() int {
	n := 1
	if l.total {
		n = 2
	}
	if l.sub != nil {
		n += l.sub.statements()
	}
	return n
}

// TestPagesOfRelations compares random pages of related items from tables with those from memory and with
// query.Match, and counts the statements.
func TestPagesOfRelations(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db, records := enginetest.Record(t, e)
		tables := openRelations(t, db)
		inMemory := relationtest.Stores{Customers: resource.OpsOf(memory.New[relationtest.Customer](nil)),
			Orders: resource.OpsOf(memory.New[relationtest.Order](nil)), Lines: resource.OpsOf(memory.New[relationtest.Line](nil)),
			Tags:      resource.OpsOf(memory.New[relationtest.Tag](nil)),
			OrderTags: resource.OpsOf(memory.New[relationtest.OrderTag](&memory.Options[relationtest.OrderTag]{Recreate: true}))}
		all := fill(t, tables)
		fill(t, inMemory)
		handlers := map[string]*graphql.Handler{"tables": servePages(tables), "memory": servePages(inMemory)}
		rnd := rand.New(rand.NewPCG(1, 3))
		for n := range enginetest.Requests(t) {
			l := randomLevel(rnd, "orders")
			document := "{customers {nodes {" + l.document("") + "}}}"
			var want []any
			for _, c := range all["customers"] {
				want = append(want, l.expected(all, c, 0))
			}
			for name, h := range handlers {
				var got []any
				ran, _ := records.During(func() {
					page := ask(t, h, document)["customers"].(map[string]any)
					for _, node := range page["nodes"].([]any) {
						got = append(got, l.shown(node.(map[string]any)))
					}
				})
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Fatalf("request %d: %s: %s (-want +got):\n%s", n, name, document, diff)
				}
				if most := 1 + l.statements(); len(ran) > most || name == "tables" && len(ran) < 2 {
					t.Fatalf("%s: %d statements, want at most %d: %v", document, len(ran), most, ran)
				}
				if n%4 == 0 {
					walkPages(t, h, l, all, all["customers"][rnd.IntN(7)])
				}
			}
		}
	})
}

// walkPages follows the cursors of one customer.
func walkPages(t *testing.T, h *graphql.Handler, l *level, all rows, customer row) {
	t.Helper()
	for start, after := 0, ""; ; start += l.first {
		document := "{customer(id: " + strconv.FormatInt(customer["id"].(int64), 10) + ") {" + l.document(after) + "}}"
		got := ask(t, h, document)["customer"].(map[string]any)
		if diff := gocmp.Diff(l.expected(all, customer, start), l.shown(got)); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", document, diff)
		}
		info := got[l.relation+"Connection"].(map[string]any)["pageInfo"].(map[string]any)
		if info["hasNextPage"] != true {
			return
		}
		after = cmp.Or(info["endCursor"].(string), "none")
	}
}
