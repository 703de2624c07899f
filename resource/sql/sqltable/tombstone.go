package sqltable

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// graves is the table of tombstones. It is one of its own, and not a column among the items: then everybody who reads
// the items sees only those that there are, and unique and foreign keys mean what they say.
type graves struct {
	name  string
	table string // quoted
	id    string // the columns, quoted
	at    *column
	tr    *sqlquery.Translator
}

// chooseGraves follows Options.Tombstones.
func (t *Table[T]) chooseGraves() error {
	switch {
	case t.opts.Forget && (t.opts.Recreate || t.opts.Tombstones != ""):
		return errors.New("Options.Forget contradicts Recreate and Tombstones")
	case t.opts.Forget || t.opts.ReadOnly:
		return nil
	}
	g := &graves{name: cmp.Or(t.opts.Tombstones, t.name+"_deleted"), id: t.dialect.Quote("id")}
	g.at = &column{spec: sqlquery.Column{Name: "deleted_at", Kind: sqlquery.Time, NotNull: true}}
	var err error
	if g.table, err = quoteTable(t.dialect, g.name); err != nil {
		return err
	}
	g.tr = sqlquery.New(sqlquery.Dialect(t.dialect), map[string]sqlquery.Column{"at": g.at.spec})
	t.dead = g
	return g.at.settle(t.dialect)
}

// bury deletes an item and remembers that, both or none. It tells whether there was such an item.
func (t *Table[T]) bury(ctx context.Context, w *args, statement string, id any) (removed bool, err error) {
	if t.dead == nil {
		removed, err = t.run(ctx, w, statement)
		return removed, t.refused(err)
	}
	if t.dialect == sqltx.PostgreSQL { // which can do it in one statement
		now := w.bind(t.dead.tr.Arg("at", t.now()), t.dead.at.cast)
		removed, err = t.run(ctx, w, "WITH gone AS ("+statement+" RETURNING "+t.id.expr+") "+
			t.dead.mark("SELECT "+t.id.expr+", "+now+" FROM gone WHERE true"))
		return removed, t.refused(err)
	}
	err = t.db.InTx(ctx, func(ctx context.Context) error {
		if removed, err = t.run(ctx, w, statement); err != nil || !removed {
			return err
		}
		mark := &args{dialect: t.dialect}
		values := mark.bind(t.tr.Arg(t.id.field.Name, id), "") + ", " + mark.bind(t.dead.tr.Arg("at", t.now()), "")
		_, err = t.run(ctx, mark, t.dead.mark("VALUES ("+values+")"))
		return err
	})
	return removed && err == nil, t.refused(err)
}

// mark writes tombstones. One that is there is of an earlier life.
func (g *graves) mark(rows string) string {
	return "INSERT INTO " + g.table + " (" + g.id + ", " + g.at.expr + ") " + rows +
		" ON CONFLICT (" + g.id + ") DO UPDATE SET " + g.at.expr + " = excluded." + g.at.expr
}

// absent says whether an item that is not there was ever there.
func (t *Table[T]) absent(ctx context.Context, c conn, id any) error {
	if t.dead == nil {
		return resource.ErrNotFound
	}
	switch _, found, err := t.died(ctx, c, id, ""); {
	case err != nil:
		return err
	case found:
		return resource.ErrGone
	}
	return resource.ErrNotFound
}

// died reads a tombstone.
func (t *Table[T]) died(ctx context.Context, c conn, id any, condition string) (at time.Time, found bool, err error) {
	if s, ok := id.(string); ok && t.dialect == sqltx.PostgreSQL && !takes(t.id.spec.Kind, s) {
		return at, false, nil
	}
	w := &args{dialect: t.dialect}
	statement := "SELECT " + t.dead.at.expr + " FROM " + t.dead.table + " AS dead WHERE " + t.dead.id + " = " +
		w.bind(t.tr.Arg(t.id.field.Name, id), t.id.cast) + condition
	found, err = t.scan(ctx, c, statement, w.list, t.dead.at.cell(reflect.ValueOf(&at).Elem()))
	return at, found, err
}

// deleted is that of [resource.Tombstoner].
func (t *Table[T]) deleted(ctx context.Context, id string) (time.Time, error) {
	value, err := t.id.field.Parse(id)
	if err != nil {
		return time.Time{}, resource.ErrNotFound
	}
	alive := " AND NOT EXISTS (SELECT 1 FROM " + t.table + " AS alive WHERE alive." + t.id.expr + " = dead." + t.dead.id + ")"
	at, found, err := t.died(ctx, t.db.Reader(ctx), value, alive)
	if err == nil && !found {
		err = resource.ErrNotFound
	}
	return at, err
}
