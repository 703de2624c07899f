package query

// Durations of the calendar, as in ISO 8601 and in SQL.

import (
	"cmp"
	"errors"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Duration is a length of time in months, days and microseconds, the canonical value of a string
// with the format duration. The zero value has no length.
//
// [Compare] orders durations as SQL does: a month has 30 days, and a day 24 hours. Durations with
// different parts can be equal in this order, such as P1M and P30D, and differ by ==.
type Duration struct {
	months, days int32
	micros       int64
}

var (
	errDuration      = errors.New("must be a duration as in ISO 8601, such as P1DT2H30M or PT-1.5S")
	errDurationRange = errors.New("is longer than 2^31 months, 2^31 days or 2^63 microseconds")
)

// The units of the parts of a duration, before and after the T, in their order.
var (
	dateUnits = []durationUnit{{'Y', 12, 0, 0}, {'M', 1, 0, 0}, {'W', 0, 7, 0}, {'D', 0, 1, 0}}
	timeUnits = []durationUnit{{'H', 0, 0, hour}, {'M', 0, 0, minute}, {'S', 0, 0, second}}
)

const (
	second = 1_000_000
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
)

type durationUnit struct {
	name         byte
	months, days int64
	micros       int64
}

// ParseDuration parses a duration as in ISO 8601 and RFC 3339, appendix A, such as P1Y2M3DT4H5M6.5S,
// P2W or PT0S. Parts are in this order, and each may be absent. Contrary to the RFC, a part may have
// a sign, as in P1M-1D, and seconds a fraction of up to six digits. The text of the error is a
// predicate for the name of a field, which can be sent to clients.
func ParseDuration(text string) (Duration, error) {
	rest, ok := strings.CutPrefix(text, "P")
	if !ok {
		return Duration{}, errDuration
	}
	date, clock, hasClock := strings.Cut(rest, "T")
	if date == "" && !hasClock || hasClock && clock == "" {
		return Duration{}, errDuration
	}
	var d Duration
	if err := d.addParts(date, dateUnits); err != nil {
		return Duration{}, err
	}
	if err := d.addParts(clock, timeUnits); err != nil {
		return Duration{}, err
	}
	return d, nil
}

// addParts adds the parts of text. Each unit occurs once at most.
func (d *Duration) addParts(text string, units []durationUnit) error {
	for text != "" {
		end := strings.IndexFunc(text, func(r rune) bool { return r >= 'A' })
		if end < 0 {
			return errDuration
		}
		number, unit := text[:end], text[end]
		for len(units) > 0 && units[0].name != unit {
			units = units[1:]
		}
		if len(units) == 0 {
			return errDuration
		}
		if err := d.addPart(number, units[0]); err != nil {
			return err
		}
		text, units = text[end+1:], units[1:]
	}
	return nil
}

// addPart adds a number of units.
func (d *Duration) addPart(number string, unit durationUnit) error {
	digits, negative := strings.CutPrefix(number, "-")
	whole, fraction, hasFraction := strings.Cut(digits, ".")
	if !isDigits(whole) || hasFraction && (unit.name != 'S' || !isDigits(fraction) || len(fraction) > 6) {
		return errDuration
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	months, ok1 := times(n, unit.months)
	days, ok2 := times(n, unit.days)
	micros, ok3 := times(n, unit.micros)
	if err != nil || !ok1 || !ok2 || !ok3 {
		return errDurationRange
	}
	if hasFraction {
		part, _ := strconv.ParseInt((fraction + "00000")[:6], 10, 64)
		micros += part // an overflow makes it negative
	}
	if micros < 0 {
		return errDurationRange
	}
	if negative {
		months, days, micros = -months, -days, -micros
	}
	months, days = months+int64(d.months), days+int64(d.days)
	total := micros + d.micros
	overflows := micros > 0 && total < d.micros || micros < 0 && total > d.micros
	if int64(int32(months)) != months || int64(int32(days)) != days || overflows {
		return errDurationRange
	}
	d.months, d.days, d.micros = int32(months), int32(days), total
	return nil
}

// times multiplies two numbers that are not negative. ok is false if the product overflows.
func times(a, b int64) (product int64, ok bool) {
	high, low := bits.Mul64(uint64(a), uint64(b))
	return int64(low), high == 0 && low <= math.MaxInt64
}

// String returns the duration with its parts in years, months, days, hours, minutes and seconds, and
// with a sign for each. PostgreSQL writes intervals in this form if IntervalStyle is iso_8601.
// [ParseDuration] returns d for it.
func (d Duration) String() string {
	if d == (Duration{}) {
		return "PT0S"
	}
	b := append(make([]byte, 0, 32), 'P')
	b = appendPart(b, int64(d.months)/12, 'Y')
	b = appendPart(b, int64(d.months)%12, 'M')
	b = appendPart(b, int64(d.days), 'D')
	if d.micros == 0 {
		return string(b)
	}
	b = appendPart(append(b, 'T'), d.micros/hour, 'H')
	b = appendPart(b, d.micros%hour/minute, 'M')
	if micros := d.micros % minute; micros != 0 {
		if micros < 0 {
			b, micros = append(b, '-'), -micros
		}
		b = strconv.AppendInt(b, micros/second, 10)
		if part := micros % second; part != 0 {
			digits := strconv.AppendInt(nil, second+part, 10)
			digits[0] = '.'
			b = append(b, strings.TrimRight(string(digits), "0")...)
		}
		b = append(b, 'S')
	}
	return string(b)
}

// appendPart appends a part, unless it is zero.
func appendPart(b []byte, n int64, unit byte) []byte {
	if n == 0 {
		return b
	}
	return append(strconv.AppendInt(b, n, 10), unit)
}

// Equal reports whether d and other have the same parts, as == does.
func (d Duration) Equal(other Duration) bool { return d == other }

// compareDurations compares lengths. It does not convert them to microseconds, which could overflow.
func compareDurations(a, b Duration) int {
	aDays, aRest := a.length()
	bDays, bRest := b.length()
	return cmp.Or(cmp.Compare(aDays, bDays), cmp.Compare(aRest, bRest))
}

// length returns the days of a duration, and the microseconds of its last day.
func (d Duration) length() (days, micros int64) {
	days, micros = 30*int64(d.months)+int64(d.days)+d.micros/day, d.micros%day
	if micros < 0 {
		days, micros = days-1, micros+day
	}
	return days, micros
}
