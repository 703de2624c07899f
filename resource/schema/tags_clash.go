package schema

// Tags that no value satisfies together. Called by tags.go.

import (
	"fmt"
	"math/big"

	"github.com/stoa-go/stoa/query"
)

// checkSatisfiable returns an error if no value, or no element, satisfies all tags. It does not find all
// such tags: patterns other than those of one class of characters can have any length.
func (f *Field) checkSatisfiable() error {
	fixed := f.Type.Len
	switch {
	case f.Type.op == opArray && exceeds(f.MinItems, &fixed):
		return fmt.Errorf("tag minItems is more than the %s of %v", count(fixed, "element"), f.Type.GoType)
	case f.Type.op == opArray && exceeds(&fixed, f.MaxItems):
		return fmt.Errorf("tag maxItems is less than the %s of %v", count(fixed, "element"), f.Type.GoType)
	case f.Precision > 0 && !f.hasDecimal():
		return fmt.Errorf("tag precision: no decimal with %s is between minimum and maximum",
			digitsText(f.Precision, f.Scale))
	case f.run != nil && f.excludes(f.run.min, f.run.max):
		return fmt.Errorf("tag pattern: no match has a length from minLength to maxLength")
	}
	if lengths, ok := formatLengths[f.Format]; ok && f.check != nil && f.excludes(lengths[0], lengths[1]) {
		return fmt.Errorf("tag format: no %s has a length from minLength to maxLength", f.Format)
	}
	return nil
}

// formatLengths has the limits of the length of texts with a format that is checked, and -1 without one.
var formatLengths = map[string][2]int{
	"date-time":  {len("2006-01-02T15:04:05Z"), -1},
	"date":       {len("2006-01-02"), len("2006-01-02")},
	"time":       {len("15:04:05Z"), -1},
	"time-local": {len("15:04:05"), -1},
	"duration":   {len("P1D"), -1},
	"email":      {len("a@b"), 254},
	"hostname":   {1, 253},
	"ipv4":       {len("0.0.0.0"), len("255.255.255.255")},
	"ipv6":       {len("::"), len("0000:0000:0000:0000:0000:0000:255.255.255.255")},
	"uuid":       {36, 36},
}

// excludes reports whether no text of a length from low to high, which is -1 without a limit, has one
// from MinLength to MaxLength.
func (f *Field) excludes(low, high int) bool {
	return exceeds(&low, f.MaxLength) || high >= 0 && exceeds(f.MinLength, &high)
}

// hasDecimal reports whether a decimal with the precision is between Minimum and Maximum. It counts in
// units of the last digit.
func (f *Field) hasDecimal() bool {
	power := func(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
	high := power(f.Precision)
	high.Sub(high, big.NewInt(1))
	low := new(big.Int).Neg(high)
	floor := func(d query.Decimal, sign int64) *big.Int {
		r, _ := new(big.Rat).SetString(d.String())
		r.Mul(r, new(big.Rat).SetInt(power(f.Scale))).Mul(r, big.NewRat(sign, 1))
		return new(big.Int).Div(r.Num(), r.Denom())
	}
	if f.max != nil {
		if n := floor(f.max.d, 1); n.Cmp(high) < 0 {
			high = n
		}
	}
	if f.min != nil {
		if n := floor(f.min.d, -1); n.Neg(n).Cmp(low) > 0 {
			low = n
		}
	}
	return low.Cmp(high) <= 0
}
