package resourcetest

import (
	"math"
	"math/big"
	"reflect"
	"strconv"

	"github.com/stoa-go/stoa/resource/schema"
)

// integer sets v to an integer within the bounds of its type and its tags.
func (b *builder) integer(v reflect.Value, f *schema.Field, t *schema.Type) {
	if len(f.Enum) > 0 {
		setNumber(v, f.Enum[b.pick(len(f.Enum))])
		return
	}
	lo, hi := bounds(f, t, b.style)
	n := b.chooseInteger(lo, hi)
	if t.Unsigned {
		v.SetUint(n.Uint64())
	} else {
		v.SetInt(n.Int64())
	}
}

// bounds returns the smallest and the largest integer. Only the hard style exceeds the largest
// int64, for which SQL has no type.
func bounds(f *schema.Field, t *schema.Type, st style) (lo, hi *big.Int) {
	one := big.NewInt(1)
	lo, hi = new(big.Int), new(big.Int).Lsh(one, uint(t.Bits))
	if !t.Unsigned {
		hi.Rsh(hi, 1)
		lo.Neg(hi)
	}
	hi.Sub(hi, one)
	if most := big.NewInt(math.MaxInt64); st != hard && hi.Cmp(most) > 0 {
		hi = most
	}
	if n, ok := parseInteger(f.Minimum); ok && n.Cmp(lo) > 0 {
		lo = n
	}
	if n, ok := parseInteger(f.Maximum); ok && n.Cmp(hi) < 0 {
		hi = n
	}
	return lo, hi
}

// parseInteger parses a bound. Validate checks bounds that are not integers.
func parseInteger(text string) (*big.Int, bool) {
	return new(big.Int).SetString(text, 10)
}

// chooseInteger returns an integer between lo and hi.
func (b *builder) chooseInteger(lo, hi *big.Int) *big.Int {
	size := new(big.Int).Sub(hi, lo)
	size.Add(size, big.NewInt(1))
	wrap := func(n int64) *big.Int { // counts from 1, or from lo, and wraps into the range
		x := new(big.Int).Sub(big.NewInt(1+n), lo)
		if lo.Sign() > 0 {
			x.SetInt64(n)
		}
		return x.Mod(x, size).Add(x, lo)
	}
	switch b.style {
	case distinct:
		return wrap(int64(b.n))
	case clustered:
		return wrap(b.rng.Int64N(5) - 2)
	}
	edges := []*big.Int{lo, hi}
	for _, n := range []int64{0, 1, -1, math.MaxInt32 + 1, 1<<53 + 1, -1<<53 - 1} {
		if x := big.NewInt(n); x.Cmp(lo) >= 0 && x.Cmp(hi) <= 0 {
			edges = append(edges, x)
		}
	}
	return edge(b, edges)
}

// number sets v to a floating-point number within the bounds of its tags.
func (b *builder) number(v reflect.Value, f *schema.Field, t *schema.Type) {
	if len(f.Enum) > 0 {
		setNumber(v, f.Enum[b.pick(len(f.Enum))])
		return
	}
	x := b.chooseNumber(t.Bits)
	lo, errLo := strconv.ParseFloat(f.Minimum, 64)
	hi, errHi := strconv.ParseFloat(f.Maximum, 64)
	switch {
	case errLo == nil && errHi == nil && (x < lo || x > hi):
		x = lo + (hi-lo)*math.Mod(math.Abs(x)*0.618, 1)
	case errLo == nil && x < lo:
		x = lo + math.Abs(math.Mod(x, 1e6))
	case errHi == nil && x > hi:
		x = hi - math.Abs(math.Mod(x, 1e6))
	}
	v.SetFloat(x)
}

// chooseNumber returns a number and ignores tags.
func (b *builder) chooseNumber(bits int) float64 {
	switch {
	case b.style == distinct:
		return 1 + float64(b.n)*1.25
	case b.style == clustered:
		return float64(b.rng.IntN(5)-2) / 2
	case bits == 32:
		edges := []float64{0, 0.1, -1.5, math.MaxFloat32, -math.MaxFloat32, 1 << 24}
		return float64(float32(edge(b, edges)))
	}
	edges := []float64{0, 0.1, -1.5, 1e-7, 1e21, 1.0 / 3, 1 << 53, math.MaxFloat64, -math.MaxFloat64, math.Pi}
	return edge(b, edges)
}

// setNumber sets v from a canonical value.
func setNumber(v reflect.Value, canonical any) {
	if c := reflect.ValueOf(canonical); c.IsValid() && c.CanConvert(v.Type()) {
		v.Set(c.Convert(v.Type()))
	}
}
