package sqlquery

// Positions of values among those that a column can store. filter.go and page.go compare columns
// with values of clients, which may have another precision or range than the column.

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
)

// bound locates a value among the values that a column can store. A column may be unable to store
// the value itself: an integer is less than 2.5 if it is at most 2.
type bound struct {
	relation relation
	arg      any
}

// relation is the relation of a value to the argument of its bound.
type relation uint8

const (
	exactly  relation = iota
	above             // no storable value is between the argument and the value
	below             // no storable value is between the value and the argument
	aboveAll          // above all storable values
	belowAll          // below all storable values
)

// outcome is the result of a comparison with a bound that needs no operator.
type outcome uint8

const (
	compared    outcome = iota
	matchesNone         // false for all values
	matchesAll          // true for all values except NULL
)

// compare converts an operator on the value to one on the argument.
func (p bound) compare(op query.Op) (sign string, o outcome) {
	less := op == query.Lt || op == query.Lte
	switch p.relation {
	case exactly:
		return signs[op], compared
	case above:
		return either(less, "<=", ">"), compared
	case below:
		return either(less, "<", ">="), compared
	}
	if less == (p.relation == aboveAll) {
		return "", matchesAll
	}
	return "", matchesNone
}

var signs = map[query.Op]string{query.Lt: "<", query.Lte: "<=", query.Gt: ">", query.Gte: ">="}

func either(cond bool, a, b string) string {
	if cond {
		return a
	}
	return b
}

// classOf returns the class of a canonical value.
func classOf(v any) class {
	switch v.(type) {
	case bool:
		return classBool
	case int64, uint64, float64, query.Decimal:
		return classNumber
	case string:
		return classText
	case time.Time:
		return classTime
	case query.Duration:
		return classDuration
	}
	return classNull
}

// locate returns the bound of a value of the column's class.
func (o *operand) locate(v any) bound {
	switch v := v.(type) {
	case bool:
		return o.locateBool(v)
	case string:
		return o.locateString(v)
	case time.Time:
		return o.locateTime(v)
	case query.Duration:
		return bound{exactly, v.String()}
	}
	return o.locateAnyNumber(v)
}

// locateBool returns the bound of a boolean, which SQLite stores as a number.
func (o *operand) locateBool(v bool) bound {
	switch {
	case o.dialect == PostgreSQL:
		return bound{exactly, v}
	case v:
		return bound{exactly, int64(1)}
	}
	return bound{exactly, int64(0)}
}

// locateInteger returns the bound of a number among 64-bit integers.
func locateInteger(v any) bound {
	switch v := v.(type) {
	case int64:
		return bound{exactly, v}
	case float64:
		floor := math.Floor(v)
		switch {
		case math.IsNaN(v) || v < math.MinInt64: // NaN sorts before all numbers
			return bound{relation: belowAll}
		case v >= 1<<63:
			return bound{relation: aboveAll}
		case v == floor:
			return bound{exactly, int64(floor)}
		}
		return bound{above, int64(floor)}
	case query.Decimal:
		return locateWhole(v)
	}
	return bound{relation: aboveAll} // a uint64 above the largest int64
}

// locateNumber returns the bound of a number among floats. The conversion rounds an integer to the
// nearest float, so there is none between the two.
func locateNumber(v any) bound {
	var f float64
	switch v := v.(type) {
	case int64:
		f = float64(v)
	case uint64:
		f = float64(v)
	case float64:
		f = v
	case query.Decimal:
		f, _ = strconv.ParseFloat(v.String(), 64) // infinite if it is out of range
	}
	if math.IsNaN(f) {
		return bound{relation: belowAll}
	}
	switch c := query.Compare(v, f); {
	case c > 0:
		return bound{above, f}
	case c < 0:
		return bound{below, f}
	}
	return bound{exactly, f}
}

