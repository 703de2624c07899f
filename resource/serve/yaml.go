package serve

// Conversion of JSON to YAML 1.2 in block style. Called by documents.go.

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// yamlOf converts a JSON document. It panics if the text is not valid JSON, which only a bug of
// package openapi causes.
func yamlOf(text []byte) []byte {
	y := yamlWriter{dec: jsontext.NewDecoder(bytes.NewReader(text))}
	y.value(0, true)
	return append(bytes.TrimPrefix(y.out, []byte(" ")), '\n')
}

// yamlWriter appends YAML to out while it reads JSON from dec.
type yamlWriter struct {
	dec *jsontext.Decoder
	out []byte
}

// token reads the next token.
func (y *yamlWriter) token() jsontext.Token {
	t, err := y.dec.ReadToken()
	if err != nil {
		panic(fmt.Sprintf("serve: invalid OpenAPI document: %v", err))
	}
	return t
}

// value appends the next value. The members of an object or the elements of an array are indented;
// the first of them is on the current line if inline is set.
func (y *yamlWriter) value(indent int, inline bool) {
	switch y.dec.PeekKind() {
	case '{':
		y.token()
		y.block(indent, inline, '}', func() {
			y.out = append(yamlString(y.out, y.token().String()), ':')
			y.value(indent+2, false)
		})
	case '[':
		y.token()
		y.block(indent, inline, ']', func() {
			y.out = append(y.out, '-')
			y.value(indent+2, true)
		})
	case '"':
		y.out = yamlString(append(y.out, ' '), y.token().String())
	default: // a number, true, false or null
		y.out = append(append(y.out, ' '), y.token().String()...)
	}
}

// block appends the elements until the closing token.
func (y *yamlWriter) block(indent int, inline bool, end jsontext.Kind, element func()) {
	if y.dec.PeekKind() == end {
		y.token()
		y.out = append(y.out, map[jsontext.Kind]string{'}': " {}", ']': " []"}[end]...)
		return
	}
	for first := true; y.dec.PeekKind() != end; first = false {
		if first && inline {
			y.out = append(y.out, ' ')
		} else {
			y.out = append(append(y.out, '\n'), strings.Repeat(" ", indent)...)
		}
		element()
	}
	y.token()
}

// plainYAML matches strings that mean themselves without quotation marks, also in YAML 1.1.
var plainYAML = regexp.MustCompile(`^[A-Za-z/$][A-Za-z0-9_./+{}$-]*$`)

// yamlString appends a string, quoted unless it is plain. A JSON string is a valid double-quoted
// YAML string.
func yamlString(dst []byte, s string) []byte {
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
	default:
		if plainYAML.MatchString(s) {
			return append(dst, s...)
		}
	}
	dst, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		panic(fmt.Sprintf("serve: invalid OpenAPI document: %v", err)) // dec has checked UTF-8
	}
	return dst
}
