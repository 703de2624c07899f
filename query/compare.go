package query

import (
	"cmp"
	"math"
	"strings"
	"time"
)

// Compare orders two values: negative if a comes before b, zero if they are equal, positive if a comes after b. It
// takes what [Canonical] takes, and is a total order, so that sorting by it is always well defined.
//
// Null comes first. Numbers compare by their exact value, whatever their types; NaN equals itself and comes before all
// other numbers. Strings compare by code point, false comes before true, times compare as instants. Values of
// different kinds, which one field never has, come in the order null, bool, number, string, time.
func Compare(a, b any) int {
	a, b = scalar(a), scalar(b)
	switch a := a.(type) { // the kinds sort keys most often have, without a detour
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

// compareKinds is Compare for everything else: other kinds, mixed numbers, bools and nulls.
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
	}
	return 0 // two nulls; strings and times do not get here
}

// A kind is a rank in the order of kinds.
type kind uint8

const (
	nullKind kind = iota
	boolKind
	numberKind
	stringKind
	timeKind
)

// kindOf takes what scalar gives. All numbers are of one kind, whatever their types.
func kindOf(v any) kind {
	switch v.(type) {
	case bool:
		return boolKind
	case int64, uint64, float64:
		return numberKind
	case string:
		return stringKind
	case time.Time:
		return timeKind
	}
	return nullKind
}

// number makes bools comparable; false comes first.
func number(v any) int {
	if v == true {
		return 1
	}
	return 0
}

// compareNumbers leaves two floats to the standard library, whose order of NaN is the one promised.
func compareNumbers(a, b any) int {
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

// compareFloat compares a float with an integer. Converting the integer instead would make neighbours above 2^53
// equal.
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

// compareIntegers compares values that are int64 or uint64.
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

// magnitude is the value of an integer that is not negative.
func magnitude(v any) uint64 {
	if i, ok := v.(int64); ok {
		return uint64(i)
	}
	u, _ := v.(uint64)
	return u
}
