package schema

// The struct tags: their syntax, and which of them suit the type of a field. Mistakes are errors at
// registration, not at the first request.

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// This file parses the struct tags of a field and checks that they apply to its type. All mistakes
// are errors at registration, so that no constraint is silently ignored.

// tagKeys are the struct tags of this package, in the order in which they are applied. A tag that
// is needed to check the value of another one precedes it.
var tagKeys = [...]string{
	"doc", "deprecated", "format", "readOnly", "writeOnly", "required", "unique", "set", "id", "key",
	"minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "precision", "pattern", "enum",
	"default", "example",
}

// tagSet has the tags of one field by key.
type tagSet map[string]string

// parseTags parses the tags of this package on a field of the Go type t, and ignores others. The
// error has all tags that would be ignored by mistake; see unknownTag.
func parseTags(tag reflect.StructTag, t reflect.Type) (tagSet, error) {
	tags := tagSet{}
	var mistakes []error
	rest := strings.TrimSpace(string(tag))
	for rest != "" {
		key, after, ok := strings.Cut(rest, ":")
		quoted, err := strconv.QuotedPrefix(after)
		if !ok || err != nil || key == "" || strings.ContainsAny(key, " \"") {
			return nil, fmt.Errorf("malformed struct tag at %q; write key:\"value\"", rest)
		}
		value, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, fmt.Errorf("tag %s: the value is not a Go string literal", key)
		}
		rest = strings.TrimSpace(after[len(quoted):])
		_, twice := tags[key]
		switch {
		case !slices.Contains(tagKeys[:], key):
			mistakes = append(mistakes, unknownTag(key, value, t))
		case twice:
			mistakes = append(mistakes, fmt.Errorf("tag %s occurs twice", key))
		default:
			tags[key] = value
		}
	}
	return tags, join("", mistakes...)
}

// onlyDoc rejects all tags except doc on a field that is not a member of the JSON. The reason
// completes the sentence "the field ...".
func (tags tagSet) onlyDoc(reason string) error {
	for _, key := range tagKeys {
		if _, ok := tags[key]; ok && key != "doc" {
			return fmt.Errorf("tag %s: the field %s", key, reason)
		}
	}
	return nil
}

// apply applies all tags to the field. The error has all mistakes.
func (f *Field) apply(tags tagSet) error {
	f.Format = f.Type.Format
	var mistakes []error
	for _, key := range tagKeys {
		if value, ok := tags[key]; ok {
			mistakes = append(mistakes, join("tag "+key+": ", f.applyTag(key, value)))
		}
	}
	f.setZeroInvalid()
	return join("", append(mistakes, f.checkConsistent())...)
}

// applyTag applies one tag.
func (f *Field) applyTag(key, value string) error {
	switch key {
	case "doc":
		f.Doc = value
	case "deprecated":
		f.Deprecated = value
	case "readOnly":
		return parseFlag(value, &f.ReadOnly)
	case "writeOnly":
		return parseFlag(value, &f.WriteOnly)
	case "required":
		return parseFlag(value, &f.Required)
	case "unique":
		return f.applyUnique(value)
	case "set":
		return f.applySet(value)
	case "id":
		return f.applyID(value)
	case "key":
		return f.applyElemKey(value)
	case "default":
		return f.applyDefault(value)
	case "example":
		return f.applyExample(value)
	case "minItems":
		return f.applyItems(value, &f.MinItems)
	case "maxItems":
		return f.applyItems(value, &f.MaxItems)
	default:
		if err := f.applyElem(key, value); err != nil {
			return err
		}
		f.checked = f.checked || key != "format" || f.check != nil
	}
	return nil
}

// applyElem applies a constraint on a scalar, or on each element of an array or a map.
func (f *Field) applyElem(key, value string) error {
	t := f.scalarType()
	switch key {
	case "format":
		return f.applyFormat(t, value)
	case "minLength":
		return f.applyLength(t, value, &f.MinLength)
	case "maxLength":
		return f.applyLength(t, value, &f.MaxLength)
	case "pattern":
		return f.applyPattern(t, value)
	case "minimum":
		return f.applyBound(t, value, &f.Minimum, &f.min)
	case "maximum":
		return f.applyBound(t, value, &f.Maximum, &f.max)
	case "precision":
		return f.applyPrecision(value)
	}
	return f.applyEnum(t, value)
}

// scalarType returns the type to which constraints on scalars apply. Tags reach one level: the
// elements of an array of arrays have no constraints.
func (f *Field) scalarType() *Type {
	if f.Type.Elem != nil {
		return f.Type.Elem
	}
	return f.Type
}

