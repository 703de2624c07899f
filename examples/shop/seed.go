package main

// The sample data. It is stored in one transaction, so that a shop that is killed before the commit starts
// again with an empty database.

import (
	"context"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// fill seeds the shop unless -seed=false is set. It retries while another process has locked the
// file.
func (c *collections) fill(ctx context.Context, s settings) (filled bool, err error) {
	if !s.seed {
		return false, nil
	}
	err = retryBusy(ctx, func() (err error) {
		filled, err = c.seed(ctx, s.places)
		return err
	})
	return filled, err
}

// seed stores sample data in one transaction, if the shop is empty. filled reports that it was not.
// If several shops start on one database, only one of them seeds it.
//
// The places are loaded first, so that an unreadable file does not use up ids of users and orders.
func (c *collections) seed(ctx context.Context, places string) (filled bool, err error) {
	err = c.db.runner().InTx(ctx, func(ctx context.Context) error {
		if err := c.lockAll(ctx); err != nil {
			return err
		}
		if filled, err = c.hasData(ctx); filled || err != nil {
			return err
		}
		if err := c.loadPlaces(ctx, places); err != nil {
			return err
		}
		users, err := c.seedUsers(ctx)
		if err != nil {
			return err
		}
		return c.seedOrders(ctx, users)
	})
	return filled, err
}

// lockAll blocks writes of other processes until the transaction ends. LOCK TABLE takes no
// snapshot, so the transaction sees every write that was committed before it got the lock. In
// SQLite and in memory transactions are serial anyway.
func (c *collections) lockAll(ctx context.Context) error {
	if c.db.sql == nil || c.db.sql.Dialect() != sqltx.PostgreSQL {
		return nil
	}
	_, err := c.db.sql.Writer(ctx).
		ExecContext(ctx, "LOCK TABLE users, orders, places IN SHARE ROW EXCLUSIVE MODE")
	return err
}

// hasData reports whether any collection has an item. A database of which only the orders were
// deleted is not seeded again.
func (c *collections) hasData(ctx context.Context) (bool, error) {
	users, err := hasItems(ctx, c.users)
	if users || err != nil {
		return users, err
	}
	orders, err := hasItems(ctx, c.orders)
	if orders || err != nil {
		return orders, err
	}
	return hasItems(ctx, c.places)
}

// hasItems reads at most one item, so its duration does not depend on the size of the table.
func hasItems[T any](ctx context.Context, ops resource.Ops[T]) (bool, error) {
	for _, err := range ops.List(ctx, query.Query{Limit: 1}) {
		return err == nil, err
	}
	return false, nil
}

// seedUsers creates the users and returns their ids. The hashes are those of the names, so the
// passwords of the README work in every shop.
func (c *collections) seedUsers(ctx context.Context) (ids []int64, err error) {
	for _, u := range []struct {
		name string
		role UserRole
		hash string
	}{
		{"ann", admin, "apomisZ+xFZ+igMuhoHfSUkB+J5CRktm+QYNjr0QjQ4"},
		{"bob", customer, "MuTrQKQRlHY6kpmhc5TqLymg4EvMbI+JVCqACD+1718"},
		{"cat", customer, "MK6fCEkodCH90F/B17nG3U0ovQ5w+L8QOtzZcigwE8I"},
	} {
		it, err := c.users.Create(ctx, User{Email: u.name + "@example.com", Active: true, Role: u.role})
		if err != nil {
			return nil, err
		}
		password := seedPassword(it.Value.ID, u.name, u.hash)
		if _, err := c.passwords.Insert(ctx, password.ID, password); err != nil {
			return nil, err
		}
		ids = append(ids, it.Value.ID)
	}
	return ids, nil
}

// seedOrders creates an order in each of three states. The times are relative to the start, so
// that cancel-stale distinguishes old orders from new ones.
func (c *collections) seedOrders(ctx context.Context, users []int64) error {
	bob, cat, note := users[1], users[2], "Please ring twice."
	const day = 24 * time.Hour
	today := toMillisecond(c.now())
	for _, o := range []Order{
		{Status: shipped, CustomerID: &bob, Lines: []Line{{ItemID: 7, Qty: 2}, {ItemID: 11, Qty: 1}},
			CreatedAt: today.Add(-3 * day)},
		{Status: paid, CustomerID: &cat, Lines: []Line{{ItemID: 3, Qty: 10}}, Note: &note,
			CreatedAt: today.Add(-day)},
		{Status: placed, CustomerID: &bob, Lines: []Line{{ItemID: 42, Qty: 1}}, CreatedAt: today},
	} {
		if _, err := c.orders.Create(ctx, o); err != nil {
			return err
		}
	}
	return nil
}
