package schema_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource/schema"
)

// TestTimesAreThoseOfPackageTime compares every day of 800 years, every eleventh day of the other
// 9,200 years, and some fractions.
func TestTimesAreThoseOfPackageTime(t *testing.T) {
	t.Parallel()
	type holds struct {
		T time.Time `json:"t"`
	}
	typ, rnd := schema.For[holds](), rand.New(rand.NewPCG(1, 2))
	buf, want := make([]byte, 0, 64), make([]byte, 0, 64)
	check := func(at time.Time) {
		var err error
		if buf, err = typ.AppendField(buf[:0], typ.Field("t"), &holds{at}); err != nil {
			t.Fatal(err)
		}
		want = append(at.AppendFormat(append(want[:0], '"'), time.RFC3339Nano), '"')
		if string(buf) != string(want) {
			t.Fatalf("got %s, want %s", buf, want)
		}
	}
	for day, step := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), 1; day.Year() < 10_000; day = day.AddDate(0, 0,
		step) {
		check(day.Add(time.Duration(rnd.Int64N(24 * 3600 * 1e9))))
		if step = 11; day.Year() >= 1600 && day.Year() < 2400 || day.Year() < 2 || day.Year() == 9999 {
			step = 1
		}
	}
	for _, ns := range []int{0, 1, 10, 100_000_000, 120_000_000, 999_999_999, 1000} {
		check(time.Date(2026, 2, 28, 23, 59, 59, ns, time.UTC))
		check(time.Date(1969, 12, 31, 23, 59, 59, ns, time.UTC))
		check(time.Date(1969, 12, 31, 23, 59, 59, ns, time.FixedZone("", 3600)))
	}
}

// TestStringsOfEveryLength checks characters that need escapes at every position.
func TestStringsOfEveryLength(t *testing.T) {
	t.Parallel()
	type holds struct {
		S string `json:"s"`
	}
	typ := schema.For[holds]()
	odd := []string{"", "\"", "\\", "\x00", "\x1f", " ", "\x7f", "é", "\u2028", "😀", "!", "[", "]", "#", "~"}
	for length := range 20 {
		for at := range length + 1 {
			for _, c := range odd {
				s := strings.Repeat("a", at) + c + strings.Repeat("b", length-at)
				got, err := typ.AppendField(nil, typ.Field("s"), &holds{s})
				if err != nil {
					t.Fatal(err)
				}
				var back string
				if err := json.Unmarshal(got, &back); err != nil || back != s {
					t.Errorf("%q is written %s, and read as %q, %v", s, got, back, err)
				}
				if c == "é" && string(got) != `"`+s+`"` {
					t.Errorf("%q is written %s", s, got)
				}
			}
		}
		for _, broken := range []string{"\x80", "\xff", "\xc3", "\xed\xa0\x80"} {
			s := fmt.Sprint(strings.Repeat("x", length), broken, "y")
			if got, err := typ.AppendField(nil, typ.Field("s"), &holds{s}); err == nil {
				t.Errorf("%q is written %s", s, got)
			}
		}
	}
}
