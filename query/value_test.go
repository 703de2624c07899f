package query_test

import (
	"errors"
	"math"
	"math/big"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
)

type (
	namedString string
	namedInt    int16
	namedBool   bool
	namedTime   time.Time
)

// shouting implements TextMarshaler by value, whispering by pointer, mute not at all.
type (
	shouting   string
	whispering struct{ text string }
	mute       struct{}
)

func (s shouting) MarshalText() ([]byte, error)    { return []byte(s + "!"), nil }
func (w *whispering) MarshalText() ([]byte, error) { return []byte("(" + w.text + ")"), nil }
func (mute) MarshalText() ([]byte, error)          { return nil, errors.New("mute") }

func TestCanonical(t *testing.T) {
	t.Parallel()
	berlin := time.FixedZone("CET", 3600)
	five := 5
	pointer := &five
	var null *int
	var nobody *whispering
	tests := []struct {
		name string
		in   any
		want any
	}{
		{"nil", nil, nil},
		{"bool", true, true},
		{"string", "a", "a"},
		{"int", -5, int64(-5)},
		{"int8", int8(-5), int64(-5)},
		{"int64", int64(math.MinInt64), int64(math.MinInt64)},
		{"uint", uint(5), int64(5)},
		{"small uint64", uint64(math.MaxInt64), int64(math.MaxInt64)},
		{"large uint64", uint64(math.MaxInt64 + 1), uint64(math.MaxInt64 + 1)},
		{"float64", 0.1, 0.1},
		{"float32 as in JSON", float32(0.1), 0.1},
		{"infinite float32", float32(math.Inf(-1)), math.Inf(-1)},
		{"named string", namedString("a"), "a"},
		{"named int", namedInt(7), int64(7)},
		{"named bool", namedBool(true), true},
		{"duration", time.Second, int64(1e9)},
		{"pointer", pointer, int64(5)},
		{"pointer to pointer", &pointer, int64(5)},
		{"nil pointer", null, nil},
		{"pointer to nil pointer", &null, nil},
		{"time", time.Date(2026, 1, 1, 1, 0, 0, 5, berlin), time.Date(2026, 1, 1, 0, 0, 0, 5, time.UTC)},
		{"pointer to time", &time.Time{}, time.Time{}},
		{"text", shouting("a"), "a!"},
		{"text by pointer, of a value", whispering{"a"}, "(a)"},
		{"text by pointer", &whispering{"a"}, "(a)"},
		{"text by nil pointer", nobody, nil},
		{"text of a library", netip.MustParseAddr("10.0.0.1"), "10.0.0.1"},
		{"text of a big number", big.NewInt(12), "12"},
		{"text that fails", mute{}, nil},
		{"struct", struct{ A int }{1}, nil},
		{"a time that lost its methods", namedTime(time.Now()), nil},
		{"slice", []int{1}, []any{int64(1)}},
		{"slice of pointers", []*int{pointer, null}, []any{int64(5), nil}},
		{"slice of times", []time.Time{time.Date(2026, 1, 1, 1, 0, 0, 0, berlin)},
			[]any{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}},
		{"array", [2]shouting{"a", "b"}, []any{"a!", "b!"}},
		{"empty slice", []string{}, []any{}},
		{"nil slice", []string(nil), []any{}},
		{"pointer to no slice", (*[]string)(nil), nil},
		{"decimal", decimal("1.50"), decimal("1.5")},
		{"slice of decimals", []query.Decimal{decimal("1")}, []any{decimal("1")}},
		{"pointer to a duration", new(query.Duration), query.Duration{}},
		{"bytes", []byte("a"), nil},
		{"map", map[string]int{"a": 1}, nil},
		{"complex", 1i, nil},
		{"func", func() {}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := query.Canonical(tt.in)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Canonical(%v) (-want +got):\n%s", tt.in, diff)
			}
			if again := query.Canonical(got); !cmp.Equal(got, again) {
				t.Errorf("Canonical(%v) = %v: a canonical value is not left alone", got, again)
			}
		})
	}
}