// parseFlag parses a boolean tag. Only true and false are valid.
func parseFlag(value string, flag *bool) error {
	switch value {
	case "true", "false":
		*flag = value == "true"
		return nil
	}
	return fmt.Errorf("write true or false, not %q", value)
}

// parseSize parses a length or a number of elements.
func parseSize(value string, size **int) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return fmt.Errorf("write an integer of at least 0, not %q", value)
	}
	*size = &n
	return nil
}

// applyItems applies minItems or maxItems.
func (f *Field) applyItems(value string, size **int) error {
	if f.Type.Kind != Array && f.Type.Kind != Map {
		return fmt.Errorf("it applies to arrays and maps, and the field is neither")
	}
	f.checked = true
	return parseSize(value, size)
}

// applyLength applies minLength or maxLength.
func (f *Field) applyLength(t *Type, value string, size **int) error {
	if !t.isText() {
		return fmt.Errorf("it applies to strings, and the field is %s", t.describe())
	}
	return parseSize(value, size)
}

// applyPattern compiles a pattern. Package regexp runs in linear time, so no input can block the
// server. It does not support lookahead and back references, which JSON Schema allows.
func (f *Field) applyPattern(t *Type, value string) error {
	if !t.isText() {
		return fmt.Errorf("it applies to strings, and the field is %s", t.describe())
	}
	pattern, err := regexp.Compile(value)
	if err != nil {
		return err
	}
	f.Pattern, f.run = pattern, newCharRun(value)
	return nil
}

// applyBound applies a minimum or a maximum. text keeps the spelling of the tag, which violations
// and the OpenAPI document repeat.
func (f *Field) applyBound(t *Type, value string, text *string, to **bound) error {
	b, err := parseBound(t, f.IsDecimal(), value)
	if err != nil {
		return err
	}
	*text, *to = value, b
	return nil
}

// maxPrecision is that of SQL type numeric in PostgreSQL.
const maxPrecision = 1000

// applyPrecision applies the number of digits of a decimal and, after a comma, how many of them are
// after the point.
func (f *Field) applyPrecision(value string) error {
	if !f.IsDecimal() {
		return fmt.Errorf("it applies to strings with format:\"decimal\"")
	}
	digits, after, hasScale := strings.Cut(value, ",")
	precision, err := strconv.Atoi(digits)
	scale := 0
	if err == nil && hasScale {
		scale, err = strconv.Atoi(after)
	}
	if err != nil || precision < 1 || precision > maxPrecision || scale < 0 || scale > precision {
		return fmt.Errorf("write the number of digits, up to %d, and how many of them are after the point, "+
			"such as 12,2, not %q", maxPrecision, value)
	}
	f.Precision, f.Scale = precision, scale
	return nil
}

// applyFormat applies a format. Known formats without a check are documentation.
func (f *Field) applyFormat(t *Type, value string) error {
	switch {
	case t.Format != "" && t.Format != value:
		return fmt.Errorf("the Go type has the format %s", t.Format)
	case t.Kind != String && t.Kind != Integer && t.Kind != Number:
		return fmt.Errorf("it applies to strings and numbers, and the field is %s", t.describe())
	}
	if err := checkFormat(value, t.Kind == String); err != nil {
		return err
	}
	f.Format = value
	if t.isText() {
		f.check, f.parseForm = formatCheck(value), formOf(value)
		f.lower = value == "uuid" && t.op == opString
	}
	return nil
}

// applyEnum parses the values of an enum. Values are separated by commas, so a value cannot contain
// one.
func (f *Field) applyEnum(t *Type, value string) error {
	if !t.isText() && t.Kind != Integer && t.Kind != Number {
		return fmt.Errorf("it applies to strings and numbers, and the field is %s", t.describe())
	}
	for text := range strings.SplitSeq(value, ",") {
		text = f.Spell(text)
		v, err := f.parseScalar(t, text)
		if err != nil {
			return fmt.Errorf("%q %w", text, err)
		}
		switch {
		case strings.TrimSpace(text) != text:
			return fmt.Errorf("%q begins or ends with a space; write no spaces around commas", text)
		case slices.Contains(f.allowed, v):
			return fmt.Errorf("%q occurs twice", text)
		}
		f.allowed = append(f.allowed, v)
		f.Enum = append(f.Enum, f.tagValue(v, text))
		if err := f.checkTagValue(t, text); err != nil {
			return err
		}
	}
	return nil
}

// storeDefault is the default of a field that the store sets.
const storeDefault = "db"

