package sqltable

// The columns of a table and how they follow from fields, tags and Options.Columns. New calls
// addColumns, chooseModified and checkNames; create.go and check.go use the types of columns.

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// column is one column of the table and the field that it stores.
type column struct {
	field *schema.Field // nil if the column has no field, and for elements
	spec  sqlquery.Column
	form  form
	typ   sqltype.Type // in PostgreSQL; for an array that of the column
	expr  string       // the name of the column, or its Expr
	read  string       // the expression in SELECT
	cast  string       // suffix of a placeholder: its type in PostgreSQL, so that it is not inferred
	elem  *column      // an element of an arrayForm
	// noEmpty means that the type has no empty text.
	noEmpty bool
	// generated columns are computed by the database and never written.
	generated bool
	// inKey columns are part of the id.
	inKey bool
	// The store sets these columns and ignores the value of the field.
	isRev, isModified, isDeleted bool
}

// form is how a value is represented in SQL. Only scalars can be sorted.
type form uint8

const (
	scalarForm form = iota // as defined by sqlquery.Column
	bytesForm
	jsonForm
	arrayForm // an array of PostgreSQL
)

// scalar and computed are used in many conditions: only scalars have an order, and computed columns
// are never written.
func (c *column) scalar() bool   { return c.form == scalarForm }
func (c *column) computed() bool { return c.spec.Expr != "" }

// filterable reports whether conditions can use the column. Those of a list are contains and isNull.
func (c *column) filterable() bool { return c.scalar() || c.spec.List }

// addColumns creates a column for each field.
func (t *untyped) addColumns() error {
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
func (t *untyped) checkHidden() error {
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
func (t *untyped) columnOf(f *schema.Field) (*column, error) {
	if f.Key != nil {
		return nil, nil // a composite id is computed from the columns of its key
	}
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
		c.spec = scalarSpec(f, f.Type)
	case f.Type.Format == "byte":
		c.form = bytesForm
	case f.ComparableElem():
		c.form = jsonForm
		c.spec = scalarSpec(f, f.Type.Elem)
		c.spec.List = true
	default:
		c.form = jsonForm
	}
	hasNoEmpty := c.spec.Kind == sqlquery.Decimal || c.spec.Kind == sqlquery.Duration // so it is NULL
	c.spec.NotNull = !f.Nullable && !(hasNoEmpty && !c.spec.List && (f.OmitZero || f.OmitEmpty))
	if err := c.applyTag(t.typ.GoType.FieldByIndex(f.Index)); err != nil {
		return nil, err
	}
	if own, ok := t.opts.Columns[f.Name]; ok {
		// own replaces NotNull too, see Options.Columns.
		if own.List = c.spec.List; own.List {
			own.Kind = c.spec.Kind
		}
		c.spec = own
		if own.Expr == "" && own.Name != "" {
			name = own.Name
		}
	}
	if c.spec.Expr == "" {
		c.spec.Name = name
	}
	t.applyTimeLayout(c)
	if err := c.settle(t.dialect); err != nil {
		return nil, err
	}
	if err := t.checkEmpty(c); err != nil {
		return nil, err
	}
	// Only text is sorted by a collation.
	if c.scalar() && c.spec.Kind == sqlquery.Text && c.isText() && c.spec.Collation == "" {
		c.spec.Collation = t.opts.Collation
	}
	return c, nil
}

// applyTimeLayout applies Options.TimeLayout. The tag sql may name a type of PostgreSQL, which in SQLite
// has no effect on times.
func (t *untyped) applyTimeLayout(c *column) {
	if t.opts.TimeLayout != "" && t.dialect == sqltx.SQLite && c.scalar() && c.spec.Kind == sqlquery.Time &&
		c.spec.Layout == "" && c.spec.Unit == 0 {
		c.spec.Layout, c.spec.Type = t.opts.TimeLayout, ""
	}
}

// applyTag applies the tag sql: an SQL type, and the options generated and null. A comma within
// parentheses belongs to the type.
func (c *column) applyTag(sf reflect.StructField) error {
	tag, ok := sf.Tag.Lookup("sql")
	if !ok {
		return nil
	}
	end := strings.IndexByte(tag, ')') + 1
	typ, options, _ := strings.Cut(tag[end:], ",")
	if typ = tag[:end] + typ; typ != "" {
		c.spec.Type = typ
		t, err := sqltype.Parse(typ)
		if err == nil && t.Name != sqltype.UUID && c.spec.Kind == sqlquery.UUID {
			c.spec.Kind = sqlquery.Text
		}
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "":
		case "generated":
			c.generated = true
		case "null":
			c.spec.NotNull = false
		default:
			return fmt.Errorf("unknown option %q in the tag sql; use generated or null", option)
		}
	}
	return nil
}

