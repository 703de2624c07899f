package schema

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// tagKeys are the struct tags of this package, in the order in which they are applied: what the value of one is checked
// against comes before it.
var tagKeys = [...]string{
	"doc", "deprecated", "format", "readOnly", "writeOnly", "required", "unique",
	"minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "pattern", "enum", "default", "example",
}

// tagSet is what the tags of one field say, by key.
type tagSet map[string]string

// parseTags reads the tags of this package. Tags of others are theirs, but one that is spelled almost like ours would be
// a constraint that nobody enforces, so it is an error.
func parseTags(tag reflect.StructTag) (tagSet, error) {
	tags := tagSet{}
	rest := strings.TrimSpace(string(tag))
	for rest != "" {
		key, after, ok := strings.Cut(rest, ":")
		quoted, err := strconv.QuotedPrefix(after)
		if !ok || err != nil || key == "" || strings.ContainsAny(key, " \"") {
			return nil, fmt.Errorf("the struct tag is malformed at %q; each key is followed by a colon and a quoted text", rest)
		}
		value, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, fmt.Errorf("tag %s: the value is not a Go string", key)
		}
		rest = strings.TrimSpace(after[len(quoted):])
		if err := tags.put(key, value); err != nil {
			return nil, err
		}
	}
	return tags, nil
}

// put adds a tag if it is one of ours.
func (tags tagSet) put(key, value string) error {
	if slices.Contains(tagKeys[:], key) {
		if _, twice := tags[key]; twice {
			return fmt.Errorf("tag %s stands there twice", key)
		}
		tags[key] = value
		return nil
	}
	// Tags differ in fashion more than in letters: min_length and readonly are what comes from other libraries.
	folded := strings.NewReplacer("_", "", "-", "").Replace(key)
	for _, known := range tagKeys {
		if strings.EqualFold(folded, known) {
			return fmt.Errorf("tag %s is not known; write %s", key, known)
		}
	}
	return nil
}

// onlyDoc refuses tags on a field that has no place in the JSON; why says so.
func (tags tagSet) onlyDoc(why string) error {
	for _, key := range tagKeys {
		if _, ok := tags[key]; ok && key != "doc" {
			return fmt.Errorf("tag %s: the field %s", key, why)
		}
	}
	return nil
}

// apply sets the field up from its tags.
func (f *Field) apply(tags tagSet) error {
	f.Format = f.Type.Format
	for _, key := range tagKeys {
		value, ok := tags[key]
		if !ok {
			continue
		}
		if err := f.applyTag(key, value); err != nil {
			return fmt.Errorf("tag %s: %w", key, err)
		}
	}
	return f.contradiction()
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
		return parseFlag(value, &f.Unique)
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

// applyElem applies the constraints that concern the value itself, or each element of an array or map.
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
	}
	return f.applyEnum(t, value)
}

// scalarType is the type that the constraints on values concern.
func (f *Field) scalarType() *Type {
	if f.Type.Elem != nil {
		return f.Type.Elem
	}
	return f.Type
}

// parseFlag reads a tag that says yes or no. Other spellings of true are refused, because a reader of required:"1" has
// to guess.
func parseFlag(value string, flag *bool) error {
	switch value {
	case "true", "false":
		*flag = value == "true"
		return nil
	}
	return fmt.Errorf("write true or false, not %q", value)
}

// parseSize reads a number of characters or elements.
func parseSize(value string, size **int) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return fmt.Errorf("write a number that is not negative, not %q", value)
	}
	*size = &n
	return nil
}

// applyItems applies a bound on the number of elements.
func (f *Field) applyItems(value string, size **int) error {
	if f.Type.Kind != Array && f.Type.Kind != Map {
		return fmt.Errorf("it is for arrays and maps, and the field is neither")
	}
	f.checked = true
	return parseSize(value, size)
}

// applyLength applies a bound on the length of a string.
func (f *Field) applyLength(t *Type, value string, size **int) error {
	if !t.isText() {
		return fmt.Errorf("it is for strings, and the field is %s", t.describe())
	}
	return parseSize(value, size)
}

// applyPattern compiles a pattern. Package regexp takes linear time, so that a client's string cannot stop the server;
// the price is that lookahead and back references of ECMAScript, which JSON Schema has, are errors here.
func (f *Field) applyPattern(t *Type, value string) error {
	if !t.isText() {
		return fmt.Errorf("it is for strings, and the field is %s", t.describe())
	}
	pattern, err := regexp.Compile(value)
	if err != nil {
		return err
	}
	f.Pattern = pattern
	return nil
}

