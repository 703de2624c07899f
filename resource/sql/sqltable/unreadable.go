package sqltable

// Values that a field cannot have, such as NaN in a float or a time after the year 9999. Other programs
// store them. scan.go and json_column.go record the columns of a row that have one, and set its placeholder;
// read.go, search.go, json.go and by_key.go leave out rows without a usable key.

import (
	"cmp"
	"fmt"
	"log/slog"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stoa-go/stoa/query"
)

// setPlaceholder sets a field to what clients see in place of the value src: null if the field is nullable.
func (c *column) setPlaceholder(v reflect.Value, src any, set func(reflect.Value, any) error) {
	v.SetZero()
	f := c.field
	switch kind := v.Kind(); {
	case kind == reflect.String && src != nil:
		v.SetString(strings.ToValidUTF8(textOf(src), string(utf8.RuneError)))
	case !v.CanInt() && !v.CanUint() && !v.CanFloat() || f == nil || !c.scalar():
	case len(f.Enum) > 0:
		set(v, fmt.Sprint(f.Enum[0])) // an error leaves zero
	case signOf(f.Minimum) > 0:
		set(v, f.Minimum)
	case signOf(f.Maximum) < 0:
		set(v, f.Maximum)
	}
}

// signOf returns the sign of a limit, and 0 if there is none.
func signOf(limit string) int {
	n, ok := new(big.Rat).SetString(limit)
	if !ok {
		return 0
	}
	return n.Sign()
}

// leavesOut reports whether lists of q leave out a row because of the columns with such values. Without a
// usable id no request can name the item. A page that is sorted by the column could not continue after the
// row: the position of the next page has the values of the row.
func (t *untyped) leavesOut(id string, bad []*column, q query.Query) bool {
	if id == "" || !utf8.ValidString(id) {
		bad = append(bad[:len(bad):len(bad)], t.key[0])
	}
	if len(bad) == 0 {
		return false
	}
	t.warnUnreadable(id, bad)
	return slices.ContainsFunc(bad, func(c *column) bool {
		return t.isKey(c) || q.Limit > 0 && slices.ContainsFunc(q.Sort, func(o query.Order) bool {
			if o.Joined != nil {
				return o.Joined.Join.Target.(joiner).t.byField[o.Joined.Field] == c // Joins has accepted it
			}
			return t.byField[o.Field] == c
		})
	})
}

// maxWarned limits the log lines about values, and the memory for them, because all rows may have one.
const maxWarned = 1000

// unreadableValue identifies a value that was logged.
type unreadableValue struct {
	id     string
	column string
}

// warnUnreadable logs the columns of a row once. The values may be confidential.
func (t *untyped) warnUnreadable(id string, bad []*column) {
	for _, c := range bad {
		if t.warnings.Load() >= maxWarned {
			return
		}
		if _, warned := t.warned.LoadOrStore(unreadableValue{id, c.expr}, true); warned {
			continue
		}
		text := "sqltable: a column has a value that its field cannot have; see the package documentation"
		if t.warnings.Add(1) == maxWarned {
			text += "; further values are not logged"
		}
		slog.Warn(text, "table", t.name, "id", id, "column", cmp.Or(c.spec.Name, c.expr))
	}
}

// fillPage calls read until it has returned limit rows. read gets how many rows to select and how many of
// these to skip, because they were read before. It returns the rows that it has passed on and those that it
// has left out, without the skipped ones. fillPage returns how many rows are missing. No limit is 0.
func fillPage(
	limit, skip int, read func(limit, skip int) (n, leftOut int, more bool),
) (missing int, more bool) {
	if limit == 0 {
		_, _, more = read(0, 0)
		return 0, more
	}
	for {
		n, leftOut, more := read(limit+skip, skip)
		isFull := n+leftOut >= limit
		limit -= n
		skip += n + leftOut
		if !more || limit <= 0 || leftOut == 0 || !isFull {
			return limit, more
		}
	}
}
