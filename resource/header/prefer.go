package header

import "strings"

// Prefer is what a Prefer field says (RFC 7240). The zero value is an absent field.
type Prefer struct {
	list []Param // as they stand, duplicates too: there are few, and Get stops at the first
}

// ParsePrefer reads a Prefer field. Nothing in it can be an error: a preference that cannot be read is ignored, as are
// all parameters, since none is registered. Unknown preferences are kept for whoever knows them.
func ParsePrefer(lines []string) Prefer {
	var p Prefer
	for _, line := range lines {
		for member := ""; line != ""; {
			member, line = cutMember(line)
			if name, value, ok := parsePreference(member); ok {
				p.list = append(p.list, Param{Name: name, Value: value})
			}
		}
	}
	return p
}

// Get returns the value of a preference, whose name is case-insensitive. Without a value, which means the same as an
// empty one, it is "" and ok. Of several with one name the first counts (RFC 7240 section 2).
func (p Prefer) Get(name string) (value string, ok bool) {
	for _, preference := range p.list {
		if strings.EqualFold(preference.Name, name) {
			return preference.Value, true
		}
	}
	return "", false
}

// parsePreference reads a member. White space around the equals sign is bad, yet to be borne (RFC 9110 section 5.6.3).
func parsePreference(member string) (name, value string, ok bool) {
	name, rest := cutToken(member)
	if name == "" {
		return "", "", false
	}
	rest = trimLeft(rest)
	if rest != "" && rest[0] == '=' {
		value, rest = cutWord(trimLeft(rest[1:]))
		if value == "" {
			return "", "", false
		}
		rest = trimLeft(rest)
	}
	return name, unquote(value), rest == "" || rest[0] == ';'
}
