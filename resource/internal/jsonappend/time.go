package jsonappend

// Times in RFC 3339, faster than package time and as strict as the RFC.

import (
	"errors"
	"time"
)

// Time appends an RFC 3339 date-time in quotation marks, in the zone of t or of [WholeMinutes]. It returns
// an error for years of five digits and offsets of a day or more, which package time supports and
// RFC 3339 does not. After an error the result is not a valid document.
func Time(dst []byte, t *time.Time) ([]byte, error) {
	if t.Location() == time.UTC {
		if out, ok := UTC(dst, t.Unix(), t.Nanosecond()); ok {
			return out, nil
		}
	}
	dst = append(dst, '"')
	start := len(dst)
	dst = WholeMinutes(*t).AppendFormat(dst, time.RFC3339Nano)
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

// WholeMinutes returns t, in UTC if its offset has seconds, as those of local mean time before 1900 have.
// RFC 3339 has no seconds in an offset, and package time omits them, which would be another instant.
func WholeMinutes(t time.Time) time.Time {
	if _, offset := t.Zone(); offset%60 != 0 {
		return t.UTC()
	}
	return t
}

const (
	secondsADay = 24 * 60 * 60
	// Days are counted from March 1 of the year 0, so that a leap day is the last day of its year.
	dayOf1970  = 719_468
	dayOf1     = 306
	dayOf10000 = 3_652_365
	daysOf400  = 146_097 // days of 400 years
)

// UTC is Time for a time in UTC, which is seconds and nanoseconds since January 1, 1970. ns is from 0 to
// 999,999,999. UTC takes a third of the time of time.AppendFormat, which handles time zones. It returns
// dst and false for years that RFC 3339 does not support.
func UTC(dst []byte, unix int64, ns int) ([]byte, bool) {
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
	// All characters are written to an array first, because each append checks the capacity.
	text := [len(`"2006-01-02T15:04:05.123456789Z"`)]byte{
		0: '"', 5: '-', 8: '-', 11: 'T', 14: ':', 17: ':', 20: 'Z', 21: '"',
	}
	putTwoDigits(text[1:], year/100)
	putTwoDigits(text[3:], year%100)
	putTwoDigits(text[6:], month)
	putTwoDigits(text[9:], day)
	putTwoDigits(text[12:], s/3600)
	putTwoDigits(text[15:], s/60%60)
	putTwoDigits(text[18:], s%60)
	if ns == 0 {
		return append(dst, text[:22]...), true
	}
	end := putFraction(text[20:], uint32(ns)) + 20
	text[end], text[end+1] = 'Z', '"'
	return append(dst, text[:end+2]...), true
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

// pairs has the numbers below 100 with leading zeros.
const pairs = "00010203040506070809" + "10111213141516171819" + "20212223242526272829" +
	"30313233343536373839" + "40414243444546474849" + "50515253545556575859" +
	"60616263646566676869" + "70717273747576777879" + "80818283848586878889" +
	"90919293949596979899"

// putTwoDigits writes a number below 100 with a leading zero. It does not call copy, which would not be
// inlined.
func putTwoDigits(text []byte, n uint32) { text[1], text[0] = pairs[2*n+1], pairs[2*n] }

// putFraction writes a point and nanoseconds, which are not zero, without trailing zeros. It returns the
// number of characters.
func putFraction(text []byte, ns uint32) int {
	end := 10
	if ns%1000 == 0 { // as in a database
		ns, end = ns/1000, 7
	}
	text[0] = '.'
	for i := end - 1; i > 0; i-- {
		text[i] = byte('0' + ns%10)
		ns /= 10
	}
	for text[end-1] == '0' {
		end--
	}
	return end
}
