package csv

// Encoding: items to rows. Called by the exports of package rest. A cell is made of the JSON value of
// its member, in place, because package schema encodes that without allocations.

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/schema"
)

// Encoder writes items as rows. It is not safe for concurrent use.
type Encoder struct {
	typ     *schema.Type
	columns []*schema.Field
	dialect Dialect
	scratch []byte // a text without the escapes of JSON
}

// NewEncoder returns an encoder with a column for each name, in this order. A name that occurs again
// is ignored. Without names the columns are all members except writeOnly ones, in the order of the
// schema. An unknown name is an error, which can be sent to the client. It panics if the dialect is
// not valid; see [Dialect.Check].
func NewEncoder(t *schema.Type, d Dialect, names ...string) (*Encoder, error) {
	if err := d.Check(); err != nil {
		panic(err.Error())
	}
	columns, err := columnsOf(t, names)
	return &Encoder{typ: t, columns: columns, dialect: d}, err
}

// columnsOf returns the fields with the names, without duplicates, or all that clients can read.
func columnsOf(t *schema.Type, names []string) ([]*schema.Field, error) {
	if len(names) == 0 {
		columns := slices.Clone(t.Fields)
		return slices.DeleteFunc(columns, func(f *schema.Field) bool { return f.WriteOnly }), nil
	}
	if _, err := t.Select(names); err != nil {
		return nil, err
	}
	var columns []*schema.Field
	for _, name := range names {
		if f := t.Field(name); !slices.Contains(columns, f) {
			columns = append(columns, f)
		}
	}
	return columns, nil
}

// AppendHeader appends what precedes the rows: the byte order mark and the names of the columns, as
// far as the dialect has them. related are the names of further columns; see [Encoder.Append].
func (e *Encoder) AppendHeader(dst []byte, related ...string) []byte {
	if e.dialect.BOM {
		dst = append(dst, bom...)
	}
	if e.dialect.NoHeader {
		return dst
	}
	for i, f := range e.columns {
		dst = e.appendText(e.separate(dst, i), f.Name)
	}
	for i, name := range related {
		dst = e.appendText(e.separate(dst, len(e.columns)+i), name)
	}
	return append(dst, lineEnd...)
}

const (
	bom     = "\ufeff"
	lineEnd = "\r\n"
)

// separate appends the delimiter before the column at index i.
func (e *Encoder) separate(dst []byte, i int) []byte {
	if i == 0 {
		return dst
	}
	return append(dst, e.dialect.delimiter())
}

// Append appends the row of v, a non-nil pointer to a value of the Go type. related are the JSON
// values of further columns. After an error the length of the returned slice is that of dst.
func (e *Encoder) Append(dst []byte, v any, related ...[]byte) ([]byte, error) {
	start := len(dst)
	for i, f := range e.columns {
		var err error
		if dst, err = e.appendCell(e.separate(dst, i), f, v); err != nil {
			return dst[:start], err
		}
	}
	for i, value := range related {
		dst = e.separate(dst, len(e.columns)+i)
		if at := len(dst); string(value) != "null" {
			dst = e.quote(append(dst, value...), at)
		}
	}
	return append(dst, lineEnd...), nil
}

// appendCell appends the field f of v. An omitted member and null are an empty cell. A value of any
// type is always JSON text, null included, because its type may distinguish null from an absent
// member.
func (e *Encoder) appendCell(dst []byte, f *schema.Field, v any) ([]byte, error) {
	if f.OmitZero && f.IsZero(v) {
		return dst, nil
	}
	at := len(dst)
	dst, err := e.typ.AppendField(dst, f, v)
	if err != nil {
		return dst, err
	}
	value := dst[at:]
	switch {
	case f.OmitEmpty && isEmpty(value):
		return dst[:at], nil
	case f.Type.Kind == schema.Any:
		return e.quote(dst, at), nil
	case string(value) == "null":
		return dst[:at], nil
	}
	switch f.Type.Kind {
	case schema.String:
		if f.IsDecimal() && isNumber(value[1:len(value)-1]) { // an apostrophe would make it a text
			return append(dst[:at], value[1:len(value)-1]...), nil
		}
		return e.unquoteJSON(dst, at), nil
	case schema.Integer, schema.Number:
		if f.Quoted {
			dst = append(dst[:at], value[1:len(value)-1]...)
		}
	case schema.Object, schema.Array, schema.Map:
		return e.quote(dst, at), nil
	}
	return dst, nil
}

