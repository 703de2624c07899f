package rest

// ETag, Last-Modified and Content-Length of responses. Called by everything that sends a response.
// The file exists for speed: it avoids one allocation for each of the three fields.

import (
	"net/http"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/resource"
)

// validators are the header fields that differ in each response and cannot be shared. They are set
// together, because one string and one slice hold all values.
type validators struct {
	r          *resource.Resource
	rev        resource.Rev // no entity tag if empty
	compressed bool
	suffix     string    // of the entity tag
	modified   time.Time // no Last-Modified if zero
	length     int       // of the body; no Content-Length if negative
}

// set sets ETag, Last-Modified and Content-Length if they are known.
func (s validators) set(h http.Header) {
	// Large enough for the usual entity tag, a date and a length, so that only text and values are
	// allocated.
	var scratch [160]byte
	b := scratch[:0]
	if s.rev != "" {
		b = s.r.Raw().AppendETag(b, s.rev, s.compressed, s.suffix)
	}
	tagEnd := len(b)
	if !s.modified.IsZero() {
		b = appendDate(b, s.modified)
	}
	dateEnd := len(b)
	if s.length >= 0 {
		b = strconv.AppendInt(b, int64(s.length), 10)
	}
	text := string(b)
	// The three-index slices below keep an append to one field from overwriting the next.
	values := []string{text[:tagEnd], text[tagEnd:dateEnd], text[dateEnd:]}
	if tagEnd > 0 {
		h["Etag"] = values[0:1:1]
	}
	if dateEnd > tagEnd {
		h["Last-Modified"] = values[1:2:2]
	}
	if s.length >= 0 {
		h["Content-Length"] = values[2:3:3]
	}
}

// appendDate appends t as an IMF-fixdate (RFC 9110 section 5.6.7). It replaces a time in the future
// by now, because Last-Modified must not be in the future (section 8.8.2.1) and the clock of the
// store may be ahead. It appends nothing for the time of a replacement in the same second, which is
// the next one, because an earlier content has the date of now; see package modified.
func appendDate(dst []byte, t time.Time) []byte {
	switch now := time.Now(); {
	case t.After(now.Add(time.Second)):
		t = now
	case t.After(now):
		return dst
	}
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	dst = append(dst, t.Weekday().String()[:3]...)
	dst = append(dst, ',', ' ', byte('0'+day/10), byte('0'+day%10), ' ')
	dst = append(dst, month.String()[:3]...)
	dst = append(dst, ' ')
	// The format has exactly four digits for the year.
	if year < 1000 || year > 9999 {
		year = min(max(year, 0), 9999)
		dst = append(dst, "0000"[:4-len(strconv.Itoa(year))]...)
	}
	dst = strconv.AppendInt(dst, int64(year), 10)
	return append(dst, ' ', byte('0'+hour/10), byte('0'+hour%10), ':', byte('0'+minute/10),
		byte('0'+minute%10), ':', byte('0'+second/10), byte('0'+second%10), ' ', 'G', 'M', 'T')
}
