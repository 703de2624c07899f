// Package yaml writes JSON as YAML for readers: block style, plain scalars and literal blocks of
// text. The output is valid YAML 1.2. Parsers of YAML 1.1 read the same value, except that some read a
// number without a dot but with an exponent, such as 1e-7, as a string.
package yaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// FromJSON returns a JSON text as YAML. Members keep their order, and numbers their digits. It
// returns an error if text is not one valid JSON value.
func FromJSON(text []byte) ([]byte, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	w := &writer{dec: dec}
	if err := w.value(0, atStart); err != nil {
		return nil, fmt.Errorf("yaml: %w", err)
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return nil, errors.New("yaml: more text after the value")
	}
	return w.out.Bytes(), nil
}

// position is what precedes a value on its line.
type position uint8

const (
	atStart position = iota // nothing: the value begins the document
	inEntry                 // the dash of a sequence entry
	inPair                  // the colon of a key
)

// writer converts the tokens of a decoder.
type writer struct {
	dec *jsontext.Decoder
	out bytes.Buffer
}

// value writes the next value and ends its line. depth is the indentation of its children.
func (w *writer) value(depth int, at position) error {
	switch w.dec.PeekKind() {
	case '{':
		return w.mapping(depth, at)
	case '[':
		return w.sequence(depth, at)
	}
	tok, err := w.dec.ReadToken()
	if err != nil {
		return err
	}
	if at != atStart {
		w.out.WriteByte(' ')
	}
	if tok.Kind() == '"' {
		w.text(tok.String(), depth)
		return nil
	}
	w.out.WriteString(tok.String())
	w.out.WriteByte('\n')
	return nil
}

// mapping writes an object. The first key follows the dash of a sequence entry on the same line.
func (w *writer) mapping(depth int, at position) error {
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	if w.dec.PeekKind() == '}' {
		return w.empty("{}", at)
	}
	if at == inPair {
		w.out.WriteByte('\n')
	}
	for first := true; w.dec.PeekKind() != '}'; first = false {
		if first && at == inEntry {
			w.out.WriteByte(' ')
		} else {
			w.indent(depth)
		}
		key, err := w.dec.ReadToken()
		if err != nil {
			return err
		}
		w.scalar(key.String())
		w.out.WriteByte(':')
		if err := w.value(depth+1, inPair); err != nil {
			return err
		}
	}
	_, err := w.dec.ReadToken()
	return err
}

// sequence writes an array. The dashes have the indentation of children.
func (w *writer) sequence(depth int, at position) error {
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	if w.dec.PeekKind() == ']' {
		return w.empty("[]", at)
	}
	if at != atStart {
		w.out.WriteByte('\n')
	}
	for w.dec.PeekKind() != ']' {
		w.indent(depth)
		w.out.WriteByte('-')
		if err := w.value(depth+1, inEntry); err != nil {
			return err
		}
	}
	_, err := w.dec.ReadToken()
	return err
}

// empty writes a collection without members and reads its end.
func (w *writer) empty(text string, at position) error {
	if at != atStart {
		w.out.WriteByte(' ')
	}
	w.out.WriteString(text + "\n")
	_, err := w.dec.ReadToken()
	return err
}

func (w *writer) indent(depth int) {
	for range depth {
		w.out.WriteString("  ")
	}
}

// text writes a string and ends its line. Text of several lines is a literal block.
func (w *writer) text(s string, depth int) {
	if !isBlock(s) {
		w.scalar(s)
		w.out.WriteByte('\n')
		return
	}
	w.out.WriteByte('|')
	body, ended := strings.CutSuffix(s, "\n")
	if !ended {
		w.out.WriteByte('-') // no line break after the last line
	}
	w.out.WriteByte('\n')
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" { // without trailing spaces
			w.indent(max(depth, 1))
			w.out.WriteString(line)
		}
		w.out.WriteByte('\n')
	}
}

// isBlock reports whether s can be a literal block without an indentation indicator: the first line
// does not begin with a space, the last line is not empty, and all characters are printable.
func isBlock(s string) bool {
	body := strings.TrimSuffix(s, "\n")
	if !strings.Contains(body, "\n") || strings.HasSuffix(body, "\n") ||
		strings.ContainsAny(body[:1], " \t\n") {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && !isPrintable(r) })
}

// isPrintable reports whether r may occur unescaped in YAML (section 5.1). The line separators of
// Unicode are line breaks in YAML 1.1 and therefore excluded.
func isPrintable(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe, r == 0xffff:
		return false
	}
	return true
}

// plain matches strings that need no quotation marks: no indicator of YAML at the beginning, no
// ": " or " #", and no space or colon at the end. The character after a colon or a space is no white
// space and no control character. Text that begins with a digit could be a number or a date.
var plain = regexp.MustCompile(
	`^[A-Za-z/$](?:[A-Za-z0-9_./$+*()'"=<>@%^&!?;,{}\[\]|~\x60-]|:[^\pC\pZ:,\[\]{}]| [^\pC\pZ#:])*$`)

// resolved are the plain strings that YAML 1.1 or 1.2 read as another type, in lower case.
var resolved = map[string]bool{"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true,
	"off": true, "y": true, "n": true}

// scalar writes a string on one line.
func (w *writer) scalar(s string) {
	if plain.MatchString(s) && !resolved[strings.ToLower(s)] {
		w.out.WriteString(s)
		return
	}
	w.out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.out.WriteByte('\\')
			w.out.WriteRune(r)
		case r == '\n':
			w.out.WriteString(`\n`)
		case r == '\t':
			w.out.WriteString(`\t`)
		case isPrintable(r):
			w.out.WriteRune(r)
		default: // all of these are below U+10000
			fmt.Fprintf(&w.out, `\u%04x`, r)
		}
	}
	w.out.WriteByte('"')
}
