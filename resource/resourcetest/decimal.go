package resourcetest

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
)

// decimal returns a decimal within the precision and the limits of the field. With a precision it has
// all digits after the point, because columns of SQL return them.
func (b *builder) decimal(f *schema.Field) string {
	precision, scale := f.Precision, f.Scale
	if precision == 0 {
		precision, scale = 12, 2
	}
	text := b.chooseDecimal(precision, scale)
	if f.Precision == 0 && b.style == extreme {
		text = edge(b, []string{text, "0.1000000000000000055511151231257827", "-0.0",
			"123456789012345678901234567890.5"})
	}
	d, _ := query.ParseDecimal(text) // chooseDecimal returns valid ones
	least, err := query.ParseDecimal(f.Minimum)
	if err == nil && query.Compare(d, least) < 0 {
		return point(unscaled(least, scale), scale)
	}
	most, err := query.ParseDecimal(f.Maximum)
	if err == nil && query.Compare(d, most) > 0 {
		return point(unscaled(most, scale), scale)
	}
	return text
}

// chooseDecimal returns a decimal with this number of digits, and ignores limits.
func (b *builder) chooseDecimal(precision, scale int) string {
	most := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)
	switch b.style {
	case distinct:
		n := big.NewInt(7*int64(b.n) + 1)
		return point(n.Mod(n, most), scale)
	case clustered: // as texts they have another order
		n := big.NewInt([]int64{-100, -95, 0, 9, 10, 95, 100, 1000}[b.rng.IntN(8)])
		return point(n.Rem(n, most), scale)
	}
	most.Sub(most, big.NewInt(1))
	edges := []*big.Int{most, new(big.Int).Neg(most), big.NewInt(0), big.NewInt(1), big.NewInt(-1)}
	return point(edge(b, edges), scale)
}

// unscaled returns a decimal times a power of ten, without what is left after the point.
func unscaled(d query.Decimal, scale int) *big.Int {
	whole, fraction, _ := strings.Cut(d.String(), ".")
	fraction += strings.Repeat("0", max(scale-len(fraction), 0))
	n, _ := new(big.Int).SetString(whole+fraction[:scale], 10)
	return n
}

// point returns the text of n divided by a power of ten.
func point(n *big.Int, scale int) string {
	digits := new(big.Int).Abs(n).String()
	digits = strings.Repeat("0", max(scale+1-len(digits), 0)) + digits
	text := digits[:len(digits)-scale]
	if scale > 0 {
		text += "." + digits[len(digits)-scale:]
	}
	if n.Sign() < 0 {
		text = "-" + text
	}
	return text
}

// duration returns a duration in the form of [query.Duration.String], in which databases return it.
func (b *builder) duration() string {
	switch b.style {
	case distinct:
		return "P" + strconv.Itoa(b.n+1) + "D"
	case clustered: // some of them have the same length
		return []string{"PT24H", "P1D", "P30D", "P1M", "PT0S", "PT-1S", "P1M-1D", "PT23H59M"}[b.rng.IntN(8)]
	}
	return edge(b, []string{"PT0S", "PT0.000001S", "PT-0.000001S", "P-1Y-2M3DT-4H-5M-6.5S", "P9999Y11M",
		"P-9999Y", "PT876000H0.5S"})
}
