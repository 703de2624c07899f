package problem

import (
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Append appends the problem as a JSON object and returns the extended slice. The same problem always gives the same
// bytes: type, title, status, detail, instance, errors, then the extensions by name. It never fails: bytes that are no
// UTF-8 become U+FFFD, and an extension that cannot be written is left out.
func (d *Details) Append(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendMember(dst, "type", d.Kind.URI())
	dst = appendMember(dst, "title", d.Kind.Title())
	dst = appendName(dst, "status")
	dst = strconv.AppendInt(dst, int64(d.StatusCode()), 10)
	dst = appendText(dst, "detail", d.Detail)
	dst = appendText(dst, "instance", d.Instance)
	if len(d.Errors) > 0 {
		dst = appendName(dst, "errors")
		dst = append(dst, '[')
		for i := range d.Errors {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = d.Errors[i].append(dst)
		}
		dst = append(dst, ']')
	}
	dst = appendExtensions(dst, d.Extensions)
	return append(dst, '}')
}

// MarshalJSON returns what [Details.Append] writes, so that a problem may stand inside another document.
func (d *Details) MarshalJSON() ([]byte, error) {
	return d.Append(nil), nil
}

func (v *Violation) append(dst []byte) []byte {
	member, where := v.place()
	dst = append(dst, '{')
	dst = appendMember(dst, member, where)
	dst = appendText(dst, "code", v.Code)
	dst = appendText(dst, "detail", v.Detail)
	if v.Operation != nil {
		dst = appendName(dst, "operation")
		dst = strconv.AppendInt(dst, int64(*v.Operation), 10)
	}
	return append(dst, '}')
}

// appendExtensions appends the members that are not the problem's own.
func appendExtensions(dst []byte, extensions map[string]any) []byte {
	for _, name := range slices.Sorted(maps.Keys(extensions)) {
		// A name that had to be repaired could collide with another one.
		if isOwn(name) || !utf8.ValidString(name) {
			continue
		}
		value, err := json.Marshal(extensions[name], json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
		if err != nil {
			continue
		}
		dst = appendName(dst, name)
		dst = append(dst, value...)
	}
	return dst
}

// isOwn reports whether Details itself may write a member of that name.
func isOwn(name string) bool {
	switch name {
	case "type", "title", "status", "detail", "instance", "errors":
		return true
	}
	return false
}

// appendText appends a member, unless its text is empty.
func appendText(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	return appendMember(dst, name, text)
}

func appendMember(dst []byte, name, text string) []byte {
	return appendString(appendName(dst, name), text)
}

// appendName appends a member's name and, unless it is the first of its object, the comma before it.
func appendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = appendString(dst, name)
	return append(dst, ':')
}

// appendString appends a JSON string. AppendQuote reports invalid UTF-8, but has then replaced it, which is what we want.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}
