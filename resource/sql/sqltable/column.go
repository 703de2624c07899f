package sqltable

// The columns of a table and how they follow from fields, tags and Options.Columns. New calls
// addColumns, chooseModified and checkNames; create.go and check.go use the types of columns.

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

// column is one column of the table and the field that it stores.
type column struct {
	field *schema.Field // nil if the column has no field
	spec  sqlquery.Column
	form  form
	expr  string // the expression in SELECT
	cast  string // suffix of a placeholder: its type in PostgreSQL, so that it is not inferred
	// The store sets these columns and ignores the value of the field.
	isRev, isModified bool
}

// form is how a value is represented in SQL. Only scalars can be filtered and sorted.
type form uint8

const (
	scalarForm form = iota // as defined by sqlquery.Column
	bytesForm
	jsonForm
)

// scalar and computed are used in many conditions: only scalars take part in filters, and computed
// columns are never written.
func (c *column) scalar() bool   { return c.form == scalarForm }
func (c *column) computed() bool { return c.spec.Expr != "" }

// addColumns creates a column for each field.
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

// checkHidden rejects a tag db on a field that is not part of the JSON, because its value would not
// be stored.
func (t *Table[T]) checkHidden() error {
	for _, sf := range reflect.VisibleFields(t.typ.GoType) {
		name := tagged(sf)
		isField := func(f *schema.Field) bool { return slices.Equal(f.Index, sf.Index) }
		if name != "" && name != "-" && !slices.ContainsFunc(t.typ.Fields, isField) {
			return fmt.Errorf("field %s has the tag db, but is not part of the JSON, so it has no column",
				sf.Name)
		}
	}
	return nil
}

// tagged returns the name in the tag db. It ignores options after a comma, which belong to other
// libraries. The tag is that of other libraries for SQL, so existing structs can be used unchanged.
func tagged(sf reflect.StructField) string {
	name, _, _ := strings.Cut(sf.Tag.Get("db"), ",")
	return name
}

// columnOf returns the column of a field, or nil if it has none. A field without a column is zero
// after each read, so it must be read-only for clients.
func (t *Table[T]) columnOf(f *schema.Field) (*column, error) {
	name := tagged(t.typ.GoType.FieldByIndex(f.Index))
	if name == "-" {
		if !f.ReadOnly {
			return nil, errors.New(
				`it has the tag db:"-", and yet clients can write it; tag it readOnly as well`,
			)
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
		// own replaces NotNull too, see Options.Columns.
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

// settle checks the column and computes its SQL. The translator makes the same checks, but only for
// scalars. A Path is rejected, because an assignment to part of a JSON column differs between the
// databases.
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
	// PostgreSQL infers the type of a parameter from its context, and in SELECT $1 it would be
	// text.
	if d == sqltx.PostgreSQL {
		c.cast = "::" + c.sqlType(d)
	}
	return nil
}

// scalarSpec returns the default column of a scalar field. The NotNull of the result is not set.
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
	// With either option the field may be empty, which is not a valid uuid.
	case f.Format == "uuid" && !f.OmitZero && !f.OmitEmpty:
		return sqlquery.Column{Kind: sqlquery.UUID}
	}
	return sqlquery.Column{}
}

// sqlType returns the type of the column in a new table. In PostgreSQL it is also the cast of
// arguments. The types of SQLite are those that STRICT allows.
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

// chooseModified finds or creates the column of the time of the last write. Without a field, the
// column is not in t.columns, and Check and createItems treat it separately.
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
	t.modified = &column{
		spec:       sqlquery.Column{Name: name, Kind: sqlquery.Time, NotNull: true},
		isModified: true,
	}
	return t.modified.settle(t.dialect)
}

// columnNamed returns the column with a field that has this name in the database, or nil.
func (t *Table[T]) columnNamed(name string) *column {
	for _, c := range t.columns {
		if !c.computed() && c.spec.Name == name {
			return c
		}
	}
	return nil
}

// checkNames rejects two fields with the same column. Names are compared without regard to case, as
// SQLite does, and PostgreSQL for unquoted names. PostgreSQL would accept two quoted names that
// differ in case only, but tools rarely quote names.
func (t *Table[T]) checkNames() error {
	seen := map[string]string{}
	for _, c := range t.columns {
		if c.computed() {
			continue
		}
		name := strings.ToLower(c.spec.Name)
		if other, ok := seen[name]; ok {
			return fmt.Errorf("the fields %s and %s have the same column %q",
				other, c.field.GoName, c.spec.Name)
		}
		seen[name] = c.field.GoName
	}
	return nil
}

// quoteTable quotes a table name with an optional schema.
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

// snake returns a JSON name in snake case: customer_id for customerId, http_status for HTTPStatus.
// An acronym is one word. Letters and digits are not separated.
func snake(name string) string {
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && (unicode.IsLetter(runes[i-1]) || unicode.IsDigit(runes[i-1])) {
			// The last upper-case letter begins the next word: HTTP|Status.
			ends := i+1 < len(runes) && unicode.IsLower(runes[i+1]) && unicode.IsUpper(runes[i-1])
			if !unicode.IsUpper(runes[i-1]) || ends {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
