package sqltable

// Sort keys that are no columns of the table: the rank of a search, and fields of related items. Rows have
// their values, for the cursors of package resource. read.go and search.go call it.

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
)

// rowKey is an expression of which a row has the value. column is that of the related table; nil for the
// rank, and with texts, which have the value at the index that the row has.
type rowKey struct {
	expr   string
	column *column
	typ    reflect.Type // of the related items
	texts  []string
}

// rowKeys returns the keys of q that are no columns, of which c has the clauses.
func (t *untyped) rowKeys(q query.Query, c sqlquery.Clauses) []rowKey {
	var keys []rowKey
	joined := c.Keys
	for _, o := range q.Sort {
		switch {
		case o.Joined != nil:
			to := o.Joined.Join.Target.(joiner).t // Joins has accepted it
			column := to.byField[o.Joined.Field]
			expr := strings.ReplaceAll(column.read, column.expr, joined[0])
			keys = append(keys, rowKey{expr: expr, column: column, typ: to.typ.GoType})
			joined = joined[1:]
		case o.Field == query.Rank:
			keys = append(keys, rowKey{expr: t.searchColumn().Expr})
		}
	}
	return keys
}

// keyValue is a destination of Scan for a sort key.
type keyValue interface{ get() any }

// newValue returns the destination for values of the key.
func (k rowKey) newValue() keyValue {
	switch {
	case k.texts != nil:
		return &textIndex{texts: k.texts}
	case k.column == nil:
		return new(rankValue)
	}
	return newGroupValue(k.typ, k.column)
}

// textIndex is a value by its index.
type textIndex struct {
	texts []string
	index int
}

// Scan implements [sql.Scanner].
func (v *textIndex) Scan(src any) error {
	n, ok := src.(int64)
	if !ok || n < 0 || int(n) >= len(v.texts) {
		return fmt.Errorf("sqltable: the index of a key is %v", src)
	}
	v.index = int(n)
	return nil
}

func (v *textIndex) get() any { return v.texts[v.index] }

// rankValue is the rank of a search.
type rankValue float64

func (v *rankValue) get() any { return float64(*v) }

// keysOf returns Item.Keys of the last scanned row.
func (r *row) keysOf() []any {
	if len(r.keys) == 0 {
		return nil
	}
	keys := make([]any, len(r.keys))
	for i, k := range r.keys {
		keys[i] = k.get()
	}
	return keys
}
