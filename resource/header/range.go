package header

// Byte ranges (RFC 9110, section 14). A single range is supported.

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// Span is a part of a representation: Length bytes, beginning at byte Start, counted from zero.
type Span struct {
	Start, Length int64
}

// ErrUnsatisfiable is returned by [Range] for a range that contains no byte of the representation.
// Servers respond with 416 (RFC 9110 section 15.5.17).
var ErrUnsatisfiable = errors.New("header: the range is past the end of the representation")

// Range parses a Range field for a representation of size bytes (RFC 9110 section 14.2). ok is true
// if the field requests one range of bytes; span is its intersection with the representation, at
// least one byte.
//
// ok is false if the server should send the whole representation: the field is absent, has another
// unit, has more than one range, or has invalid syntax such as bytes=5-2, which section 14.2 allows
// to ignore. The only error is [ErrUnsatisfiable].
func Range(lines []string, size int64) (span Span, ok bool, err error) {
	if len(lines) != 1 {
		return Span{}, false, nil
	}
	unit, set, found := strings.Cut(trimSpace(lines[0]), "=")
	if !found || !strings.EqualFold(unit, "bytes") { // units are case-insensitive (section 14.1)
		return Span{}, false, nil
	}
	var spec string
	for rest := set; rest != ""; {
		var member string
		member, rest, _ = strings.Cut(rest, ",")
		switch member = trimSpace(member); {
		case member == "": // skipped, as in any list (section 5.6.1.2)
		case spec != "":
			return Span{}, false, nil
		default:
			spec = member
		}
	}
	first, last, found := strings.Cut(spec, "-")
	switch {
	case !found || first == "" && last == "":
		return Span{}, false, nil
	case first == "":
		return suffixSpan(last, size)
	}
	return parseSpan(first, last, size)
}

// suffixSpan returns the last n bytes for the range "-n", or all bytes if there are fewer than n.
func suffixSpan(text string, size int64) (Span, bool, error) {
	n, ok := parsePosition(text)
	switch {
	case !ok:
		return Span{}, false, nil
	case n == 0 || size == 0: // Content-Range cannot express an empty range
		return Span{}, false, ErrUnsatisfiable
	}
	n = min(n, size)
	return Span{size - n, n}, true, nil
}

// parseSpan returns the bytes from first to last, both included. The last position is optional and
// limited to the end of the representation.
func parseSpan(first, last string, size int64) (Span, bool, error) {
	from, ok := parsePosition(first)
	if !ok {
		return Span{}, false, nil
	}
	to := size - 1
	if last != "" {
		end, ok := parsePosition(last)
		if !ok || end < from {
			return Span{}, false, nil
		}
		to = min(to, end)
	}
	if from >= size {
		return Span{}, false, ErrUnsatisfiable
	}
	return Span{from, to - from + 1}, true, nil
}

// parsePosition parses digits. A value that overflows int64 becomes the maximum, because every such
// position is past the end.
func parsePosition(digits string) (n int64, ok bool) {
	const maxPosition = 1<<63 - 1
	for i := range len(digits) {
		d := int64(digits[i]) - '0'
		switch {
		case d < 0 || d > 9:
			return 0, false
		case n > (maxPosition-d)/10:
			n = maxPosition
		default:
			n = n*10 + d
		}
	}
	return n, digits != ""
}

// IfRange reports whether an If-Range field permits the server to apply Range (RFC 9110 section
// 13.1.5). The representation has the entity tag tag, including its quotation marks, and was last
// modified at modified; the zero time means unknown. IfRange returns true if the field is absent,
// and false if its syntax is invalid or it has several lines.
//
// A tag matches by strong comparison. A date matches if it equals modified, truncated to seconds,
// and that second has ended before now. In the same second, a later change would have the same
// date.
func IfRange(lines []string, tag string, modified, now time.Time) bool {
	switch {
	case len(lines) == 0:
		return true
	case len(lines) > 1:
		return false
	}
	text := trimSpace(lines[0])
	if strings.HasPrefix(text, `"`) {
		return text == tag
	}
	date, err := http.ParseTime(text)
	second := modified.Truncate(time.Second)
	return err == nil && !modified.IsZero() && date.Equal(second) && !now.Before(second.Add(time.Second))
}
