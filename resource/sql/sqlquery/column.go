package sqlquery

// Columns as operands of conditions: quoting, casts, collations and the representation of times.
// newOperand prepares the SQL once, so that requests only join strings.

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
)

// Column describes how a table stores a field. The zero Column is a nullable text column with the
// name of the field.
type Column struct {
	// Name is the name of the column. Default: the name of the field.
	Name string
	// Path leads from a JSON column to the field: member names from the outermost to that of the
	// field.
	Path []string
	// Expr is an SQL expression instead of a column, such as o.total or lower(email). It is
	// inserted into statements unchanged, so it must not contain data of a request.
	Expr string
	// Kind is the kind of the values in the column.
	Kind Kind
	// Type is the SQL type of the column, such as date, numeric(12,2) or text[]. A name that is not
	// one of PostgreSQL's usual types, such as shop.customer_tier, is that of an enum. Default: the
	// first type of the Kind in the table of the package documentation. SQLite uses only the
	// arguments of numeric.
	Type string
	// List declares that the column has a list of values of Kind: an array in PostgreSQL if Type is
	// one, such as text[], and otherwise a JSON array. Its only operators are contains and isNull.
	List bool
	// NotNull declares that the column is never NULL. Conditions are then simpler, and more indexes
	// can be used.
	NotNull bool
	// NullZero declares that items have the zero value of the Kind if the column is NULL, and not null.
	// Lists sort these rows as that value: the sort key of text, numbers and booleans is coalesce(column,
	// zero), and that of a Time is nullif(column, zero). Types without the value, such as a date, need
	// no expression. Filters of a Time treat NULL as the zero time; those of the other kinds distinguish
	// NULL and zero.
	NullZero bool
	// Layout is for a Time that is stored as text, in UTC, formatted with this layout of
	// [time.Time.Format]. The texts must sort like the times: from the year down, with fixed width.
	// [time.RFC3339Nano] is supported as well although its texts do not; only an index on
	// rtrim(column, 'Z') can be used with it.
	//
	// Default: a timestamp with time zone in PostgreSQL, [TimeLayout] in SQLite, and RFC3339Nano
	// within JSON.
	Layout string
	// Unit is for a Time that is stored as an integer, the number of units after 1970-01-01:
	// time.Second, time.Millisecond, time.Microsecond or time.Nanosecond.
	Unit time.Duration
	// Collation is the PostgreSQL collation in which lists sort a Text column, such as "default",
	// that of the database, or "de-x-icu". An index in this collation then serves lists. Default
	// "C": by code point, as [query.Compare]. It must be deterministic. Filters are independent of
	// it, and groups are sorted by code point. SQLite has no suitable collation besides its default.
	Collation string
}

// Kind is the kind of the values in a column.
type Kind uint8

// The kinds of columns.
const (
	Text    Kind = iota // strings; see Column.Type for dates, enums and others
	Integer             // from -2^63 to 2^63-1: integer, bigint
	// double-precision floating point: real in SQLite, double precision in PostgreSQL
	Number
	Bool     // boolean; in SQLite 0 and 1
	Time     // see Layout and Unit
	UUID     // a UUID string in lower case: uuid in PostgreSQL, text in SQLite
	Decimal  // [query.Decimal]: numeric; in SQLite a number of at most 15 digits, as in numeric(12,2)
	Duration // [query.Duration]: interval; in SQLite text, which has no order
)

// TimeLayout is the default layout of times in SQLite, which has no time type: text of fixed width,
// which sorts like the times and which the functions of SQLite accept.
const TimeLayout = "2006-01-02T15:04:05.000000000Z"

// class groups values that can be compared with each other, in the order of [query.Compare].
type class uint8

const (
	classNull class = iota
	classBool
	classNumber
	classText
	classTime
	classDuration
)

// classes has the class of each kind.
var classes = [...]class{Text: classText, Integer: classNumber, Number: classNumber, Bool: classBool,
	Time: classTime, UUID: classText, Decimal: classNumber, Duration: classDuration}

