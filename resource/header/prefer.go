package header

import "strings"

// Prefer is the value of a Prefer field (RFC 7240). The zero value is an absent field.
type Prefer struct {
	list []Param // in the order of the field, including duplicates
}

// ParsePrefer parses a Prefer field. It returns no error, because servers ignore preferences that
// they do not support: it skips preferences with invalid syntax, and the parameters of preferences,
// of which none are registered. It keeps unknown preferences for [Prefer.Get].
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

// Get returns the value of the preference with the name, which is case-insensitive. ok is false if
// the client did not send the preference. The value of a preference without one is "". If the
// client sent a preference more than once, the first value applies (RFC 7240 section 2).
func (p Prefer) Get(name string) (value string, ok bool) {
	for _, preference := range p.list {
		if strings.EqualFold(preference.Name, name) {
			return preference.Value, true
		}
	}
	return "", false
}

// parsePreference parses one member. It accepts white space around the equals sign, which senders
// must not generate and recipients must accept (RFC 9110 section 5.6.3).
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
