package sqltable

// Collations of text columns in PostgreSQL. check.go calls checkCollations; plans.go names indexes
// by them.

import (
	"cmp"
	"context"
	"fmt"

	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// collation is a collation of the database.
type collation struct {
	name          string
	deterministic bool
}

// The statements select the collations of the columns of a table, and those with a name.
const (
	columnCollations = `
SELECT a.attname, c.collname, c.collisdeterministic
FROM pg_attribute a JOIN pg_collation c ON c.oid = a.attcollation
WHERE a.attrelid = to_regclass($1::text) AND a.attnum > 0 AND NOT a.attisdropped`
	namedCollations = `
SELECT collname, collname, collisdeterministic FROM pg_collation
WHERE pg_collation_is_visible(oid) AND collencoding IN (-1, pg_char_to_encoding(getdatabaseencoding()))
	AND collname = $1::text`
)

// collations runs one of the two statements.
func (t *untyped) collations(ctx context.Context, statement, arg string) (map[string]collation, error) {
	rows, err := t.db.Writer(ctx).QueryContext(ctx, statement, arg)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[string]collation{}
	for rows.Next() {
		var key string
		var c collation
		if err := rows.Scan(&key, &c.name, &c.deterministic); err != nil {
			return nil, err
		}
		found[key] = c
	}
	return found, rows.Err()
}

// checkCollations rejects collations in which two different texts can be equal. Equality in such a
// column differs from query.Match, and a list sorted by it has no position for each row.
func (t *untyped) checkCollations(ctx context.Context, i *inspection) error {
	if t.dialect != sqltx.PostgreSQL {
		return nil
	}
	columns, err := t.collations(ctx, columnCollations, t.table)
	if err != nil {
		return err
	}
	declared := map[string]error{} // by name
	for _, c := range t.columns {
		if !c.scalar() || c.spec.Kind != sqlquery.Text {
			continue
		}
		if own, ok := columns[c.spec.Name]; ok && !c.computed() && !own.deterministic {
			i.add("column %s has the collation %s, which is not deterministic: give the column another, "+
				"or read lower(...) by the Expr of Options.Columns", c.spec.Name, own.name)
		}
		name := cmp.Or(c.spec.Collation, "C")
		fault, asked := declared[name]
		if !asked {
			if fault, err = t.collationFault(ctx, name); err != nil {
				return err
			}
			declared[name] = fault
		}
		if fault != nil {
			i.add("lists by%s cannot be sorted: %v", ofField(c), fault)
		}
	}
	return nil
}

// collationFault returns why lists cannot be sorted by a collation, or nil.
func (t *untyped) collationFault(ctx context.Context, name string) (fault, err error) {
	if name == "C" || name == "default" { // exist in every database, and are deterministic
		return nil, nil
	}
	found, err := t.collations(ctx, namedCollations, name)
	switch c, ok := found[name]; {
	case err != nil:
		return nil, err
	case !ok:
		return fmt.Errorf("there is no collation %s", name), nil
	case !c.deterministic:
		const text = "the collation %s is not deterministic, so different texts can be equal in it"
		return fmt.Errorf(text, name), nil
	}
	return nil, nil
}
