package sqltable

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// column is one column of the table, and the field that it keeps.
type column struct {
	field *schema.Field // nil for one that belongs to no field
	spec  sqlquery.Column
	form  form
	expr  string // as it stands in SELECT
	cast  string // behind a placeholder, so that a driver need not guess what PostgreSQL makes of it
	// The store decides about these, whatever the field holds.
	isRev, isModified bool
}

// form is how a value becomes one of SQL.
type form uint8

const (
	scalarForm form = iota // as sqlquery.Column says
	bytesForm
	jsonForm
)

func (c *column) scalar() bool   { return c.form == scalarForm }
func (c *column) computed() bool { return c.spec.Expr != "" }

// addColumns makes a column for each field.
func (t *Table[T]) addColumns() error {
	if t.typ.Kind != schema.Object {
		return errors.New("it is no struct")
	}
	if err := t.checkHidden(); err != nil {
		return err
	}
	for _, f := range t.typ.Fields {
		c, err := t.columnOf(f)
		if err != nil {
			return fmt.Errorf("field %s: %w", f.GoName, err)
		}
		if c != nil {
			t.columns = append(t.columns, c)
			t.byField[f.Name] = c
		}
	}
	return nil
}

// checkHidden refuses a name of a column on a field that has none: what it holds would be lost without a word.
func (t *Table[T]) checkHidden() error {
	for _, sf := range reflect.VisibleFields(t.typ.GoType) {
		name := tagged(sf)
		isField := func(f *schema.Field) bool { return slices.Equal(f.Index, sf.Index) }
		if name != "" && name != "-" && !slices.ContainsFunc(t.typ.Fields, isField) {
			return fmt.Errorf("field %s has the tag db, but is not part of the JSON, so it has no column", sf.Name)
		}
	}
	return nil
}

// tagged is the name that the tag db gives. Whatever other libraries keep behind a comma is theirs.
func tagged(sf reflect.StructField) string {
	name, _, _ := strings.Cut(sf.Tag.Get("db"), ",")
	return name
}

// columnOf returns the column of a field, or nil if it has none.
func (t *Table[T]) columnOf(f *schema.Field) (*column, error) {
	name := tagged(t.typ.GoType.FieldByIndex(f.Index))
	if name == "-" {
		if !f.ReadOnly {
			return nil, errors.New(`it has the tag db:"-", and yet clients can write it; tag it readOnly as well`)
		}
		return nil, nil
	}
	if name == "" {
		name = snake(f.Name)
	}
	c := &column{field: f}
	switch {
	case f.Comparable():
		c.spec = scalarSpec(f)
	case f.Type.Format == "byte":
		c.form = bytesForm
	default:
		c.form = jsonForm
	}
	c.spec.NotNull = !f.Nullable
	if own, ok := t.opts.Columns[f.Name]; ok {
		c.spec = own
		if own.Expr == "" && own.Name != "" {
			name = own.Name
		}
	}
	if c.spec.Expr == "" {
		c.spec.Name = name
	}
	return c, c.settle(t.dialect)
}

// settle writes the column down. The translator would complain as well, but of scalars only.
func (c *column) settle(d sqltx.Dialect) error {
	switch {
	case len(c.spec.Path) > 0:
		return errors.New("its column has a Path: only whole columns can be written")
	case c.computed() && c.spec.Name != "":
		return errors.New("its column has an Expr besides a Name")
	case !c.computed() && (c.spec.Name == "" || strings.ContainsRune(c.spec.Name, 0)):
		return fmt.Errorf("%q is no name of a column", c.spec.Name)
	}
	c.expr = "(" + c.spec.Expr + ")"
	if !c.computed() {
		c.expr = d.Quote(c.spec.Name)
	}
	if d == sqltx.PostgreSQL {
		c.cast = "::" + c.sqlType(d)
	}
	return nil
}