func TestCanonicalTimeIsOnlyAnInstant(t *testing.T) {
	t.Parallel()
	now := time.Now() // with a monotonic clock and a zone
	if got, want := query.Canonical(now), query.Canonical(
		now.Round(0).In(time.FixedZone("", 60)),
	); got != want {
		t.Errorf("%#v and %#v are the same instant", got, want)
	}
}

// ascending lists values in order; values in one row are equal.
var ascending = [][]any{
	{nil, (*int)(nil), struct{}{}, []any{"a"}},
	{false, namedBool(false)},
	{true},
	{math.NaN(), float32(math.NaN())},
	{math.Inf(-1)},
	{decimal("-1e500")},
	{-1e300},
	{math.Nextafter(math.MinInt64, math.Inf(-1))},
	{int64(math.MinInt64), float64(math.MinInt64)},
	{int64(math.MinInt64 + 1)},
	{int64(-1<<53 - 1)},
	{int64(-1 << 53), -float64(1 << 53)},
	{-2},
	{-1.5, decimal("-1.5")},
	{-1, -1.0, int8(-1), decimal("-1")},
	{-0.5},
	{0, uint64(0), 0.0, math.Copysign(0, -1), query.Decimal{}, decimal("-0.00")},
	{decimal("1e-400")},
	{math.SmallestNonzeroFloat64},
	{decimal("0.09999999999999999999")},
	{decimal("0.1")}, // a float64 cannot have this value
	{0.1, float32(0.1), decimal("0.1000000000000000055511151231257827021181583404541015625")},
	{1, uint8(1), 1.0, decimal("1.000")},
	{1.5},
	{2},
	{int64(1 << 53), float64(1 << 53), decimal("9007199254740992")},
	{decimal("9007199254740992.5")},
	{int64(1<<53 + 1)}, // as a float it would equal the previous one
	{math.Nextafter(1<<63, 0)},
	{int64(math.MaxInt64), uint64(math.MaxInt64)},
	{uint64(1 << 63), float64(1 << 63)},
	{uint64(1<<63 + 1)},
	{uint64(math.MaxUint64), decimal("18446744073709551615")},
	{float64(1 << 64)},
	{decimal("1e500")},
	{math.Inf(1)},
	{"", namedString("")},
	{"A"},
	{"a"},
	{"a\x00"},
	{"ab"},
	{"é"},
	{"\uffff"},
	{"\U00010000"}, // in UTF-16 it would sort before the previous one
	{time.Time{}},
	{
		time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(2026, 1, 1, 1, 0, 0, 0, time.FixedZone("", 3600)),
	},
	{time.Date(2026, 1, 1, 0, 0, 0, 1, time.UTC)},
	{duration("P-1M")},
	{duration("PT-0.000001S")},
	{query.Duration{}, duration("P1DT-24H")},
	{duration("PT0.000001S")},
	{duration("PT23H59M59.999999S")},
	{duration("P1D"), duration("PT24H"), duration("P1M-29D")},
	{duration("P1M"), duration("P30D")},
	{duration("P365D")},
	{duration("P178956970Y7M2147483647DT2562047788H54.775807S")},
}

func TestCompareIsATotalOrder(t *testing.T) {
	t.Parallel()
	for i, row := range ascending {
		for j, other := range ascending {
			for _, a := range row {
				for _, b := range other {
					want := max(-1, min(1, i-j))
					if got := max(-1, min(1, query.Compare(a, b))); got != want {
						t.Errorf("Compare(%T %v, %T %v) = %d, want %d", a, a, b, b, got, want)
					}
				}
			}
		}
	}
}

func TestCompareSortsAnything(t *testing.T) {
	t.Parallel()
	var want, shuffled []any
	for _, row := range ascending {
		want = append(want, row[0])
	}
	for i := range want {
		shuffled = append(shuffled, want[(i*17+5)%len(want)]) // 17 is coprime to the length
	}
	slices.SortFunc(shuffled, query.Compare)
	for i := range want {
		if query.Compare(want[i], shuffled[i]) != 0 {
			t.Errorf("element %d is %v, want %v", i, shuffled[i], want[i])
		}
	}
}