// operand is a column as it is written in conditions.
type operand struct {
	dialect Dialect
	spec    Column
	raw     string // the expression of the column
	kind    Kind
	typ     sqltype.Type // of a value; for an array that of its elements
	class   class
	notNull bool
	list    listForm
	name    string // the quoted name; empty for an Expr and for a Path
	// column is for IS NULL.
	column string
	// plain is for equality, where any deterministic collation, and so its index, is correct.
	plain string
	// ordered is for conditions that depend on the order of code points.
	ordered string
	// sorted is for sort keys and positions. It differs from ordered if collated is set.
	sorted   string
	collated bool
	// cast follows placeholders, so that the type of an argument does not depend on the other side.
	cast string
	// index is added to equality of a column that is compared as text, so that its index is used.
	index indexed
	// least is a lower bound of all values; only SQLite needs it.
	least string
	// layout and unit are those of a Time; both are zero for a native time type.
	layout string
	unit   time.Duration
	// text is the column cast to text, for another type that is a string in JSON.
	text *operand
	// coalesced is the operand of sort keys with NullZero, if the column may also store the zero value. It
	// has one of NULL and the zero value for both: for a time NULL, otherwise zero.
	coalesced *operand
	// nullZero means that sort keys have NULL for the zero value, which is "" or the zero time.
	nullZero bool
}

// newOperand prepares the SQL of a column for all statements.
func newOperand(d Dialect, field string, c Column) (*operand, error) {
	expr, err := expression(d, field, c)
	if err != nil {
		return nil, err
	}
	if int(c.Kind) >= len(classes) {
		return nil, fmt.Errorf("unknown Kind %d", c.Kind)
	}
	o := &operand{dialect: d, spec: c, raw: expr, kind: c.Kind, class: classes[c.Kind], notNull: c.NotNull,
		layout: c.Layout, unit: c.Unit}
	inJSON := len(c.Path) > 0
	if c.Expr == "" && !inJSON {
		o.name = expr
	}
	if err := o.setType(c); err != nil {
		return nil, err
	}
	switch {
	case c.Kind != Time && (c.Layout != "" || c.Unit != 0):
		return nil, errors.New("setting Layout or Unit requires the Kind Time")
	case c.Type != "" && (inJSON || c.Layout != "" || c.Unit != 0):
		return nil, errors.New("setting Type together with Path, Layout or Unit")
	case c.List:
		return o, o.setList(expr, inJSON)
	case c.Kind == Time:
		err = o.setTime(inJSON)
	case c.Kind == UUID:
		o.setUUID(expr, inJSON)
	}
	o.write(expr, inJSON)
	if err == nil {
		err = o.setCollation(c)
	}
	if err == nil && c.NullZero && !c.NotNull {
		err = o.setNullZero(c)
	}
	return o, err
}

// setNullZero chooses how NULL sorts as the zero value. A type without the value needs nothing but the
// position of it. A time may be stored as the zero time, too.
func (o *operand) setNullZero(c Column) (err error) {
	call, zero := "coalesce", ""
	switch name := o.typ.Name; {
	case c.Kind == Integer || c.Kind == Number:
		zero = "0"
	case c.Kind == Bool:
		zero = "FALSE"
	case c.Kind == Time && o.unit != time.Nanosecond: // these begin in 1677
		call, zero = "nullif", o.zeroTime()
	case o.kind == Text && (o.dialect == SQLite || name == sqltype.Text || name == sqltype.VarChar ||
		name == sqltype.Char || name == sqltype.CIText):
		zero = "''"
	}
	o.nullZero = call == "nullif" || zero == ""
	if zero == "" {
		return nil
	}
	c.Expr, c.Name, c.Path, c.NotNull, c.NullZero = call+"("+o.raw+", "+zero+")", "", nil, !o.nullZero, false
	if c.Layout = o.layout; c.Layout != "" {
		c.Type = ""
	}
	if o.coalesced, err = newOperand(o.dialect, "", c); err == nil {
		o.coalesced.nullZero = o.nullZero
	}
	return err
}

// zeroTime returns the zero time as a literal.
func (o *operand) zeroTime() string {
	switch {
	case o.layout != "":
		return "'" + time.Time{}.Format(o.layout) + "'"
	case o.unit != 0:
		return strconv.FormatInt(time.Time{}.Unix()*int64(time.Second/o.unit), 10)
	}
	return "'0001-01-01 00:00:00+00'"
}

// isZero reports whether v is the zero value, for an operand with nullZero.
func isZero(v any) bool {
	at, ok := v.(time.Time)
	return ok && at.IsZero() || v == ""
}

// setTime chooses the representation of times.
func (o *operand) setTime(inJSON bool) error {
	switch o.unit {
	case 0, time.Second, time.Millisecond, time.Microsecond, time.Nanosecond:
	default:
		return fmt.Errorf("the Unit must be a second, millisecond, microsecond or nanosecond, not %v", o.unit)
	}
	switch {
	case o.unit != 0 && o.layout != "":
		return errors.New("setting both Layout and Unit")
	case o.unit != 0 || o.layout != "":
	case inJSON:
		o.layout = time.RFC3339Nano
	case o.dialect == SQLite:
		o.layout = TimeLayout
	}
	return nil
}

