package main

import (
	"context"
	"errors"

	"github.com/stoa-go/stoa/ci/e2e/database"
	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

// effect is what a POST leaves, and what a deposit leaves. Both name the key that they were done under, so that somebody
// else can count.
type effect struct {
	ID     string `json:"id" format:"uuid"`
	Key    string `json:"key" required:"true"`
	Amount int64  `json:"amount"`
}

// list is what PATCH adds keys to.
type list struct {
	ID   string   `json:"id"`
	Keys []string `json:"keys"`
}

// account is what deposits add to.
type account struct {
	ID      string `json:"id"`
	Balance int64  `json:"balance"`
}

// deposit is the input of the command.
type deposit struct {
	Account string `json:"account" required:"true"`
	Key     string `json:"key" required:"true"`
	Amount  int64  `json:"amount" required:"true"`
}

// shared are the lists and the accounts: few, so that writers meet.
const shared = 16

// newCatalog serves four kinds of writes: one that creates, one that changes, one that removes, and one that does two
// things in two tables.
func newCatalog(ctx context.Context, db *sqltx.DB, keeper *idempotency.Keeper, mode string) (*resource.Catalog, error) {
	var errs [4]error
	var effects, deposits resource.Ops[effect]
	var lists resource.Ops[list]
	var accounts resource.Ops[account]
	effects, errs[0] = table[effect](ctx, db, "effects")
	deposits, errs[1] = table[effect](ctx, db, "deposits")
	lists, errs[2] = table[list](ctx, db, "lists")
	accounts, errs[3] = table[account](ctx, db, "accounts")
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	if mode == apart || mode == three { // then nothing is known of an id that follows from a key
		effects.Insert, effects.InsertMany = nil, nil
	}
	opts := &resource.CommandOptions[deposit]{Public: true}
	if mode == together {
		opts.Transactions = db
	}
	return resource.NewCatalog(
		&resource.CatalogOptions{Once: keeper, Principal: func(context.Context) string { return "chaos" }},
		public("effects", effects), public("deposits", deposits), public("lists", lists), public("accounts", accounts),
		resource.NewCommand("accounts/deposit", depositor(db, accounts, deposits), opts),
	), nil
}

func public[T any](name string, ops resource.Ops[T]) resource.Part {
	return resource.FromOps(name, ops, &resource.Options[T]{Public: true})
}

// table is a collection whose writes have steps before and behind them.
func table[T any](ctx context.Context, db *sqltx.DB, name string) (resource.Ops[T], error) {
	t := sqltable.New[T](db, name, nil)
	ops := t.Ops()
	create, insert, replace, remove := ops.Create, ops.Insert, ops.Replace, ops.Delete
	ops.Create = func(ctx context.Context, v T) (resource.Item[T], error) {
		return around(ctx, func() (resource.Item[T], error) { return create(ctx, v) })
	}
	ops.Insert = func(ctx context.Context, id string, v T) (resource.Item[T], error) {
		return around(ctx, func() (resource.Item[T], error) { return insert(ctx, id, v) })
	}
	ops.Replace = func(ctx context.Context, id string, rev resource.Rev, v T) (resource.Item[T], error) {
		return around(ctx, func() (resource.Item[T], error) { return replace(ctx, id, rev, v) })
	}
	ops.Delete = func(ctx context.Context, id string, rev resource.Rev) error {
		_, err := around(ctx, func() (struct{}, error) { return struct{}{}, remove(ctx, id, rev) })
		return err
	}
	return ops, database.Retry(ctx, t.CreateTable)
}

// depositor adds to an account and notes it, both or neither: whoever dies between the two leaves nothing.
func depositor(
	runner tx.Runner, accounts resource.Ops[account], deposits resource.Ops[effect],
) func(context.Context, deposit) (effect, error) {
	return func(ctx context.Context, in deposit) (made effect, err error) {
		err = runner.InTx(ctx, func(ctx context.Context) error {
			held, err := accounts.Get(ctx, in.Account)
			if err != nil {
				return err
			}
			held.Value.Balance += in.Amount
			if _, err := accounts.Replace(ctx, in.Account, held.Rev, held.Value); err != nil {
				return err
			}
			item, err := deposits.Create(ctx, effect{Key: in.Key, Amount: in.Amount})
			made = item.Value
			return err
		})
		return made, err
	}
}
