package query_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
)

// relatedOptions declare orders with a customer and lines, in which customers have orders.
func relatedOptions() *query.ParseOptions {
	orders := &query.Target{Many: true, Support: query.Support{
		Filter:    map[string][]query.Op{"status": {query.Eq, query.In}, "total": {query.Gte}},
		Relations: []string{"customer", "lines"},
	}}
	customer := &query.Target{Support: query.Support{
		Filter:    map[string][]query.Op{"role": {query.Eq, query.Ne}, "age": {query.Gte, query.Eq}},
		Relations: []string{"orders"},
	}}
	lines := &query.Target{Many: true, Support: query.Support{
		Filter: map[string][]query.Op{"itemId": {query.Eq}, "qty": {query.Gte, query.Eq}},
	}}
	relation := func(name string) *query.Target {
		return map[string]*query.Target{"customer": customer, "lines": lines, "orders": orders}[name]
	}
	orders.Relation, customer.Relation = relation, relation
	return &query.ParseOptions{Support: orders.Support, Relation: relation}
}

func TestParseRelations(t *testing.T) {
	eq := func(field, value string) query.Filter { return query.Where(field, query.Eq, value) }
	admin, seven := eq("role", "admin"), eq("itemId", "7")
	for _, test := range []struct {
		name, url string
		want      query.Filter
		err       string
	}{
		{"to one", "customer.role=admin", query.Some("customer", admin), ""},
		{"operator", "customer.age.gte=3", query.Some("customer", query.Where("age", query.Gte, "3")), ""},
		{"quantifier of one", "customer.none.role=admin", query.Not(query.Some("customer", admin)), ""},
		{"some", "lines.some.itemId=7", query.Some("lines", seven), ""},
		{"none", "lines.none.itemId=7", query.Not(query.Some("lines", seven)), ""},
		{"every", "lines.every.itemId=7", query.Not(query.Some("lines", query.Not(seven))), ""},
		{"one item", "lines.some.qty.gte=2&lines.some.itemId=7",
			query.Some("lines", query.And(seven, query.Where("qty", query.Gte, "2"))), ""},
		{"nested", "customer.orders.some.status=paid",
			query.Some("customer", query.Some("orders", eq("status", "paid"))), ""},
		{"with own", "status=paid&customer.role=admin",
			query.And(query.Some("customer", admin), eq("status", "paid")), ""},
		{"tree", `filter={"customer":{"role":{"eq":"admin"}},"lines":{"none":{"itemId":{"eq":7}}}}`,
			query.And(query.Some("customer", admin), query.Not(query.Some("lines", seven))), ""},
		{"exists", `filter={"customer":{},"lines":{"none":{}}}`,
			query.And(query.Some("customer", query.Filter{}), query.Not(query.Some("lines", query.Filter{}))), ""},
		{"two items", `lines.some.itemId=7&filter={"lines":{"some":{"qty":{"gte":2}}}}`,
			query.And(query.Some("lines", seven), query.Some("lines", query.Where("qty", query.Gte, "2"))), ""},
		{"not declared", "customer.name=x", query.Filter{},
			"customer.name: unknown parameter; the filters of customer are age, orders.* and role"},
		{"operator not declared", "customer.role.lt=x", query.Filter{},
			"customer.role.lt: role can be compared with eq and ne"},
		{"no operator", "customer.role.like=x", query.Filter{},
			"customer.role.like: unknown parameter; customer.role can be compared with eq and ne"},
		{"no operator after a quantifier", "lines.some.itemId.like=x", query.Filter{},
			"lines.some.itemId.like: unknown parameter; lines.itemId can be compared with eq"},
		{"no relation", "shop.name=x", query.Filter{},
			"shop.name: unknown parameter; the filters of this list are customer.*, lines.*, status and total"},
		{"no quantifier", "lines.itemId=7", query.Filter{},
			"lines.itemId: unknown parameter; lines has many items, so some, none or every must follow it"},
		{"too deep", "customer.orders.some.customer.orders.some.status=paid", query.Filter{},
			"customer.orders.some.customer.orders.some.status: unknown parameter; " +
				"the filters of customer.orders.customer are age, orders.* and role"},
		{"no quantifier in tree", `filter={"lines":{"itemId":{"eq":7}}}`, query.Filter{},
			"filter: lines has many items, so its members are some, none and every"},
		{"not declared in tree", `filter={"customer":{"name":{"eq":"x"}}}`, query.Filter{},
			`filter: customer: cannot filter by "name", only by age, orders.* and role`},
		{"no object", `filter={"customer":5}`, query.Filter{}, "filter: customer must be an object"},
		{"null", `filter={"customer":{"role":{"eq":null}}}`, query.Filter{},
			"filter: null is not a value; use customer.role.isNull"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, err := url.ParseQuery(test.url)
			if err != nil {
				t.Fatal(err)
			}
			q, err := query.Parse(v, relatedOptions())
			if text := fmt.Sprint(err); test.err != "" && text != test.err {
				t.Fatalf("error\n got %s\nwant %s", text, test.err)
			} else if test.err != "" {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, q.Filter); diff != "" {
				t.Errorf("filter (-want +got):\n%s", diff)
			}
			again, err := query.Parse(q.Values(), relatedOptions())
			if diff := cmp.Diff(q, again); err != nil || diff != "" {
				t.Errorf("parsed again from %v: %v (-want +got):\n%s", q.Values(), err, diff)
			}
		})
	}
}

