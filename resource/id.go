package resource

// Ids: the id field of an item, its text, and the one canonical spelling of each id. Called by core.go, read.go and write.go.

import (
	"reflect"
	"strconv"

	"github.com/stoa-go/stoa/resource/schema"
)

func idField(name string, typ *schema.Type, id string) *schema.Field {
	f := typ.Field(id)
	if f == nil {
		panic("resource: " + name + ": " + typ.GoType.String() + " has no field with the JSON name " +
			strconv.Quote(id) + "; say in Options.ID which one identifies an item")
	}
	if k := f.Type.Kind; f.Nullable || k != schema.String && k != schema.Integer {
		panic("resource: " + name + ": the id field " + strconv.Quote(id) + " must be a string or an integer")
	}
	return f
}

// idValue returns the id field in v.
func (h *core) idValue(v any) reflect.Value {
	f := reflect.ValueOf(v).Elem().Field(h.id.Index[0])
	for _, i := range h.id.Index[1:] {
		f = f.Field(i)
	}
	return f
}

// idOf returns what the id field of v says.
func (h *core) idOf(v any) string {
	if h.idKind == reflect.String {
		return h.idValue(v).String()
	}
	return h.id.Text(v)
}

// hasID reports whether the id field of v says id. It is asked for every row of every list, so it builds no strings.
func (h *core) hasID(v any, id string) bool {
	f := h.idValue(v)
	switch h.idKind {
	case reflect.String:
		return f.String() == id
	case reflect.Int64:
		if n := f.Int(); n >= 0 {
			return isDecimal(id, uint64(n))
		}
	case reflect.Uint64:
		return isDecimal(id, f.Uint())
	}
	return h.id.Text(v) == id
}

// isDecimal reports whether s is how strconv would write n.
func isDecimal(s string, n uint64) bool {
	for i := len(s) - 1; i > 0; i-- {
		if s[i] != byte('0'+n%10) {
			return false
		}
		n /= 10
	}
	return len(s) > 0 && n < 10 && s[0] == byte('0'+n) && (n > 0 || len(s) == 1)
}

// kindOfID tells hasID how the id field can be read without building a string; reflect.Invalid if it cannot.
func kindOfID(f *schema.Field) reflect.Kind {
	switch k := f.Type.GoType.Kind(); {
	case f.Type.GoType == reflect.TypeFor[string]():
		return reflect.String
	case f.Type.Kind == schema.Integer && k >= reflect.Int && k <= reflect.Int64:
		return reflect.Int64
	case f.Type.Kind == schema.Integer && k >= reflect.Uint && k <= reflect.Uint64:
		return reflect.Uint64
	}
	return reflect.Invalid
}

// ValidID reports whether an item of the collection can have this id: an integer is written without sign and leading zeros, so
// 01 and +1 are not the item 1.
func (r *Resource) ValidID(id string) bool { return r.core.canonical(id) }

// canonical reports whether id is spelled as the id field would spell it: 01 and +1 are not the item 1.
func (h *core) canonical(id string) bool {
	if h.id.Type.Kind != schema.Integer {
		return id != ""
	}
	digits := id
	if digits != "" && digits[0] == '-' && !h.id.Type.Unsigned {
		digits = digits[1:]
	}
	if digits == "" || digits[0] == '0' && len(id) > 1 {
		return false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	if len(digits) <= h.id.Type.Bits*3/10-1 { // fits: a bit is 0.301 digits
		return true
	}
	_, err := h.id.Parse(id)
	return err == nil
}
