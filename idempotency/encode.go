package idempotency

// The text form of a record, for stores that keep one value. sqlrecords and redisrecords use it.

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// An encoded record resembles an HTTP message: a line per value, an empty line, and the result as
// it is. A line has a name and a value, both quoted as in Go, because ids and field values may be
// any bytes:
//
//	":status" "201"
//	":id" "7"
//	"Location" "/orders/7"
//
// Names with a colon are members of the record. No HTTP field has such a name (RFC 9110 section
// 5.1).
const (
	memberStatus = ":status"
	memberDone   = ":done"
)

// member is a string member of a record.
type member struct {
	name  string
	value *string
}

// members returns the members with names that begin with a colon, unlike those of header fields.
func (r *Record) members() [5]member {
	return [...]member{
		{":media", &r.Media}, {":collection", &r.Collection}, {":id", &r.ID}, {":rev", &r.Rev},
		{":schema", &r.Schema},
	}
}

// EncodeRecord returns the encoding of a record, for stores. It is ASCII up to the result, which is
// at the end. Zero members take no space, so a store that keeps Status and Result in separate
// columns clears them first.
func EncodeRecord(r Record) []byte {
	b := make([]byte, 0, 256+len(r.Result))
	line := func(name, value string) {
		b = strconv.AppendQuoteToASCII(b, name)
		b = append(b, ' ')
		b = append(strconv.AppendQuoteToASCII(b, value), '\n')
	}
	if r.Status != 0 {
		line(memberStatus, strconv.Itoa(r.Status))
	}
	if !r.Done.IsZero() {
		line(memberDone, r.Done.UTC().Format(time.RFC3339Nano))
	}
	for _, m := range r.members() {
		if *m.value != "" {
			line(m.name, *m.value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, value := range r.Header[name] {
			line(name, value)
		}
	}
	if len(r.Result) > 0 {
		b = append(append(b, '\n'), r.Result...)
	}
	return b
}

// DecodeRecord decodes the output of EncodeRecord. It returns an error for other input. The result
// refers to b.
func DecodeRecord(b []byte) (r Record, err error) {
	for len(b) > 0 {
		line, rest, found := bytes.Cut(b, []byte{'\n'})
		if !found {
			return Record{}, fmt.Errorf("idempotency: decode record: incomplete line %q", line)
		}
		b = rest
		if len(line) == 0 {
			r.Result = b
			break
		}
		if err := r.setMember(string(line)); err != nil {
			return Record{}, fmt.Errorf("idempotency: decode record: line %q: %w", line, err)
		}
	}
	return r, nil
}

// setMember sets the member of one line.
func (r *Record) setMember(line string) error {
	name, value, err := parseLine(line)
	if err != nil {
		return err
	}
	switch name {
	case memberStatus:
		r.Status, err = strconv.Atoi(value)
		return err
	case memberDone:
		r.Done, err = time.Parse(time.RFC3339Nano, value)
		return err
	}
	for _, m := range r.members() {
		if m.name == name {
			*m.value = value
			return nil
		}
	}
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header[name] = append(r.Header[name], value)
	return nil
}

// parseLine parses two quoted strings with a space between them.
func parseLine(line string) (name, value string, err error) {
	quoted, err := strconv.QuotedPrefix(line)
	if err != nil {
		return "", "", err
	}
	rest := line[len(quoted):]
	if len(rest) == 0 || rest[0] != ' ' {
		return "", "", strconv.ErrSyntax
	}
	if name, err = strconv.Unquote(quoted); err == nil {
		value, err = strconv.Unquote(rest[1:])
	}
	return name, value, err
}
