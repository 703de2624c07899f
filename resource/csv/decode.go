package csv

// Decoding: rows to JSON documents. Called by the imports of package resource. read.go reads the
// cells of a row.

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/schema"
)

// DecoderOptions adjust a [Decoder]. nil is the zero value.
type DecoderOptions struct {
	// Dialect is the form of the content.
	Dialect Dialect
	// Columns are the names of the columns of content without a header row, each of which occurs
	// once. Default: all members except writeOnly ones, in the order of the schema. It has no effect
	// on content with a header row.
	Columns []string
	// MaxRow limits a row, in bytes with its line end. Default 1 MiB.
	MaxRow int64
	// AllowUnknown ignores columns that are not members. By default they are an error.
	AllowUnknown bool
}

// Decoder reads rows as JSON documents. It is not safe for concurrent use.
type Decoder struct {
	rows    rowReader
	escaped bool // texts have the apostrophes of EscapeFormulas
	columns []column
}

// column is one column of the content.
type column struct {
	field *schema.Field // nil: not a member, and ignored
	label []byte        // comma, quoted name and colon
	null  bool          // an empty cell is null; otherwise it is an absent member
	text  bool          // "" is an empty text; otherwise it is an empty cell
}

// NewDecoder returns a decoder of items of the type t, and reads the header row. The error is
// [schema.Violations] if the header row names columns that are not members or names one twice, a
// [*SyntaxError] if it is not valid CSV or has more than 10,000 cells, [ErrTooLong], or an error of r.
// Content without any row has no items. NewDecoder panics if the dialect is not valid; see
// [Dialect.Check].
func NewDecoder(r io.Reader, t *schema.Type, opts *DecoderOptions) (*Decoder, error) {
	var o DecoderOptions
	if opts != nil {
		o = *opts
	}
	if err := o.Dialect.Check(); err != nil {
		panic(err.Error())
	}
	d := &Decoder{escaped: o.Dialect.EscapeFormulas}
	d.rows = rowReader{in: bufio.NewReaderSize(r, 64<<10), delimiter: o.Dialect.delimiter(),
		max: cmp.Or(o.MaxRow, 1<<20), most: maxColumns}
	if err := d.rows.skipBOM(); err != nil {
		return nil, err
	}
	var err error
	if o.Dialect.NoHeader {
		err = d.setColumns(t, o.Columns)
	} else {
		err = d.readHeader(t, o.AllowUnknown)
	}
	d.rows.most = max(len(d.columns), 1) // one for blank
	return d, err
}

// newColumn returns the column of a field, which may be nil.
func newColumn(f *schema.Field) column {
	if f == nil {
		return column{}
	}
	label, _ := jsontext.AppendQuote([]byte{','}, f.Name) // names of fields are valid UTF-8
	// The server sets a read-only member, so the member is absent if the cell is empty. Types with
	// JSON methods decode their own null, for which the cell has the text null.
	return column{f, append(label, ':'), f.Nullable && !f.ReadOnly && f.Type.Kind != schema.Any,
		f.Type.Kind == schema.String}
}

// setColumns sets the columns of content without a header row.
func (d *Decoder) setColumns(t *schema.Type, names []string) error {
	if len(names) == 0 {
		fields, _ := columnsOf(t, nil)
		for _, f := range fields {
			d.columns = append(d.columns, newColumn(f))
		}
	}
	for _, name := range names {
		f := t.Field(name)
		if f == nil {
			return fmt.Errorf("csv: column %q is not a member", name)
		}
		d.columns = append(d.columns, newColumn(f))
	}
	return nil
}

// readHeader reads the header row.
func (d *Decoder) readHeader(t *schema.Type, allowUnknown bool) error {
	err := d.rows.next()
	for err == nil && d.rows.blank() {
		err = d.rows.next()
	}
	if err == io.EOF {
		return nil
	} else if err != nil {
		return err
	}
	if n := d.rows.count; n > maxColumns {
		return &SyntaxError{Code: "columns", Detail: "the header row has " + strconv.Itoa(n) +
			" cells, but must have " + strconv.Itoa(maxColumns) + " at most"}
	}
	var bad schema.Violations
	add := func(name, code, predicate string) {
		if len(bad) < maxColumnErrors {
			if len(name) > maxName {
				name = strings.ToValidUTF8(name[:maxName], "") + "..."
			}
			detail := "column " + strconv.Quote(name) + " of line " + strconv.Itoa(d.Line()) + " " + predicate
			bad = append(bad, schema.Violation{Pointer: pointerTo(name), Code: code, Detail: detail})
		}
	}
	seen := map[*schema.Field]bool{}
	for _, c := range d.rows.cells {
		name := strings.ToValidUTF8(string(d.unescape(d.rows.text[c.from:c.to])), "\ufffd")
		f := t.Field(name)
		switch {
		case f == nil && !allowUnknown:
			add(name, "unknown", "is not a member"+suggestion(t, name))
		case seen[f]:
			add(name, "duplicateName", "occurs twice")
		}
		seen[f] = f != nil
		d.columns = append(d.columns, newColumn(f))
	}
	if len(bad) > 0 {
		return bad
	}
	return nil
}

const (
	maxColumns      = 10_000 // of a header row
	maxColumnErrors = 100    // of a header row
	maxName         = 100    // bytes of the name of a column in an error
)

