package query_test

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/stoa-go/stoa/query"
)

type order struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Total  int64  `json:"total"`
}

// orderField returns a field of an order by JSON name; query.FieldOf does the same with reflection.
func orderField(o *order, field string) any {
	switch field {
	case "id":
		return o.ID
	case "status":
		return o.Status
	case "total":
		return o.Total
	}
	return nil
}

// A URL is parsed and evaluated over a slice, and the next position is encoded as a cursor.
func Example() {
	stored := []order{{"a", "paid", 250}, {"b", "sent", 90}, {"c", "paid", 120}, {"d", "paid", 400}}
	asked, _ := url.ParseQuery("status=paid&sort=-total&limit=2")

	q, err := query.Parse(asked, &query.ParseOptions{Support: query.Support{
		Filter: map[string][]query.Op{"status": {query.Eq, query.In}},
		Sort:   []string{"total"},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	list := q.Values().Encode()                       // identifies the list of the cursor
	q.Sort = append(q.Sort, query.Order{Field: "id"}) // makes the order total

	for range 2 {
		page := query.Select(q, stored, orderField)
		fmt.Println(page)
		last := page[len(page)-1]
		text := query.Cursor{Values: []any{last.Total, last.ID}}.Encode(list)

		cursor, err := query.DecodeCursor(text, list)
		if err != nil {
			fmt.Println(err)
			return
		}
		q.After = cursor.Values
	}
	// Output:
	// [{d paid 400} {a paid 250}]
	// [{c paid 120}]
}

func ExampleParse() {
	opts := &query.ParseOptions{
		Support: query.Support{
			Filter: map[string][]query.Op{
				"status": {query.Eq, query.Ne, query.In},
				"total":  {query.Gte, query.Lt},
			},
			Sort: []string{"total"},
		},
		Value: func(field, text string) (any, error) {
			if field == "total" {
				n, err := strconv.ParseInt(text, 10, 64)
				if err != nil {
					return nil, fmt.Errorf("must be a whole number")
				}
				return n, nil
			}
			return text, nil
		},
	}
	values, _ := url.ParseQuery("status.in=paid,sent&total.gte=100&sort=-total&limit=20")
	q, err := query.Parse(values, opts)
	fmt.Println(q.Filter.Terms(), q.Sort[0].Field, q.Sort[0].Desc, q.Limit, err)

	values, _ = url.ParseQuery("status.gt=a&total.gte=much&limit=5000")
	_, err = query.Parse(values, opts)
	fmt.Println(err)
	// Output:
	// 2 total true 20 <nil>
	// limit: must be a whole number from 1 to 200
	// status.gt: status can be compared with eq, ne and in
	// total.gte: must be a whole number
}

func ExampleQuery_Values() {
	q := query.Query{
		Filter: query.And(query.Where("total", query.Gte, 100),
			query.Or(query.Where("status", query.Eq, "paid"), query.Where("status", query.IsNull, true))),
		Sort:  []query.Order{{Field: "total", Desc: true}},
		Limit: 20,
	}
	values := q.Values()
	for _, name := range []string{"total.gte", "filter", "sort", "limit"} {
		fmt.Println(name, "=", values.Get(name))
	}
	// Output:
	// total.gte = 100
	// filter = {"or":[{"status":{"eq":"paid"}},{"status":{"isNull":true}}]}
	// sort = -total
	// limit = 20
}

func ExampleAnd() {
	mine := query.Where("owner", query.Eq, "me")
	var asked query.Filter // the client has sent no filter

	fmt.Println(query.And(mine, asked).Terms())
	fmt.Println(query.Query{Filter: query.And(mine, query.Or())}.Values())
	// Output:
	// 1
	// map[filter:[{"or":[]}] owner:[me]]
}

func ExampleWhere() {
	f := query.Where("status", query.In, []string{"paid", "sent"})
	fmt.Println(f.Field, f.Op, f.Value)
	// Output: status in [paid sent]
}

func ExampleOr() {
	fmt.Println(query.Or().IsZero(), query.And().IsZero())
	// Output: false true
}

func ExampleNot() {
	noOwner := func(string) any { return nil }
	mine := query.Where("owner", query.Eq, "me")
	fmt.Println(query.Match(mine, noOwner), query.Match(query.Not(mine), noOwner))
	// Output: false true
}

func ExampleFilter_Map() {
	names := map[string]string{"state": "status"} // of an older contract
	f, err := query.Where("state", query.Eq, "paid").Map(func(f query.Filter) (query.Filter, error) {
		name, ok := names[f.Field]
		if !ok {
			return query.Filter{}, fmt.Errorf("no field %s", f.Field)
		}
		f.Field = name
		return f, nil
	})
	fmt.Println(f.Field, f.Op, f.Value, err)
	// Output: status eq paid <nil>
}

func ExampleSupport_Check() {
	support := query.Support{Filter: map[string][]query.Op{"status": {query.Eq, query.Ne}}}
	fmt.Println(support.Check(query.Query{Filter: query.Where("status", query.Lt, "m")}, "id"))
	fmt.Println(support.Check(query.Query{Sort: []query.Order{{Field: "id", Desc: true}}}, "id"))
	// Output:
	// status.lt: status can be compared with eq and ne
	// <nil>
}

func ExampleMatch() {
	o := &order{ID: "a", Status: "paid", Total: 250}
	field := func(name string) any { return query.FieldOf(o, name) }

	fmt.Println(query.Match(query.Where("total", query.Gte, 100), field))
	fmt.Println(query.Match(query.Where("status", query.NotIn, []string{"paid", "sent"}), field))
	// Output:
	// true
	// false
}

func ExampleCompare() {
	fmt.Println(query.Compare(nil, 0), query.Compare(2, 1.5), query.Compare("b", "b"))
	// Output: -1 1 0
}

func ExampleCanonical() {
	type state string
	fmt.Printf("%T %T %T\n", query.Canonical(state("paid")), query.Canonical(uint8(5)),
		query.Canonical(new(1.5)))
	// Output: string int64 float64
}

func ExampleFieldOf() {
	o := &order{ID: "a", Total: 250}
	fmt.Println(query.FieldOf(o, "total"), query.FieldOf(o, "Total"))
	// Output: 250 <nil>
}

func ExampleSelect() {
	stored := []order{{"a", "paid", 250}, {"b", "sent", 90}, {"c", "paid", 120}}
	page := query.Select(query.Query{
		Filter: query.Where("status", query.Eq, "paid"),
		Sort:   []query.Order{{Field: "total"}, {Field: "id"}},
		After:  []any{int64(120), "c"},
		Limit:  10,
	}, stored, orderField)
	fmt.Println(page)
	// Output: [{a paid 250}]
}

func ExampleCursor_Encode() {
	list := "orders?status=paid&sort=-total"
	text := query.Cursor{Values: []any{int64(250), "a"}}.Encode(list)

	cursor, err := query.DecodeCursor(text, list)
	fmt.Println(cursor.Values, err)
	_, err = query.DecodeCursor(text, "orders?status=sent&sort=-total")
	fmt.Println(err)
	// Output:
	// [250 a] <nil>
	// the cursor is damaged or belongs to another list
}

// Orders are grouped by their status, and the groups sorted by their totals.
func ExampleSummarize() {
	stored := []order{{"a", "paid", 250}, {"b", "sent", 90}, {"c", "paid", 120}, {"d", "open", 40}}
	values, _ := url.ParseQuery("group=status&count&sum=total&avg=total&sort=-sum.total&limit=2")
	a, err := query.ParseAggregation(values, &query.ParseOptions{Support: query.Support{
		Group:     []string{"status"},
		Aggregate: map[string][]query.Func{"total": {query.Sum, query.Avg}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	groups, err := query.Summarize(a, stored, orderField)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, g := range groups {
		fmt.Println(g.Keys, g.Values)
	}
	// Output:
	// [paid] [2 370 185]
	// [sent] [1 90 90]
}
