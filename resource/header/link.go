package header

// Link is one link of a Link field (RFC 8288 section 3).
type Link struct {
	// Href is a URI reference, already escaped.
	Href string
	// Rel is the relation type, or several types separated by spaces.
	Rel string
	// Params are the other attributes, such as type or title. AppendLink omits an attribute if its
	// name is not a token. It omits extended attributes such as title* too, because their values
	// are not quoted strings (RFC 8187).
	Params []Param
}

// AppendLink appends links as the value of a Link field. It quotes attribute values.
//
// AppendLink does not escape Href again. It only percent-encodes the bytes that are not allowed in
// a URI, such as ">" and control characters.
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

// appendURI appends a URI reference and percent-encodes the bytes that no URI contains (RFC 3986
// section 2).
func appendURI(dst []byte, uri string) []byte {
	const hex = "0123456789ABCDEF"
	for i := 0; i < len(uri); i++ {
		// The percent sign is not encoded, because the reference is already escaped.
		switch c := uri[i]; {
		case c <= ' ', c >= 0x7f, c == '<', c == '>', c == '"', c == '\\', c == '^', c == '`', c == '{',
			c == '|', c == '}':
			dst = append(dst, '%', hex[c>>4], hex[c&0xf])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