// applyDefault parses a default and checks it against the constraints. An invalid default would
// make every document without the member invalid. Required fields have none, so checkScalar needs
// no case for absence.
func (f *Field) applyDefault(value string) error {
	if value == storeDefault {
		if slices.Contains(f.allowed, any(storeDefault)) {
			return fmt.Errorf("%q leaves the value to the store, and yet it is in the enum; rename the value",
				storeDefault)
		}
		f.StoreDefault = true
		return nil
	}
	if !f.Comparable() {
		return fmt.Errorf("it applies to strings, numbers and booleans, and the field is %s",
			f.Type.describe())
	}
	value = f.Spell(value)
	v, err := f.Parse(value)
	if err != nil {
		return fmt.Errorf("%q %w", value, err)
	}
	if err := f.checkTagValue(f.Type, value); err != nil {
		return err
	}
	f.Default, f.defaultText = f.tagValue(v, value), value
	return nil
}

// checkTagValue checks a value of a tag like one of a client, against the constraints that precede the tag.
func (f *Field) checkTagValue(t *Type, text string) error {
	probe := reflect.New(t.GoType).Elem()
	if err := t.setFromText(probe, text); err != nil {
		return fmt.Errorf("%q %w", text, err)
	}
	var c checker
	c.checkScalar(f, t, probe)
	if len(c.found) > 0 {
		return fmt.Errorf("%q %s", text, strings.TrimPrefix(c.found[0].Detail, subject("")+" "))
	}
	return nil
}

// applyExample parses an example. It is not checked against the constraints, because an example may
// show an invalid value.
func (f *Field) applyExample(value string) error {
	if !f.Comparable() {
		raw := jsontext.Value(value)
		if !raw.IsValid() {
			return fmt.Errorf("the field is %s, so its example must be JSON", f.Type.describe())
		}
		f.Example = raw
		return nil
	}
	v, err := f.Parse(value)
	if err != nil {
		return fmt.Errorf("%q %w", value, err)
	}
	f.Example = f.tagValue(v, value)
	return nil
}

// tagValue returns the canonical value v of a tag or, if documents spell the value in many ways, its
// text.
func (f *Field) tagValue(v any, text string) any {
	if f.parseForm != nil {
		return text
	}
	return v
}

// checkConsistent returns an error if tags of the field contradict each other.
func (f *Field) checkConsistent() error {
	switch {
	case f.ReadOnly && f.WriteOnly:
		return fmt.Errorf("tags readOnly and writeOnly exclude each other; to hide the field use json:\"-\"")
	case f.ReadOnly && f.Required:
		return fmt.Errorf("tags readOnly and required exclude each other; remove one of them")
	case f.Required && (f.Default != nil || f.StoreDefault):
		return fmt.Errorf("tags required and default exclude each other; remove one of them")
	case f.StoreDefault && !f.Nullable && !f.ReadOnly && f.Type.hasZero():
		return fmt.Errorf("tag default: a client could not set the value %s, which would be left to the "+
			"store; use a pointer, such as *%s", zeroText(f.Type), f.Type.GoType)
	case f.Required && (f.OmitZero || f.OmitEmpty):
		return fmt.Errorf("tag required: remove omitzero and omitempty, which omit the member from responses")
	case exceeds(f.MinLength, f.MaxLength):
		return fmt.Errorf("tag minLength is more than maxLength")
	case exceeds(f.MinItems, f.MaxItems):
		return fmt.Errorf("tag minItems is more than maxItems")
	case f.min != nil && f.max != nil && f.min.compare(f.max) > 0:
		return fmt.Errorf("tag minimum is more than maximum")
	case f.Unique && f.Type.Kind == Map:
		return fmt.Errorf("tag unique: it applies to arrays and scalars, and the field is a map")
	}
	if err := f.checkSatisfiable(); err != nil {
		return err
	}
	f.checked = f.checked || f.Unique && f.Type.Kind == Array
	return nil
}

// hasZero reports whether the zero value is one that clients send on purpose: false or 0.
func (t *Type) hasZero() bool {
	return t.Kind == Boolean || t.Kind == Integer || t.Kind == Number
}

// zeroText returns the zero value of a number or a boolean as JSON.
func zeroText(t *Type) string {
	if t.Kind == Boolean {
		return "false"
	}
	return "0"
}

// exceeds reports whether the minimum is greater than the maximum. Nil means no limit.
func exceeds(least, most *int) bool {
	return least != nil && most != nil && *least > *most
}

// isText reports whether constraints on strings apply. They do not apply to times and bytes.
func (t *Type) isText() bool {
	return t.op == opString || t.op == opText
}

// describe returns the name of the type with its article, for error messages.
func (t *Type) describe() string {
	switch t.op {
	case opJSON:
		return "any JSON"
	case opTime:
		return "a date-time"
	case opBytes:
		return "bytes"
	case opMap:
		return "a map"
	case opObject, opSlice, opArray, opInt, opUint:
		return "an " + t.Kind.String()
	}
	return "a " + t.Kind.String()
}
