package sqlquery

import (
	"math"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stoa-go/stoa/query"
)

// place is where a value stands among all values that a column can keep. That a column cannot keep the value itself is
// no reason for a wrong answer: an integer is less than 2.5 if it is at most 2.
type place struct {
	at  relation
	arg any
}

// A relation says how a value stands to the argument of its place.
type relation uint8

const (
	exactly  relation = iota
	above             // the column can keep nothing between the argument and the value
	below             // nothing between the value and the argument
	aboveAll          // whatever the column can keep
	belowAll          // the same downwards
)

// outcome is what a comparison with a place comes to, where it needs no operator.
type outcome uint8

const (
	compared outcome = iota
	none             // of the values
	all              // of the values, but not NULL
)

// compare turns an operator on a value into one on the argument.
func (p place) compare(op query.Op) (sign string, o outcome) {
	less := op == query.Lt || op == query.Lte
	switch p.at {
	case exactly:
		return signs[op], compared
	case above:
		return either(less, "<=", ">"), compared
	case below:
		return either(less, "<", ">="), compared
	}
	if less == (p.at == aboveAll) {
		return "", all
	}
	return "", none
}

var signs = map[query.Op]string{query.Lt: "<", query.Lte: "<=", query.Gt: ">", query.Gte: ">="}

func either(cond bool, a, b string) string {
	if cond {
		return a
	}
	return b
}

// classOf takes a canonical value.
func classOf(v any) class {
	switch v.(type) {
	case bool:
		return classBool
	case int64, uint64, float64:
		return classNumber
	case string:
		return classText
	case time.Time:
		return classTime
	}
	return classNull
}

// locate finds the place of a value of the column's class.
func (o *operand) locate(v any) place {
	switch v := v.(type) {
	case bool:
		return o.locateBool(v)
	case string:
		return o.locateText(v)
	case time.Time:
		return o.locateTime(v)
	}
	if o.kind == Integer {
		return locateInteger(v)
	}
	return locateNumber(v)
}

func (o *operand) locateBool(v bool) place {
	switch {
	case o.dialect == PostgreSQL:
		return place{exactly, v}
	case v:
		return place{exactly, int64(1)}
	}
	return place{exactly, int64(0)}
}

// locateInteger finds the place of any number among those of 64 bits.
func locateInteger(v any) place {
	switch v := v.(type) {
	case int64:
		return place{exactly, v}
	case float64:
		floor := math.Floor(v)
		switch {
		case math.IsNaN(v) || v < math.MinInt64: // NaN sorts before all numbers
			return place{at: belowAll}
		case v >= 1<<63:
			return place{at: aboveAll}
		case v == floor:
			return place{exactly, int64(floor)}
		}
		return place{above, int64(floor)}
	}
	return place{at: aboveAll} // a uint64 that is no int64
}

// locateNumber finds the place of any number among the floats. Conversion takes an integer to the nearest, so that there
// is none between the two.
func locateNumber(v any) place {
	var f float64
	switch v := v.(type) {
	case int64:
		f = float64(v)
	case uint64:
		f = float64(v)
	case float64:
		f = v
	}
	if math.IsNaN(f) {
		return place{at: belowAll}
	}
	switch c := query.Compare(v, f); {
	case c > 0:
		return place{above, f}
	case c < 0:
		return place{below, f}
	}
	return place{exactly, f}
}

// storable reports whether a column of text can keep s. PostgreSQL has no text with a NUL and takes none as an argument
// either; SQLite compares any bytes.
func (o *operand) storable(s string) bool {
	return o.dialect == SQLite || utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// locateText finds the next text that PostgreSQL takes.
func (o *operand) locateText(s string) place {
	if o.storable(s) {
		return place{exactly, s}
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
	// The first character that sorts behind the bad rest, since texts are compared by their bytes.
	next := character(sort.Search(utf8.MaxRune, func(i int) bool { return string(character(i)) > bad }))
	if next <= utf8.MaxRune {
		return place{below, good + string(next)}
	}
	if after, ok := successor(good); ok {
		return place{below, after}
	}
	return place{at: aboveAll}
}

// character is the ith of all that PostgreSQL takes. Surrogates, which are no characters, count as the one behind them.
func character(i int) rune {
	if r := rune(1 + i); r < 0xD800 || r > 0xDFFF {
		return r
	}
	return 0xE000
}

// successor returns the first text behind all that begin with s, unless there is none.
func successor(s string) (string, bool) {
	for s != "" {
		last, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
		switch last {
		case utf8.MaxRune: // ends with the greatest: the one before has to grow
		case 0xD7FF:
			return s + "\uE000", true // behind the surrogates, which are no characters
		default:
			return s + string(last+1), true
		}
	}
	return "", false
}

// locateTime finds the place of an instant among those of the column's resolution.
func (o *operand) locateTime(t time.Time) place {
	switch {
	case o.unit != 0:
		return locateCount(t, o.unit)
	case o.layout != "":
		return locateFormatted(t, o.layout)
	case t.Year() > 294276: // the bounds of PostgreSQL's type
		return place{at: aboveAll}
	case t.Year() < -4712:
		return place{at: belowAll}
	}
	floor := t.Truncate(time.Microsecond)
	if floor.Equal(t) {
		return place{exactly, floor}
	}
	return place{above, floor}
}

// locateCount counts seconds and the rest apart, because nanoseconds alone reach only from 1677 to 2262.
func locateCount(t time.Time, unit time.Duration) place {
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
		return place{above, count + part}
	}
	return place{exactly, count + part}
}

// locateFormatted relies on Format to cut off what the layout has no place for.
func locateFormatted(t time.Time, layout string) place {
	if t.Year() < 0 || t.Year() > 9999 {
		return outside(t)
	}
	text := t.Format(layout)
	back, err := time.Parse(layout, text)
	if layout == time.RFC3339Nano {
		text = strings.TrimSuffix(text, "Z")
	}
	if err == nil && back.Equal(t) {
		return place{exactly, text}
	}
	return place{above, text}
}

// outside is the place of a time that is far from 1970 in either direction.
func outside(t time.Time) place {
	if t.Unix() < 0 {
		return place{at: belowAll}
	}
	return place{at: aboveAll}
}
