package memory_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

type Order struct {
	ID     int64  `json:"id"`
	Status string `json:"status"`
	Total  int    `json:"total"`
}

type Effect struct {
	ID    string `json:"id"`
	Order string `json:"order"`
}

func ExampleNew() {
	ctx := context.Background()
	orders := memory.New(&memory.Options[Order]{Index: []string{"total"}})
	for _, total := range []int{30, 10, 20} {
		orders.Create(ctx, Order{Status: "placed", Total: total})
	}

	order, err := orders.Get(ctx, "2")
	fmt.Println(order.Value, err)
	_, err = orders.Replace(ctx, "2", order.Rev, Order{Status: "paid", Total: 10})
	fmt.Println(err)
	_, err = orders.Replace(ctx, "2", order.Rev, Order{Status: "lost", Total: 10}) // that revision is gone
	fmt.Println(err)

	byTotal := []query.Order{{Field: "total", Desc: true}, {Field: "id"}}
	for item, err := range orders.List(ctx, query.Query{Sort: byTotal, Limit: 2}) {
		fmt.Println(item.Value, err)
	}
	// Output:
	// {2 placed 10} <nil>
	// <nil>
	// the item has been changed since it was read
	// {1 placed 30} <nil>
	// {3 placed 20} <nil>
}

func ExampleNewDB() {
	ctx := context.Background()
	db := memory.NewDB()
	orders := memory.New(&memory.Options[Order]{DB: db})
	effects := memory.New(&memory.Options[Effect]{DB: db})

	err := db.InTx(ctx, func(ctx context.Context) error {
		order, err := orders.Create(ctx, Order{Status: "placed"})
		if err != nil {
			return err
		}
		if _, err := effects.Create(ctx, Effect{Order: order.ID}); err != nil {
			return err
		}
		return errors.New("no more wine") // nothing has happened
	})
	n, _ := orders.Count(ctx, query.Query{})
	m, _ := effects.Count(ctx, query.Query{})
	fmt.Println(n, m, err)
	// Output: 0 0 no more wine
}

func ExampleNewTombstones() {
	ctx := context.Background()
	deleted := memory.NewTombstones()
	deleted.Mark(ctx, "42", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

	fmt.Println(deleted.Deleted(ctx, "42"))
	_, err := deleted.Deleted(ctx, "43")
	fmt.Println(errors.Is(err, resource.ErrNotFound))
	// Output:
	// 2026-01-02 03:04:05 +0000 UTC <nil>
	// true
}

// The groups of a slice, as in the Aggregate method of a small collection.
func ExampleAggregate() {
	items := []resource.Item[Order]{
		{ID: "1", Value: Order{Status: "placed", Total: 30}},
		{ID: "2", Value: Order{Status: "paid", Total: 10}},
		{ID: "3", Value: Order{Status: "placed", Total: 20}},
	}
	byStatus := query.Aggregation{
		Group:      []string{"status"},
		Aggregates: []query.Aggregate{{Func: query.Count}, {Func: query.Sum, Field: "total"}},
	}
	for g, err := range memory.Aggregate(items, byStatus) {
		fmt.Println(g.Keys, g.Values, err)
	}
	// Output:
	// [paid] [1 10] <nil>
	// [placed] [2 50] <nil>
}
