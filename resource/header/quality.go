package header

// quality is a weight in thousandths (RFC 9110 section 12.4.2).
type quality int16

// wanted is the weight of what is named without one.
const wanted quality = 1000

// parseQuality reads a weight: 0 to 1 with at most three decimals. Unlike the RFC it takes ".2" for "0.2": older Java
// clients send "*/*; q=.2" unless told otherwise, and would be refused everything.
func parseQuality(s string) (q quality, ok bool) {
	if s == "" || s == "." {
		return 0, false
	}
	if s[0] == '0' || s[0] == '1' {
		q = quality(s[0]-'0') * wanted
		if s = s[1:]; s == "" {
			return q, true
		}
	}
	if s[0] != '.' || len(s) > len(".999") {
		return 0, false
	}
	unit := wanted // of the digit before; no fourth digit makes it less than one
	for _, c := range []byte(s[1:]) {
		if c < '0' || '9' < c {
			return 0, false
		}
		unit /= 10
		q += quality(c-'0') * unit
	}
	return q, q <= wanted
}
