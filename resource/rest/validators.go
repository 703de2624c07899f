package rest

import (
	"net/http"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/resource"
)

// validators is what differs from response to response: the headers that cannot be shared. They are set together, since one
// piece of text and one slice then hold all of them.
type validators struct {
	r          *resource.Resource
	rev        resource.Rev // empty for no entity tag
	compressed bool
	suffix     string    // of the entity tag
	modified   time.Time // zero for none
	length     int       // of the content; negative for none
}

// set sets ETag, Last-Modified and Content-Length, each if it is known.
func (s validators) set(h http.Header) {
	var room [160]byte
	b := room[:0]
	if s.rev != "" {
		b = s.r.AppendETag(b, s.rev, s.compressed, s.suffix)
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

// appendDate appends a time as an IMF-fixdate, RFC 9110 section 5.6.7. Last-Modified is never in the future (section
// 8.8.2.1), which a store on a machine with another clock may not know.
func appendDate(dst []byte, t time.Time) []byte {
	if now := time.Now(); t.After(now) {
		t = now
	}
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	dst = append(dst, t.Weekday().String()[:3]...)
	dst = append(dst, ',', ' ', byte('0'+day/10), byte('0'+day%10), ' ')
	dst = append(dst, month.String()[:3]...)
	dst = append(dst, ' ')
	if year < 1000 || year > 9999 { // four digits are all there is
		year = min(max(year, 0), 9999)
		dst = append(dst, "0000"[:4-len(strconv.Itoa(year))]...)
	}
	dst = strconv.AppendInt(dst, int64(year), 10)
	return append(dst, ' ', byte('0'+hour/10), byte('0'+hour%10), ':', byte('0'+minute/10), byte('0'+minute%10), ':',
		byte('0'+second/10), byte('0'+second%10), ' ', 'G', 'M', 'T')
}
