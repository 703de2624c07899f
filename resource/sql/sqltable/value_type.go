package sqltable

// Values of the types of column_type.go as arguments, and whether a column can store them. argument
// in value.go calls spelled, array, faultOfText and faultOfNumber.

import (
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// spelled returns the argument for a decimal or a duration: its text, so that a numeric without a
// scale keeps zeros at the end. value is its canonical value, and nil for an empty text.
func (c *column) spelled(value any, text string, d sqltx.Dialect) (any, error) {
	switch value := value.(type) {
	case query.Decimal:
		if code := c.faultOfDigits(value.String()); code != "" {
			return nil, resource.Invalid(c.field.Name, code)
		}
		if d == sqltx.SQLite {
			f, err := strconv.ParseFloat(value.String(), 64)
			return f, err
		}
		return text, nil
	case query.Duration:
		return value.String(), nil
	}
	if text == "" && !c.spec.NotNull {
		return nil, nil
	}
	return nil, resource.Invalid(c.field.Name, "format")
}

// faultOfDigits returns the code of a violation if the column would round a number.
func (c *column) faultOfDigits(text string) string {
	if c.typ.Name != sqltype.Numeric {
		return ""
	}
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	whole = strings.TrimLeft(whole, "0")
	if c.typ.Size >= 0 && (len(fraction) > c.typ.Scale || len(whole) > c.typ.Size-c.typ.Scale) {
		return "precision"
	}
	if len(whole) > 131072 || len(fraction) > 16383 { // the limits of PostgreSQL
		return "precision"
	}
	return ""
}

// faultOfNumber returns the code of a violation if the column cannot store a number.
func (c *column) faultOfNumber(d sqltx.Dialect, value any) string {
	switch n := value.(type) {
	case uint64: // only values above the largest int64
		if d == sqltx.SQLite || c.spec.Kind == sqlquery.Integer && c.typ.Name != sqltype.Numeric {
			return "range"
		}
		return c.faultOfDigits(strconv.FormatUint(n, 10))
	case int64:
		if c.typ.Name == sqltype.SmallInt && n != int64(int16(n)) ||
			c.typ.Name == sqltype.Integer && n != int64(int32(n)) {
			return "range"
		}
		return c.faultOfDigits(strconv.FormatInt(n, 10))
	case float64:
		if c.typ.Name == sqltype.Real && math.IsInf(float64(float32(n)), 0) && !math.IsInf(n, 0) {
			return "range"
		}
		return c.faultOfDigits(strconv.FormatFloat(n, 'f', -1, 64))
	}
	return ""
}

// faultOfText returns the code of a violation if the column cannot store a text, or would change it.
func (c *column) faultOfText(d sqltx.Dialect, s string) string {
	if c.typ.Size >= 0 && (c.typ.Name == sqltype.VarChar || c.typ.Name == sqltype.Char) &&
		utf8.RuneCountInString(s) > c.typ.Size {
		return "maxLength"
	}
	if d == sqltx.PostgreSQL && (!takes(c.typ.Name, s) || s == "" && c.noEmpty) {
		return "format"
	}
	return ""
}

// hasNoEmpty reports whether PostgreSQL has no empty text of the column's type. In a nullable column NULL
// takes its place.
func (c *column) hasNoEmpty(d sqltx.Dialect) bool {
	switch {
	case !c.scalar():
		return false
	case c.spec.Kind == sqlquery.Decimal || c.spec.Kind == sqlquery.Duration:
		return true
	case d == sqltx.SQLite || c.spec.Kind != sqlquery.Text && c.spec.Kind != sqlquery.UUID || c.computed():
		return false
	case !c.typ.Known: // an enum, which may have an empty label
		return c.field != nil && !slices.Contains(c.field.Enum, any(""))
	}
	return !takes(c.typ.Name, "")
}

// takes reports whether PostgreSQL can store a text in a column of this type. PostgreSQL stores no
// NUL in text. For a uuid the spelling must be that of RFC 9562.
func takes(typ string, s string) bool {
	var err error
	switch typ {
	case sqltype.UUID:
		return isUUID(s)
	case sqltype.Date:
		if s == "infinity" || s == "-infinity" {
			return true
		}
		var date time.Time
		date, err = time.Parse(time.DateOnly, s)
		return err == nil && date.Year() > 0
	case sqltype.Time:
		_, err = time.Parse("15:04:05", s)
		return err == nil || s == "24:00:00"
	case sqltype.TimeTZ:
		var at time.Time
		at, err = time.Parse("15:04:05Z07:00", s)
		_, offset := at.Zone()
		return err == nil && max(offset, -offset) < 16*60*60
	case sqltype.CIDR:
		var p netip.Prefix
		p, err = netip.ParsePrefix(s)
		return err == nil && p == p.Masked()
	case sqltype.Inet:
		if _, err = netip.ParsePrefix(s); err == nil {
			return true
		}
		var address netip.Addr
		address, err = netip.ParseAddr(s)
		return err == nil && address.Zone() == ""
	case sqltype.Char:
		return utf8.ValidString(s) && !strings.HasSuffix(s, " ") && strings.IndexByte(s, 0) < 0
	}
	return err == nil && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// array returns the argument for an array: the text of PostgreSQL, with each element in quotation
// marks. A nil slice is NULL if the column is nullable.
func (t *untyped) array(c *column, v reflect.Value) (any, error) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, nil
		}
		v = v.Elem()
	}
	if v.Kind() == reflect.Slice && v.IsNil() && !c.spec.NotNull {
		return nil, nil
	}
	b := []byte("{")
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		elem := query.Canonical(v.Index(i).Interface())
		text, code := c.elem.text(t.dialect, elem)
		switch {
		case code != "":
			return nil, resource.Invalid(c.field.Name, code)
		case elem == nil:
			b = append(b, "NULL"...)
		default:
			b = append(append(append(b, '"'), escapeElement.Replace(text)...), '"')
		}
	}
	return string(append(b, '}')), nil
}

var escapeElement = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// text returns an element in the text form of PostgreSQL, and the code of a violation if its type
// cannot store it.
func (c *column) text(d sqltx.Dialect, value any) (text, code string) {
	switch value := value.(type) {
	case nil:
		return "", ""
	case string:
		if c.spec.Kind == sqlquery.Decimal {
			number, err := query.ParseDecimal(value)
			if err != nil {
				return "", "format"
			}
			return value, c.faultOfDigits(number.String())
		}
		return value, c.faultOfText(d, value)
	case bool:
		return strconv.FormatBool(value), ""
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64), c.faultOfNumber(d, value)
	case time.Time:
		if value.Year() < 1 || value.Year() > 9999 {
			return "", "range"
		}
		return value.Format(time.RFC3339Nano), ""
	}
	switch number := value.(type) {
	case int64:
		text = strconv.FormatInt(number, 10)
	case uint64:
		text = strconv.FormatUint(number, 10)
	}
	return text, c.faultOfNumber(d, value)
}