// isEmpty reports whether omitempty omits a JSON value.
func isEmpty(value []byte) bool {
	switch string(value) {
	case "null", `""`, "{}", "[]":
		return true
	}
	return false
}

// unquoteJSON replaces the JSON string at the end of dst, which begins at the index at, by a cell
// with its text.
func (e *Encoder) unquoteJSON(dst []byte, at int) []byte {
	text := dst[at+1 : len(dst)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		// The text is a valid JSON string, so there is no error.
		e.scratch, _ = jsontext.AppendUnquote(e.scratch[:0], dst[at:])
		return e.appendText(dst[:at], string(e.scratch))
	}
	if e.dialect.EscapeFormulas && isFormula(text) {
		e.scratch = append(e.scratch[:0], text...)
		return e.appendText(dst[:at], string(e.scratch))
	}
	// Without escapes JSON and CSV quote in the same way.
	if needsQuotes(text) {
		return dst
	}
	return append(dst[:at], text...)
}

// appendText appends a cell with a text.
func (e *Encoder) appendText(dst []byte, text string) []byte {
	at := len(dst)
	if e.dialect.EscapeFormulas && isFormula([]byte(text)) {
		dst = append(dst, '\'')
	}
	dst = append(dst, text...)
	if needsQuotes(dst[at:]) {
		return e.quote(dst, at)
	}
	return dst
}

// quote writes quotation marks around the text at the end of dst, which begins at the index at, and
// doubles those inside it. It works in place, from the end. Text of digits needs no quotation marks.
func (e *Encoder) quote(dst []byte, at int) []byte {
	if !needsQuotes(dst[at:]) {
		return dst
	}
	end := len(dst)
	size := bytes.Count(dst[at:], []byte{'"'}) + 2
	dst = slices.Grow(dst, size)[:end+size]
	to := len(dst) - 1
	dst[to] = '"'
	for from := end - 1; from >= at; from-- {
		to--
		dst[to] = dst[from]
		if dst[to] == '"' {
			to--
			dst[to] = '"'
		}
	}
	dst[at] = '"'
	return dst
}

// special are the bytes of a cell that require quotation marks, those of all dialects. A reader with
// another delimiter then still finds the cell in one piece.
var special = func() (set [256]bool) {
	for _, c := range "\"\r\n" + delimiters {
		set[c] = true
	}
	return set
}()

// needsQuotes reports whether a cell has to be in quotation marks. Some readers trim spaces, and
// PostgreSQL ends content at a line of a backslash and a dot. A reader would skip a byte order mark
// at the beginning of the content, and calculate the formula after it.
func needsQuotes(text []byte) bool {
	if len(text) == 0 || text[0] == ' ' || text[len(text)-1] == ' ' || string(text) == `\.` ||
		bytes.HasPrefix(text, []byte(bom)) {
		return true
	}
	for _, c := range text {
		if special[c] {
			return true
		}
	}
	return false
}

// isFormula reports whether a spreadsheet would calculate the text, if the apostrophes before it were
// removed.
func isFormula(text []byte) bool {
	text = bytes.TrimLeft(text, "'")
	if len(text) == 0 {
		return false
	}
	switch text[0] {
	case '=', '+', '-', '@', '\t', '\r', '\n':
		return true
	case 0xef: // the first byte of the full-width forms
		for _, form := range []string{"＝", "＋", "－", "＠"} {
			if bytes.HasPrefix(text, []byte(form)) {
				return true
			}
		}
	}
	return false
}
