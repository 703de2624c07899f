package header

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// Span is a part of a representation: Length bytes, of which the first is number Start, counted from zero.
type Span struct {
	Start, Length int64
}

// ErrUnsatisfiable says that a range lies behind the end: 416 (RFC 9110 section 15.5.17).
var ErrUnsatisfiable = errors.New("the range begins behind the end")

// Range reads a Range field for a representation of size bytes (RFC 9110 section 14.2). ok is true if it asks for one
// range of bytes, and span is what of it there is, at least one byte. ok is false where the whole is to be sent: for no
// field, another unit, several ranges, and for what is not in the grammar, such as bytes=5-2, which section 14.2 allows to
// ignore. The error is [ErrUnsatisfiable].
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
		return suffix(last, size)
	}
	return between(first, last, size)
}

// suffix is the last bytes, as many as text says, or all if there are not so many.
func suffix(text string, size int64) (Span, bool, error) {
	n, ok := position(text)
	switch {
	case !ok:
		return Span{}, false, nil
	case n == 0 || size == 0: // nothing of it can be sent: Content-Range has no way to say so
		return Span{}, false, ErrUnsatisfiable
	}
	n = min(n, size)
	return Span{size - n, n}, true, nil
}

// between is the bytes from the first to the last, both included, or to the end if that is sooner.
func between(first, last string, size int64) (Span, bool, error) {
	from, ok := position(first)
	if !ok {
		return Span{}, false, nil
	}
	to := size - 1
	if last != "" {
		end, ok := position(last)
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

// position reads digits. There may be more of them than a number holds; then it is farther than any end.
func position(digits string) (n int64, ok bool) {
	const most = 1<<63 - 1
	for i := range len(digits) {
		d := int64(digits[i]) - '0'
		switch {
		case d < 0 || d > 9:
			return 0, false
		case n > (most-d)/10:
			n = most
		default:
			n = n*10 + d
		}
	}
	return n, digits != ""
}

// IfRange reports whether an If-Range field holds for a representation with this entity tag, quotation marks included, and
// this date: only then does Range count (RFC 9110 section 13.1.5). A tag holds by strong comparison. A date holds if it is
// that of Last-Modified to the second and that second was over before now, so that no later change can bear the same date. An
// absent field holds; one that cannot be read does not, nor do several.
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