// scalarSpec says how a field is kept if nobody says otherwise.
func scalarSpec(f *schema.Field) sqlquery.Column {
	switch {
	case f.Type.GoType == reflect.TypeFor[time.Time]():
		return sqlquery.Column{Kind: sqlquery.Time}
	case f.Type.Kind == schema.Integer:
		return sqlquery.Column{Kind: sqlquery.Integer}
	case f.Type.Kind == schema.Number:
		return sqlquery.Column{Kind: sqlquery.Number}
	case f.Type.Kind == schema.Boolean:
		return sqlquery.Column{Kind: sqlquery.Bool}
	case f.Format == "uuid" && !f.OmitZero && !f.OmitEmpty: // else it may be empty, which is no uuid
		return sqlquery.Column{Kind: sqlquery.UUID}
	}
	return sqlquery.Column{}
}

// sqlType is the type that the column has in a new table.
func (c *column) sqlType(d sqltx.Dialect) string {
	i := 0
	if d == sqltx.PostgreSQL {
		i = 1
	}
	switch {
	case c.form == jsonForm:
		return [...]string{"TEXT", "jsonb"}[i]
	case c.form == bytesForm:
		return [...]string{"BLOB", "bytea"}[i]
	case c.spec.Layout != "":
		return [...]string{"TEXT", "text"}[i]
	case c.spec.Unit != 0:
		return [...]string{"INTEGER", "bigint"}[i]
	}
	return map[sqlquery.Kind][2]string{
		sqlquery.Text:    {"TEXT", "text"},
		sqlquery.Integer: {"INTEGER", "bigint"},
		sqlquery.Number:  {"REAL", "double precision"},
		sqlquery.Bool:    {"INTEGER", "boolean"},
		sqlquery.Time:    {"TEXT", "timestamptz"},
		sqlquery.UUID:    {"TEXT", "uuid"},
	}[c.spec.Kind][i]
}

// chooseModified finds or makes the column of the last write.
func (t *Table[T]) chooseModified() error {
	name := t.opts.Modified
	if name == "" {
		return nil
	}
	if c := t.columnNamed(name); c != nil {
		if !c.scalar() || c.spec.Kind != sqlquery.Time {
			return fmt.Errorf("Options.Modified names the column %q, whose field is no time", name)
		}
		c.isModified = true
		t.modified = c
		return nil
	}
	t.modified = &column{spec: sqlquery.Column{Name: name, Kind: sqlquery.Time, NotNull: true}, isModified: true}
	return t.modified.settle(t.dialect)
}

// columnNamed returns the column of a field by its own name, or nil.
func (t *Table[T]) columnNamed(name string) *column {
	for _, c := range t.columns {
		if !c.computed() && c.spec.Name == name {
			return c
		}
	}
	return nil
}

// checkNames refuses two fields in one column. SQLite, and PostgreSQL where names are not quoted, know no capitals.
func (t *Table[T]) checkNames() error {
	seen := map[string]string{}
	for _, c := range t.columns {
		if c.computed() {
			continue
		}
		name := strings.ToLower(c.spec.Name)
		if other, ok := seen[name]; ok {
			return fmt.Errorf("the fields %s and %s have the same column %q", other, c.field.GoName, c.spec.Name)
		}
		seen[name] = c.field.GoName
	}
	return nil
}

// quoteTable quotes a name with or without a schema in front of it.
func quoteTable(d sqltx.Dialect, name string) (string, error) {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		if part == "" || strings.ContainsRune(part, 0) || len(parts) > 2 {
			return "", fmt.Errorf("%q is no name of a table", name)
		}
		parts[i] = d.Quote(part)
	}
	return strings.Join(parts, "."), nil
}

// snake writes a JSON name as SQL is written: customer_id for customerId, http_status for HTTPStatus.
func snake(name string) string {
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && (unicode.IsLetter(runes[i-1]) || unicode.IsDigit(runes[i-1])) {
			ends := i+1 < len(runes) && unicode.IsLower(runes[i+1]) && unicode.IsUpper(runes[i-1]) // HTTP|Status
			if !unicode.IsUpper(runes[i-1]) || ends {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