// settle checks the column and computes its SQL. The translator makes the same checks, but only for
// scalars. A Path is rejected, because an assignment to part of a JSON column differs between the
// databases.
func (c *column) settle(d sqltx.Dialect) (err error) {
	switch {
	case len(c.spec.Path) > 0:
		return errors.New("its column has a Path: only whole columns can be written")
	case c.computed() && c.spec.Name != "":
		return errors.New("its column has an Expr besides a Name")
	case !c.computed() && (c.spec.Name == "" || strings.ContainsRune(c.spec.Name, 0)):
		return fmt.Errorf("%q is no name of a column", c.spec.Name)
	}
	if err := c.setType(d); err != nil {
		return err
	}
	c.expr = "(" + c.spec.Expr + ")"
	if !c.computed() {
		c.expr = d.Quote(c.spec.Name)
	}
	c.read = c.expr
	// PostgreSQL infers the type of a parameter from its context, and in SELECT $1 it would be
	// text.
	if d == sqltx.PostgreSQL {
		c.read, c.cast = c.reading(), c.casting()
	}
	c.noEmpty = c.hasNoEmpty(d)
	c.spec.NullZero = c.readsZero()
	return nil
}

// readsZero reports whether NULL is read as the zero value of a field that has an order. An enum with an
// empty label has no sort key for it.
func (c *column) readsZero() bool {
	return c.field != nil && c.scalar() && !c.field.Nullable && !c.spec.NotNull &&
		(c.typ.Known || c.noEmpty)
}

// storesNullForZero reports whether NULL is stored in place of the zero value: the zero time is no time of an
// event, unlike "" and 0, which a column may have besides NULL.
func (c *column) storesNullForZero() bool { return c.spec.NullZero && c.spec.Kind == sqlquery.Time }

// checkEmpty rejects a column that has no value for a field that the JSON omits. Decimals and durations
// are nullable then. The id is never omitted.
func (t *untyped) checkEmpty(c *column) error {
	f := c.field
	if f.OmitZero && !c.scalar() && !f.StoreDefault && !c.generated && !c.computed() && !t.opts.ReadOnly &&
		!t.keepsZero(c) {
		return errors.New(`omitzero leaves it out of the JSON if it is nil or zero, ` +
			`which the column does not store: use omitempty, or tag it sql:",null"`)
	}
	if !c.noEmpty || !c.spec.NotNull || !f.OmitZero && !f.OmitEmpty || f.StoreDefault || c.generated ||
		f.Name == cmp.Or(t.opts.ID, "id") {
		return nil
	}
	typ := strings.ReplaceAll(c.typ.SQL, `"`, "")
	return fmt.Errorf(`it may be empty, which no %s is: tag it sql:"%s,null" or default:"db"`, typ, typ)
}

// keepsZero reports whether omitzero leaves out a zero value of the field also after it was stored and
// read. A nil list is read as an empty one from a column that is NOT NULL.
func (t *untyped) keepsZero(c *column) bool {
	read := t.typ.New()
	arg, err := t.argument(c, t.typ.New())
	if err == nil {
		err = c.scanner(reflect.ValueOf(read).Elem().FieldByIndex(c.field.Index)).Scan(arg)
	}
	if err != nil {
		return false
	}
	member, err := t.typ.AppendMember(nil, c.field, read)
	return err == nil && len(member) == 0
}

// scalarSpec returns the default column of a scalar of type typ, which the field has or its elements
// have. The NotNull of the result is not set.
func scalarSpec(f *schema.Field, typ *schema.Type) sqlquery.Column {
	switch {
	case typ.GoType == reflect.TypeFor[time.Time]():
		return sqlquery.Column{Kind: sqlquery.Time}
	case typ.Kind == schema.Integer:
		return sqlquery.Column{Kind: sqlquery.Integer}
	case typ.Kind == schema.Number && typ.Bits == 32 && typ == f.Type:
		return sqlquery.Column{Kind: sqlquery.Number, Type: sqltype.Real}
	case typ.Kind == schema.Number:
		return sqlquery.Column{Kind: sqlquery.Number}
	case typ.Kind == schema.Boolean:
		return sqlquery.Column{Kind: sqlquery.Bool}
	case f.Format == "decimal" && typ != f.Type:
		return sqlquery.Column{Kind: sqlquery.Decimal}
	case f.Format == "decimal":
		return sqlquery.Column{Kind: sqlquery.Decimal, Type: decimalType(f)}
	case f.Format == "duration":
		return sqlquery.Column{Kind: sqlquery.Duration}
	// With either option the field may be empty, which is not valid in other types than text.
	case f.OmitZero || f.OmitEmpty || typ != f.Type && f.Format != "uuid":
	case f.Format == "uuid":
		return sqlquery.Column{Kind: sqlquery.UUID}
	case f.Format == "date":
		return sqlquery.Column{Type: sqltype.Date}
	case f.Format == "time-local":
		return sqlquery.Column{Type: sqltype.Time}
	}
	return sqlquery.Column{}
}

// chooseModified finds or creates the column of the time of the last write. Without a field, the
// column is not in t.columns, and Check and createItems treat it separately.
func (t *untyped) chooseModified() error {
	name := t.opts.Modified
	if name == "" {
		return nil
	}
	if c := t.columnNamed(name); c != nil {
		if !c.scalar() || c.spec.Kind != sqlquery.Time {
			return fmt.Errorf("Options.Modified names the column %q, which has no time field", name)
		}
		c.isModified = true
		t.modified = c
		return nil
	}
	t.modified = &column{
		spec:       sqlquery.Column{Name: name, Kind: sqlquery.Time, NotNull: true},
		isModified: true,
	}
	t.applyTimeLayout(t.modified)
	return t.modified.settle(t.dialect)
}

// columnNamed returns the column with a field that has this name in the database, or nil.
func (t *untyped) columnNamed(name string) *column {
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
func (t *untyped) checkNames() error {
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
