package sqltable

// ListJSON over rows in the encoding of PostgreSQL, see [sqltx.RawRows]. Values without a decoder here
// are those of the driver, and take the way of json_column.go.

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/internal/jsonappend"
	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// rawDecoder selects the code that decodes the values of a column of a result.
type rawDecoder uint8

const (
	rawValue     rawDecoder = iota // the value of the driver
	rawText                        // a text, or another type in the text format
	rawChar                        // a text with blanks at its end
	rawInt                         // integers of 2, 4 or 8 bytes
	rawFloat4                      // real
	rawFloat8                      // double precision
	rawBool                        // boolean
	rawUUID                        // 16 bytes
	rawDate                        // days, as text
	rawDay                         // days, as a time
	rawTimestamp                   // microseconds, with or without time zone
	rawBytes                       // bytea
	rawXID                         // xmin
	rawTID                         // ctid
)

// The types of pg_type with a decoder, or with values of the driver that are not text.
const (
	oidBool, oidBytea, oidName, oidInt8, oidInt2, oidInt4, oidText = 16, 17, 19, 20, 21, 23, 25
	oidOID, oidTID, oidXID, oidCID, oidJSON, oidXML                = 26, 27, 28, 29, 114, 142
	oidFloat4, oidFloat8, oidBPChar, oidVarchar                    = 700, 701, 1042, 1043
	oidDate, oidTimestamp, oidTimestamptz, oidUUID, oidJSONB       = 1082, 1114, 1184, 2950, 3802
)

// rowsRaw is rowsJSON for raw rows. It returns false if the query must be run by database/sql.
func (t *untyped) rowsRaw(
	ctx context.Context, plan *jsonPlan, statement string, args []any, q query.Query,
	yield func(resource.ItemJSON, error) bool,
) (ran bool) {
	stopped := false
	ran, err := t.db.ReadRaw(ctx, statement, args, func(rows sqltx.RawRows) error {
		r := plan.rows.Get().(*jsonRow)
		r.chooseRaw(rows.Columns())
		for rows.Next() {
			r.reset()
			if err := r.scanRaw(rows); err != nil {
				return err
			}
			it, err := t.itemJSON(r, q)
			if err != nil {
				return err
			}
			if !yield(it, nil) {
				stopped = true
				return nil
			}
		}
		plan.rows.Put(r)
		return rows.Err()
	})
	if err != nil && !stopped {
		yield(resource.ItemJSON{}, err)
	}
	return ran
}

// chooseRaw chooses the decoders of a result.
func (r *jsonRow) chooseRaw(columns []sqltx.RawColumn) {
	r.raw = r.raw[:0]
	for i, c := range columns {
		kind := rawValue
		if cell := i - len(r.dests) + len(r.cells); cell >= 0 {
			r.raw = append(r.raw, r.cells[cell].chooseDecoder(c))
			continue
		}
		switch r.dests[i].(type) {
		case *string:
			switch {
			case c.OID == oidTID && c.Binary:
				kind = rawTID
			case isSentAsText(c):
				kind = rawText
			}
		case xminScanner:
			if c.OID == oidXID && c.Binary {
				kind = rawXID
			}
		case timeScanner:
			if (c.OID == oidTimestamp || c.OID == oidTimestamptz) && c.Binary {
				kind = rawTimestamp
			}
		}
		r.raw = append(r.raw, kind)
	}
}

// isSentAsText reports whether the bytes of a value are the text that the driver returns.
func isSentAsText(c sqltx.RawColumn) bool {
	switch c.OID {
	case oidText, oidVarchar, oidName:
		return true // both formats are the text
	case oidBool, oidBytea, oidInt8, oidInt2, oidInt4, oidOID, oidXID, oidCID, oidJSON, oidJSONB, oidXML,
		oidFloat4, oidFloat8, oidDate, oidTimestamp, oidTimestamptz:
		return false // not a string of the driver
	}
	return !c.Binary
}

