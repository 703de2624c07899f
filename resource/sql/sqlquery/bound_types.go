package sqlquery

// Positions of values among those of the types of PostgreSQL that have other limits, resolutions or
// spellings than text, bigint and double precision. bound.go calls locateString and
// locateAnyNumber.

import (
	"fmt"
	"math"
	"net/netip"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
)

// notANumber is a value of numeric that is greater than all numbers, and not a Decimal.
const notANumber = "NaN"

// locateString returns the bound of a text.
func (o *operand) locateString(s string) bound {
	switch {
	case o.dialect == SQLite:
	case o.typ.Name == sqltype.Date:
		return locateDate(s)
	case o.typ.Name == sqltype.Time:
		return locateSorted(s, microsecondsOfDay+1, clock)
	}
	return o.locateText(s)
}

// casts reports whether PostgreSQL can convert a text to the type of a column that is compared as
// text. Other types accept each text.
func (o *operand) casts(v any) bool {
	s, _ := v.(string)
	switch {
	case o.dialect == SQLite || o.index != indexNative:
		return true
	case o.typ.Name == sqltype.CIDR:
		p, err := netip.ParsePrefix(s)
		return err == nil && p.Masked() == p
	case o.typ.Name == sqltype.Inet:
		address, err := netip.ParseAddr(s)
		if _, bad := netip.ParsePrefix(s); bad == nil {
			return true
		}
		return err == nil && address.Zone() == ""
	}
	return true
}

// locateSorted returns the bound of s among n texts in ascending order.
func locateSorted(s string, n int, at func(i int) string) bound {
	i := sort.Search(n, func(i int) bool { return at(i) > s })
	switch {
	case i == 0:
		return bound{relation: belowAll}
	case at(i-1) == s:
		return bound{exactly, s}
	}
	return bound{above, at(i - 1)}
}

const (
	microsecondsOfDay = 24 * 60 * 60 * 1_000_000
	daysWithFourDigit = 3652059 // from 0001-01-01 to 9999-12-31
)

// clock returns a time of day as PostgreSQL writes it. The last one is 24:00:00.
func clock(i int) string {
	if i == microsecondsOfDay {
		return "24:00:00"
	}
	return time.UnixMicro(int64(i)).UTC().Format("15:04:05.999999")
}

// longDate matches the dates of PostgreSQL outside of the years 1 to 9999.
var longDate = regexp.MustCompile(`^(\d{5,7})-(\d\d)-(\d\d)$|^(\d{4})-(\d\d)-(\d\d) BC$`)

