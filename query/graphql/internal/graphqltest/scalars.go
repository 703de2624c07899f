package graphqltest

import (
	"math"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// ScalarCase is an input value for a type of [Kitchen], as a literal and as JSON, and the result of
// its coercion.
type ScalarCase struct {
	Type, Literal, JSON string // a form is empty if the value cannot be written in it
	Want                any    // nil if coercion must fail
}

// Scalars returns valid and invalid values of scalars and enums.
func Scalars() []ScalarCase {
	return []ScalarCase{
		{"Int", "2147483647", "2147483647", 2147483647},
		{"Int", "2147483648", "2147483648", nil},
		{"Int", `"1"`, `"1"`, nil},
		{"Int", "", "1.0", 1},
		{"Int", "1.0", "", nil},
		{"Int64", "9223372036854775807", "9223372036854775807", int64(math.MaxInt64)},
		{"Int64", "-9223372036854775808", "-9223372036854775808", int64(math.MinInt64)},
		{"Int64", "9223372036854775808", "9223372036854775808", nil},
		{"Int64", `"1"`, `"1"`, nil},
		{"Int64", "1.5", "1.5", nil},
		{"Int64", "true", "true", nil},
		{"Float", "1", "1", 1.0},
		{"Float", "1e3", "1e3", 1000.0},
		{"String", `"é\n"`, `"é\n"`, "é\n"},
		{"String", "1", "1", nil},
		{"Boolean", "true", "true", true},
		{"Boolean", `"true"`, `"true"`, nil},
		{"ID", "12", "12", "12"},
		{"ID", `"a"`, `"a"`, "a"},
		{"ID", "1.5", "1.5", nil},
		{"Color", "NAVY", `"NAVY"`, "navy"},
		{"Color", "PINK", `"PINK"`, nil},
		{"Color", "navy", `"navy"`, nil},
		{"Color", `"NAVY"`, "", nil},
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
