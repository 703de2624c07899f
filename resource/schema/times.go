package schema

import (
	"errors"
	"time"
)

// appendTime appends an RFC 3339 date-time. A year of five digits and an offset of a day, which package time can hold,
// have no place in it.
func appendTime(dst []byte, t *time.Time) ([]byte, error) {
	if t.Location() == time.UTC {
		if out, ok := appendUTC(dst, t); ok {
			return out, nil
		}
	}
	dst = append(dst, '"')
	start := len(dst)
	dst = t.AppendFormat(dst, time.RFC3339Nano)
	text := dst[start:]
	if text[len("2006")] != '-' {
		return dst, errors.New("the year is outside of what RFC 3339 can write")
	}
	if text[len(text)-1] != 'Z' {
		zone := text[len(text)-len("+00:00"):]
		if zone[0] != '+' && zone[0] != '-' || string(zone[1:3]) > "23" {
			return dst, errors.New("the time zone is outside of what RFC 3339 can write")
		}
	}
	return append(dst, '"'), nil
}

const (
	secondsADay = 24 * 60 * 60
	// Days are counted from the first of March of the year 0: years that begin in March end with the day that only some of
	// them have.
	dayOf1970  = 719_468
	dayOf1     = 306
	dayOf10000 = 3_652_365
	daysOf400  = 146_097 // years
)

// appendUTC is appendTime for a time in UTC, in a third of the time of the general way, which looks for zones. It reports
// false for years that it does not know.
func appendUTC(dst []byte, t *time.Time) ([]byte, bool) {
	unix := t.Unix()
	days := unix / secondsADay
	second := unix % secondsADay
	if second < 0 {
		days, second = days-1, second+secondsADay
	}
	days += dayOf1970
	if days < dayOf1 || days >= dayOf10000 {
		return dst, false
	}
	year, month, day := civil(uint32(days))
	s := uint32(second)
	dst = append(dst, '"')
	dst = append2(append2(dst, year/100), year%100)
	dst = append2(append(dst, '-'), month)
	dst = append2(append(dst, '-'), day)
	dst = append2(append(dst, 'T'), s/3600)
	dst = append2(append(dst, ':'), s/60%60)
	dst = append2(append(dst, ':'), s%60)
	if ns := uint32(t.Nanosecond()); ns != 0 {
		dst = appendFraction(dst, ns)
	}
	return append(dst, 'Z', '"'), true
}

// civil returns the date of a day, counted from the first of March of the year 0, in the Gregorian calendar. In years that
// begin in March the days before a month follow a straight line.
func civil(days uint32) (year, month, day uint32) {
	era, of400 := days/daysOf400, days%daysOf400
	ofEra := (of400 - of400/1460 + of400/36524 - of400/146096) / 365
	ofYear := of400 - (365*ofEra + ofEra/4 - ofEra/100)
	m := (5*ofYear + 2) / 153 // March is 0
	year, month, day = 400*era+ofEra, m+3, ofYear-(153*m+2)/5+1
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, day
}

func append2(dst []byte, n uint32) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// appendFraction appends nanoseconds without the zeros behind them.
func appendFraction(dst []byte, ns uint32) []byte {
	var digits [10]byte
	digits[0] = '.'
	for i := 9; i > 0; i-- {
		digits[i] = byte('0' + ns%10)
		ns /= 10
	}
	end := 10
	for digits[end-1] == '0' {
		end--
	}
	return append(dst, digits[:end]...)
}
