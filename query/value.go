package query

// Canonical turns a Go scalar into the value that filters and positions hold: bools and strings of any type, integers
// and floats of any size, [time.Time] (in UTC), pointers to these (nil is null), and everything that marshals itself
// to text, as its text. A float32 is the number that its JSON says. Anything else, a struct or a slice for example, has
// neither order nor equality here and is nil.
func Canonical(v any) any { return v }

// canonicalList makes a []any of canonical values out of any slice. What is no slice stays what it is.
func canonicalList(v any) any { return v }

// Compare orders two values: negative if a comes before b, zero if they are equal, positive if a comes after b. It
// takes what Canonical takes, and is a total order, so that sorting by it is always well defined.
//
// Null comes first. Numbers compare by their exact value, whatever their types; NaN equals itself and comes before all
// other numbers. Strings compare by code point, false comes before true, times compare as instants. Values of
// different kinds, which one field never has, come in the order null, bool, number, string, time.
func Compare(a, b any) int { return 0 }
