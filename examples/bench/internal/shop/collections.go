package shop

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// Parts returns the resources that Stoa serves: three collections over the same slices.
func (s *Shop) Parts() []resource.Part {
	return []resource.Part{
		resource.New("orders", orders{s}, &resource.Options[Order]{Public: true, MaxPageSize: 10_000,
			Relations: []resource.Relation[Order]{
				{Name: "customer", Target: "users", Field: "customerId"},
				{Name: "shipments", Target: "shipments", By: "orderId", Limit: 10},
			}}),
		resource.New("users", users{s}, &resource.Options[User]{Public: true}),
		resource.New("shipments", shipments{s}, &resource.Options[Shipment]{Public: true,
			Query: query.Support{Filter: map[string][]query.Op{"orderId": {query.Eq}}}}),
	}
}

type (
	orders    struct{ shop *Shop }
	users     struct{ shop *Shop }
	shipments struct{ shop *Shop }
)

// Get implements [resource.Collection].
func (c orders) Get(_ context.Context, id string) (resource.Item[Order], error) {
	c.shop.mu.RLock()
	defer c.shop.mu.RUnlock()
	i, ok := c.shop.orderAt[id]
	if !ok {
		return resource.Item[Order]{}, resource.ErrNotFound
	}
	return c.item(i), nil
}

// item must be called with the lock held.
func (c orders) item(i int) resource.Item[Order] {
	return resource.Item[Order]{Rev: rev(c.shop.revs[i]), Value: c.shop.orders[i]}
}

// rev returns a revision. That of an order which was never written is a constant, so that reading a
// page does not allocate one for each item.
func rev(n int64) resource.Rev {
	if n == 1 {
		return "1"
	}
	return resource.Rev(strconv.FormatInt(n, 10))
}

// List holds the lock until the iteration ends. The library copies the items before it encodes
// them, so that is not long.
func (c orders) List(_ context.Context, q query.Query) iter.Seq2[resource.Item[Order], error] {
	return func(yield func(resource.Item[Order], error) bool) {
		c.shop.mu.RLock()
		defer c.shop.mu.RUnlock()
		for i := c.begin(q); i >= 0 && i < len(c.shop.orders); i += step(q) {
			if !yield(c.item(i), nil) {
				return
			}
		}
	}
}

// begin returns the index at which a page of q begins.
func (c orders) begin(q query.Query) int {
	return beginAt(q, len(c.shop.orders), func(id string) (int, bool) {
		i, ok := c.shop.orderAt[id]
		return i, ok
	})
}

// beginAt returns the index of the first item that q selects. n is the number of items, and find
// returns the index of an id.
func beginAt(q query.Query, n int, find func(id string) (int, bool)) int {
	backward := step(q) < 0
	switch {
	case q.After == nil && backward:
		return n - 1
	case q.After == nil:
		return 0
	}
	id, _ := q.After[0].(string)
	i, ok := find(id)
	if backward {
		return i - 1
	}
	if ok {
		i++
	}
	return i
}

// step returns the direction of reading.
func step(q query.Query) int {
	if len(q.Sort) > 0 && q.Sort[0].Desc {
		return -1
	}
	return 1
}

// Replace implements [resource.Replacer].
func (c orders) Replace(
	_ context.Context, id string, expect resource.Rev, v Order,
) (resource.Item[Order], error) {
	c.shop.mu.Lock()
	defer c.shop.mu.Unlock()
	i, ok := c.shop.orderAt[id]
	switch {
	case !ok:
		return resource.Item[Order]{}, resource.ErrNotFound
	case rev(c.shop.revs[i]) != expect:
		return resource.Item[Order]{}, resource.ErrStale
	}
	c.shop.orders[i] = v
	c.shop.revs[i]++
	return c.item(i), nil
}

// Get implements [resource.Collection].
func (c users) Get(_ context.Context, id string) (resource.Item[User], error) {
	u, ok := c.shop.User(id)
	if !ok {
		return resource.Item[User]{}, resource.ErrNotFound
	}
	return resource.Item[User]{Value: *u}, nil
}

// List implements [resource.Collection].
func (c users) List(_ context.Context, q query.Query) iter.Seq2[resource.Item[User], error] {
	find := func(id string) (int, bool) {
		i, ok := c.shop.userAt[id]
		return i, ok
	}
	return func(yield func(resource.Item[User], error) bool) {
		for i := beginAt(q, len(c.shop.users), find); i >= 0 && i < len(c.shop.users); i += step(q) {
			if !yield(resource.Item[User]{Value: c.shop.users[i]}, nil) {
				return
			}
		}
	}
}

// GetMany implements [resource.MultiGetter], so that Stoa reads the customers of a page in one
// call.
func (c users) GetMany(_ context.Context, ids []string) iter.Seq2[resource.Item[User], error] {
	return func(yield func(resource.Item[User], error) bool) {
		for _, id := range ids {
			if u, ok := c.shop.User(id); ok && !yield(resource.Item[User]{Value: *u}, nil) {
				return
			}
		}
	}
}

// Get implements [resource.Collection].
func (c shipments) Get(_ context.Context, id string) (resource.Item[Shipment], error) {
	i, ok := c.find(id)
	if !ok {
		return resource.Item[Shipment]{}, resource.ErrNotFound
	}
	return resource.Item[Shipment]{Value: c.shop.shipments[i]}, nil
}

// find searches the shipments, which are sorted by id.
func (c shipments) find(id string) (int, bool) {
	return slices.BinarySearchFunc(c.shop.shipments, id,
		func(s Shipment, id string) int { return strings.Compare(s.ID, id) })
}

// List supports the two queries of the catalog: all shipments, or those of one order.
// List implements [resource.Collection].
func (c shipments) List(_ context.Context, q query.Query) iter.Seq2[resource.Item[Shipment], error] {
	return func(yield func(resource.Item[Shipment], error) bool) {
		n := len(c.shop.shipments)
		for i := beginAt(q, n, c.find); i >= 0 && i < n; i += step(q) {
			s := c.shop.shipments[i]
			fits := query.Match(q.Filter, func(string) any { return s.OrderID })
			if fits && !yield(resource.Item[Shipment]{Value: s}, nil) {
				return
			}
		}
	}
}

// ListByKeys implements [resource.BatchLister] for the relation of orders.
func (c shipments) ListByKeys(
	_ context.Context, _ string, keys []string, q query.Query,
) iter.Seq2[resource.Item[Shipment], error] {
	return func(yield func(resource.Item[Shipment], error) bool) {
		for _, id := range keys {
			of := c.shop.ShipmentsOf(id)
			for i := range of[:min(len(of), q.Limit)] {
				if !yield(resource.Item[Shipment]{Value: of[i]}, nil) {
					return
				}
			}
		}
	}
}