// suggestion proposes a member with a name that differs only in case or white space.
func suggestion(t *schema.Type, name string) string {
	for _, f := range t.Fields {
		if strings.EqualFold(f.Name, strings.TrimSpace(name)) {
			return "; did you mean " + strconv.Quote(f.Name) + "?"
		}
	}
	return ""
}

// Line returns the number of the line at which the row that was read last begins, counted from 1. A
// quoted cell can have several lines.
func (d *Decoder) Line() int { return d.rows.line }

// LastLine returns the number of the line at which that row ends. A row that an error rejects can have
// taken the lines of others, up to the next quotation mark.
func (d *Decoder) LastLine() int { return d.rows.lines }

// Append appends the next row to dst, as a JSON object with the members of its cells. The error
// after the last row is [io.EOF]. It is a [*SyntaxError] for a row that is not valid CSV, [ErrTooLong]
// for one over MaxRow, and [schema.Violations] for a cell that has to be JSON text and is not. After
// these the next row can be read. Any other error is one of the reader.
//
// The types of the other values are checked by [schema.Type.Decode]: a text that is not a number
// becomes a JSON string, which violates the schema at the pointer of the member. It also finds a name
// that occurs twice in JSON text. Empty lines are skipped, unless the content has one column. After an
// error the length of the returned slice is that of dst.
func (d *Decoder) Append(dst []byte) ([]byte, error) {
	err := d.rows.next()
	for err == nil && len(d.columns) != 1 && d.rows.blank() {
		err = d.rows.next()
	}
	if err != nil {
		return dst, err
	}
	if n := d.rows.count; n != len(d.columns) {
		return dst, &SyntaxError{Code: "columns", Detail: "the row has " + strconv.Itoa(n) +
			" cells, but must have " + strconv.Itoa(len(d.columns))}
	}
	start := len(dst)
	var bad schema.Violations
	for i, c := range d.rows.cells {
		col := &d.columns[i]
		text := d.rows.text[c.from:c.to]
		switch empty := len(text) == 0 && !(c.quoted && col.text); {
		case col.field == nil || empty && !col.null:
			continue
		case empty:
			dst = append(append(dst, col.label...), "null"...)
			continue
		case isJSONText(col.field) && !jsontext.Value(text).IsValid(anyNames, anyUTF8):
			bad = append(bad, schema.Violation{Pointer: pointerTo(col.field.Name), Code: "type",
				Detail: col.field.Name + " must be JSON text"})
			continue
		}
		if dst, err = d.appendValue(append(dst, col.label...), col.field, text); err != nil {
			return dst[:start], &SyntaxError{Pointer: pointerTo(col.field.Name), Code: "encoding",
				Detail: col.field.Name + " is not valid UTF-8"}
		}
	}
	switch {
	case bad != nil:
		return dst[:start], bad
	case len(dst) == start:
		return append(dst, "{}"...), nil
	}
	dst[start] = '{' // in place of the comma of the first label
	return append(dst, '}'), nil
}

// Other errors of JSON text than those of its grammar have messages of their own.
var anyNames, anyUTF8 = jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)

// pointerTo returns the JSON Pointer of a member.
func pointerTo(name string) string { return string(jsontext.Pointer("").AppendToken(name)) }

// isJSONText reports whether the cells of a field are JSON text.
func isJSONText(f *schema.Field) bool {
	switch f.Type.Kind {
	case schema.Any, schema.Object, schema.Array, schema.Map:
		return true
	}
	return false
}

// appendValue appends the text of a cell as a JSON value. JSON text has been validated. The error is
// that of invalid UTF-8.
func (d *Decoder) appendValue(dst []byte, f *schema.Field, text []byte) ([]byte, error) {
	switch f.Type.Kind {
	case schema.String:
		text = d.unescape(text)
	case schema.Integer, schema.Number:
		switch {
		case isNumber(text) && f.Quoted:
			return append(append(append(dst, '"'), text...), '"'), nil
		case isNumber(text):
			return append(dst, text...), nil
		}
	case schema.Boolean:
		// Spreadsheets write TRUE and FALSE.
		for _, word := range []string{"true", "false"} {
			if strings.EqualFold(word, string(text)) {
				return append(dst, word...), nil
			}
		}
	default:
		if !utf8.Valid(text) {
			return dst, errors.New("not valid UTF-8")
		}
		return append(dst, text...), nil
	}
	return jsontext.AppendQuote(dst, text)
}

// unescape removes the apostrophe that EscapeFormulas has written.
func (d *Decoder) unescape(text []byte) []byte {
	if d.escaped && len(text) > 0 && text[0] == '\'' && isFormula(text) {
		return text[1:]
	}
	return text
}

// isNumber reports whether text is a JSON number (RFC 8259 section 6). Any other text must not be
// copied into a document.
func isNumber(text []byte) bool {
	digits := func() bool {
		n := 0
		for n < len(text) && text[n] >= '0' && text[n] <= '9' {
			n++
		}
		text = text[n:]
		return n > 0
	}
	cut := func(chars string) bool {
		ok := len(text) > 0 && strings.IndexByte(chars, text[0]) >= 0
		if ok {
			text = text[1:]
		}
		return ok
	}
	cut("-")
	if !cut("0") && !digits() || cut(".") && !digits() {
		return false
	}
	if cut("eE") {
		cut("+-")
		if !digits() {
			return false
		}
	}
	return len(text) == 0
}
