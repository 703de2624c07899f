package schema

// The formats of strings, such as email and uuid. validate.go calls their checks, and tags.go
// rejects unknown formats.

import (
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/near"
)

// textFormats and numberFormats are the formats of JSON Schema (draft 2020-12, Validation section
// 7.3) and of the OpenAPI Format Registry. The latter apply to numbers and to strings. Those without
// a check (formatCheck) are documentation; the package documentation lists them.
var (
	textFormats = []string{
		"date-time", "date", "time", "time-local", "duration", "email", "uuid", "uri", "hostname", "ipv4",
		"ipv6", "idn-email", "idn-hostname", "uri-reference", "uri-template", "iri", "iri-reference",
		"json-pointer", "relative-json-pointer", "regex",
		"base64url", "binary", "byte", "char", "commonmark", "date-time-local", "html", "http-date",
		"media-range", "password", "sf-binary", "sf-boolean", "sf-string", "sf-token",
	}
	numberFormats = []string{
		"decimal", "decimal128", "double", "double-int", "float", "int8", "int16", "int32", "int64",
		"sf-decimal", "sf-integer", "uint8", "uint16", "uint32", "uint64", "unixtime",
	}
)

// checkFormat returns an error if a format is unknown or, unless the field is a string, if it is one
// of strings only. Formats of an application begin with x-.
func checkFormat(format string, isString bool) error {
	known := slices.Concat(textFormats, numberFormats)
	switch {
	case strings.HasPrefix(format, "x-") && len(format) > len("x-"), slices.Contains(numberFormats, format):
		return nil
	case slices.Contains(textFormats, format):
		if !isString {
			return fmt.Errorf("%s applies to strings, and the field is a number", format)
		}
		return nil
	}
	if similar := near.Of(format, known); similar != "" {
		return fmt.Errorf("unknown format %q; use %s", format, similar)
	}
	return fmt.Errorf("unknown format %q; use one of JSON Schema or OpenAPI, such as date-time, or x-%s",
		format, format)
}

// formatCheck returns the check for a format of JSON Schema (draft 2020-12, Validation section
// 7.3), or nil if the format is not checked. Packages mail, url and netip accept more than the
// formats allow, so the checks restrict them.
func formatCheck(format string) func(string) bool {
	switch format {
	case "date-time":
		return isDateTime
	case "date":
		return isDate
	case "time":
		return isTime
	case "time-local":
		return isLocalTime
	case "duration":
		return isDurationText
	case "decimal":
		return isDecimalText
	case "email":
		return isEmail
	case "uuid":
		return isUUID
	case "uri":
		return isURI
	case "hostname":
		return isHostname
	case "ipv4":
		return isIPv4
	case "ipv6":
		return isIPv6
	}
	return nil
}

// formatDetail describes a format with its article, for violations.
func formatDetail(format string) string {
	switch format {
	case "date-time":
		return "a date-time as in RFC 3339, like 2006-01-02T15:04:05Z"
	case "date":
		return "a date, like 2006-01-02"
	case "time":
		return "a time with its offset, like 15:04:05Z"
	case "time-local":
		return "a time without an offset, like 15:04:05"
	case "duration":
		return "a duration as in ISO 8601, like P1DT2H30M"
	case "decimal":
		return "a decimal number in a string, like 12.50"
	case "email":
		return "an email address"
	case "uuid":
		return "a UUID"
	case "uri":
		return "an absolute URI"
	case "hostname":
		return "a host name"
	case "ipv4":
		return "an IPv4 address"
	}
	return "an IPv6 address"
}

// isDateTime accepts the same texts as a field of type time.Time.
func isDateTime(s string) bool {
	_, err := parseTime([]byte(s))
	return err == nil
}

// isDate checks a full-date of RFC 3339 section 5.6, including the number of days of the month.
func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// isTime checks a full-time of RFC 3339 section 5.6.
func isTime(s string) bool {
	return isDateTime("2006-01-02T" + s)
}

// isLocalTime checks a partial-time of RFC 3339 section 5.6.
func isLocalTime(s string) bool {
	return isTime(s + "Z")
}

// formParser parses the canonical value of a text of some format.
type formParser func(text string) (any, error)

// formOf returns the parser of the canonical values of a format, or nil if they are the texts.
func formOf(format string) formParser {
	switch format {
	case "decimal":
		return func(text string) (any, error) { return query.ParseDecimal(text) }
	case "duration":
		return func(text string) (any, error) { return query.ParseDuration(text) }
	case "time-local":
		return func(text string) (any, error) { return canonicalLocalTime(text), checkText(text) }
	}
	return nil
}

