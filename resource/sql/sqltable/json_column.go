package sqltable

// Encoders of columns for ListJSON. Each appends a value of a driver as the JSON that package schema
// makes of the field after a scan. A value that an encoder does not expect takes the slow way through
// the field, which also returns the errors.

import (
	"encoding"
	"encoding/base64"
	"errors"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/resource/internal/jsonappend"
	"github.com/stoa-go/stoa/resource/schema"
)

// jsonEncoder selects the code that encodes values of a column.
type jsonEncoder uint8

const (
	jsonSlow  jsonEncoder = iota // through the field: JSON, arrays, types with methods
	jsonText                     // a string, also of dates, decimals and others in text form
	jsonInt                      // a signed integer
	jsonUint                     // an unsigned integer
	jsonFloat                    // a number
	jsonBool                     // a boolean
	jsonTime                     // a [time.Time]
	jsonBytes                    // a slice of bytes in base64
)

// jsonColumn is how a column becomes a member.
type jsonColumn struct {
	column  *column
	at      int // position of the field in the schema
	encoder jsonEncoder
	wanted  bool   // the member is part of the JSON; otherwise the column is part of the id only
	label   []byte // the text before the value
	quote   []byte // label and the quotation mark of a string
	key     int    // position in the key of the id, or -1

	refusesNull bool   // the field cannot have NULL
	null        []byte // the member of a NULL; empty if it is omitted
	nullKey     string // the text of a NULL in an id
	nullFails   bool   // its encoding is an error

	bits       int
	quoted     bool // a number as a string
	converted  bool // textOf converts the values
	isReal     bool // the number is that of its shortest text
	omitsZero  bool // the zero value is omitted
	omitsEmpty bool // the empty string is omitted

	before []byte // members without a column that precede this one
	idAt   int    // where the composite id precedes it, in before; or -1
}

// chooseEncoder returns the encoder of the column. Those of scalars require the Go types that package
// schema encodes without methods.
func (c *column) chooseEncoder() jsonEncoder {
	f := c.field
	isZeroer := reflect.TypeFor[interface{ IsZero() bool }]()
	p := reflect.PointerTo(f.Type.GoType)
	isTime := f.Type.GoType == reflect.TypeFor[time.Time]()
	switch {
	case c.form == bytesForm && f.Type.GoType.Kind() == reflect.Slice && !f.OmitZero:
		return jsonBytes
	case !c.scalar() || f.OmitZero && p.Implements(isZeroer) && !isTime:
		return jsonSlow
	case isTime:
		return jsonTime
	case p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return jsonSlow
	}
	switch f.Type.Kind {
	case schema.String:
		if isPlainText(f) {
			return jsonText
		}
	case schema.Integer:
		if f.Type.Unsigned {
			return jsonUint
		}
		return jsonInt
	case schema.Number:
		return jsonFloat
	case schema.Boolean:
		return jsonBool
	}
	return jsonSlow
}