// TestRelationTerms limits conditions through relations: each use of a relation counts, too.
func TestRelationTerms(t *testing.T) {
	empty := `{"lines":{"some":{}}}`
	for _, test := range []struct {
		name, url string
		ok        bool
	}{
		{"parameters", "customer.role=a&customer.age=1", true},
		{"parameters beyond", "customer.role=a&customer.age=1&lines.some.qty=1", false},
		{"tree", `filter={"and":[` + strings.Repeat(empty+",", 3) + empty + `]}`, true},
		{"tree beyond", `filter={"and":[` + strings.Repeat(empty+",", 4) + empty + `]}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			opts := relatedOptions()
			opts.MaxTerms = 4
			v, err := url.ParseQuery(test.url)
			if err != nil {
				t.Fatal(err)
			}
			q, err := query.Parse(v, opts)
			if (err == nil) != test.ok {
				t.Errorf("error %v, want ok %t", err, test.ok)
			}
			if n := q.Filter.Terms(); n > opts.MaxTerms {
				t.Errorf("%d terms, more than %d", n, opts.MaxTerms)
			}
		})
	}
}

// TestRelationRoundTrip writes random filters as parameters and parses them.
func TestRelationRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(21, 4))
	opts := relatedOptions()
	opts.MaxTerms = 1000
	for range 10_000 {
		start := randomRelated(rnd, "orders", 0)
		// The first parse brings the conditions into order.
		q, err := query.Parse(query.Query{Filter: start}.Values(), opts)
		if err != nil {
			if strings.Contains(err.Error(), "deep") {
				continue
			}
			t.Fatalf("%v: %v", query.Query{Filter: start}.Values(), err)
		}
		again, err := query.Parse(q.Values(), opts)
		if diff := cmp.Diff(q, again); err != nil || diff != "" {
			t.Fatalf("%v: %v (-want +got):\n%s", q.Values(), err, diff)
		}
	}
}

// randomRelated returns a random filter of the items of a relation of relatedOptions.
func randomRelated(rnd *rand.Rand, of string, depth int) query.Filter {
	fields := map[string][]string{"orders": {"status"}, "customer": {"role", "age"}, "lines": {"itemId", "qty"}}[of]
	relations := map[string][]string{"orders": {"customer", "lines"}, "customer": {"orders"}}[of]
	switch n := rnd.IntN(9); {
	case depth < 4 && n == 0:
		return query.Not(randomRelated(rnd, of, depth+1))
	case depth < 4 && n < 3:
		return query.And(randomRelated(rnd, of, depth+1), randomRelated(rnd, of, depth+1))
	case depth < 4 && n == 3:
		return query.Or(randomRelated(rnd, of, depth+1), randomRelated(rnd, of, depth+1))
	case depth < 3 && n < 7 && relations != nil:
		relation := relations[rnd.IntN(len(relations))]
		f := query.Some(relation, randomRelated(rnd, relation, depth+1))
		if rnd.IntN(4) == 0 {
			f = query.Some(relation, query.Filter{})
		}
		if rnd.IntN(2) == 0 {
			f = query.Not(f)
		}
		return f
	}
	return query.Where(fields[rnd.IntN(len(fields))], query.Eq, string('a'+rune(rnd.IntN(3))))
}

func TestMatchRelated(t *testing.T) {
	items := func(values ...any) query.Related {
		return func(yield func(func(string) any) bool) {
			for _, v := range values {
				if !yield(func(string) any { return v }) {
					return
				}
			}
		}
	}
	invalid := query.Filter{Op: "like", Field: "n", Value: 1}
	one, big := query.Where("n", query.Eq, 1), query.Where("n", query.Gt, 1)
	for _, test := range []struct {
		name   string
		items  any
		filter query.Filter
		// whether Some matches, and whether its negation does
		some, none bool
	}{
		{"matches", items(1, 2), one, true, false},
		{"not", items(2, 3), one, false, true},
		{"empty", items(), one, false, true},
		{"nil", query.Related(nil), one, false, true},
		{"exists", items(nil), query.Filter{}, true, false},
		{"null", items(nil), one, false, true},
		{"nothing", items(1), query.Or(), false, true},
		{"every", items(2, 3), query.Not(big), false, true},
		{"invalid", items(1), invalid, false, false},
		{"invalid without items", items(), invalid, false, true},
		{"part invalid", items(1, 2), query.Or(invalid, one), true, false},
		{"certainly false", items(2), query.And(invalid, one), false, true},
		{"no relation", 5, one, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			value := func(string) any { return test.items }
			f := query.Some("r", test.filter)
			if got := query.Match(f, value); got != test.some {
				t.Errorf("some %t, want %t", got, test.some)
			}
			if got := query.Match(query.Not(f), value); got != test.none {
				t.Errorf("none %t, want %t", got, test.none)
			}
			unknown := func(string) (any, bool) { return nil, false }
			if query.Excludes(f, unknown) || query.Excludes(query.Not(f), unknown) {
				t.Error("an unknown relation decides a filter")
			}
		})
	}
}

func ExampleSome() {
	f := query.And(
		query.Some("customer", query.Where("role", query.Eq, "admin")),
		query.Not(query.Some("lines", query.Where("itemId", query.Eq, 7))),
	)
	fmt.Println(query.Query{Filter: f}.Values().Encode())
	// Output: customer.some.role=admin&lines.none.itemId=7
}
