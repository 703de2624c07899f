package query_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
)

// decimal returns the decimal of a text, for tables.
func decimal(text string) query.Decimal {
	d, err := query.ParseDecimal(text)
	if err != nil {
		panic(fmt.Sprintf("ParseDecimal(%q): %v", text, err))
	}
	return d
}

func TestParseDecimal(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want string // empty for an error
	}{
		{"0", "0"},
		{"-0", "0"},
		{"0.00", "0"},
		{"-0.0", "0"},
		{"0e5", "0"},
		{"1", "1"},
		{"-1", "-1"},
		{"10", "10"},
		{"12.5", "12.5"},
		{"-12.50", "-12.5"},
		{"100.00", "100"},
		{"0.5", "0.5"},
		{"0.050", "0.05"},
		{"1e3", "1000"},
		{"1E+3", "1000"},
		{"-1.25e1", "-12.5"},
		{"1.25e2", "125"},
		{"1.25e3", "1250"},
		{"1e-3", "0.001"},
		{"1250e-1", "125"},
		{"1250e-3", "1.25"},
		{"1250e-5", "0.0125"},
		{"0.01e2", "1"},
		{"1e1000", "1" + strings.Repeat("0", 1000)},
		{strings.Repeat("9", 2000) + "." + strings.Repeat("3", 2000),
			strings.Repeat("9", 2000) + "." + strings.Repeat("3", 2000)},
		{text: ""},
		{text: "-"},
		{text: "+1"},
		{text: "01"},
		{text: "-01"},
		{text: "--1"},
		{text: ".5"},
		{text: "5."},
		{text: "5.e1"},
		{text: "1.2.3"},
		{text: "1,5"},
		{text: " 1"},
		{text: "1 "},
		{text: "1e"},
		{text: "1e+"},
		{text: "1e+-1"},
		{text: "1e1.5"},
		{text: "e1"},
		{text: "1e1001"},
		{text: "1e-1001"},
		{text: "1e99999999999999999999"},
		{text: "NaN"},
		{text: "Infinity"},
		{text: "0x10"},
		{text: "1_000"},
		{text: "١"}, // a digit of another script
	}
	for _, tt := range tests {
		t.Run(tt.text[:min(len(tt.text), 20)], func(t *testing.T) {
			t.Parallel()
			got, err := query.ParseDecimal(tt.text)
			if (err == nil) != (tt.want != "") || err == nil && got.String() != tt.want {
				t.Errorf("ParseDecimal = %v, %v, want %s", got, err, tt.want)
			}
			if err != nil && err.Error() != "must be a decimal number, such as 12.5" {
				t.Errorf("error %q", err)
			}
		})
	}
}

func TestDecimalIsComparable(t *testing.T) {
	t.Parallel()
	seen := map[query.Decimal]bool{decimal("1.50"): true, {}: true}
	for _, text := range []string{"1.5", "15e-1", "0", "-0.0"} {
		if !seen[decimal(text)] || !decimal(text).Equal(decimal(text)) {
			t.Errorf("%s is not equal to the same number", text)
		}
	}
	if decimal("1").Equal(decimal("2")) {
		t.Error("1 equals 2")
	}
}

// rat returns the exact value of a number.
func rat(v any) *big.Rat {
	r := new(big.Rat)
	switch v := v.(type) {
	case query.Decimal:
		r.SetString(v.String())
	case int64:
		r.SetInt64(v)
	case uint64:
		r.SetUint64(v)
	case float64:
		r.SetFloat64(v)
	}
	return r
}

// randomNumber returns a number of any type. Many of them have the same digits, so that numbers of
// different types are often equal or neighbors.
func randomNumber(rng *rand.Rand) any {
	bases := []float64{0, 1, 2.5, 0.1, 1e15, 1 << 53, 1 << 63, 1 << 64, 1e-7}
	f := bases[rng.IntN(len(bases))] * float64(1+rng.IntN(3))
	if rng.IntN(2) == 0 {
		f = -f
	}
	switch rng.IntN(5) {
	case 0:
		return f
	case 1:
		return int64(max(math.MinInt64, min(math.Nextafter(1<<63, 0), f)))
	case 2:
		return uint64(max(0, min(math.Nextafter(1<<64, 0), f)))
	case 3: // the exact value
		return decimal(strconv.FormatFloat(f, 'f', 1074, 64))
	}
	text := strconv.FormatFloat(f, 'f', rng.IntN(4), 64)
	if strings.Contains(text, ".") {
		text += strconv.Itoa(rng.IntN(100))
	}
	return decimal(text)
}

// TestCompareNumbersExactly compares random numbers of all types with package big.
func TestCompareNumbersExactly(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(19, 1))
	for range 50_000 {
		a, b := randomNumber(rng), randomNumber(rng)
		if got, want := query.Compare(a, b), rat(a).Cmp(rat(b)); got != want {
			t.Fatalf("Compare(%T %v, %T %v) = %d, want %d", a, a, b, b, got, want)
		}
	}
}

func TestCompareDecimalsAllocatesNothing(t *testing.T) {
	var a, b, c any = decimal("12345.678"), decimal("12345.679"), int64(12345)
	if n := testing.AllocsPerRun(100, func() { query.Compare(a, b); query.Compare(a, c) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzDecimal compares the parser and the order with package big.
func FuzzDecimal(f *testing.F) {
	for _, text := range []string{"0", "-12.50", "1e3", "0.001", "100", "1e-1000", "007", "1.", "-0"} {
		f.Add(text, "12.5", 0.1)
	}
	f.Fuzz(func(t *testing.T, text, other string, float float64) {
		d, err := query.ParseDecimal(text)
		if err != nil {
			return
		}
		if r, ok := new(big.Rat).SetString(text); !ok || r.Cmp(rat(d)) != 0 {
			t.Fatalf("ParseDecimal(%q) = %v", text, d)
		}
		if again, err := query.ParseDecimal(d.String()); err != nil || again != d {
			t.Fatalf("ParseDecimal(%q) = %v, %v", d.String(), again, err)
		}
		if !math.IsNaN(float) && !math.IsInf(float, 0) {
			if got, want := query.Compare(d, float), rat(d).Cmp(rat(float)); got != want {
				t.Errorf("Compare(%v, %v) = %d, want %d", d, float, got, want)
			}
		}
		e, err := query.ParseDecimal(other)
		if err != nil {
			return
		}
		want := rat(d).Cmp(rat(e))
		if got := query.Compare(d, e); got != want || (d == e) != (want == 0) {
			t.Errorf("Compare(%v, %v) = %d and == is %v, want %d", d, e, got, d == e, want)
		}
	})
}
