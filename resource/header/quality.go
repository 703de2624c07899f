package header

// quality is a weight in thousandths (RFC 9110 section 12.4.2).
type quality int16

// maxQuality is the highest weight, and the default.
const maxQuality quality = 1000

// parseQuality parses a weight: 0 to 1 with at most three decimals. Contrary to the RFC it accepts
// ".2" for "0.2", because Java before version 19 sends "*; q=.2, */*; q=.2" by default, and a
// strict parser would accept nothing from such a client.
func parseQuality(s string) (q quality, ok bool) {
	if s == "" || s == "." {
		return 0, false
	}
	if s[0] == '0' || s[0] == '1' {
		q = quality(s[0]-'0') * maxQuality
		if s = s[1:]; s == "" {
			return q, true
		}
	}
	if s[0] != '.' || len(s) > len(".999") {
		return 0, false
	}
	unit := maxQuality // of the digit before; it stays at least 1, because s has at most three digits
	for _, c := range []byte(s[1:]) {
		if c < '0' || '9' < c {
			return 0, false
		}
		unit /= 10
		q += quality(c-'0') * unit
	}
	return q, q <= maxQuality
}