// chooseDecoder returns the decoder for the encoder of the column.
func (c *jsonCell) chooseDecoder(col sqltx.RawColumn) rawDecoder {
	name := c.column.typ.Name
	switch c.encoder {
	case jsonText:
		switch {
		case name == sqltype.TimeTZ || name == sqltype.Interval:
			return rawValue
		case name == sqltype.Char && (isSentAsText(col) || col.OID == oidBPChar):
			return rawChar
		case isSentAsText(col):
			return rawText
		case col.OID == oidUUID && col.Binary:
			return rawUUID
		case col.OID == oidDate && col.Binary && name == sqltype.Date:
			return rawDate
		}
	case jsonInt, jsonUint:
		switch col.OID {
		case oidInt2, oidInt4, oidInt8:
			return rawIf(rawInt, col)
		}
	case jsonFloat:
		switch col.OID {
		case oidFloat4:
			return rawIf(rawFloat4, col)
		case oidFloat8:
			return rawIf(rawFloat8, col)
		}
	case jsonBool:
		if col.OID == oidBool {
			return rawIf(rawBool, col)
		}
	case jsonTime:
		switch col.OID {
		case oidDate:
			return rawIf(rawDay, col)
		case oidTimestamp, oidTimestamptz:
			return rawIf(rawTimestamp, col)
		}
	case jsonBytes:
		if col.OID == oidBytea {
			return rawIf(rawBytes, col)
		}
	}
	return rawValue
}

// rawIf returns a decoder of the binary format for columns in this format.
func rawIf(d rawDecoder, col sqltx.RawColumn) rawDecoder {
	if col.Binary {
		return d
	}
	return rawValue
}

// scanRaw scans and encodes the current row.
func (r *jsonRow) scanRaw(rows sqltx.RawRows) error {
	values := rows.Values()
	heads := len(r.dests) - len(r.cells)
	for i, b := range values[:heads] {
		if r.scanHead(r.dests[i], r.raw[i], b) {
			continue
		}
		value, err := rows.Value(i)
		if err == nil {
			err = scanInto(r.dests[i], value)
		}
		if err != nil {
			return fmt.Errorf("sqltable: result column %d: %w", i, err)
		}
	}
	buf := r.buf
	for i, b := range values[heads:] {
		var ok bool
		cell := r.cells[i]
		if buf, ok = cell.appendRaw(cell.begin(buf), r.raw[heads+i], b); ok {
			continue
		}
		value, err := rows.Value(heads + i)
		if err == nil {
			buf, err = cell.appendValue(buf, value)
		}
		if err != nil {
			return err
		}
	}
	r.buf = buf
	return nil
}

// scanHead sets the columns before the members: the revision and the time of the last write. It
// returns false for values without a decoder.
func (r *jsonRow) scanHead(dest any, kind rawDecoder, b []byte) bool {
	switch {
	case b == nil:
		return false
	case kind == rawText:
		r.rev = r.text(b)
	case kind == rawXID && len(b) == 4:
		r.xmin = int64(binary.BigEndian.Uint32(b))
	case kind == rawTID && len(b) == 6:
		var space [24]byte
		text := strconv.AppendUint(append(space[:0], '('), uint64(binary.BigEndian.Uint32(b)), 10)
		text = strconv.AppendUint(append(text, ','), uint64(binary.BigEndian.Uint16(b[4:])), 10)
		r.rev = r.text(append(text, ')'))
	case kind == rawTimestamp && len(b) == 8:
		unix, ns, ok := timestampOf(b)
		if ok = ok && unix >= firstUnix && unix <= lastUnix; ok {
			*dest.(timeScanner).to = time.Unix(unix, int64(ns)).UTC()
		}
		return ok
	default:
		return false
	}
	return true
}

// scanInto sets a destination that is not a member.
func scanInto(dest, value any) error {
	switch dest := dest.(type) {
	case *string:
		if value == nil {
			return fmt.Errorf("the revision is NULL")
		}
		if at, ok := value.(time.Time); ok { // as Scan of database/sql converts it
			value = at.Format(time.RFC3339Nano)
		}
		*dest = textOf(value)
		return nil
	case xminScanner:
		return dest.Scan(value)
	case timeScanner:
		return dest.Scan(value)
	}
	return errOf("value of the row", value)
}

