package header

import (
	"errors"
	"strings"
)

// MediaType is the value of a Content-Type field.
type MediaType struct {
	Type   string  // type/subtype in lower case
	Params []Param // in the order in which they stand
}

// Param is a parameter of a field value.
type Param struct {
	Name  string // in lower case
	Value string // without quotation marks
}

// maxParams bounds the search for duplicates, which takes quadratic time. Real types have one or two parameters.
const maxParams = 32

var (
	errTypeSyntax    = errors.New("not one media type such as application/json")
	errTypeDuplicate = errors.New("a parameter of the media type stands twice")
	errTypeParams    = errors.New("the media type has too many parameters")
)

// ParseMediaType reads one media type strictly (RFC 9110 section 8.3.1): several values, a parameter twice, or anything
// else that is not in the grammar is an error. Several lines of a field are several values, so join them with a comma.
// A type in lower case without parameters costs no allocation.
func ParseMediaType(s string) (MediaType, error) {
	s = trimSpace(s) // net/http has done so; other callers have not.
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

// Param returns the value of the parameter with that name, which is in lower case.
func (m MediaType) Param(name string) (value string, ok bool) {
	for _, p := range m.Params {
		if p.Name == name {
			return p.Value, true
		}
	}
	return "", false
}

// UTF8 reports whether content of this type may be read as UTF-8: it names no charset, or that one.
func (m MediaType) UTF8() bool {
	charset, ok := m.Param("charset")
	return !ok || strings.EqualFold(charset, "utf-8")
}
