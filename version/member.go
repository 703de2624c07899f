package version

import (
	"bytes"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// member is the body member that names a contract.
type member struct {
	found      bool
	text       bool   // the value is a string or a number
	value      string // the string, or the number as spelled
	begin, end int    // position in the body, without commas
}

// findMember looks for the member in the top-level object of a body. It reads the whole body:
// invalid JSON and duplicate members name nothing, and the handler rejects them.
func findMember(plain []byte, name string) (m member) {
	dec := jsontext.NewDecoder(bytes.NewReader(plain), jsontext.AllowDuplicateNames(true))
	if dec.PeekKind() != '{' {
		return member{}
	}
	_, _ = dec.ReadToken() // the opening brace
	for dec.PeekKind() == '"' {
		key, err := dec.ReadValue()
		if err != nil {
			return member{}
		}
		ours := isString(key, name)
		begin := int(dec.InputOffset()) - len(key)
		if !ours {
			if dec.SkipValue() != nil {
				return member{}
			}
			continue
		}
		if m.found {
			return member{}
		}
		value, err := dec.ReadValue()
		if err != nil {
			return member{}
		}
		m = newMember(value)
		m.begin, m.end = begin, int(dec.InputOffset())
	}
	if _, err := dec.ReadToken(); err != nil {
		return member{}
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return member{}
	}
	return m
}

// newMember returns the member with this value. A number keeps its spelling, because 1.10 and 1.1
// are different versions.
func newMember(value jsontext.Value) member {
	m := member{found: true, value: string(value)}
	switch value.Kind() {
	case '0':
		m.text = true
	case '"':
		if text, err := jsontext.AppendUnquote(nil, value); err == nil {
			m.text, m.value = true, string(text)
		}
	}
	return m
}

// isString reports whether a JSON string has the value text.
func isString(quoted jsontext.Value, text string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1:len(quoted)-1]) == text
	}
	plain, err := jsontext.AppendUnquote(nil, quoted)
	return err == nil && string(plain) == text
}

// removeFrom returns the body without the member and one adjacent comma. The rest keeps its
// spelling. If own is true, it overwrites plain.
func (m *member) removeFrom(plain []byte, own bool) []byte {
	begin, end := m.begin, m.end
	for isSpace(plain[end]) { // does not overrun: the object has a closing brace
		end++
	}
	if plain[end] == ',' {
		end++
		for isSpace(plain[end]) {
			end++
		}
	} else {
		end = m.end
		before := begin - 1
		for isSpace(plain[before]) {
			before--
		}
		if plain[before] == ',' {
			begin = before
		}
	}
	if own {
		return append(plain[:begin], plain[end:]...)
	}
	return append(append(make([]byte, 0, len(plain)), plain[:begin]...), plain[end:]...)
}

// isSpace reports whether c is JSON white space (RFC 8259 section 2).
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
