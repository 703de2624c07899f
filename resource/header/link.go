package header

// Link is one link of a Link field (RFC 8288 section 3).
type Link struct {
	// Href is a URI reference, escaped already.
	Href string
	// Rel is the relation, or several of them with blanks between.
	Rel string
	// Params are further attributes, such as type or title. One whose name is no token is left out, and so is an
	// extended one such as title*, whose value would not be a quoted string (RFC 8187).
	Params []Param
}

// AppendLink appends links as the value of a Link field. Attribute values are quoted.
//
// Href is not escaped again, but what would break out of the angle brackets, and whatever has no place in a URI, is
// percent-encoded.
func AppendLink(dst []byte, links ...Link) []byte {
	for i, link := range links {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, '<')
		dst = appendURI(dst, link.Href)
		dst = append(dst, ">; rel="...)
		dst = appendQuoted(dst, link.Rel)
		for _, p := range link.Params {
			if token, rest := cutToken(p.Name); token == "" || rest != "" || token[len(token)-1] == '*' {
				continue
			}
			dst = append(dst, "; "...)
			dst = append(dst, p.Name...)
			dst = append(dst, '=')
			dst = appendQuoted(dst, p.Value)
		}
	}
	return dst
}

// appendURI appends a URI reference, with those bytes percent-encoded that no URI contains (RFC 3986 section 2).
func appendURI(dst []byte, uri string) []byte {
	const hex = "0123456789ABCDEF"
	for i := 0; i < len(uri); i++ {
		// Not the percent sign: what is escaped already stays as it is.
		switch c := uri[i]; {
		case c <= ' ', c >= 0x7f, c == '<', c == '>', c == '"', c == '\\', c == '^', c == '`', c == '{', c == '|', c == '}':
			dst = append(dst, '%', hex[c>>4], hex[c&0xf])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
