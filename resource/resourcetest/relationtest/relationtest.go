// Package relationtest tests filters, sort keys and groups through relations of the collections of a store:
// it fills six of them, sends random queries, and compares the results with those of query.Select and
// query.Summarize.
package relationtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// Stores are empty collections of one store, in which ids can be inserted. Package relationtest makes
// their items.
type Stores struct {
	Companies resource.Ops[Company]
	Customers resource.Ops[Customer]
	Orders    resource.Ops[Order]
	Lines     resource.Ops[Line]
	Tags      resource.Ops[Tag]
	OrderTags resource.Ops[OrderTag]
}

// Options adjust [Run]. The zero value is ready to use.
type Options struct {
	// Requests is the number of random queries. Default 300.
	Requests int
	// Authorize hides customers by Options.Authorize in place of Scope.
	Authorize bool
	// Seed selects the random items and queries.
	Seed uint64
}

// The types of the items. Keys have the kinds and forms that differ in stores: integers, strings,
// UUIDs, null, an omitted zero, an empty string, and the text of an integer.
type (
	// Company has customers.
	Company struct {
		ID   string `json:"id" format:"uuid"`
		Name string `json:"name"`
	}
	// Customer is a customer of a company, and may have a superior.
	Customer struct {
		ID        int64   `json:"id"`
		Name      *string `json:"name"`
		Age       int     `json:"age"`
		Hidden    bool    `json:"hidden"`
		CompanyID *string `json:"companyId" format:"uuid"`
		BossID    *int64  `json:"bossId"`
	}
	// Order is an order of a customer.
	Order struct {
		ID         string `json:"id" maxLength:"20"`
		CustomerID int64  `json:"customerId,omitzero"`
		Status     string `json:"status"`
		Total      int    `json:"total"`
	}
	// Line is a line of an order.
	Line struct {
		ID      int64  `json:"id"`
		OrderID string `json:"orderId" maxLength:"20"`
		ItemID  int64  `json:"itemId"`
		Qty     int    `json:"qty"`
	}
	// Tag belongs to orders, and to a customer.
	Tag struct {
		ID      string `json:"id" maxLength:"20"`
		Label   string `json:"label"`
		OwnerID string `json:"ownerId" maxLength:"20"` // the id of a Customer as a text
	}
	// OrderTag links an order with a tag.
	OrderTag struct {
		ID      string `json:"id" id:"orderId,tagId" readOnly:"true"`
		OrderID string `json:"orderId" maxLength:"20"`
		TagID   string `json:"tagId" maxLength:"20"`
	}
)