// setUUID treats the column as text if the engine has no UUID type.
func (o *operand) setUUID(expr string, inJSON bool) {
	if o.dialect == SQLite || inJSON || o.typ.Name != sqltype.UUID {
		o.kind, o.typ = Text, sqltype.Of(sqltype.Text)
		return
	}
	o.column = expr
	o.text = o.asText(expr + "::text")
}

// setCollation sets the text of sort keys, which conditions of filters do not share.
func (o *operand) setCollation(c Column) error {
	o.sorted = o.ordered
	switch {
	case c.Collation == "" || c.Collation == "C" && c.Kind == Text:
		return nil
	case o.dialect == SQLite:
		return errors.New("setting Collation requires PostgreSQL")
	case c.Kind != Text || o.typ.Name != sqltype.Text && o.typ.Name != sqltype.VarChar:
		return errors.New("setting Collation requires the Kind Text, and the Type text or varchar")
	case strings.ContainsRune(c.Collation, 0):
		return fmt.Errorf("invalid collation name %q", c.Collation)
	}
	o.sorted, o.collated = o.plain+" COLLATE "+quote(o.dialect, c.Collation), true
	return nil
}

// write sets the SQL texts. Layout and Unit determine the type that is compared.
func (o *operand) write(expr string, inJSON bool) {
	kind := o.kind
	switch {
	case o.layout == time.RFC3339Nano:
		// without the Z, shorter fractions sort before longer ones
		kind, expr = Text, "rtrim("+expr+", 'Z')"
	case o.layout != "":
		kind = Text
	case o.unit != 0:
		kind = Integer
	}
	if kind != o.kind {
		o.typ = sqltype.Of(defaultTypes[kind][0])
	}
	o.plain, o.ordered = expr, expr
	switch {
	case o.dialect == SQLite && (kind == Text || kind == Duration):
		// Overrides a column that is declared COLLATE NOCASE.
		o.plain += " COLLATE BINARY"
		o.ordered, o.least = o.plain, "''"
	case o.dialect == SQLite:
		o.least = "-1e999" // minus infinity
	case kind == Text:
		o.writeText(expr)
	default:
		o.cast = "::" + o.compared(kind)
		if inJSON {
			o.plain = "(" + expr + ")" + o.cast[max(strings.LastIndex(o.cast, "::"), 0):]
			o.ordered = o.plain
		}
	}
	if o.column == "" {
		o.column = o.plain
	}
}

// compared returns the type of arguments to compare a column of PostgreSQL with. Types that drivers
// encode in different ways are converted from text.
func (o *operand) compared(kind Kind) string {
	switch {
	case kind == Integer && o.typ.Name != sqltype.Numeric:
		return "bigint" // larger than each value
	case o.typ.Name == sqltype.Double:
		return "float8"
	case native(o.typ.Name):
		return o.typ.Name
	}
	return "text::" + o.typ.Name
}

// native reports whether drivers encode the arguments of a type in the same way.
func native(name string) bool {
	switch name {
	case sqltype.Real, sqltype.Boolean, sqltype.TimestampTZ, sqltype.UUID:
		return true
	}
	return false
}

// expression returns the SQL of the column.
func expression(d Dialect, field string, c Column) (string, error) {
	if c.Expr != "" {
		if c.Name != "" || len(c.Path) > 0 {
			return "", errors.New("setting Expr together with Name or Path")
		}
		return "(" + c.Expr + ")", nil
	}
	name := c.Name
	if name == "" {
		name = field
	}
	if name == "" || strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("invalid column name %q", name)
	}
	text := quote(d, name)
	for i, member := range c.Path {
		// SQLite treats digits as an index, and has no escape for a quotation mark.
		if strings.Trim(member, "0123456789") == "" || strings.ContainsAny(member, "\"\\\x00") {
			return "", fmt.Errorf("unsupported member %q in Path", member)
		}
		arrow := " -> "
		if i == len(c.Path)-1 {
			arrow = " ->> "
		}
		text += arrow + "'" + strings.ReplaceAll(member, "'", "''") + "'"
	}
	if len(c.Path) > 0 {
		text = "(" + text + ")"
	}
	return text, nil
}

// quote returns a quoted identifier. SQLite treats an unknown name in double quotes as a string,
// which hides the mistake, so it gets backticks.
func quote(d Dialect, name string) string {
	if d == PostgreSQL {
		return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}
