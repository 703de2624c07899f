package jsonappend_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/internal/jsonappend"
)

// FuzzString compares strings and slices of bytes with package jsontext.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "a", "12345678", "123456789", "1234567\"", "é", "\x00", "\xff", "\u2028", "\x7f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, wantErr := jsontext.AppendQuote(nil, s)
		ofText, textErr := jsonappend.String(nil, s)
		ofBytes, bytesErr := jsonappend.String(nil, []byte(s))
		if (wantErr == nil) != (textErr == nil) || (wantErr == nil) != (bytesErr == nil) {
			t.Fatalf("%q: errors %v and %v, want %v", s, textErr, bytesErr, wantErr)
		}
		if wantErr == nil && (string(ofText) != string(want) || string(ofBytes) != string(want)) {
			t.Errorf("%q: got %s and %s, want %s", s, ofText, ofBytes, want)
		}
		if jsonappend.IsUnescaped(s) != (wantErr == nil && string(want) == `"`+s+`"`) {
			t.Errorf("IsUnescaped(%q) = %v, and it is encoded as %s", s, jsonappend.IsUnescaped(s), want)
		}
	})
}

// TestIsUnescaped compares strings of all short lengths, with one byte that differs from the others,
// with package jsontext.
func TestIsUnescaped(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 20; n++ {
		for at := range n {
			for c := range 256 {
				text := []byte(strings.Repeat("é~", n))[:n]
				text[at] = byte(c)
				quoted, err := jsontext.AppendQuote(nil, text)
				want := err == nil && string(quoted) == `"`+string(text)+`"`
				if jsonappend.IsUnescaped(text) != want || jsonappend.IsUnescaped(string(text)) != want {
					t.Fatalf("IsUnescaped(%q), want %v", text, want)
				}
				text = []byte(strings.Repeat("z", n))
				text[at] = byte(c)
				if want := c >= ' ' && c < 0x80 && c != '"' && c != '\\'; jsonappend.IsUnescaped(text) != want {
					t.Fatalf("IsUnescaped(%q), want %v", text, want)
				}
			}
		}
	}
}

func TestFloat(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		f    float64
		bits int
		want string
	}{
		{"a price", 12.5, 64, "12.5"},
		{"negative zero", math.Copysign(0, -1), 64, "-0"},
		{"small", 1e-7, 64, "1e-7"},
		{"float32", float64(float32(0.1)), 32, "0.1"},
		{"NaN", math.NaN(), 64, ""},
		{"infinity", math.Inf(-1), 32, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := jsonappend.Float(nil, tt.f, tt.bits)
			if diff := cmp.Diff(tt.want, string(got)); diff != "" || (err == nil) != (tt.want != "") {
				t.Errorf("%v, number (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestTimes compares random times in UTC and in other zones with package time.
func TestTimes(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	first, last := time.Date(0, 3, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	for range 10_000 {
		at := time.Unix(first+rnd.Int64N(last-first), rnd.Int64N(1e9)).UTC()
		if rnd.IntN(4) == 0 {
			at = at.Truncate(time.Second)
		}
		want := `"` + at.Format(time.RFC3339Nano) + `"`
		if got, ok := jsonappend.UTC(nil, at.Unix(), at.Nanosecond()); string(got) != want && (ok || at.Year() > 0) {
			t.Fatalf("UTC = %s, %v, want %s", got, ok, want)
		}
		if got, err := jsonappend.Time(nil, &at); string(got) != want || err != nil {
			t.Fatalf("Time = %s, %v, want %s", got, err, want)
		}
	}
	for _, zone := range []int{48, -3630} { // the offset of RFC 3339 has no seconds
		at := time.Date(1850, 1, 2, 3, 4, 5, 6, time.FixedZone("", zone))
		want := `"` + at.UTC().Format(time.RFC3339Nano) + `"`
		if got, err := jsonappend.Time(nil, &at); string(got) != want || err != nil {
			t.Errorf("Time(%v) = %s, %v, want %s", at, got, err, want)
		}
	}
	for _, at := range []time.Time{time.Unix(last, 0).UTC(), time.Unix(0, 0).In(time.FixedZone("", 24*3600))} {
		if got, err := jsonappend.Time(nil, &at); err == nil {
			t.Errorf("Time(%v) = %s, want an error", at, got)
		}
	}
	if got, ok := jsonappend.UTC([]byte("x"), last, 0); ok || string(got) != "x" {
		t.Errorf("UTC of the year 10000 = %s, %v", got, ok)
	}
}

// BenchmarkString encodes texts of 20 bytes.
func BenchmarkString(b *testing.B) {
	text := strings.Repeat("plain", 4)
	raw := []byte(text)
	buf := make([]byte, 0, 64)
	b.Run("string", func(b *testing.B) {
		for b.Loop() {
			buf, _ = jsonappend.String(buf[:0], text)
		}
	})
	b.Run("bytes", func(b *testing.B) {
		for b.Loop() {
			buf, _ = jsonappend.String(buf[:0], raw)
		}
	})
}