// storable reports whether a text column can store s. PostgreSQL does not accept NUL or invalid
// UTF-8, also as arguments; SQLite compares any bytes.
func (o *operand) storable(s string) bool {
	return o.dialect == SQLite || utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// locateText returns the bound of s, with the next text that PostgreSQL accepts.
func (o *operand) locateText(s string) bound {
	if o.storable(s) {
		return bound{exactly, s}
	}
	end := 0
	for end < len(s) && s[end] != 0 {
		r, size := utf8.DecodeRuneInString(s[end:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		end += size
	}
	good, bad := s[:end], s[end:]
	// The first character that sorts after the invalid rest, because texts are compared by their
	// bytes.
	next := character(sort.Search(utf8.MaxRune, func(i int) bool { return string(character(i)) > bad }))
	if next <= utf8.MaxRune {
		return bound{below, good + string(next)}
	}
	if after, ok := successor(good); ok {
		return bound{below, after}
	}
	return bound{relation: aboveAll}
}

// character returns the ith character that PostgreSQL accepts. Surrogates are mapped to the
// character after them.
func character(i int) rune {
	if r := rune(1 + i); r < 0xD800 || r > 0xDFFF {
		return r
	}
	return 0xE000
}

// successor returns the first text after all texts that begin with s, if there is one.
func successor(s string) (string, bool) {
	for s != "" {
		last, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
		switch last {
		case utf8.MaxRune: // the last character is the greatest, so increment the one before
		case 0xD7FF:
			return s + "\uE000", true // skip the surrogates, which are not characters
		default:
			return s + string(last+1), true
		}
	}
	return "", false
}

// locateTime returns the bound of an instant in the column's resolution.
func (o *operand) locateTime(t time.Time) bound {
	switch {
	case o.unit != 0:
		return locateCount(t, o.unit)
	case o.layout != "":
		return locateFormatted(t, o.layout)
	case t.Equal(infinity):
		return bound{exactly, "infinity"}
	case t.Equal(minusInfinity):
		return bound{exactly, "-infinity"}
	case t.Year() > 294276: // the limits of timestamptz
		return bound{relation: aboveAll}
	case t.Year() < -4712:
		return bound{relation: belowAll}
	}
	floor := t.Truncate(time.Microsecond)
	if o.typ.Name == sqltype.Date {
		floor = t.UTC().Truncate(24 * time.Hour)
	}
	p := bound{above, floor}
	if floor.Equal(t) {
		p.relation = exactly
	}
	if o.typ.Name != sqltype.TimestampTZ {
		p.arg = timestampText(floor.UTC())
	}
	return p
}

// The instants that represent infinity and -infinity of PostgreSQL. No column stores the first one,
// which has nanoseconds.
var (
	infinity      = time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)
	minusInfinity = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
)

// timestampText formats a time for a column without time zone. The year before 1 is 1 BC.
func timestampText(t time.Time) string {
	if t.Year() > 0 {
		return t.Format("2006-01-02 15:04:05.999999")
	}
	return fmt.Sprintf("%04d%s BC", 1-t.Year(), t.Format("-01-02 15:04:05.999999"))
}

// locateCount counts seconds and the rest separately, because an int64 of nanoseconds covers only
// 1677 to 2262.
func locateCount(t time.Time, unit time.Duration) bound {
	perSecond := int64(time.Second / unit)
	count := t.Unix() * perSecond
	if count/perSecond != t.Unix() {
		return outside(t)
	}
	part := int64(t.Nanosecond()) / int64(unit)
	if count > math.MaxInt64-part {
		return outside(t)
	}
	if t.Nanosecond()%int(unit) != 0 {
		return bound{above, count + part}
	}
	return bound{exactly, count + part}
}

// locateFormatted relies on Format truncating what the layout cannot represent. A layout with less
// precision than t therefore yields a text before t.
func locateFormatted(t time.Time, layout string) bound {
	if t.Year() < 0 || t.Year() > 9999 {
		return outside(t)
	}
	text := t.Format(layout)
	back, err := time.Parse(layout, text)
	if layout == time.RFC3339Nano {
		text = strings.TrimSuffix(text, "Z")
	}
	if err == nil && back.Equal(t) {
		return bound{exactly, text}
	}
	return bound{above, text}
}

// outside returns the bound of a time beyond the range of the column.
func outside(t time.Time) bound {
	if t.Unix() < 0 {
		return bound{relation: belowAll}
	}
	return bound{relation: aboveAll}
}
