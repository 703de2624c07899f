package header

import "strings"

// The grammar that all the fields share: RFC 9110 sections 5.6.1 to 5.6.6. Each cut function takes one thing off the
// front of a string and returns it with the rest, so that reading a field is a loop without state.

// A field line is a list on its own here. That reads the joined lines (section 5.3), except that a quotation mark
// left open ends with its line instead of swallowing the next one.

// cutMember cuts the first member off a comma-separated list. Commas within quoted strings do not count. The member may
// be empty, and is to be skipped then (section 5.6.1.2).
func cutMember(list string) (member, rest string) {
	quoted := false
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == ',' && !quoted:
			return trimSpace(list[:i]), list[i+1:]
		}
	}
	return trimSpace(list), ""
}

// cutToken cuts the longest token off s. It is empty where s does not begin with one.
func cutToken(s string) (token, rest string) {
	i := 0
	for i < len(s) && isTokenByte(s[i]) {
		i++
	}
	return s[:i], s[i:]
}

// cutWord cuts a token or a quoted string off s, the latter with its quotation marks. It is empty where s begins with
// neither.
func cutWord(s string) (word, rest string) {
	if s == "" || s[0] != '"' {
		return cutToken(s)
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return s[:i+1], s[i+1:]
		case c == '\\':
			i++
			if i == len(s) || !isTextByte(s[i]) {
				return "", s
			}
		case !isTextByte(c):
			return "", s
		}
	}
	return "", s
}

// cutParam cuts the next parameter off s, a run of parameters that each begin with a semicolon. The value is a word,
// still quoted if it was. At the end name is empty; ok is false where s is none of this.
func cutParam(s string) (name, value, rest string, ok bool) {
	for { // A semicolon may have nothing after it (section 5.6.6).
		s = trimLeft(s)
		if s == "" {
			return "", "", "", true
		}
		if s[0] != ';' {
			return "", "", s, false
		}
		s = trimLeft(s[1:])
		if s != "" && s[0] != ';' {
			break
		}
	}
	name, s = cutToken(s)
	if name == "" || s == "" || s[0] != '=' {
		return "", "", s, false
	}
	value, s = cutWord(s[1:])
	return name, value, s, value != ""
}

// unquote returns what a word means: a token as it is, a quoted string without its marks and backslashes. It allocates
// only if there are backslashes.
func unquote(word string) string {
	if word == "" || word[0] != '"' {
		return word
	}
	word = word[1 : len(word)-1]
	if strings.IndexByte(word, '\\') < 0 {
		return word
	}
	text := make([]byte, 0, len(word))
	for i := 0; i < len(word); i++ {
		if word[i] == '\\' {
			i++
		}
		text = append(text, word[i])
	}
	return string(text)
}

// appendQuoted appends text as a quoted string. Control characters, which have no place in a field, become spaces.
func appendQuoted(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case isTextByte(c):
			dst = append(dst, c)
		default:
			dst = append(dst, ' ')
		}
	}
	return append(dst, '"')
}

// isTextByte reports whether c may stand in a quoted string, escaped if need be.
func isTextByte(c byte) bool {
	return c == '\t' || c >= ' ' && c != 0x7f
}

// isTokenByte reports whether c is a tchar (section 5.6.2).
func isTokenByte(c byte) bool {
	// One bit for each character, since this is asked about nearly every byte of a field. A bit for 64 or more is in
	// high; a shift beyond the word is zero, and so are both words for what is no ASCII.
	const (
		digits  = (1<<10 - 1) << '0'
		letters = (1<<26-1)<<('A'-64) | (1<<26-1)<<('a'-64)
		low     = digits | 1<<'!' | 1<<'#' | 1<<'$' | 1<<'%' | 1<<'&' | 1<<'\'' | 1<<'*' | 1<<'+' | 1<<'-' | 1<<'.'
		high    = letters | 1<<('^'-64) | 1<<('_'-64) | 1<<('`'-64) | 1<<('|'-64) | 1<<('~'-64)
	)
	return uint64(low)>>c&1|uint64(high)>>(c-64)&1 != 0
}

// trimSpace removes optional white space, which is blanks and tabs only (section 5.6.3), from both ends.
func trimSpace(s string) string {
	s = trimLeft(s)
	for s != "" && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// trimLeft removes them from the front only.
func trimLeft(s string) string {
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	return s
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t'
}
