package sqltable

// Comparison of stored values with fields: times in another layout, and texts that the tag enum lacks.
// check.go calls checkValues.

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// Limits of checkValues, so that it takes the same time for a table of any size.
const (
	maxSampleRows   = 10_000
	maxSampleValues = 1_000
	maxShown        = 40 // bytes of a value
)

// checkValues reads a sample of the columns that can have a value which the field cannot. Other programs,
// and DEFAULT CURRENT_TIMESTAMP, write such values. It reads nothing if the rows depend on the session,
// because Check has none: a policy would hide the rows, or fail.
func (t *untyped) checkValues(ctx context.Context, i *inspection) error {
	if t.db.HasSession() || i.hidden {
		return nil
	}
	columns := slices.Clone(t.columns)
	for _, c := range []*column{t.modified, t.deletedAt} {
		if c != nil && c.field == nil {
			columns = append(columns, c)
		}
	}
	for _, c := range columns {
		f, ok := i.columns[c.spec.Name]
		if !ok || c.computed() || !c.scalar() || c.mismatch(t.dialect, f) != "" {
			continue
		}
		var err error
		switch {
		case c.spec.Kind == sqlquery.Time && (t.dialect == sqltx.SQLite || c.spec.Layout != ""):
			err = t.checkTimes(ctx, i, c)
		case c.field != nil && len(c.field.Enum) > 0:
			err = t.checkEnum(ctx, i, c)
		}
		if err != nil {
			return fmt.Errorf("values of column %s: %w", c.spec.Name, err)
		}
	}
	return nil
}

// sample returns the FROM clause of the first rows of a column that are not NULL, as v. where selects the
// rows; it may be empty.
func (t *untyped) sample(c *column, where string) string {
	return fmt.Sprintf(" FROM (SELECT %s AS v FROM %s%s LIMIT %d) AS s WHERE v IS NOT NULL LIMIT %d",
		c.read, t.table, where, maxSampleRows, maxSampleValues)
}

// checkTimes reports the first time that the column should not contain. A comparison with it would be
// wrong without an error. Without the cast some drivers of SQLite return a time.Time.
func (t *untyped) checkTimes(ctx context.Context, i *inspection, c *column) error {
	statement := "SELECT typeof(v), CAST(v AS TEXT)" + t.sample(c, "")
	if t.dialect == sqltx.PostgreSQL {
		statement = "SELECT 'text', v" + t.sample(c, "")
	}
	rows, err := t.db.Reader(ctx).QueryContext(ctx, statement)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var storage, text string
		if err := rows.Scan(&storage, &text); err != nil {
			return err
		}
		if fault := t.faultOfTime(c, storage, text); fault != "" {
			i.add("column %s has %s", c.spec.Name, fault)
			return nil
		}
	}
	return rows.Err()
}

// faultOfTime describes a stored time that is not as the column requires, or returns "". It does not
// contain the time, which may be confidential.
func (t *untyped) faultOfTime(c *column, storage, text string) string {
	layout := cmp.Or(c.spec.Layout, sqlquery.TimeLayout)
	want := strconv.Quote(layout)
	if c.spec.Unit != 0 {
		if storage == "integer" {
			return ""
		}
		want = "an integer"
	} else if at, err := time.Parse(layout, text); err == nil && storage == "text" &&
		at.UTC().Format(layout) == text {
		return ""
	}
	is, mend := "a value of the type "+storage, "convert the values"
	found, isUTC := layoutOf(text)
	switch {
	case storage == "integer" && c.field == nil:
		is, mend = "an integer", "add a field with this column, and set its Unit in Options.Columns"
	case storage == "integer":
		is, mend = "an integer", "set the Unit of the field in Options.Columns"
	case storage == "text" && found == "":
		is = "a time in an unknown layout"
	case storage == "text" && !isUTC:
		is = "a time with an offset from UTC"
	case storage == "text":
		is = "a time in the layout " + strconv.Quote(found)
		mend = "set the Layout of the field in Options.Columns"
		if c.field == nil {
			mend = "set Options.TimeLayout"
		} else if c.spec.Unit == 0 && c.spec.Layout == t.opts.TimeLayout {
			mend = "set Options.TimeLayout, or the Layout of the field in Options.Columns"
		}
	}
	return is + ", but" + ofField(c) + " needs " + want + ": " + mend
}

// checkEnum reports values that the tag enum lacks. REST returns them, and GraphQL cannot. Deleted rows may
// have values of an earlier enum.
func (t *untyped) checkEnum(ctx context.Context, i *inspection, c *column) error {
	living := ""
	if t.deletedAt != nil {
		living = " WHERE " + t.deletedAt.expr + " IS NULL"
	}
	rows, err := t.db.Reader(ctx).QueryContext(ctx, "SELECT DISTINCT v"+t.sample(c, living))
	if err != nil {
		return err
	}
	defer rows.Close()
	v := reflect.New(t.typ.GoType)
	var others []string
	for rows.Next() {
		var src any
		if err := rows.Scan(&src); err != nil {
			return err
		}
		if !c.permits(v, src) {
			text := c.textOf(src)
			if len(text) > maxShown {
				text = strings.ToValidUTF8(text[:maxShown], "") + "..."
			}
			others = append(others, strconv.Quote(text))
		}
	}
	if len(others) > 0 {
		slices.Sort(others)
		i.others = append(i.others, fmt.Sprintf("column %s has values that the tag enum of%s lacks: %s",
			c.spec.Name, ofField(c), firstOf(others)))
	}
	return rows.Err()
}

// permits reports whether a stored value is one of the tag enum, or absent in an optional field. v points to
// a value of the Go type, of which it sets the field.
func (c *column) permits(v reflect.Value, src any) bool {
	field := v.Elem().FieldByIndex(c.field.Index)
	if c.scanner(field).Scan(src) != nil {
		return false
	}
	if (c.field.OmitZero || c.field.OmitEmpty) && field.IsZero() {
		return true
	}
	_, err := c.field.Parse(c.field.Text(v.Interface()))
	return err == nil
}

var usualTime = regexp.MustCompile(
	`^\d{4}-\d\d-\d\d(?:([ T])\d\d:\d\d(:\d\d(?:([.,])(\d{1,9}))?)?)?(Z|[+-]\d\d(?::?\d\d)?)?$`)

// layoutOf returns the layout of a text that begins with a date of ISO 8601, and whether the texts of
// this layout are in UTC. It returns "" for other texts.
func layoutOf(text string) (layout string, isUTC bool) {
	m := usualTime.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	layout = time.DateOnly
	if m[1] != "" {
		layout += m[1] + "15:04"
	}
	if m[2] != "" {
		layout += ":05"
	}
	if m[3] != "" {
		layout += m[3] + strings.Repeat("0", len(m[4]))
	}
	return layout + m[5], strings.Trim(m[5], "Z+-0:") == ""
}