// locateDate returns the bound of a text among dates. Within the years 1 to 9999 dates sort like
// their texts, between -infinity and infinity. Other dates are at their place in time.
func locateDate(s string) bound {
	if isLongDate(s) {
		return bound{exactly, s}
	}
	return locateSorted(s, daysWithFourDigit+2, func(i int) string {
		switch i {
		case 0:
			return "-infinity"
		case daysWithFourDigit + 1:
			return "infinity"
		}
		return time.Date(1, 1, i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	})
}

// isLongDate reports whether s is a date outside of the years 1 to 9999, as PostgreSQL writes it.
func isLongDate(s string) bool {
	m := longDate.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	year, _ := strconv.Atoi(m[1] + m[4])
	month, _ := strconv.Atoi(m[2] + m[5])
	day, _ := strconv.Atoi(m[3] + m[6])
	inEra, most := year, 5874897
	if m[4] != "" {
		year, most = 1-year, 4713
	}
	date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	exists := int(date.Month()) == month && date.Day() == day
	padded := m[1] != "" && s[0] == '0'
	return exists && !padded && inEra >= 1 && inEra <= most
}

// locateAnyNumber returns the bound of a number in the type of the column.
func (o *operand) locateAnyNumber(v any) bound {
	switch {
	case o.kind == Decimal && o.dialect == SQLite:
		return o.locateScaled(v)
	case o.dialect == PostgreSQL && o.unit == 0 && o.typ.Name == sqltype.Numeric:
		return o.locateNumeric(v)
	case o.dialect == PostgreSQL && o.typ.Name == sqltype.Real:
		return locateReal(v)
	case o.kind == Integer:
		return locateInteger(v)
	}
	return locateNumber(v)
}

// locateWhole returns the bound of a decimal among 64-bit integers.
func locateWhole(d query.Decimal) bound {
	whole, fraction, _ := strings.Cut(d.String(), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	negative := whole[0] == '-'
	switch {
	case err != nil || negative && fraction != "" && n == math.MinInt64:
		if negative {
			return bound{relation: belowAll}
		}
		return bound{relation: aboveAll}
	case fraction == "":
		return bound{exactly, n}
	case negative:
		n--
	}
	return bound{above, n}
}

// The most digits of a numeric before and after the point. The type has a few more.
const (
	maxWholeDigits    = 131072
	maxFractionDigits = 16000
)

// locateNumeric returns the bound of a number in a numeric, as text. Numbers of a float64 have their
// shortest text in the column, from which they are read.
func (o *operand) locateNumeric(v any) bound {
	p := bound{exactly, v}
	if _, isFloat := v.(float64); o.kind == Number || isFloat {
		if p = locateNumber(v); p.arg == nil {
			return p
		}
	}
	f, isFloat := p.arg.(float64)
	switch {
	case isFloat && math.IsInf(f, -1):
		return bound{relation: belowAll}
	case isFloat && math.IsInf(f, 1):
		return bound{relation: aboveAll}
	}
	text := o.decimalText(p.arg)
	whole, fraction, _ := strings.Cut(text, ".")
	negative := text[0] == '-'
	switch {
	case len(whole) > maxWholeDigits && negative:
		return bound{relation: belowAll}
	case len(whole) > maxWholeDigits:
		return bound{relation: aboveAll}
	case len(fraction) <= maxFractionDigits:
		return bound{p.relation, text}
	case negative:
		return bound{below, whole + "." + fraction[:maxFractionDigits]}
	}
	return bound{above, whole + "." + fraction[:maxFractionDigits]}
}

// decimalText returns a number in decimal digits. A float64 is its exact value if the column has
// decimals, and its shortest text if the field is a float64.
func (o *operand) decimalText(v any) string {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		digits := -1
		if o.kind != Number {
			digits = 1074 // as many as a float64 can have
		}
		text := strconv.FormatFloat(v, 'f', digits, 64)
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
		return text
	}
	return fmt.Sprint(v)
}

// locateScaled returns the bound of a number among the multiples of the column's scale, which
// SQLite stores as the nearest float64.
func (o *operand) locateScaled(v any) bound {
	f, isFloat := v.(float64)
	if isFloat && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return locateNumber(v)
	}
	text := o.decimalText(v)
	whole, fraction, _ := strings.Cut(text, ".")
	// The zero before the point is no digit of the column: numeric(2,2) has 0.25.
	if len(strings.TrimLeft(strings.TrimPrefix(whole, "-"), "0")) > o.typ.Size-o.typ.Scale {
		return locateNumber(v)
	}
	cut := min(len(fraction), o.typ.Scale)
	f, _ = strconv.ParseFloat(whole+"."+fraction[:cut], 64)
	switch {
	case cut == len(fraction):
		return bound{exactly, f}
	case text[0] == '-':
		return bound{below, f}
	}
	return bound{above, f}
}

// locateReal returns the bound of a number among 32-bit floats. As in JSON and in query.Canonical,
// the value of a float is that of its shortest text.
func locateReal(v any) bound {
	p := locateNumber(v)
	near, ok := p.arg.(float64)
	if !ok {
		return p
	}
	f := float32(near)
	for query.Compare(v, shortest(f)) < 0 {
		f = math.Nextafter32(f, float32(math.Inf(-1)))
	}
	for next := f; ; f = next {
		next = math.Nextafter32(f, float32(math.Inf(1)))
		if next == f || query.Compare(v, shortest(next)) < 0 {
			break
		}
	}
	if query.Compare(v, shortest(f)) == 0 {
		return bound{exactly, float64(f)}
	}
	return bound{above, float64(f)}
}

// shortest returns the number that JSON has for a float32.
func shortest(f float32) float64 {
	exact, _ := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64)
	return exact
}
