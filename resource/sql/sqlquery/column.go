package sqlquery

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Column says where a table keeps a field, and how. The zero Column is a column of text that is named like the field
// and can be NULL.
type Column struct {
	// Name is the name of the column; empty means that of the field.
	Name string
	// Path leads from a column of JSON to the field: the names of members, from the outermost to the field's own.
	Path []string
	// Expr is SQL for whatever is not simply a column, such as o.total or lower(email). It stands in statements as it is,
	// so it must never hold anything from a request.
	Expr string
	// Kind says which values the column keeps.
	Kind Kind
	// NotNull says that the column never is NULL. Conditions become simpler, and more indexes can serve them.
	NotNull bool
	// Layout says that a Time is kept as text, in UTC, as [time.Time.Format] writes it with this layout. The texts must
	// sort like the times, so that parts have to go from the year down and be of fixed width. [time.RFC3339Nano] is
	// understood as well, though its texts do not; only an index on rtrim(column, 'Z') serves it.
	//
	// Empty means a timestamp with time zone in PostgreSQL, [TimeLayout] in SQLite, and RFC3339Nano within JSON.
	Layout string
	// Unit says that a Time is kept as an integer, which counts these since the beginning of 1970: time.Second,
	// time.Millisecond, time.Microsecond or time.Nanosecond.
	Unit time.Duration
}

// Kind says what values a column keeps.
type Kind uint8

// The kinds of columns.
const (
	Text    Kind = iota // text, varchar
	Integer             // from -2^63 to 2^63-1: integer, bigint
	Number              // floating point: real in SQLite, which is of double precision; double precision in PostgreSQL
	Bool                // boolean; in SQLite 0 and 1
	Time                // see Layout and Unit
	UUID                // a string that is one, in lower case: uuid in PostgreSQL, text in SQLite
)

// TimeLayout is how times are kept in SQLite, which has no type for them: as text of a fixed width, which sorts like
// time and which SQLite's own functions understand.
const TimeLayout = "2006-01-02T15:04:05.000000000Z"

// A class is what values have in common that can be compared; its order is that of [query.Compare].
type class uint8

const (
	classNull class = iota
	classBool
	classNumber
	classText
	classTime
)

// operand is a column as it stands in conditions.
type operand struct {
	dialect Dialect
	kind    Kind
	class   class
	notNull bool
	// plain is for equality and NULL, where any deterministic collation will do, so that its index does.
	plain string
	// ordered is for everything that depends on the order.
	ordered string
	// cast follows placeholders: a driver must not have to guess what PostgreSQL makes of the other side.
	cast string
	// least is what no value is less than; only SQLite needs it.
	least string
	// layout and unit are those of a Time; both are zero for one that the engine itself understands.
	layout string
	unit   time.Duration
	// text is the same column as text, if it is of another type that is text in JSON.
	text *operand
}

// newOperand writes the column down once, for all statements.
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
		err = fmt.Errorf("there is no Kind %d", c.Kind)
	}
	if c.Kind != Time && (c.Layout != "" || c.Unit != 0) {
		err = errors.New("it has a Layout or a Unit, which are for the Kind Time")
	}
	o.write(expr, len(c.Path) > 0)
	return o, err
}

// setTime chooses how times are kept.
func (o *operand) setTime(inJSON bool) error {
	switch o.unit {
	case 0, time.Second, time.Millisecond, time.Microsecond, time.Nanosecond:
	default:
		return fmt.Errorf("it has the Unit %v; use a second, millisecond, microsecond or nanosecond", o.unit)
	}
	switch {
	case o.unit != 0 && o.layout != "":
		return errors.New("a time has either a Layout or a Unit")
	case o.unit != 0 || o.layout != "":
	case inJSON:
		o.layout = time.RFC3339Nano
	case o.dialect == SQLite:
		o.layout = TimeLayout
	}
	return nil
}

// setUUID makes a column of text out of it where the engine has no such type.
func (o *operand) setUUID(expr string, inJSON bool) {
	if o.dialect == SQLite || inJSON {
		o.kind = Text
		return
	}
	o.text = &operand{dialect: o.dialect, kind: Text, class: classText, notNull: o.notNull}
	o.text.write(expr+"::text", false)
}

// write gives the texts. A Layout or a Unit decides about the type that is compared.
func (o *operand) write(expr string, inJSON bool) {
	kind := o.kind
	switch {
	case o.layout == time.RFC3339Nano:
		kind, expr = Text, "rtrim("+expr+", 'Z')" // without the Z, shorter fractions sort before longer ones
	case o.layout != "":
		kind = Text
	case o.unit != 0:
		kind = Integer
	}
	o.plain, o.ordered = expr, expr
	switch {
	case o.dialect == SQLite && kind == Text:
		// A column may have been declared COLLATE NOCASE, which would be asked otherwise.
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

var postgresTypes = [...]string{Text: "text", Integer: "bigint", Number: "float8", Bool: "boolean", Time: "timestamptz", UUID: "uuid"}

// expression writes where the column is.
func expression(d Dialect, field string, c Column) (string, error) {
	if c.Expr != "" {
		if c.Name != "" || len(c.Path) > 0 {
			return "", errors.New("it has Expr besides Name or Path, instead of which Expr stands")
		}
		return "(" + c.Expr + ")", nil
	}
	name := c.Name
	if name == "" {
		name = field
	}
	if name == "" || strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("%q is no name of a column", name)
	}
	text := quote(d, name)
	for i, member := range c.Path {
		// SQLite takes digits for an index, and has no escape for a quotation mark.
		if strings.Trim(member, "0123456789") == "" || strings.ContainsAny(member, "\"\\\x00") {
			return "", fmt.Errorf("there is no path to a member %q", member)
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

// quote writes a name. Between double quotes SQLite takes one that does not exist for a string, and answers a mistake
// with an empty list; between backticks it does not.
func quote(d Dialect, name string) string {
	if d == PostgreSQL {
		return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}
