package version

import "strings"

// versionName is a parsed name, [v]MAJOR[.MINOR[.PATCH]]. Two names are equal if they have the same
// parts.
type versionName struct {
	parts  int    // 1 to 3; 0 for the zero value
	number uint64 // all parts, packed; omitted parts are zero
}

const (
	fullParts = 3
	maxDigits = 5  // per part
	partBits  = 20 // enough for maxDigits digits
)

// parseName parses a name. Signs and leading zeros are not allowed, so that caches and logs contain
// one spelling only.
func parseName(s string) (v versionName, ok bool) {
	return parseParts(strings.TrimPrefix(s, "v"), '.')
}

// parseParts parses the numbers of a name with the given separator. Host labels use '-' because
// they cannot contain dots.
func parseParts(s string, separator byte) (v versionName, ok bool) {
	for v.parts < fullParts {
		part, digits := uint64(0), 0
		for digits < len(s) && isDigit(s[digits]) {
			part = part*10 + uint64(s[digits]-'0')
			if digits++; digits > maxDigits {
				return versionName{}, false
			}
		}
		if digits == 0 || digits > 1 && s[0] == '0' {
			return versionName{}, false
		}
		v.parts++
		v.number |= part << (partBits * (fullParts - v.parts))
		if digits == len(s) {
			return v, true
		}
		if s[digits] != separator {
			return versionName{}, false
		}
		s = s[digits+1:]
	}
	return versionName{}, false
}

// covers reports whether full begins with the parts of v.
func (v versionName) covers(full versionName) bool {
	rest := partBits * (fullParts - v.parts)
	return v.number>>rest == full.number>>rest
}

// looksLikeName reports whether a path segment matches v?[0-9][0-9.]*, so that it is treated as a
// version, valid or not.
func looksLikeName(s string) bool {
	s = strings.TrimPrefix(s, "v")
	if s == "" || !isDigit(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isDigit(s[i]) && s[i] != '.' {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isNumber reports whether s consists of one or more digits.
func isNumber(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// cutParts returns the first parts of a full name.
func cutParts(full string, parts int) string {
	for i := range len(full) {
		if full[i] == '.' {
			if parts--; parts == 0 {
				return full[:i]
			}
		}
	}
	return full
}
