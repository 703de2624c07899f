package sqltable

// Values of the types of column_type.go in rows. scan.go calls textOf, arraySetter and postgresTime.

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
)

// converted reports whether textOf changes what drivers return for the column.
func (c *column) converted() bool {
	switch c.typ.Name {
	case sqltype.Date, sqltype.Time, sqltype.TimeTZ, sqltype.Char, sqltype.Interval:
		return true
	}
	return c.spec.Kind == sqlquery.Decimal
}

// textOf returns a value of a driver as the text of a field. Some drivers return times for columns
// that are declared as date or time.
func (c *column) textOf(src any) string {
	if !c.converted() {
		return textOf(src)
	}
	switch v := src.(type) {
	case time.Time:
		switch c.typ.Name {
		case sqltype.Date:
			return dateText(v)
		case sqltype.Time:
			return v.Format("15:04:05.999999")
		case sqltype.TimeTZ:
			return v.Format("15:04:05.999999-07:00")
		}
	case float64:
		if c.typ.Scale >= 0 {
			return strconv.FormatFloat(v, 'f', c.typ.Scale, 64)
		}
	case int64:
		if c.typ.Scale > 0 {
			return strconv.FormatInt(v, 10) + "." + strings.Repeat("0", c.typ.Scale)
		}
	}
	text := textOf(src)
	switch c.typ.Name {
	case sqltype.TimeTZ: // of PostgreSQL, without minutes if they are 0
		if n := len(text) - len("+00"); n > 0 && (text[n] == '+' || text[n] == '-') {
			return text + ":00"
		}
	case sqltype.Char:
		return strings.TrimRight(text, " ")
	case sqltype.Interval:
		return intervalText(text)
	}
	return text
}

// dateText returns a date as PostgreSQL writes it. The year before 1 is 1 BC.
func dateText(t time.Time) string {
	if t.Year() > 0 {
		return t.Format("2006-01-02")
	}
	return fmt.Sprintf("%04d-%02d-%02d BC", 1-t.Year(), t.Month(), t.Day())
}

// intervalText converts the six numbers of column.reading to ISO 8601. It returns other texts, which
// are those of SQLite, unchanged.
func intervalText(text string) string {
	parts := strings.Fields(text)
	if len(parts) != 6 {
		return text
	}
	var n [6]int64
	for i, part := range parts {
		whole, _, _ := strings.Cut(part, ".") // numeric in PostgreSQL 14 and later
		var err error
		if n[i], err = strconv.ParseInt(whole, 10, 64); err != nil {
			return text
		}
	}
	date, clock := "", ""
	for i, unit := range "YMDHM" {
		part := strconv.FormatInt(n[i], 10) + string(unit)
		switch {
		case n[i] == 0:
		case i < 3:
			date += part
		default:
			clock += part
		}
	}
	if micros := n[5]; micros != 0 {
		sign := ""
		if micros < 0 {
			sign, micros = "-", -micros
		}
		seconds := sign + strconv.FormatInt(micros/1e6, 10)
		if micros%1e6 != 0 {
			seconds += "." + strings.TrimRight(fmt.Sprintf("%06d", micros%1e6), "0")
		}
		clock += seconds + "S"
	}
	switch {
	case date+clock == "":
		return "PT0S"
	case clock != "":
		clock = "T" + clock
	}
	return "P" + date + clock
}

// arraySetter returns a function that sets a slice or an array of Go from the JSON that PostgreSQL
// makes of an array. c is the column of the elements. Numbers keep their digits.
func (c *column) arraySetter(t reflect.Type) func(v reflect.Value, src any) error {
	set := c.setter(t.Elem())
	return func(v reflect.Value, src any) error {
		var list []jsontext.Value
		if err := json.Unmarshal([]byte(textOf(src)), &list); err != nil {
			return errOf("array", src)
		}
		if v.Kind() == reflect.Slice {
			v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
		} else if v.Len() != len(list) {
			return fmt.Errorf("there are %d elements, and the field has %d", len(list), v.Len())
		}
		for i, raw := range list {
			if raw.Kind() == '[' {
				return errors.New("an array has more than one dimension")
			}
			elem := &fieldScanner{column: c, field: v.Index(i), set: set}
			if err := elem.Scan(elementOf(raw)); err != nil {
				return err
			}
		}
		return nil
	}
}

// elementOf returns an element as a value of a driver.
func elementOf(raw jsontext.Value) any {
	switch raw.Kind() {
	case 'n':
		return nil
	case 't', 'f':
		return raw.Kind() == 't'
	case '"':
		text, _ := jsontext.AppendUnquote(nil, raw)
		return string(text)
	}
	return string(raw)
}

// The times that represent infinity and -infinity of PostgreSQL, as in package sqlquery.
var (
	infinity      = time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)
	minusInfinity = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
)

// postgresTime parses the texts that drivers return for times that time.Time cannot represent, and
// those of elements of arrays.
func postgresTime(text string) (at time.Time, ok bool) {
	switch text {
	case "infinity":
		return infinity, true
	case "-infinity":
		return minusInfinity, true
	}
	// The offset of a local mean time, before the zone's standard time, has seconds.
	for _, layout := range []string{
		"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", time.DateOnly, "2006-01-02T15:04:05Z07:00:00",
	} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return at, false
}
