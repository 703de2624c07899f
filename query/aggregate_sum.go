package query

// Exact sums, which do not depend on the order of the numbers.

import (
	"math/big"
	"strconv"
	"strings"
)

// exactSum is the number unscaled / 10^scale.
type exactSum struct {
	unscaled big.Int
	scale    int
}

// add adds n / 10^scale. It does not change n. A negative scale is that of large numbers.
func (s *exactSum) add(n *big.Int, scale int) {
	if scale < 0 {
		n, scale = new(big.Int).Mul(n, powerOfTen(-scale)), 0
	}
	switch {
	case scale > s.scale:
		s.unscaled.Mul(&s.unscaled, powerOfTen(scale-s.scale))
		s.scale = scale
	case scale < s.scale:
		n = new(big.Int).Mul(n, powerOfTen(s.scale-scale))
	}
	s.unscaled.Add(&s.unscaled, n)
}

// mean returns the sum divided by count, rounded as [Avg] declares.
func (s *exactSum) mean(count int64) Decimal {
	divisor := new(big.Int).Mul(powerOfTen(s.scale), big.NewInt(count))
	// floor(|x| + 1/2) rounds half away from zero.
	n := new(big.Int).Abs(&s.unscaled)
	n.Mul(n, powerOfTen(AvgDigits)).Lsh(n, 1).Add(n, divisor)
	n.Quo(n, divisor.Lsh(divisor, 1))
	if s.unscaled.Sign() < 0 {
		n.Neg(n)
	}
	return scaledDecimal(n, AvgDigits)
}

func powerOfTen(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// unscaled returns the digits of d as an integer, and how many of them follow the point.
func unscaled(d Decimal) (n *big.Int, scale int) {
	whole, fraction, _ := strings.Cut(d.String(), ".")
	n, _ = new(big.Int).SetString(whole+fraction, 10)
	return n, len(fraction)
}

// scaledDecimal returns n / 10^scale.
func scaledDecimal(n *big.Int, scale int) Decimal {
	digits := new(big.Int).Abs(n).String()
	digits = strings.Repeat("0", max(scale-len(digits), 0)) + digits
	point := len(digits) - scale
	return normalDecimal(n.Sign() < 0, digits[:point], digits[point:])
}

// MeanOf returns a sum of values divided by their number, as [Avg] declares, for stores that compute the
// sum and the number. sum is an int64, a uint64 or a [Decimal]. The mean of no values is nil.
func MeanOf(sum any, count int64) any {
	total := &exactSum{}
	switch sum := sum.(type) {
	case int64:
		total.add(big.NewInt(sum), 0)
	case uint64:
		total.add(new(big.Int).SetUint64(sum), 0)
	case Decimal:
		total.add(unscaled(sum))
	default:
		return nil
	}
	if count <= 0 {
		return nil
	}
	return total.mean(count)
}

// float64 returns the nearest float64, and nil if that is infinite.
func (s *exactSum) float64() any {
	f, err := strconv.ParseFloat(s.unscaled.String()+"e"+strconv.Itoa(-s.scale), 64)
	if err != nil { // out of range
		return nil
	}
	return normal(f)
}

// floatSum adds float64 values as the decimals that JSON has for them. So the sum of 0.1 and 0.2 is 0.3,
// and does not depend on the order of the items. It has one sum for each exponent.
type floatSum struct {
	digits map[int]int64 // by exponent of ten
	large  exactSum      // what the sums of digits had before they were too large
}

// add adds a finite number.
func (s *floatSum) add(v float64) {
	var space [32]byte
	n, exponent := digitsOf(strconv.AppendFloat(space[:0], v, 'e', -1, 64))
	sum := s.digits[exponent]
	if next := sum + n; (next > sum) == (n > 0) {
		n = next
	} else {
		s.large.add(big.NewInt(sum), -exponent)
	}
	if s.digits == nil {
		s.digits = map[int]int64{}
	}
	s.digits[exponent] = n
}

// digitsOf returns n and exponent of a number n * 10^exponent in the form -1.23e+45.
func digitsOf(text []byte) (n int64, exponent int) {
	scale, inFraction := 0, false
	for i, c := range text {
		switch {
		case c == '.':
			inFraction = true
		case c == 'e':
			exponent, _ = strconv.Atoi(string(text[i+1:]))
			if text[0] == '-' {
				n = -n
			}
			return n, exponent - scale
		case c != '-':
			n = n*10 + int64(c-'0') // at most 17 digits
			if inFraction {
				scale++
			}
		}
	}
	return 0, 0 // NaN and infinite values, which JSON does not have
}

// total returns the sum.
func (s *floatSum) total() *exactSum {
	total := &exactSum{}
	total.add(&s.large.unscaled, s.large.scale)
	for exponent, n := range s.digits {
		total.add(big.NewInt(n), -exponent)
	}
	return total
}