// appendRaw appends the member for a value. It returns false for values that only the driver or the
// slow way can convert; it has appended nothing then.
func (c *jsonCell) appendRaw(dst []byte, kind rawDecoder, b []byte) (_ []byte, ok bool) {
	if b == nil {
		dst, err := c.appendNull(dst)
		return dst, err == nil
	}
	switch kind {
	case rawText:
		return c.appendKeyText(dst, b)
	case rawChar:
		return c.appendKeyText(dst, bytes.TrimRight(b, " "))
	case rawInt:
		n, ok := integerOf(b)
		switch {
		case ok && c.encoder == jsonInt:
			return c.appendInt(dst, n)
		case ok && n >= 0:
			return c.appendUint(dst, uint64(n))
		}
	case rawFloat8:
		if len(b) == 8 {
			return c.appendFloat(dst, math.Float64frombits(binary.BigEndian.Uint64(b)))
		}
	case rawFloat4:
		if len(b) == 4 {
			return c.appendFloat(dst, float64(math.Float32frombits(binary.BigEndian.Uint32(b))))
		}
	case rawBool:
		if len(b) == 1 {
			return c.appendBool(dst, b[0] != 0), true
		}
	case rawUUID:
		if len(b) == 16 {
			return c.appendUUID(dst, b), true
		}
	case rawDate:
		return c.appendDate(dst, b)
	case rawDay:
		if unix, ok := dayOf(b); ok {
			return c.appendUnix(dst, unix, 0)
		}
	case rawTimestamp:
		if unix, ns, ok := timestampOf(b); ok {
			return c.appendUnix(dst, unix, ns)
		}
	case rawBytes:
		return c.appendBytes(dst, b), true
	}
	return dst, false
}

// appendKeyText is appendText that also sets the part of an id.
func (c *jsonCell) appendKeyText(dst, text []byte) (_ []byte, ok bool) {
	if c.key >= 0 {
		c.row.keys[c.key] = c.row.text(text)
	}
	return appendText(dst, c, text)
}

// appendDate appends the text of a date of the years 1 to 9999.
func (c *jsonCell) appendDate(dst, b []byte) (_ []byte, ok bool) {
	unix, ok := dayOf(b)
	if !ok {
		return dst, false
	}
	var space [32]byte
	text, ok := jsonappend.UTC(space[:0], unix, 0)
	if !ok {
		return dst, false
	}
	return c.appendKeyText(dst, text[1:1+len(time.DateOnly)])
}

// postgresEpoch is January 1, 2000, in seconds since 1970.
const postgresEpoch = 946_684_800

// integerOf decodes an integer of any size.
func integerOf(b []byte) (n int64, ok bool) {
	switch len(b) {
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b))), true
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b))), true
	case 8:
		return int64(binary.BigEndian.Uint64(b)), true
	}
	return 0, false
}

// dayOf decodes a date into seconds since 1970. ok is false for infinity.
func dayOf(b []byte) (unix int64, ok bool) {
	days, ok := integerOf(b)
	if !ok || len(b) != 4 || days == math.MaxInt32 || days == math.MinInt32 {
		return 0, false
	}
	return postgresEpoch + days*24*60*60, true
}

// timestampOf decodes a timestamp. ok is false for infinity.
func timestampOf(b []byte) (unix int64, ns int, ok bool) {
	micros, ok := integerOf(b)
	if !ok || len(b) != 8 || micros == math.MaxInt64 || micros == math.MinInt64 {
		return 0, 0, false
	}
	seconds, rest := micros/1e6, micros%1e6
	if rest < 0 {
		seconds, rest = seconds-1, rest+1e6
	}
	return postgresEpoch + seconds, int(rest) * 1000, true
}

// appendUUID appends the text of a UUID, which needs no escapes.
func (c *jsonCell) appendUUID(dst, b []byte) []byte {
	text := [36]byte{8: '-', 13: '-', 18: '-', 23: '-'}
	for i, v := range b[:16] {
		*(*[2]byte)(text[uuidPlaces[i]:]) = hexPairs[v]
	}
	if c.key >= 0 {
		c.row.keys[c.key] = c.row.text(text[:])
	}
	if !c.wanted {
		return dst
	}
	return append(append(append(dst, c.quote...), text[:]...), '"')
}

// uuidPlaces has the place of each byte in the text of a UUID, and hexPairs its characters.
var (
	uuidPlaces = [16]uint8{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34}
	hexPairs   = func() (pairs [256][2]byte) {
		for i := range pairs {
			hex.Encode(pairs[i][:], []byte{byte(i)})
		}
		return pairs
	}()
)

// textChunk is how many bytes of ids and revisions share their memory.
const textChunk = 1024

// text returns a copy of b. Copies of several rows share an allocation.
func (r *jsonRow) text(b []byte) string {
	if r.texts.Cap()-r.texts.Len() < len(b) {
		r.texts = strings.Builder{}
		r.texts.Grow(max(textChunk, len(b)))
	}
	start := r.texts.Len()
	r.texts.Write(b)
	return r.texts.String()[start:]
}
