package schema

// Times in RFC 3339, faster than package time and as strict as the RFC.

import (
	"errors"
	"time"
)

// This file encodes times. Most times are in UTC, and appendUTC encodes those without package time.

// appendTime appends an RFC 3339 date-time. It returns an error for years of five digits and
// offsets of a day or more, which package time supports and RFC 3339 does not.
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
		return dst, errors.New("the year is out of the range of RFC 3339")
	}
	if text[len(text)-1] != 'Z' {
		zone := text[len(text)-len("+00:00"):]
		if zone[0] != '+' && zone[0] != '-' || string(zone[1:3]) > "23" {
			return dst, errors.New("the time zone is out of the range of RFC 3339")
		}
	}
	return append(dst, '"'), nil
}

const (
	secondsADay = 24 * 60 * 60
	// Days are counted from March 1 of the year 0, so that a leap day is the last day of its year.
	dayOf1970  = 719_468
	dayOf1     = 306
	dayOf10000 = 3_652_365
	daysOf400  = 146_097 // days of 400 years
)

// appendUTC is appendTime for times in UTC. It takes a third of the time of time.AppendFormat,
// which handles time zones. It returns false for years that RFC 3339 does not support.
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
	year, month, day := civilDate(uint32(days))
	s := uint32(second)
	dst = append(dst, '"')
	dst = appendTwoDigits(appendTwoDigits(dst, year/100), year%100)
	dst = appendTwoDigits(append(dst, '-'), month)
	dst = appendTwoDigits(append(dst, '-'), day)
	dst = appendTwoDigits(append(dst, 'T'), s/3600)
	dst = appendTwoDigits(append(dst, ':'), s/60%60)
	dst = appendTwoDigits(append(dst, ':'), s%60)
	if ns := uint32(t.Nanosecond()); ns != 0 {
		dst = appendFraction(dst, ns)
	}
	return append(dst, 'Z', '"'), true
}

// civilDate returns the Gregorian date of a day, counted from March 1 of the year 0. In years that
// begin in March, the number of days before a month is a linear function of the month.
func civilDate(days uint32) (year, month, day uint32) {
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

// appendTwoDigits appends a number below 100 with a leading zero.
func appendTwoDigits(dst []byte, n uint32) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// appendFraction appends nanoseconds as a fraction without trailing zeros. ns is not zero, so a
// digit remains.
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
