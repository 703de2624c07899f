package query_test

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
)

func TestCursorRoundTrip(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		cursor query.Cursor
	}{
		{"end", query.Cursor{}},
		{"token", query.Cursor{Token: "next\x00page é"}},
		{"long token", query.Cursor{Token: strings.Repeat("t", 5000)}},
		{"null", query.Cursor{Values: []any{nil}}},
		{"bools", query.Cursor{Values: []any{true, false}}},
		{"strings", query.Cursor{Values: []any{"", "a", "é\x00\xff", strings.Repeat("s", 300)}}},
		{
			"ints",
			query.Cursor{Values: []any{int64(0), int64(-1), int64(math.MinInt64), int64(math.MaxInt64)}},
		},
		{"uints", query.Cursor{Values: []any{uint64(math.MaxInt64 + 1), uint64(math.MaxUint64)}}},
		{"a small uint", query.Cursor{Values: []any{uint64(1)}}},
		{"floats", query.Cursor{Values: []any{0.1, 1.0, math.Inf(-1), math.SmallestNonzeroFloat64}}},
		{"times", query.Cursor{Values: []any{
			time.Time{},
			time.Date(2026, 11, 20, 1, 2, 3, 456789012, time.UTC),
			time.Date(9999, 1, 1, 0, 0, 0, 1, time.UTC),
			time.Date(-5000, 1, 1, 0, 0, 0, 999999999, time.UTC),
		}}},
		{"decimals", query.Cursor{Values: []any{
			query.Decimal{}, decimal("-1.50"), decimal("1e300"), decimal("0.001"),
		}}},
		{"durations", query.Cursor{Values: []any{query.Duration{}, duration("P1Y-2DT3.5S")}}},
		{
			"mixed",
			query.Cursor{
				Values: []any{nil, true, "a", int64(1), uint64(1 << 63), 2.5, time.Unix(0, 1).UTC()},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := tt.cursor.Encode("orders")
			got, err := query.DecodeCursor(text, "orders")
			if err != nil {
				t.Fatalf("DecodeCursor(%q): %v", text, err)
			}
			if diff := cmp.Diff(tt.cursor, got); diff != "" {
				t.Errorf("cursor (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCursorKeepsBits: values that == cannot distinguish are preserved.
func TestCursorKeepsBits(t *testing.T) {
	t.Parallel()
	for _, want := range []float64{math.Copysign(0, -1), math.NaN(), math.Float64frombits(0x7ff8000000000123)} {
		got, err := query.DecodeCursor(query.Cursor{Values: []any{want}}.Encode(""), "")
		if err != nil {
			t.Fatalf("DecodeCursor: %v", err)
		}
		if bits := math.Float64bits(got.Values[0].(float64)); bits != math.Float64bits(want) {
			t.Errorf("%v came back with the bits %x", want, bits)
		}
	}
}

func TestCursorMakesValuesCanonical(t *testing.T) {
	t.Parallel()
	berlin := time.Date(2026, 1, 1, 1, 0, 0, 0, time.FixedZone("CET", 3600))
	cursor := query.Cursor{Values: []any{5, namedString("a"), (*int)(nil), berlin, []int{1}}}
	got, err := query.DecodeCursor(cursor.Encode("x"), "x")
	if err != nil {
		t.Fatalf("DecodeCursor: %v", err)
	}
	want := query.Cursor{Values: []any{int64(5), "a", nil, berlin.UTC(), nil}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cursor (-want +got):\n%s", diff)
	}
	if got.Values[3].(time.Time).Location() != time.UTC {
		t.Errorf("time is in %v, want UTC", got.Values[3].(time.Time).Location())
	}
}

func TestCursorIsPlainText(t *testing.T) {
	t.Parallel()
	text := query.Cursor{Values: []any{"\xff\xfe\xfd???>>>", int64(-1)}}.Encode("b")
	if rest := strings.Trim(text,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"); rest != "" {
		t.Errorf("%q would have to be escaped in a URL", text)
	}
	if short := (query.Cursor{Values: []any{int64(1), "a1"}}).Encode("b"); len(short) > 20 {
		t.Errorf("%q has %d characters", short, len(short))
	}
}

func TestRule129CursorIsBoundToItsList(t *testing.T) {
	t.Parallel()
	lists := []string{
		"",
		"orders",
		"orders?status=paid",
		"orders?status=sent",
		"v1/orders",
		"order",
		"orders\x00",
	}
	cursors := []query.Cursor{{}, {Token: "t"}, {Values: []any{"a", int64(1)}}}
	for _, given := range lists {
		for _, cursor := range cursors {
			text := cursor.Encode(given)
			for _, asked := range lists {
				got, err := query.DecodeCursor(text, asked)
				if (err == nil) != (given == asked) {
					t.Errorf("cursor %v of %q, asked of %q: %v, %v", cursor, given, asked, got, err)
				}
			}
		}
	}
}

func TestRule129CursorIsOpaqueButRefusedClearly(t *testing.T) {
	t.Parallel()
	good := query.Cursor{Values: []any{"abc", int64(5)}}.Encode("list")
	packed, err := base64.RawURLEncoding.DecodeString(good)
	if err != nil {
		t.Fatalf("DecodeString: %v", err)
	}
	tests := []struct{ name, text string }{
		{"empty", ""},
		{"no cursor at all", "5"},
		{"outside the alphabet", "a+b/c==="},
		{"shorter than a tag", "AAAA"},
		{"only a tag", "AAAAAAAAAAA"},
		{"padded", good + "="},
		{"followed by a line break", good + "\n"},
		{"with a line break inside", good[:4] + "\r\n" + good[4:]},
		{"truncated", good[:len(good)-2]},
		{"doubled", good + good},
		{"longer", base64.RawURLEncoding.EncodeToString(append(packed, 'n'))},
	}
	want := &query.Error{Code: "invalidCursor", Detail: "the cursor is damaged or belongs to another list"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := query.DecodeCursor(tt.text, "list")
			if diff := cmp.Diff(query.Cursor{}, got); diff != "" {
				t.Errorf("cursor (-want +got):\n%s", diff)
			}
			var fault *query.Error
			if !errors.As(err, &fault) {
				t.Fatalf("DecodeCursor(%q): %v, want a *query.Error", tt.text, err)
			}
			if diff := cmp.Diff(want, fault); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// forge packs parts as a cursor with a valid tag.
func forge(parts, binding string) string {
	sum := sha256.Sum256([]byte(parts + "\x00" + binding))
	return base64.RawURLEncoding.EncodeToString(append(sum[:8], parts...))
}

// TestForgedCursors: the tag is not secret, so the content of a forged cursor must be checked.
func TestForgedCursors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, parts string
		ok          bool
	}{
		{"end", "", true},
		{"value", "i\x02", true},
		{"token", "k\x02ab", true},
		{"unknown kind", "y", false},
		{"decimal", "x\x031.5", true},
		{"decimal that is not normal", "x\x031.0", false},
		{"decimal of no digits", "x\x00", false},
		{"decimal cut off", "x\x051.5", false},
		{"duration", "p\x03P1M", true},
		{"duration that is not normal", "p\x04P12M", false},
		{"duration cut off", "p\x09P1M", false},
		{"end part", "\x00", false},
		{"empty token", "k\x00", false},
		{"token before a value", "k\x01an", false},
		{"token after a value", "nk\x01a", false},
		{"string cut off", "s\x05abc", false},
		{"string without a length", "s", false},
		{"string of an enormous length", "s\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", false},
		{"string of a length beyond 64 bits", "s\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", false},
		{"int without an end", "i\x80", false},
		{"int longer than need be", "i\x82\x00", false},
		{"uint without an end", "u\xff", false},
		{"float cut off", "d1234567", false},
		{"time without nanoseconds", "c\x02", false},
		{"time without seconds", "c", false},
		{"time of a thousand million nanoseconds", "c\x02\x80\x94\xeb\xdc\x03", false},
		{"time of the last nanosecond", "c\x02\xff\x93\xeb\xdc\x03", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := query.DecodeCursor(forge(tt.parts, "list"), "list")
			if (err == nil) != tt.ok {
				t.Errorf("DecodeCursor = %v, %v, want ok %v", got, err, tt.ok)
			}
		})
	}
}

// TestCursorNoticesDamage: a single wrong character at any position is detected.
func TestCursorNoticesDamage(t *testing.T) {
	t.Parallel()
	good := query.Cursor{Values: []any{"abc", int64(5), time.Unix(5, 5)}}.Encode("list")
	for i := range good {
		for _, c := range "AQgw_9" {
			bad := good[:i] + string(c) + good[i+1:]
			if bad == good {
				continue
			}
			if got, err := query.DecodeCursor(bad, "list"); err == nil {
				t.Errorf("DecodeCursor(%q) = %v, after %q", bad, got, good)
			}
		}
	}
}

func TestCursorAllocations(t *testing.T) {
	cursor := query.Cursor{Values: []any{"2026-11-20", int64(5), "0192f5a4-5d2e-7c3b-9b7a-0c1d2e3f4a5b"}}
	binding := "orders\x001.2.0\x00status=paid&sort=-createdAt"
	if n := testing.AllocsPerRun(100, func() { cursor.Encode(binding) }); n > 3 {
		t.Errorf("Encode allocates %v times, want at most 3", n)
	}
}
