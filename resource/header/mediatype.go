package header

// Media types with parameters (RFC 9110, section 8.3.1).

import (
	"errors"
	"strings"
)

// MediaType is the value of a Content-Type field.
type MediaType struct {
	Type   string  // type/subtype in lower case
	Params []Param // in the order of the field
}

// Param is a parameter of a field value.
type Param struct {
	Name  string // in lower case if parsed from a media type
	Value string // without quotation marks and escapes
}

// maxParams limits the number of parameters, because the search for duplicates takes quadratic
// time. Registered media types have one or two.
const maxParams = 32

var (
	errTypeSyntax    = errors.New("must be one media type such as application/json")
	errTypeDuplicate = errors.New("the media type has a parameter twice")
	errTypeParams    = errors.New("the media type has too many parameters")
)

// ParseMediaType parses one media type (RFC 9110 section 8.3.1). It is strict: more than one value,
// a duplicate parameter, more than 32 parameters, and any other deviation from the grammar are
// errors. Several lines of a field are several values; callers join them by a comma, which makes
// them an error. ParseMediaType does not allocate for a type in lower case without parameters.
func ParseMediaType(s string) (MediaType, error) {
	s = trimSpace(s) // for callers that have s from a source other than net/http
	_, _, rest, ok := cutType(s)
	if !ok {
		return MediaType{}, errTypeSyntax
	}
	m := MediaType{Type: strings.ToLower(s[:len(s)-len(rest)])}
	for {
		var name, value string
		name, value, rest, ok = cutParam(rest)
		switch {
		case !ok:
			return MediaType{}, errTypeSyntax
		case name == "":
			return m, nil
		}
		name = strings.ToLower(name)
		if _, twice := m.Param(name); twice {
			return MediaType{}, errTypeDuplicate
		}
		if len(m.Params) == maxParams {
			return MediaType{}, errTypeParams
		}
		m.Params = append(m.Params, Param{Name: name, Value: unquote(value)})
	}
}

// Param returns the value of the parameter with the name, which must be in lower case. ok is false
// if there is no such parameter.
func (m MediaType) Param(name string) (value string, ok bool) {
	for _, p := range m.Params {
		if p.Name == name {
			return p.Value, true
		}
	}
	return "", false
}

// UTF8 reports whether content of this type is UTF-8: the type has no charset parameter, or its
// value is utf-8 in any case.
func (m MediaType) UTF8() bool {
	charset, ok := m.Param("charset")
	return !ok || strings.EqualFold(charset, "utf-8")
}