// applyBound applies a minimum or a maximum.
func (f *Field) applyBound(t *Type, value string, text *string, to **bound) error {
	b, err := parseBound(t, value)
	if err != nil {
		return err
	}
	*text, *to = value, b
	return nil
}

// applyFormat accepts any format for strings, and leaves those that it does not know to documentation.
func (f *Field) applyFormat(t *Type, value string) error {
	switch {
	case t.Format != "" && t.Format != value:
		return fmt.Errorf("the Go type has the format %s", t.Format)
	case t.Kind != String && t.Kind != Integer && t.Kind != Number:
		return fmt.Errorf("it is for strings and numbers, and the field is %s", t.describe())
	}
	f.Format = value
	if t.isText() {
		f.check = formatOf(value)
	}
	return nil
}

// applyEnum reads the values that there are.
func (f *Field) applyEnum(t *Type, value string) error {
	if !t.isText() && t.Kind != Integer && t.Kind != Number {
		return fmt.Errorf("it is for strings and numbers, and the field is %s", t.describe())
	}
	var enum []any
	for text := range strings.SplitSeq(value, ",") {
		v, err := t.parse(text)
		if err != nil {
			return fmt.Errorf("%q %w", text, err)
		}
		if slices.Contains(enum, v) {
			return fmt.Errorf("%q stands there twice", text)
		}
		enum = append(enum, v)
	}
	f.Enum = enum
	return nil
}

// applyDefault reads a default, which must itself be valid: otherwise every document without the member would be refused
// for something that its author did not write.
func (f *Field) applyDefault(value string) error {
	if !f.Comparable() {
		return fmt.Errorf("it is for strings, numbers and booleans, and the field is %s", f.Type.describe())
	}
	v, err := f.Parse(value)
	if err != nil {
		return fmt.Errorf("%q %w", value, err)
	}
	// The same checks as for a value from a client, on a value that has nothing but the default.
	probe := reflect.New(f.Type.GoType).Elem()
	if err := f.Type.set(probe, value); err != nil {
		return fmt.Errorf("%q %w", value, err)
	}
	var c checker
	c.scalar(f, f.Type, probe)
	if len(c.found) > 0 {
		return fmt.Errorf("%q %s", value, c.found[0].Detail)
	}
	f.Default, f.defaultText = v, value
	return nil
}

// applyExample reads an example. It need not keep the constraints, as some examples show what is refused.
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
	f.Example = v
	return nil
}

// contradiction reports tags that cannot all be meant.
func (f *Field) contradiction() error {
	switch {
	case f.ReadOnly && f.WriteOnly:
		return fmt.Errorf("tags readOnly and writeOnly leave nothing to do with the field; hide it with json:\"-\"")
	case f.ReadOnly && f.Required:
		return fmt.Errorf("tags readOnly and required: no client can give what only the server decides")
	case f.Required && f.Default != nil:
		return fmt.Errorf("tags required and default: a member that must be there needs no default")
	case f.Required && (f.OmitZero || f.OmitEmpty):
		return fmt.Errorf("tag required: omitzero and omitempty would leave the member out of what is written")
	case exceeds(f.MinLength, f.MaxLength):
		return fmt.Errorf("tag minLength is more than maxLength")
	case exceeds(f.MinItems, f.MaxItems):
		return fmt.Errorf("tag minItems is more than maxItems")
	case f.min != nil && f.max != nil && f.min.compare(f.max) > 0:
		return fmt.Errorf("tag minimum is more than maximum")
	case f.Unique && f.Type.Kind == Map:
		return fmt.Errorf("tag unique: it is for arrays and scalars, and the field is a map")
	}
	f.checked = f.checked || f.Unique && f.Type.Kind == Array
	return nil
}

// exceeds reports whether two bounds, where there are both, leave nothing between them.
func exceeds(least, most *int) bool {
	return least != nil && most != nil && *least > *most
}

// isText reports whether constraints on strings make sense: not on times and bytes, whose form is fixed.
func (t *Type) isText() bool {
	return t.op == opString || t.op == opText
}

// describe names the type for an error message, with its article.
func (t *Type) describe() string {
	switch t.op {
	case opForeign:
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
