package main

// The floor: the values of the binary format, appended to JSON by hand.

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// byHand knows the types of the columns, of which none is NULL.
func byHand(c *pgx.Conn) lister {
	return func(ctx context.Context, buf []byte) ([]byte, error) {
		rows, err := c.Query(ctx, list, page)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		buf = append(buf, '[')
		for rows.Next() {
			if len(buf) > 1 {
				buf = append(buf, ',')
			}
			v := rows.RawValues()
			buf = appendUUID(append(buf, `{"id":"`...), v[0])
			buf = appendString(append(buf, `","customer":`...), v[1])
			buf = appendString(append(buf, `,"status":`...), v[2])
			buf = appendString(append(buf, `,"note":`...), v[3])
			buf = strconv.AppendInt(append(buf, `,"quantity":`...), int64(binary.BigEndian.Uint64(v[4])), 10)
			price := math.Float64frombits(binary.BigEndian.Uint64(v[5]))
			buf = strconv.AppendFloat(append(buf, `,"price":`...), price, 'f', -1, 64)
			buf = strconv.AppendBool(append(buf, `,"paid":`...), v[6][0] == 1)
			micros := int64(binary.BigEndian.Uint64(v[7]))
			at := time.UnixMicro(micros + 946_684_800e6).UTC() // the epoch of PostgreSQL is 2000
			buf = at.AppendFormat(append(buf, `,"placedAt":"`...), time.RFC3339Nano)
			buf = append(buf, `"}`...)
		}
		return append(buf, ']'), rows.Err()
	}
}

// appendUUID appends the text of a UUID.
func appendUUID(dst, b []byte) []byte {
	dst = append(hex.AppendEncode(dst, b[:4]), '-')
	dst = append(hex.AppendEncode(dst, b[4:6]), '-')
	dst = append(hex.AppendEncode(dst, b[6:8]), '-')
	dst = append(hex.AppendEncode(dst, b[8:10]), '-')
	return hex.AppendEncode(dst, b[10:])
}

// appendString copies a text without escapes, and leaves others to encoding/json.
func appendString(dst, text []byte) []byte {
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			quoted, _ := json.Marshal(string(text)) // a string has an encoding
			return append(dst, quoted...)
		}
	}
	return append(append(append(dst, '"'), text...), '"')
}
