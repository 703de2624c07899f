package query

// The order of values. Stores in memory, cursors and tests use it; sqlquery produces the same in
// SQL.

import (
	"cmp"
	"math"
	"strings"
	"time"
)

// Compare returns a negative number if a sorts before b, zero if they are equal, and a positive
// number otherwise. It accepts the values that [Canonical] accepts, and is a total order.
//
// Null sorts first. Numbers are compared by exact value, independent of their types; NaN equals
// itself and sorts before all other numbers. Strings are compared by code point, times as instants,
// durations as [Duration] describes, and false sorts before true. Values of different kinds, which
// one field never has, sort in the order null, bool, number, string, time, duration. A list has no
// order, and sorts as null.
func Compare(a, b any) int {
	a, b = scalar(a), scalar(b)
	switch a := a.(type) { // fast path for the most common kinds of sort keys
	case string:
		if b, ok := b.(string); ok {
			return strings.Compare(a, b)
		}
	case int64:
		if b, ok := b.(int64); ok {
			return cmp.Compare(a, b)
		}
	case time.Time:
		if b, ok := b.(time.Time); ok {
			return a.Compare(b)
		}
	}
	return compareKinds(a, b)
}

// compareKinds handles all other cases: different kinds, mixed numbers, bools and nulls.
func compareKinds(a, b any) int {
	kind := kindOf(a)
	if c := cmp.Compare(kind, kindOf(b)); c != 0 {
		return c
	}
	switch kind {
	case boolKind:
		return cmp.Compare(number(a), number(b))
	case numberKind:
		return compareNumbers(a, b)
	case durationKind:
		return compareDurations(a.(Duration), b.(Duration))
	}
	return 0 // two nulls; Compare handles strings and times
}

// kind is the rank of a kind of values.
type kind uint8

const (
	nullKind kind = iota
	boolKind
	numberKind
	stringKind
	timeKind
	durationKind
)

// kindOf returns the kind of a result of scalar. All numbers have the same kind.
func kindOf(v any) kind {
	switch v.(type) {
	case bool:
		return boolKind
	case int64, uint64, float64, Decimal:
		return numberKind
	case string:
		return stringKind
	case time.Time:
		return timeKind
	case Duration:
		return durationKind
	}
	return nullKind
}

// number returns 0 for false and 1 for true.
func number(v any) int {
	if v == true {
		return 1
	}
	return 0
}

// compareNumbers compares two numbers. cmp.Compare has the required order of NaN.
func compareNumbers(a, b any) int {
	if d, ok := a.(Decimal); ok {
		return compareDecimal(d, b)
	}
	if d, ok := b.(Decimal); ok {
		return -compareDecimal(d, a)
	}
	x, aIsFloat := a.(float64)
	y, bIsFloat := b.(float64)
	switch {
	case aIsFloat && bIsFloat:
		return cmp.Compare(x, y)
	case aIsFloat:
		return compareFloat(x, b)
	case bIsFloat:
		return -compareFloat(y, a)
	}
	return compareIntegers(a, b)
}

// compareFloat compares a float with an integer. Converting the integer to a float would lose
// precision above 2^53.
func compareFloat(f float64, integer any) int {
	switch {
	case math.IsNaN(f) || f < math.MinInt64:
		return -1
	case f >= 1<<64:
		return 1
	case f >= 1<<63:
		return compareIntegers(uint64(f), integer) // floats of this size have no fraction
	}
	whole := math.Floor(f)
	if c := compareIntegers(int64(whole), integer); c != 0 {
		return c
	}
	return cmp.Compare(f, whole)
}

// compareIntegers compares two values of type int64 or uint64.
func compareIntegers(a, b any) int {
	x, aIsInt := a.(int64)
	y, bIsInt := b.(int64)
	switch {
	case aIsInt && bIsInt:
		return cmp.Compare(x, y)
	case aIsInt && x < 0:
		return -1
	case bIsInt && y < 0:
		return 1
	}
	return cmp.Compare(magnitude(a), magnitude(b))
}

// magnitude returns the value of a non-negative integer.
func magnitude(v any) uint64 {
	if i, ok := v.(int64); ok {
		return uint64(i)
	}
	u, _ := v.(uint64)
	return u
}
