package main

import (
	"context"
	"time"
)

// seed puts into an empty shop what a newcomer can look at: all of it, or nothing if something goes wrong.
func (c *collections) seed(ctx context.Context, places string) error {
	return c.db.InTx(ctx, func(ctx context.Context) error {
		if err := c.seedUsers(ctx); err != nil {
			return err
		}
		if err := c.seedOrders(ctx); err != nil {
			return err
		}
		return c.loadPlaces(ctx, places)
	})
}

func (c *collections) seedUsers(ctx context.Context) error {
	for _, u := range []User{
		{Email: "ann@example.com", Active: true, Role: "admin"},
		{Email: "bob@example.com", Active: true, Role: "customer"},
		{Email: "cat@example.com", Active: true, Role: "customer"},
	} {
		if _, err := c.users.Create(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

func (c *collections) seedOrders(ctx context.Context) error {
	bob, cat, note := int64(2), int64(3), "Please ring twice."
	const day = 24 * time.Hour
	today := toMillisecond(c.now())
	for _, o := range []Order{
		{Status: "shipped", CustomerID: &bob, Lines: []Line{{ItemID: 7, Qty: 2}, {ItemID: 11, Qty: 1}},
			CreatedAt: today.Add(-3 * day)},
		{Status: "paid", CustomerID: &cat, Lines: []Line{{ItemID: 3, Qty: 10}}, Note: &note, CreatedAt: today.Add(-day)},
		{Status: "placed", CustomerID: &bob, Lines: []Line{{ItemID: 42, Qty: 1}}, CreatedAt: today},
	} {
		if _, err := c.orders.Create(ctx, o); err != nil {
			return err
		}
	}
	return nil
}