// Run tests filters through relations of the stores that open returns. If the stores are joined, it tests
// sort keys through relations, too, and groups if they are Aggregators.
func Run(t *testing.T, open func(t *testing.T) Stores, opts *Options) {
	t.Helper()
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Requests == 0 {
		o.Requests = 300
	}
	w := newWorld(t, open(t), o)
	w.testNested(t, o)
	w.testGroups(t, o)
	rnd := rand.New(rand.NewPCG(o.Seed, 21))
	for n := range o.Requests {
		name := []string{"customers", "orders", "lines", "companies", "tags"}[rnd.IntN(5)]
		q := query.Query{Filter: w.randomFilter(rnd, name, 0)}
		if rnd.IntN(3) == 0 {
			q.Filter = query.Filter{}
		}
		sorts := w.kinds[name].sorts
		for _, i := range rnd.Perm(len(sorts))[:rnd.IntN(min(3, len(sorts)+1))] {
			q.Sort = append(q.Sort, query.Order{Field: sorts[i], Desc: rnd.IntN(2) == 0})
		}
		q.Limit = 1 + rnd.IntN(40)
		ctx := t.Context()
		seesAll := rnd.IntN(3) == 0
		if seesAll {
			ctx = context.WithValue(ctx, seesAllKey{}, true)
		}
		want := w.expected(name, q, seesAll)
		got, err := w.list(ctx, name, q, rnd.IntN(2) == 0)
		if err != nil {
			t.Fatalf("request %d: %s %+v: %v", n, name, q, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("request %d: %s %s, caller sees all: %t (-want +got):\n%s",
				n, name, query.Query{Filter: q.Filter, Sort: q.Sort}.Values(), seesAll, diff)
		}
		r := w.resources[name]
		if !r.Describe().Counts {
			continue
		}
		if total, err := r.Count(ctx, q.Filter); err != nil || total != len(want) {
			t.Fatalf("request %d: count of %s %+v: %d, %v; want %d", n, name, q.Filter, total, err, len(want))
		}
	}
}

// seesAllKey is the key of the context of a caller that sees hidden customers.
type seesAllKey struct{}

// visible is the Scope of customers.
func visible(ctx context.Context) (query.Filter, error) {
	if ctx.Value(seesAllKey{}) != nil {
		return query.Filter{}, nil
	}
	return query.Where("hidden", query.Eq, false), nil
}

// authorize is the Authorize of customers that replaces visible.
func authorize(ctx context.Context, _ resource.Op, before, _ *Customer) error {
	if before != nil && before.Hidden && ctx.Value(seesAllKey{}) == nil {
		return resource.ErrForbidden
	}
	return nil
}

// kind is what random filters and the reference know of a resource.
type kind struct {
	values    map[string][]any // operands of fields
	sorts     []string
	relations map[string]relation
}

// relation is a relation as pairs of equal fields; through has the first pair of two.
type relation struct {
	target, own, by string
	through         *relation
}

// world is the items, in the stores and as values.
type world struct {
	resources map[string]*resource.Resource
	kinds     map[string]*kind
	items     map[string][]any
	byField   map[string]map[any][]any // by resource.field; see itemsBy
}

func newWorld(t *testing.T, s Stores, o Options) *world {
	t.Helper()
	w := &world{resources: map[string]*resource.Resource{}, items: map[string][]any{},
		byField: map[string]map[any][]any{}}
	customers := &resource.Options[Customer]{
		Query: supportOf("company", "boss", "orders", "owned", "labeled").
			of("id", "name", "age", "hidden", "companyId", "bossId"),
		Relations: []resource.Relation[Customer]{
			{Name: "company", Target: "companies", Field: "companyId"},
			{Name: "boss", Target: "customers", Field: "bossId"},
			{Name: "orders", Target: "orders", By: "customerId"},
			{Name: "owned", Target: "tags", By: "ownerId"},
			{Name: "labeled", Target: "tags", Field: "name", By: "label"},
		},
		Scope: visible,
	}
	joins := s.Orders.FastReads().Joiner != nil
	if joins {
		customers.Query.Sort = append(customers.Query.Sort, "company.name")
	}
	if joins && !o.Authorize {
		customers.Query.Sort = append(customers.Query.Sort, "boss.name", "boss.id")
	}
	if o.Authorize {
		customers.Scope, customers.Authorize = nil, authorize
	}
	orders := supportOf("customer", "lines", "tags", "buyers").of("id", "customerId", "status", "total")
	if joins && !o.Authorize {
		orders.Sort = append(orders.Sort, "customer.name", "customer.age")
	}
	lines := supportOf("order").of("id", "orderId", "itemId", "qty")
	if joins {
		lines.Sort = append(lines.Sort, "order.status", "order.total")
	}
	companies := supportOf("customers").of("id", "name")
	if joins && s.Orders.Aggregate != nil {
		addGroups(o, &companies, &customers.Query, &orders, &lines)
	}
	w.resources["companies"] = s.Companies.Resource("companies", &resource.Options[Company]{Public: true,
		Query:     companies,
		Relations: []resource.Relation[Company]{{Name: "customers", Target: "customers", By: "companyId"}}})
	w.resources["customers"] = s.Customers.Resource("customers", customers)
	w.resources["orders"] = s.Orders.Resource("orders", &resource.Options[Order]{Public: true,
		Query: orders,
		Relations: []resource.Relation[Order]{
			{Name: "customer", Target: "customers", Field: "customerId"},
			{Name: "lines", Target: "lines", By: "orderId"},
			{Name: "tags", Target: "tags", Through: "orderTags", By: "orderId", To: "tagId"},
			// Several lines can lead from an order to a customer.
			{Name: "buyers", Target: "customers", Through: "lines", By: "orderId", To: "itemId"},
		}})
	w.resources["lines"] = s.Lines.Resource("lines", &resource.Options[Line]{Public: true,
		Query:     lines,
		Relations: []resource.Relation[Line]{{Name: "order", Target: "orders", Field: "orderId"}}})
	w.resources["tags"] = s.Tags.Resource("tags", &resource.Options[Tag]{Public: true,
		Query: supportOf("orders", "owner").of("id", "label", "ownerId"),
		Relations: []resource.Relation[Tag]{
			{Name: "owner", Target: "customers", Field: "ownerId"},
			{Name: "orders", Target: "orders", Through: "orderTags", By: "tagId", To: "orderId"},
		}})
	w.resources["orderTags"] = s.OrderTags.Resource("orderTags", &resource.Options[OrderTag]{
		Public: true, AllowRecreate: true,
		Query: supportOf().of("orderId", "tagId")})
	catalog := resource.NewCatalog(nil, w.resources["companies"], w.resources["customers"],
		w.resources["orders"], w.resources["lines"], w.resources["tags"], w.resources["orderTags"])
	for _, r := range catalog.Resources() {
		w.resources[r.Name()] = r
	}
	w.fill(t, s, rand.New(rand.NewPCG(o.Seed, 4)))
	w.describe()
	for name, k := range w.kinds {
		for _, path := range w.resources[name].Describe().Query.Sort {
			if strings.Contains(path, ".") {
				k.sorts = append(k.sorts, path)
			}
		}
	}
	return w
}

// relations are the relations of a Support.
type relations []string

// supportOf begins a Support with relations.
func supportOf(names ...string) relations { return names }

// of returns the Support with fields.
func (r relations) of(fields ...string) query.Support {
	s := query.Support{Filter: map[string][]query.Op{}, Relations: r, Sort: fields}
	for _, f := range fields {
		s.Filter[f] = allOperators
	}
	return s
}

var allOperators = []query.Op{query.Eq, query.Ne, query.In, query.NotIn, query.Lt, query.Gte, query.IsNull}

// uuid returns the n-th UUID of a company.
func uuid(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// fill makes random items.
func (w *world) fill(t *testing.T, s Stores, rnd *rand.Rand) {
	t.Helper()
	for n := range 6 {
		add(t, w, s.Companies, "companies", uuid(n), Company{ID: uuid(n), Name: string(rune('a' + n%4))})
	}
	for n := range 30 {
		c := Customer{ID: int64(n), Age: rnd.IntN(5), Hidden: rnd.IntN(4) == 0}
		if rnd.IntN(4) > 0 {
			name := []string{"a", "b", "c", "d", "e", ""}[rnd.IntN(6)]
			c.Name = &name
		}
		if rnd.IntN(4) > 0 {
			company := uuid(rnd.IntN(7)) // one of them does not exist
			c.CompanyID = &company
		}
		if rnd.IntN(3) > 0 {
			boss := int64(rnd.IntN(32))
			c.BossID = &boss
		}
		add(t, w, s.Customers, "customers", fmt.Sprint(n), c)
	}
	for n := range 80 {
		id := fmt.Sprintf("o%02d", n)
		add(t, w, s.Orders, "orders", id, Order{ID: id, CustomerID: int64(rnd.IntN(33)),
			Status: string(rune('a' + rnd.IntN(3))), Total: rnd.IntN(6)})
	}
	for n := range 150 {
		add(t, w, s.Lines, "lines", fmt.Sprint(n+1), Line{ID: int64(n + 1),
			OrderID: fmt.Sprintf("o%02d", rnd.IntN(84)), ItemID: int64(rnd.IntN(6)), Qty: rnd.IntN(4)})
	}
	for n := range 6 {
		id := fmt.Sprintf("t%d", n)
		add(t, w, s.Tags, "tags", id, Tag{ID: id, Label: []string{"a", "b", ""}[n%3],
			OwnerID: []string{"0", "3", "7", "", "x", "40"}[n]})
	}
	for n := range 70 {
		link := OrderTag{OrderID: fmt.Sprintf("o%02d", n), TagID: fmt.Sprintf("t%d", rnd.IntN(7))}
		add(t, w, s.OrderTags, "orderTags", link.OrderID+","+link.TagID, link)
	}
}

// add inserts an item.
func add[T any](t *testing.T, w *world, ops resource.Ops[T], name, id string, v T) {
	t.Helper()
	if _, err := ops.Insert(t.Context(), id, v); err != nil {
		t.Fatalf("insert %s %s: %v", name, id, err)
	}
	w.items[name] = append(w.items[name], &v)
}

// describe sets the kinds.
func (w *world) describe() {
	letters := []any{"a", "b", "c", "d", "e"}
	numbers := []any{int64(0), int64(1), int64(2), int64(3), int64(4), int64(5)}
	w.kinds = map[string]*kind{
		"companies": {map[string][]any{"name": letters, "id": {uuid(1), uuid(2), uuid(6)}}, []string{"name"},
			map[string]relation{"customers": {target: "customers", own: "id", by: "companyId"}}},
		"customers": {
			map[string][]any{"name": letters, "age": numbers, "hidden": {true, false}, "id": numbers,
				"bossId": numbers},
			[]string{"name", "age", "companyId"},
			map[string]relation{
				"company": {target: "companies", own: "companyId", by: "id"},
				"boss":    {target: "customers", own: "bossId", by: "id"},
				"orders":  {target: "orders", own: "id", by: "customerId"},
				"owned":   {target: "tags", own: "id", by: "ownerId"},
				"labeled": {target: "tags", own: "name", by: "label"},
			}},
		"orders": {map[string][]any{"status": letters[:3], "total": numbers, "customerId": numbers},
			[]string{"total", "status", "customerId"},
			map[string]relation{
				"customer": {target: "customers", own: "customerId", by: "id"},
				"lines":    {target: "lines", own: "id", by: "orderId"},
				"tags": {target: "tags", own: "tagId", by: "id",
					through: &relation{target: "orderTags", own: "id", by: "orderId"}},
				"buyers": {target: "customers", own: "itemId", by: "id",
					through: &relation{target: "lines", own: "id", by: "orderId"}},
			}},
		"lines": {map[string][]any{"itemId": numbers, "qty": numbers}, []string{"itemId", "qty"},
			map[string]relation{"order": {target: "orders", own: "orderId", by: "id"}}},
		"tags": {map[string][]any{"label": letters[:3], "id": {"t1", "t2"}}, []string{"label"},
			map[string]relation{
				"owner": {target: "customers", own: "ownerId", by: "id"},
				"orders": {target: "orders", own: "orderId", by: "id",
					through: &relation{target: "orderTags", own: "id", by: "tagId"}},
			}},
	}
}

// randomFilter returns a random filter of the items of a resource.
func (w *world) randomFilter(rnd *rand.Rand, name string, depth int) query.Filter {
	k := w.kinds[name]
	switch n := rnd.IntN(10); {
	case depth < 4 && n == 0:
		return query.Not(w.randomFilter(rnd, name, depth+1))
	case depth < 4 && n == 1:
		return query.And(w.randomFilter(rnd, name, depth+1), w.randomFilter(rnd, name, depth+1))
	case depth < 4 && n == 2:
		return query.Or(w.randomFilter(rnd, name, depth+1), w.randomFilter(rnd, name, depth+1))
	case depth < 3 && n < 8 || depth == 0:
		relations := sortedKeys(k.relations)
		relation := relations[rnd.IntN(len(relations))]
		f := query.Filter{}
		if rnd.IntN(6) > 0 {
			f = w.randomFilter(rnd, k.relations[relation].target, depth+1)
		}
		switch rnd.IntN(4) {
		case 0:
			return query.Not(query.Some(relation, f))
		case 1:
			return query.Not(query.Some(relation, query.Not(f)))
		}
		return query.Some(relation, f)
	}
	fields := sortedKeys(k.values)
	field := fields[rnd.IntN(len(fields))]
	values := k.values[field]
	v := values[rnd.IntN(len(values))]
	switch op := allOperators[rnd.IntN(len(allOperators))]; op {
	case query.In, query.NotIn:
		return query.Where(field, op, []any{v, values[rnd.IntN(len(values))]})
	case query.IsNull:
		return query.Where(field, op, rnd.IntN(2) == 0)
	default:
		return query.Where(field, op, v)
	}
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// expected returns the ids of the items that a caller gets.
func (w *world) expected(name string, q query.Query, seesAll bool) []string {
	q.Sort = append(slices.Clip(q.Sort), query.Order{Field: "id"})
	q.Limit = 0
	ids := []string{}
	shown := slices.DeleteFunc(slices.Clone(w.items[name]), func(v any) bool { return !isShown(v, seesAll) })
	for _, v := range query.Select(q, shown, func(v *any, field string) any {
		return w.value(name, *v, field, seesAll)
	}) {
		ids = append(ids, fmt.Sprint(query.FieldOf(v, "id")))
	}
	return ids
}

// isShown reports whether a caller sees an item.
func isShown(v any, seesAll bool) bool {
	c, ok := v.(*Customer)
	return !ok || seesAll || !c.Hidden
}

// value returns a field or the items of a relation, as for query.Match, or the field of a related item.
func (w *world) value(name string, v any, field string, seesAll bool) any {
	if w.kinds[name] == nil {
		return query.FieldOf(v, field)
	}
	if relation, field, ok := strings.Cut(field, "."); ok {
		rel := w.kinds[name].relations[relation]
		for _, to := range w.follow(v, &rel, seesAll) {
			return query.FieldOf(to, field)
		}
		return nil
	}
	rel, ok := w.kinds[name].relations[field]
	if !ok {
		return query.FieldOf(v, field)
	}
	return query.Related(func(yield func(func(string) any) bool) {
		for _, to := range w.related(v, &rel, seesAll) {
			if !yield(func(field string) any { return w.value(rel.target, to, field, seesAll) }) {
				return
			}
		}
	})
}

// related returns the items to which a relation leads from an item. Those with several links are repeated.
func (w *world) related(v any, rel *relation, seesAll bool) (found []any) {
	if rel.through == nil {
		return w.follow(v, rel, seesAll)
	}
	for _, link := range w.follow(v, rel.through, seesAll) {
		found = append(found, w.follow(link, rel, seesAll)...)
	}
	return found
}

// follow returns the items that a caller sees and that have the key of an item.
func (w *world) follow(v any, rel *relation, seesAll bool) (found []any) {
	key := query.FieldOf(v, rel.own)
	if o, ok := v.(*Order); key == nil || ok && rel.own == "customerId" && o.CustomerID == 0 {
		return nil
	}
	switch { // an empty string and an omitted zero are no keys; tags have the ids of customers as texts
	case key == "", rel.by == "customerId" && key == int64(0):
		return nil
	case rel.own == "ownerId":
		id, err := strconv.ParseInt(key.(string), 10, 64)
		if err != nil {
			return nil
		}
		key = id
	case rel.by == "ownerId":
		key = fmt.Sprint(key)
	}
	for _, to := range w.itemsBy(rel.target, rel.by)[key] {
		if isShown(to, seesAll) {
			found = append(found, to)
		}
	}
	return found
}

// itemsBy returns the items of a resource by the value of a field.
func (w *world) itemsBy(name, field string) map[any][]any {
	at := name + "." + field
	if w.byField[at] == nil {
		w.byField[at] = map[any][]any{}
		for _, v := range w.items[name] {
			if key := query.FieldOf(v, field); key != nil {
				w.byField[at][key] = append(w.byField[at][key], v)
			}
		}
	}
	return w.byField[at]
}

// list returns the ids of all pages, which are read from the end if backward is set.
func (w *world) list(ctx context.Context, name string, q query.Query, backward bool) ([]string, error) {
	ids := []string{}
	for at := (resource.Position{AtEnd: backward}); ; {
		list := w.resources[name].List
		if len(ids)%2 == 0 {
			list = w.resources[name].Raw().ListJSON
		}
		p, err := list(ctx, q, at)
		if err != nil {
			return nil, err
		}
		page := []string{}
		for i := range p.Entries {
			page = append(page, p.Entries[i].ID)
		}
		if backward {
			at, ids = resource.Position{Before: p.Prev}, append(page, ids...)
		} else {
			at, ids = resource.Position{After: p.Next}, append(ids, page...)
		}
		p.Release()
		if at == (resource.Position{}) {
			return ids, nil
		}
	}
}
