package problem

// Encoding of problem documents (RFC 9457), by hand, because it must not fail.

import (
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Append appends the problem as a JSON object to dst and returns the extended slice. The output is
// deterministic: type, title, status, detail, instance, errors, then the extensions sorted by name.
// Append never fails: it replaces invalid UTF-8 by U+FFFD, and omits an extension that cannot be
// encoded.
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
			dst = d.Errors[i].appendTo(dst)
		}
		dst = append(dst, ']')
	}
	dst = appendExtensions(dst, d.Extensions)
	return append(dst, '}')
}

// MarshalJSON returns the output of [Details.Append]. The error is always nil.
func (d *Details) MarshalJSON() ([]byte, error) {
	return d.Append(nil), nil
}

// appendTo appends the violation as a JSON object.
func (v *Violation) appendTo(dst []byte) []byte {
	member, value := v.location()
	dst = append(dst, '{')
	dst = appendMember(dst, member, value)
	dst = appendText(dst, "code", v.Code)
	dst = appendText(dst, "detail", v.Detail)
	if v.Operation != nil {
		dst = appendName(dst, "operation")
		dst = strconv.AppendInt(dst, int64(*v.Operation), 10)
	}
	return append(dst, '}')
}

// appendExtensions appends the extension members, sorted by name.
func appendExtensions(dst []byte, extensions map[string]any) []byte {
	for _, name := range slices.Sorted(maps.Keys(extensions)) {
		// Replacing invalid UTF-8 in a name could make it equal to another name.
		if isStandard(name) || !utf8.ValidString(name) {
			continue
		}
		value,
			err := json.Marshal(extensions[name], json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
		if err != nil {
			continue
		}
		dst = appendName(dst, name)
		dst = append(dst, value...)
	}
	return dst
}

// isStandard reports whether Details itself writes a member of that name.
func isStandard(name string) bool {
	switch name {
	case "type", "title", "status", "detail", "instance", "errors":
		return true
	}
	return false
}

// appendText appends a string member, unless text is empty.
func appendText(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	return appendMember(dst, name, text)
}

// appendMember appends a string member.
func appendMember(dst []byte, name, text string) []byte {
	return appendString(appendName(dst, name), text)
}

// appendName appends the name of a member, preceded by a comma unless it is the first of its
// object.
func appendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = appendString(dst, name)
	return append(dst, ':')
}

// appendString appends a JSON string. AppendQuote returns an error for invalid UTF-8 after it has
// replaced it by U+FFFD, so the error is ignored.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}
