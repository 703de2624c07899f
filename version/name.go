package version

import "strings"

// name is what a client may write, [v]MAJOR[.MINOR[.PATCH]]. Two names are equal if they say the same with as many parts.
type name struct {
	parts  int    // 1 to 3; 0 is no name at all
	number uint64 // the parts beside each other, those left out zero
}

const (
	fullParts = 3
	maxDigits = 5  // of a part
	partBits  = 20 // hold as many digits
)

// parseName reads a name. There is one spelling for each number, so that caches and logs see one, too: no sign, no leading
// zeros.
func parseName(s string) (v name, ok bool) {
	return parseNumbers(strings.TrimPrefix(s, "v"), '.')
}

// parseNumbers reads the numbers of a name, with what stands between them: labels of hosts cannot have dots.
func parseNumbers(s string, separator byte) (v name, ok bool) {
	for v.parts < fullParts {
		part, digits := uint64(0), 0
		for digits < len(s) && isDigit(s[digits]) {
			part = part*10 + uint64(s[digits]-'0')
			if digits++; digits > maxDigits {
				return name{}, false
			}
		}
		if digits == 0 || digits > 1 && s[0] == '0' {
			return name{}, false
		}
		v.parts++
		v.number |= part << (partBits * (fullParts - v.parts))
		if digits == len(s) {
			return v, true
		}
		if s[digits] != separator {
			return name{}, false
		}
		s = s[digits+1:]
	}
	return name{}, false
}

// covers reports whether a full name begins with the parts of v.
func (v name) covers(full name) bool {
	rest := partBits * (fullParts - v.parts)
	return v.number>>rest == full.number>>rest
}

// looksLikeName reports whether a path segment is spelled like a name, v?[0-9][0-9.]*, and so is none of the resource.
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

// isNumber reports whether s is made of digits only, of which there is at least one.
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
