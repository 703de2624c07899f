package sqlrecords

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/idempotency"
)

// What a record says besides its status and content is one text, which people can read: a line for each value, its name
// first, both quoted as in Go. The quotes are there because neither ids nor fields need be text that PostgreSQL takes.
//
//	":id" "7"
//	"Location" "/orders/7"
//
// Names with a colon are members of the record; no field of HTTP has such a name (RFC 9110 section 5.1).
const (
	memberDone       = ":done"
	memberMedia      = ":media"
	memberCollection = ":collection"
	memberID         = ":id"
	memberRev        = ":rev"
)

// encode writes what decode reads.
func encode(r idempotency.Record) string {
	b := make([]byte, 0, 256)
	line := func(name, value string) {
		b = strconv.AppendQuoteToASCII(b, name)
		b = append(b, ' ')
		b = append(strconv.AppendQuoteToASCII(b, value), '\n')
	}
	if !r.Done.IsZero() {
		line(memberDone, r.Done.UTC().Format(time.RFC3339Nano))
	}
	for _, m := range members(&r) {
		if *m.value != "" {
			line(m.name, *m.value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, value := range r.Header[name] {
			line(name, value)
		}
	}
	return string(b)
}

// member is a text of a record.
type member struct {
	name  string
	value *string
}

func members(r *idempotency.Record) []member {
	return []member{{memberMedia, &r.Media}, {memberCollection, &r.Collection}, {memberID, &r.ID}, {memberRev, &r.Rev}}
}

// decode reads what encode has written.
func decode(text string) (r idempotency.Record, err error) {
	for line := range strings.Lines(text) {
		name, value, err := pair(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return r, err
		}
		if name == memberDone {
			if r.Done, err = time.Parse(time.RFC3339Nano, value); err != nil {
				return r, fmt.Errorf("sqlrecords: a record was done at %q", value)
			}
			continue
		}
		all := members(&r)
		if i := slices.IndexFunc(all, func(m member) bool { return m.name == name }); i >= 0 {
			*all[i].value = value
			continue
		}
		if r.Header == nil {
			r.Header = http.Header{}
		}
		r.Header[name] = append(r.Header[name], value)
	}
	return r, nil
}

// pair reads two quoted texts.
func pair(line string) (name, value string, err error) {
	quoted, err := strconv.QuotedPrefix(line)
	if err == nil {
		name, err = strconv.Unquote(quoted)
	}
	rest, found := strings.CutPrefix(line[len(quoted):], " ")
	if err == nil && found {
		value, err = strconv.Unquote(rest)
	}
	if err != nil || !found {
		return "", "", fmt.Errorf("sqlrecords: a record has the line %q", line)
	}
	return name, value, nil
}
