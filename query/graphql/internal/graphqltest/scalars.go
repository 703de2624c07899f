package graphqltest

// Input values of scalars. Called by the tests of package coerce, and by those of package oracle
// for the scalars that it gives to graphql-go. Both must have the same results.

import (
	"math"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// ScalarCase is an input value for a type of [Kitchen], as a literal and as JSON, and the result of
// its coercion. Want has the Go type that package coerce returns.
type ScalarCase struct {
	Type, Literal, JSON string // a form is empty if the value cannot be written in it
	Want                any    // nil if coercion must fail
}

// Scalars returns valid and invalid values of scalars and enums. An empty form is not
// tested, because its notation has no such value or another result.
func Scalars() []ScalarCase {
	return []ScalarCase{
		// Int has 32 bits. A JSON number may have a fraction of zero, a literal may not (section
		// 3.5.1).
		{"Int", "2147483647", "2147483647", 2147483647},
		{"Int", "2147483648", "2147483648", nil},
		{"Int", `"1"`, `"1"`, nil},
		{"Int", "", "1.0", 1},
		{"Int", "1.0", "", nil},
		// Int64 is a scalar of this library, with numbers only: a string is not coerced.
		{"Int64", "9223372036854775807", "9223372036854775807", int64(math.MaxInt64)},
		{"Int64", "-9223372036854775808", "-9223372036854775808", int64(math.MinInt64)},
		{"Int64", "18446744073709551615", "18446744073709551615", uint64(math.MaxUint64)},
		{"Int64", "18446744073709551616", "18446744073709551616", nil},
		{"Int64", "-9223372036854775809", "-9223372036854775809", nil},
		{"Int64", `"1"`, `"1"`, nil},
		{"Int64", "1.5", "1.5", nil},
		{"Int64", "true", "true", nil},
		// The specification permits an integer for a Float and for an ID, and no other coercion.
		{"Float", "1", "1", 1.0},
		{"Float", "1e3", "1e3", 1000.0},
		{"String", `"é\n"`, `"é\n"`, "é\n"},
		{"String", "1", "1", nil},
		{"Boolean", "true", "true", true},
		{"Boolean", `"true"`, `"true"`, nil},
		{"ID", "12", "12", "12"},
		{"ID", `"a"`, `"a"`, "a"},
		{"ID", "1.5", "1.5", nil},
		// An enum value is a name as a literal and a string in JSON (section 3.9).
		{"Color", "NAVY", `"NAVY"`, "navy"},
		{"Color", "PINK", `"PINK"`, nil},
		{"Color", "navy", `"navy"`, nil},
		{"Color", `"NAVY"`, "", nil},
		// Decimal keeps its digits, as a string or a number, and an exponent is expanded.
		{"Decimal", `"12.50"`, `"12.50"`, "12.50"},
		{"Decimal", "12.50", "12.50", "12.50"},
		{"Decimal", "-7", "-7", "-7"},
		{"Decimal", "0.1000000000000000000001", "0.1000000000000000000001", "0.1000000000000000000001"},
		{"Decimal", "1.5e3", "1.5e3", "1500"},
		{"Decimal", `"1,5"`, `"1,5"`, nil},
		{"Decimal", `""`, `""`, nil},
		{"Decimal", "1e1001", "1e1001", nil},
		{"Decimal", "true", "true", nil},
		{"Decimal", "[1]", "[1]", nil},
		// DateTime is RFC 3339 with an offset. The fraction has a point, and the day must exist.
		{"DateTime", `"2026-11-21T10:00:00Z"`, `"2026-11-21T10:00:00Z"`,
			time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)},
		{"DateTime", `"2026-11-21T10:00:00.123456789Z"`, `"2026-11-21T10:00:00.123456789Z"`,
			time.Date(2026, 11, 21, 10, 0, 0, 123456789, time.UTC)},
		{"DateTime", `"2026-11-21T10:00:00+05:30"`, `"2026-11-21T10:00:00+05:30"`,
			time.Date(2026, 11, 21, 10, 0, 0, 0, time.FixedZone("", 5*3600+1800))},
		{"DateTime", `"2026-11-21"`, `"2026-11-21"`, nil},
		{"DateTime", `"2026-11-21T10:00:00"`, `"2026-11-21T10:00:00"`, nil},
		{"DateTime", `"2026-02-30T10:00:00Z"`, `"2026-02-30T10:00:00Z"`, nil},
		{"DateTime", `"2026-11-21T10:00:00,5Z"`, `"2026-11-21T10:00:00,5Z"`, nil},
		{"DateTime", "1700000000", "1700000000", nil},
		{"DateTime", "NOW", "", nil},
		{"DateTime", "{a: 1}", `{"a":1}`, nil},
		// JSON keeps the digits of numbers and the order of members. An enum value becomes a
		// string.
		{"JSON", `"a\"b"`, `"a\"b"`, jsontext.Value(`"a\"b"`)},
		{"JSON", "12345678901234567890.50", "12345678901234567890.50",
			jsontext.Value("12345678901234567890.50")},
		{"JSON", "false", "false", jsontext.Value("false")},
		{"JSON", "RED", "", jsontext.Value(`"RED"`)},
		{"JSON", "[]", "[ ]", jsontext.Value("[]")},
		{"JSON", "{}", "{ }", jsontext.Value("{}")},
		{"JSON", `{b: [1, null, {c: null}], a: """x"""}`, `{"b": [1, null, {"c": null}], "a": "x"}`,
			jsontext.Value(`{"b":[1,null,{"c":null}],"a":"x"}`)},
	}
}
