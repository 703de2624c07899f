package sqltxtest

import (
	"time"

	"github.com/stoa-go/stoa/query"
)

func decimal(text string) query.Decimal {
	d, err := query.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

func duration(text string) query.Duration {
	d, err := query.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}

// durations has equal ones of different parts.
var durations = []any{duration("PT0S"), duration("P1M"), duration("P30D"), duration("P29DT24H"), duration("P1Y2M3DT4H5M6.789S"),
	duration("-P1D"[1:]), duration("P-1D"), duration("P1M-30D"), duration("PT-0.000001S"), duration("P178956970Y7M")}

// strangeDecimals are between those that columns store, and beyond them.
var strangeDecimals = []any{decimal("0.0005"), decimal("-0.0005"), decimal("1e300"), decimal("-1e300"), decimal("9.555"), decimal("0.1"),
	decimal("9223372036854775807.5"), decimal("-9223372036854775808.5"), decimal("9007199254740993"), decimal("0.30000000000000004")}

// ofTypes has values of the columns with a Type, in the spelling in which they are read.
var ofTypes = map[string][]any{
	"price": {decimal("0"), decimal("9.555"), decimal("9.55"), decimal("-9.555"), decimal("0.001"), decimal("-0.001"), decimal("999999.999"),
		decimal("10"), decimal("2")},
	"amount": {decimal("0"), decimal("0.1"), decimal("0.3"), decimal("9999999999999.99"), decimal("-9999999999999.99"), decimal("2"), decimal("1.5")},
	"float":  {0.0, 0.1, 0.3, 9.555, -2.5, 1e15, 2.0, 0.30000000000000004},
	"whole":  {int64(0), int64(-5), int64(2), int64(1<<53 + 1), int64(9223372036854775807)},
	"real":   {0.0, 0.1, 0.5, -0.1, 16777216.0, 3.4028235e38, 1e-45, 2.0},
	"short":  {int64(0), int64(-32768), int64(32767), int64(2), int64(3)},
	"born":   {"0001-01-01", "1970-01-01", "2024-02-29", "9999-12-31"},
	"opens":  {"00:00:00", "15:04:05", "15:04:05.5", "15:04:05.25", "23:59:59.999999", "24:00:00"},
	"zoned":  {"15:04:05+00:00", "15:04:05+02:00", "15:04:05.5-03:30", "00:00:00+00:00"},
	"span":   durations,
	"tier":   {"pro", "Free", "free", "it's", ""},
	"state":  {"pro", "Free", "free", "it's", ""},
	"mail":   {"a@b.c", "A@b.c", "a@B.c", "", "é", "É"},
	"ip":     {"10.0.0.1", "10.0.0.0/8", "9.255.255.255", "::1", "2001:db8::/32"},
	"net":    {"10.0.0.0/8", "10.0.0.1/32", "::1/128", "2001:db8::/32"},
	"code":   {"", "a", "A", "ab", "abcd", "é"},
	"tags":   {"a", "A", "", "it's", `"`, `\`, "é", "{", ",", "NULL"},
	"sizes":  {int64(0), int64(1), int64(-1), int64(2147483647)},
	"tiers":  {"pro", "Free", "free", "it's", ""},
	"labels": {"a", "A", "", "1", "true", `"`, `\`, "é"},
	"ratios": {0.0, 0.1, 1.0, 2.5, -1.0, 1e21},
	"flags":  {true, false},
	"uids":   {uuids[0], uuids[1], uuids[3]},
	"days":   {"0001-01-01", "2024-02-29", "9999-12-31"},
}

// strangeTypes has texts that are no values of a Type, but between them.
var strangeTypes = map[string][]any{
	"date": {"", "2024-02-30", "2024-2-9", "x", "1970", "infinity", "-infinity", "-", "zzz", "2024-02-29T00:00:00Z", "\x00", "\xff",
		time.Date(2024, 2, 29, 0, 0, 0, 1, time.UTC), "2024-02-29 "},
	"time":      {"", "15:04", "15:04:05.50", "15:04:05.", "99", "24:00:01", "x", "15:04:05Z", "\x00"},
	"timetz":    {"", "15:04:05Z", "15:04:05+02", "x", "\x00", "\xff"},
	"Tier":      {"gold", "FREE", "x'", "\x00", "\xff", "z"},
	"citext":    {"A@B.C", "a@b.c ", "\x00", "\xff"},
	"inet":      {"10.0.0.1/32", "10.0.0.01", "x", "", "::ffff:10.0.0.1", "fe80::1%eth0", "10.0.0.0/33", "\x00", "10/8"},
	"cidr":      {"10.0.0.1/8", "10.0.0.0", "10/8", "x", "", "::1", "\xff"},
	"char(4)":   {"a ", " ", "abcde", "ab\x00", "\xff", " a"},
	"uuid[]":    {"x", "", "0192F0C1-2345-7ABC-8DEF-00000000000A"},
	"integer[]": {int64(1 << 40), 0.5, 1.0, int64(-1 << 40), decimal("1")},
	"date[]":    {"x", "2024-02-30", "infinity"},
	"Tier[]":    {"gold", "\x00"},
}
