package header

// The syntax that many fields share: lists, tokens and quoted strings (RFC 9110, section 5.6).

import "strings"

// This file has the grammar that the fields share (RFC 9110 sections 5.6.1 to 5.6.6). Each cut
// function removes one element from the front of a string and returns the element and the rest. The
// parsers are loops over them without further state.
//
// The parsers read each field line as a list of its own. The result is that of the joined lines
// (section 5.3), except that a quoted string without a closing quotation mark ends with its line.

// cutMember cuts the first member off a comma-separated list. Commas in quoted strings do not
// separate members. The member may be empty, and the caller must skip it (section 5.6.1.2).
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

// cutToken cuts the longest token off s. The token is empty if s does not begin with one.
func cutToken(s string) (token, rest string) {
	i := 0
	for i < len(s) && isTokenByte(s[i]) {
		i++
	}
	return s[:i], s[i:]
}

// cutWord cuts a token or a quoted string, including its quotation marks, off s. The word is empty
// if s begins with neither.
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

// cutParam cuts the next parameter off s. Each parameter begins with a semicolon. The value is a
// word, with its quotation marks if it has any. At the end of s, name is empty and ok is true; ok
// is false if the syntax is invalid.
func cutParam(s string) (name, value, rest string, ok bool) {
	for { // a parameter may be empty (section 5.6.6)
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

// unquote returns the value of a word: a token unchanged, a quoted string without quotation marks
// and backslashes. It allocates only if the string contains backslashes.
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

// appendQuoted appends text as a quoted string. It replaces control characters, which a field value
// must not contain, by spaces.
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

// isTextByte reports whether a quoted string may contain c, escaped if necessary.
func isTextByte(c byte) bool {
	return c == '\t' || c >= ' ' && c != 0x7f
}

// isTokenByte reports whether c is a tchar (section 5.6.2).
func isTokenByte(c byte) bool {
	// This function runs for nearly every byte of a field, so it is a lookup in two bit sets: low
	// for the characters below 64, high for the others. A shift by 64 or more yields zero, so that
	// bytes above 0x7f are in neither set.
	const (
		digits  = (1<<10 - 1) << '0'
		letters = (1<<26-1)<<('A'-64) | (1<<26-1)<<('a'-64)
		low     = digits | 1<<'!' | 1<<'#' | 1<<'$' | 1<<'%' | 1<<'&' | 1<<'\'' | 1<<'*' | 1<<'+' | 1<<'-' |
			1<<'.'
		high = letters | 1<<('^'-64) | 1<<('_'-64) | 1<<('`'-64) | 1<<('|'-64) | 1<<('~'-64)
	)
	return uint64(low)>>c&1|uint64(high)>>(c-64)&1 != 0
}

// trimSpace removes optional white space, which is spaces and tabs (section 5.6.3), from both ends.
func trimSpace(s string) string {
	s = trimLeft(s)
	for s != "" && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// trimLeft removes optional white space from the front.
func trimLeft(s string) string {
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	return s
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t'
}
