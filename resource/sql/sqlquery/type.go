package sqlquery

// The SQL types of columns. newOperand calls setType, and writeText for the types of PostgreSQL that
// are strings in JSON.

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
)

// defaultTypes has the types of each kind. The first one is the default. Text also has enums.
var defaultTypes = [...][]string{
	Text: {sqltype.Text, sqltype.VarChar, sqltype.Char, sqltype.CIText, sqltype.Date, sqltype.Time,
		sqltype.TimeTZ, sqltype.Inet, sqltype.CIDR},
	Integer:  {sqltype.BigInt, sqltype.Integer, sqltype.SmallInt, sqltype.Numeric},
	Number:   {sqltype.Double, sqltype.Real, sqltype.Numeric},
	Bool:     {sqltype.Boolean},
	Time:     {sqltype.TimestampTZ, sqltype.Timestamp, sqltype.Date},
	UUID:     {sqltype.UUID, sqltype.Text, sqltype.VarChar},
	Decimal:  {sqltype.Numeric},
	Duration: {sqltype.Interval},
}

// maxSQLiteDigits is the number of decimal digits that a floating-point number stores exactly.
const maxSQLiteDigits = 15

// setType parses the type and checks that it stores values of the kind.
func (o *operand) setType(c Column) (err error) {
	o.typ = sqltype.Of(defaultTypes[c.Kind][0])
	if c.Type != "" {
		if o.typ, err = sqltype.Parse(c.Type); err != nil {
			return fmt.Errorf("its Type: %w", err)
		}
	}
	if isJSON := o.typ.Name == sqltype.JSON || o.typ.Name == sqltype.JSONB; c.List && isJSON {
		o.list = listJSON
		if o.typ.Name == sqltype.JSON {
			o.list = listPlainJSON
		}
		o.typ = sqltype.Of(defaultTypes[c.Kind][0])
	}
	switch {
	case o.typ.Array && !c.List:
		return fmt.Errorf("the Type %s requires List", c.Type)
	case o.typ.Array:
		o.list, o.typ = listArray, o.typ.Elem()
	case c.List && o.list == listNone && c.Type != "":
		return fmt.Errorf("a List needs an array or json, not the Type %s", c.Type)
	case c.List && o.list == listNone:
		o.list = listJSON
	}
	if !slices.Contains(defaultTypes[c.Kind], o.typ.Name) && (o.typ.Known || c.Kind != Text) {
		return fmt.Errorf("the Type %s does not store values of the Kind", c.Type)
	}
	if o.dialect == SQLite && c.Kind == Decimal && !c.List {
		switch {
		case o.typ.Size < 0 || o.typ.Size > maxSQLiteDigits:
			const text = "a Decimal in SQLite needs a Type with at most %d digits, such as numeric(12,2)"
			return fmt.Errorf(text, maxSQLiteDigits)
		case len(c.Path) > 0:
			return errors.New("a Decimal in JSON is not supported by SQLite")
		}
	}
	return nil
}

// indexed are the ways to use the index of a column that is compared as text.
type indexed uint8

const (
	indexText   indexed = iota // that of plain
	indexNative                // of the type itself, which may treat different texts as equal
	indexEnum                  // of an enum, for which a text that is no label is an error
)

// writeText sets the SQL of a string in PostgreSQL. The order is that of the texts, so a type with
// another order is compared as text.
func (o *operand) writeText(expr string) {
	o.plain, o.ordered, o.cast = expr, expr+` COLLATE "C"`, "::text"
	if o.column == "" {
		o.column = expr
	}
	switch o.typ.Name {
	case sqltype.Text, sqltype.VarChar:
		return
	case sqltype.Date, sqltype.Time: // their order is that of the texts
		o.ordered, o.cast = expr, "::text::"+o.typ.Name
		o.text = o.asText(textOf(o.typ, expr))
		return
	case sqltype.CIText, sqltype.Char, sqltype.Inet, sqltype.CIDR:
		o.index = indexNative
	case sqltype.TimeTZ:
	default:
		o.index = indexEnum
	}
	o.plain = textOf(o.typ, expr)
	o.ordered = o.plain + ` COLLATE "C"`
}

// asText returns the operand of a text of the same column.
func (o *operand) asText(expr string) *operand {
	text := &operand{dialect: o.dialect, kind: Text, typ: sqltype.Of(sqltype.Text), class: classText,
		notNull: o.notNull, column: o.column}
	text.write(expr, false)
	text.sorted = text.ordered
	return text
}

// textOf returns the text of a value, which is the string in JSON. It does not depend on settings
// of the session.
func textOf(t sqltype.Type, expr string) string {
	switch t.Name {
	case sqltype.Date:
		return "(to_jsonb(" + expr + ") #>> '{}')"
	case sqltype.Inet:
		return "abbrev(" + expr + ")" // the cast would add a netmask
	case sqltype.TimeTZ:
		return "regexp_replace(" + expr + `::text, '([+-]\d\d)$', '\1:00')`
	case sqltype.Char:
		return "(" + expr + "::text)"
	}
	return expr + "::text"
}

// indexCondition returns a condition that can use an index of the column. It is true for all rows
// with a text that is one of the placeholders. It is empty if equality of texts can use an index.
func (o *operand) indexCondition(list []string) string {
	switch o.index {
	case indexNative:
		cast := make([]string, len(list))
		for i := range list {
			cast[i] = list[i] + "::" + typeName(o.typ)
		}
		return o.column + equals(cast)
	case indexEnum:
		return o.column + " = ANY (ARRAY(SELECT l FROM unnest(enum_range(NULL::" + o.typ.SQL +
			")) AS l WHERE l::text" + equals(list) + "))"
	}
	return ""
}

// typeName returns the type for a cast of a comparison. A length would truncate.
func typeName(t sqltype.Type) string {
	switch t.Name {
	case sqltype.CIText:
		return t.SQL
	case sqltype.Char:
		return "bpchar"
	}
	return t.Name
}
