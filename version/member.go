package version

import (
	"bytes"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// member is the member of an object that names a contract. The zero value is none.
type member struct {
	found      bool
	text       bool   // the value is a string or a number
	value      string // the string, or the number as it is spelled
	begin, end int    // where it stands, without the commas around
}

// findMember looks for the member in the top-level object of some content. All of the content is read, since content that
// is not JSON names nothing, wherever the mistake is; and so does an object that has the member twice, which whoever
// decodes it refuses.
func findMember(plain []byte, name string) (m member) {
	dec := jsontext.NewDecoder(bytes.NewReader(plain), jsontext.AllowDuplicateNames(true))
	if dec.PeekKind() != '{' {
		return member{}
	}
	_, _ = dec.ReadToken() // the brace that has been seen
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

// newMember judges the value. A number is taken as it is spelled, since 1.10 and 1.1 are one number and two versions.
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

// isString reports whether a JSON string means text.
func isString(quoted jsontext.Value, text string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1:len(quoted)-1]) == text
	}
	plain, err := jsontext.AppendUnquote(nil, quoted)
	return err == nil && string(plain) == text
}

// cut returns the content without the member, and without the comma that is then one too many. Everything else stays as it
// is spelled. It writes over the content only if that is nobody else's.
func (m *member) cut(plain []byte, own bool) []byte {
	begin, end := m.begin, m.end
	for isSpace(plain[end]) { // an object does not end here
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

// isSpace reports whether c is white space between the tokens of JSON (RFC 8259 section 2).
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
