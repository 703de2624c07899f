package keys

import (
	"reflect"

	"github.com/stoa-go/stoa/resource/schema"
)

// ID is the id field of items: a string or an integer that is not nullable. A string may be computed
// from the fields of a Key.
type ID struct {
	*schema.Field
	kind reflect.Kind // String, Int64 or Uint64 if it can be read as such, otherwise Invalid
}

// NewID returns the ID for a field. A type of its own over string may have text methods, so only
// string itself is read directly.
func NewID(f *schema.Field) *ID {
	id := &ID{Field: f, kind: integerKind(f.Type)}
	if f.Key == nil && f.Type.GoType == reflect.TypeFor[string]() {
		id.kind = reflect.String
	}
	return id
}

// in returns the Go field in v, a pointer to an item. Embedded structs have an index each.
func (id *ID) in(v any) reflect.Value {
	f := reflect.ValueOf(v).Elem().Field(id.Index[0])
	for _, i := range id.Index[1:] {
		f = f.Field(i)
	}
	return f
}

// IsString reports whether the field is of the type string, so that Address can return it.
func (id *ID) IsString() bool { return id.kind == reflect.String }

// Address returns a pointer to the id field of v, a pointer to an item. It is nil unless IsString.
func (id *ID) Address(v any) *string {
	text, _ := reflect.TypeAssert[*string](id.in(v).Addr())
	return text
}

// Of returns the id in v, a pointer to an item.
func (id *ID) Of(v any) string {
	if id.kind == reflect.String {
		return id.in(v).String()
	}
	return id.Text(v)
}

// Is reports whether the id in v, a pointer to an item, is text. It is called for each row of each
// list.
func (id *ID) Is(v any, text string) bool {
	f := id.in(v)
	switch id.kind {
	case reflect.String:
		return f.String() == text
	case reflect.Int64:
		// Negative ids are rare, and the text below compares them.
		if n := f.Int(); n >= 0 {
			return isDecimal(text, uint64(n))
		}
	case reflect.Uint64:
		return isDecimal(text, f.Uint())
	}
	return id.Text(v) == text
}

// isDecimal reports whether s is n in decimal, without leading zeros. It compares from the last
// digit and allocates nothing.
func isDecimal(s string, n uint64) bool {
	for i := len(s) - 1; i > 0; i-- {
		if s[i] != byte('0'+n%10) {
			return false
		}
		n /= 10
	}
	return len(s) > 0 && n < 10 && s[0] == byte('0'+n) && (n > 0 || len(s) == 1)
}

// Canonical reports whether text is an id as the field would spell it: 01 and +1 are not the item
// 1. A store must not see other spellings, because two URLs of one item have two entries in caches.
func (id *ID) Canonical(text string) bool {
	if id.Key != nil {
		_, err := id.ParseKey(text)
		return err == nil
	}
	if id.Type.Kind != schema.Integer {
		return text != ""
	}
	digits := text
	if digits != "" && digits[0] == '-' && !id.Type.Unsigned {
		digits = digits[1:]
	}
	if digits == "" || digits[0] == '0' && len(text) > 1 {
		return false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	if len(digits) <= id.Type.Bits*3/10-1 { // it fits: a bit is 0.301 digits
		return true
	}
	_, err := id.Parse(text)
	return err == nil
}