// checkText returns an error for a text that is no UTF-8.
func checkText(text string) error {
	if !utf8.ValidString(text) {
		return errNotUTF8
	}
	return nil
}

// canonicalLocalTime removes the zeros at the end of a fraction, as PostgreSQL does. Other texts are
// unchanged.
func canonicalLocalTime(text string) string {
	if !isLocalTime(text) || !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// isDurationText checks a duration of RFC 3339 appendix A, as [query.ParseDuration] accepts it.
func isDurationText(s string) bool {
	_, err := query.ParseDuration(s)
	return err == nil
}

// withoutExponent returns the text of a decimal without an exponent, which the text methods of decimal
// types of other libraries write for small and large numbers. Other texts are unchanged.
func (f *Field) withoutExponent(text string) string {
	if f.Format == "decimal" && strings.ContainsAny(text, "eE") {
		if d, err := query.ParseDecimal(text); err == nil {
			return d.String()
		}
	}
	return text
}

// isDecimalText checks a decimal number. Contrary to [query.ParseDecimal] it accepts no exponent, because
// clients and databases write none.
func isDecimalText(s string) bool {
	_, err := query.ParseDecimal(s)
	return err == nil && !strings.ContainsAny(s, "eE")
}

// isEmail accepts an addr-spec as package mail parses and formats it. Display names, comments and
// folding are not valid, because they belong to message headers. The limit is that of RFC 5321
// section 4.5.3.1.3: a path of 256 octets with its angle brackets.
func isEmail(s string) bool {
	address, err := mail.ParseAddress(s)
	if err != nil || address.Name != "" || address.Address != s || len(s) > 254 {
		return false
	}
	domain := s[strings.LastIndexByte(s, '@')+1:]
	return !strings.ContainsAny(s, " \t\r\n\"") && !strings.HasPrefix(domain, "[")
}

// isUUID checks the text form of RFC 9562 section 4.
func isUUID(s string) bool {
	if len(s) != len("00000000-0000-0000-0000-000000000000") {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !isHex(c) {
				return false
			}
		}
	}
	return true
}

// Spell returns a text of the field, or of an element, as a document with it is decoded: a UUID in lower
// case (RFC 9562 section 4), so that all stores find it. Other texts are unchanged. Of a field with a Key
// it is the id.
func (f *Field) Spell(text string) string {
	switch {
	case f.lower && isUUID(text):
		return strings.ToLower(text)
	case slices.ContainsFunc(f.Key, func(part *Field) bool { return part.lower }):
		parts := strings.Split(text, ",")
		for i := range min(len(parts), len(f.Key)) {
			parts[i] = f.Key[i].Spell(parts[i])
		}
		return strings.Join(parts, ",")
	}
	return text
}

// lowerUUIDs is Spell for the Go value of a field, also for its elements. A value that equals was, that
// of the base, keeps its spelling: items may be older than the rule.
func lowerUUIDs(v, was reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		s := v.String()
		switch {
		case !isUUID(s):
		case was.IsValid() && strings.EqualFold(s, was.String()):
			v.Set(was)
		default:
			v.SetString(strings.ToLower(s))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			lowerUUIDs(v.Elem(), reflect.Value{})
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			lowerUUIDs(v.Index(i), reflect.Value{})
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			elem := reflect.New(v.Type().Elem()).Elem()
			elem.Set(v.MapIndex(key))
			lowerUUIDs(elem, reflect.Value{})
			v.SetMapIndex(key, elem)
		}
	}
}

// isHex reports whether c is a hexadecimal digit of either case.
func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// isURI checks a URI of RFC 3986 with a scheme. The loop rejects characters that must be escaped
// and that package url accepts.
func isURI(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			return false
		}
	}
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && (u.Host != "" || u.Path != "" || u.Opaque != "")
}

// isHostname checks a host name of RFC 1123 section 2.1. The limits are those of RFC 1035 section
// 2.3.4, without the length octets. An internationalized name must be in its A-label form (RFC
// 5890).
func isHostname(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			c := label[i]
			if c != '-' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
				return false
			}
		}
	}
	return true
}

// isIPv4 checks a dotted-quad of RFC 2673 section 3.2. Leading zeros are invalid, because some
// programs parse them as octal.
func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}

// isIPv6 checks an address of RFC 4291 section 2.2. A zone is invalid, because it is local to one
// host.
func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && a.Zone() == ""
}