// isPlainText reports whether a field is a string without methods.
func isPlainText(f *schema.Field) bool {
	p := reflect.PointerTo(f.Type.GoType)
	return f.Type.Kind == schema.String && f.Type.GoType.Kind() == reflect.String &&
		!p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// jsonCell appends a column to the row.
type jsonCell struct {
	jsonColumn
	row   *jsonRow
	slow  *fieldScanner // of the field of row.scratch
	value any           // of the driver, or buf
	buf   []byte        // bytes of the driver, which are valid during Scan
	text  string        // in place of value, if the column is never NULL
}

// Scan keeps a value. Bytes of the driver are copied into the memory of the last row.
func (c *jsonCell) Scan(src any) error {
	if b, ok := src.([]byte); ok {
		c.buf = append(c.buf[:0], b...)
		src = c.buf
	}
	c.value = src
	return nil
}

// dest returns the argument of Scan for the value. Scan copies a text into a string, and other values
// than bytes into an interface, with less work than it takes to call a Scanner.
func (c *jsonCell) dest() any {
	switch {
	case c.encoder == jsonSlow || c.encoder == jsonBytes:
		return c
	case c.isDirect():
		return &c.text
	}
	return &c.value
}

// isDirect reports whether Scan sets text. Fields with another type than string are not direct, because
// NULL is not an error for them.
func (c *jsonCell) isDirect() bool { return c.encoder == jsonText && c.refusesNull }

// appendScanned appends the member for the value that Scan has set.
func (c *jsonCell) appendScanned(dst []byte) ([]byte, error) {
	if !c.isDirect() || c.row.isLenient {
		return c.appendValue(dst, c.value)
	}
	if c.key >= 0 {
		c.row.keys[c.key] = c.text
	}
	dst, ok := appendText(dst, c, c.text)
	if !ok {
		return c.appendSlow(dst, c.text)
	}
	return dst, nil
}

// begin appends the members without a column that precede the one of the column. Like all functions that
// append, it returns the extended slice: a field of the row would cost a write barrier for each value.
func (c *jsonCell) begin(dst []byte) []byte {
	if c.idAt < 0 && len(c.before) == 0 {
		return dst
	}
	if c.idAt >= 0 {
		c.row.idAt = len(dst) + c.idAt
	}
	return append(dst, c.before...)
}

// appendValue appends the member for a value of a driver.
func (c *jsonCell) appendValue(dst []byte, src any) ([]byte, error) {
	ok := false
	switch src := src.(type) {
	case nil:
		return c.appendNull(dst)
	case string:
		if c.encoder == jsonText && !c.converted {
			if c.key >= 0 {
				c.row.keys[c.key] = src
			}
			dst, ok = appendText(dst, c, src)
		}
	case int64:
		if c.encoder == jsonInt {
			dst, ok = c.appendInt(dst, src)
		}
	case float64:
		if c.encoder == jsonFloat {
			dst, ok = c.appendFloat(dst, src)
		}
	case bool:
		if c.encoder == jsonBool {
			return c.appendBool(dst, src), nil
		}
	case time.Time:
		if c.encoder == jsonTime {
			dst, ok = c.appendTime(dst, src.UTC())
		}
	}
	if !ok {
		dst, ok = c.appendOther(dst, src)
	}
	if !ok {
		return c.appendSlow(dst, src)
	}
	return dst, nil
}

// appendOther is appendValue for the types that drivers return less often.
func (c *jsonCell) appendOther(dst []byte, src any) (_ []byte, ok bool) {
	switch c.encoder {
	case jsonText:
		text := c.column.textOf(src)
		if c.key >= 0 {
			c.row.keys[c.key] = text
		}
		return appendText(dst, c, text)
	case jsonUint:
		if n, isInt := src.(int64); isInt && n >= 0 {
			return c.appendUint(dst, uint64(n))
		}
	case jsonFloat:
		switch src.(type) {
		case string, []byte:
			if f, err := strconv.ParseFloat(textOf(src), 64); err == nil {
				return c.appendFloat(dst, f)
			}
		}
	case jsonBool:
		if n, isInt := src.(int64); isInt {
			return c.appendBool(dst, n != 0), true
		}
	case jsonTime:
		if at, err := c.column.timeOf(src); err == nil {
			return c.appendTime(dst, at.UTC())
		}
	case jsonBytes:
		switch src := src.(type) {
		case []byte:
			return c.appendBytes(dst, src), true
		case string:
			return c.appendBytes(dst, []byte(src)), true
		}
	}
	return dst, false
}

// appendNull appends the member of NULL.
func (c *jsonCell) appendNull(dst []byte) ([]byte, error) {
	if c.refusesNull || c.key >= 0 {
		c.row.bad = append(c.row.bad, c.column)
	}
	if c.key >= 0 {
		c.row.keys[c.key] = c.nullKey
	}
	if c.nullFails {
		return c.appendSlow(dst, nil)
	}
	return append(dst, c.null...), nil
}

// errNull reports NULL in the column of a field that cannot have it.
var errNull = errors.New("the column is NULL")

// appendSlow sets the field and encodes it with package schema.
func (c *jsonCell) appendSlow(dst []byte, src any) ([]byte, error) {
	c.slow.field.SetZero()
	if err := c.slow.Scan(src); err != nil {
		return dst, err
	}
	r := c.row
	if c.key >= 0 {
		r.keys[c.key] = c.column.field.Text(r.scratch)
	}
	if !c.wanted {
		return dst, nil
	}
	dst, err := r.plan.typ.AppendMember(dst, c.column.field, r.scratch)
	if err != nil {
		r.fail(c.at, err)
	}
	return dst, nil
}

// appendText appends a string. Like the functions below it returns false, and appends nothing, if the
// value has no JSON or if only package schema can decide whether it is omitted.
func appendText[S string | []byte](dst []byte, c *jsonCell, text S) (_ []byte, ok bool) {
	if !c.wanted || len(text) == 0 && c.omitsEmpty {
		return dst, true
	}
	if jsonappend.IsUnescaped(text) {
		return append(append(append(dst, c.quote...), text...), '"'), true
	}
	out, err := jsonappend.String(append(dst, c.label...), text)
	if err != nil {
		return dst, false
	}
	return out, true
}

func (c *jsonCell) appendInt(dst []byte, n int64) (_ []byte, ok bool) {
	if shift := 64 - c.bits; n<<shift>>shift != n {
		return dst, false // it overflows the field
	}
	if c.key >= 0 {
		var space [20]byte
		c.row.keys[c.key] = c.row.text(strconv.AppendInt(space[:0], n, 10))
	}
	if !c.wanted || n == 0 && c.omitsZero {
		return dst, true
	}
	return c.end(strconv.AppendInt(append(dst, c.label...), n, 10)), true
}

func (c *jsonCell) appendUint(dst []byte, n uint64) (_ []byte, ok bool) {
	if shift := 64 - c.bits; n<<shift>>shift != n {
		return dst, false
	}
	if c.key >= 0 {
		var space [20]byte
		c.row.keys[c.key] = c.row.text(strconv.AppendUint(space[:0], n, 10))
	}
	if !c.wanted || n == 0 && c.omitsZero {
		return dst, true
	}
	return c.end(strconv.AppendUint(append(dst, c.label...), n, 10)), true
}

func (c *jsonCell) appendFloat(dst []byte, f float64) (_ []byte, ok bool) {
	if c.isReal {
		f = realOf(f)
	}
	if c.bits == 32 {
		f = float64(float32(f))
	}
	if f == 0 && c.omitsZero || math.IsNaN(f) || math.IsInf(f, 0) || c.key >= 0 {
		return dst, false
	}
	out, err := jsonappend.Float(append(dst, c.label...), f, c.bits)
	if err != nil {
		return dst, false
	}
	return c.end(out), true
}

// end appends the quotation mark of a quoted number.
func (c *jsonCell) end(dst []byte) []byte {
	if c.quoted {
		return append(dst, '"')
	}
	return dst
}

func (c *jsonCell) appendBool(dst []byte, v bool) []byte {
	if !v && c.omitsZero {
		return dst
	}
	return strconv.AppendBool(append(dst, c.label...), v)
}

// appendTime appends a time in UTC.
func (c *jsonCell) appendTime(dst []byte, at time.Time) (_ []byte, ok bool) {
	return c.appendUnix(dst, at.Unix(), at.Nanosecond())
}

// appendUnix is appendTime for a time since 1970.
func (c *jsonCell) appendUnix(dst []byte, unix int64, ns int) (_ []byte, ok bool) {
	if c.omitsZero && ns == 0 && unix == zeroUnix {
		return dst, true
	}
	out, ok := jsonappend.UTC(append(dst, c.label...), unix, ns)
	if !ok {
		return dst, false
	}
	return out, true
}

// zeroUnix is the zero time in seconds since 1970.
const zeroUnix = -62_135_596_800

// appendBytes appends base64, which needs no escapes.
func (c *jsonCell) appendBytes(dst, b []byte) []byte {
	if len(b) == 0 && c.omitsEmpty {
		return dst
	}
	return append(base64.StdEncoding.AppendEncode(append(dst, c.quote...), b), '"')
}
