package sqlquery

// Columns as operands of conditions: quoting, casts, collations and the representation of times.
// newOperand prepares the SQL once, so that requests only join strings.

import (
	"errors"
	"fmt"
	"strings"
	"time"
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
	// NotNull declares that the column is never NULL. Conditions are then simpler, and more indexes
	// can be used.
	NotNull bool
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
}

// Kind is the kind of the values in a column.
type Kind uint8

// The kinds of columns.
const (
	Text    Kind = iota // text, varchar
	Integer             // from -2^63 to 2^63-1: integer, bigint
	// double-precision floating point: real in SQLite, double precision in PostgreSQL
	Number
	Bool // boolean; in SQLite 0 and 1
	Time // see Layout and Unit
	UUID // a UUID string in lower case: uuid in PostgreSQL, text in SQLite
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
)

// operand is a column as it is written in conditions.
type operand struct {
	dialect Dialect
	kind    Kind
	class   class
	notNull bool
	// plain is for equality and NULL, where any deterministic collation, and so its index, is
	// correct.
	plain string
	// ordered is for conditions that depend on the order.
	ordered string
	// cast follows placeholders, so that the type of an argument does not depend on the other side.
	cast string
	// least is a lower bound of all values; only SQLite needs it.
	least string
	// layout and unit are those of a Time; both are zero for a native time type.
	layout string
	unit   time.Duration
	// text is the column cast to text, for another type that is a string in JSON.
	text *operand
}

// newOperand prepares the SQL of a column for all statements.
func newOperand(d Dialect, field string, c Column) (*operand, error) {
	expr, err := expression(d, field, c)
	if err != nil {
		return nil, err
	}
	o := &operand{dialect: d, kind: c.Kind, notNull: c.NotNull, layout: c.Layout, unit: c.Unit}
	switch c.Kind {
	case Text:
		o.class = classText
	case Integer, Number:
		o.class = classNumber
	case Bool:
		o.class = classBool
	case Time:
		o.class = classTime
		err = o.setTime(len(c.Path) > 0)
	case UUID:
		o.class = classText
		o.setUUID(expr, len(c.Path) > 0)
	default:
		err = fmt.Errorf("unknown Kind %d", c.Kind)
	}
	if c.Kind != Time && (c.Layout != "" || c.Unit != 0) {
		err = errors.New("setting Layout or Unit requires the Kind Time")
	}
	o.write(expr, len(c.Path) > 0)
	return o, err
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
	if o.dialect == SQLite || inJSON {
		o.kind = Text
		return
	}
	o.text = &operand{dialect: o.dialect, kind: Text, class: classText, notNull: o.notNull}
	o.text.write(expr+"::text", false)
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
	o.plain, o.ordered = expr, expr
	switch {
	case o.dialect == SQLite && kind == Text:
		// Overrides a column that is declared COLLATE NOCASE.
		o.plain += " COLLATE BINARY"
		o.ordered, o.least = o.plain, "''"
	case o.dialect == SQLite:
		o.least = "-1e999" // minus infinity
	default:
		o.cast = "::" + postgresTypes[kind]
		if inJSON && kind != Text {
			o.plain = "(" + expr + ")" + o.cast
			o.ordered = o.plain
		}
		if kind == Text {
			o.ordered += ` COLLATE "C"`
		}
	}
}

var postgresTypes = [...]string{
	Text:    "text",
	Integer: "bigint",
	Number:  "float8",
	Bool:    "boolean",
	Time:    "timestamptz",
	UUID:    "uuid",
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
