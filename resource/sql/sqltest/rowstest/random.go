package rowstest

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/schema"
)

// random makes values that every engine accepts.
type random struct{ *rand.Rand }

// item sets all fields of v, a pointer to a struct, that a client can write.
func (r random) item(t *schema.Type, v any) {
	s := reflect.ValueOf(v).Elem()
	for _, f := range t.Fields {
		sf := t.GoType.FieldByIndex(f.Index)
		if !f.ReadOnly && sf.Tag.Get("db") != "-" {
			r.set(s.FieldByIndex(f.Index), f, sf.Tag.Get("sql"))
		}
	}
}

// set sets a value of a field. sql is the tag of its column, without that of an array.
func (r random) set(v reflect.Value, f *schema.Field, sql string) {
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = r.time(sql)
		return
	case *netip.Addr:
		*p = r.addr()
		return
	case *netip.Prefix:
		*p, _ = r.addr().Prefix(r.IntN(32))
		return
	case *json.RawMessage:
		*p, _ = json.Marshal(r.document(3))
		return
	case *[]byte:
		*p = make([]byte, r.IntN(5))
		for i := range *p {
			(*p)[i] = byte(r.Uint32())
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.SetZero(); r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			r.set(v.Elem(), f, sql)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(4), 4))
		for i := range v.Len() {
			r.set(v.Index(i), f, strings.TrimSuffix(sql, "[]"))
		}
	case reflect.Map:
		if v.SetZero(); r.IntN(3) > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range r.IntN(4) {
				elem := reflect.New(v.Type().Elem()).Elem()
				r.set(elem, f, "")
				v.SetMapIndex(reflect.ValueOf(r.text(5)), elem)
			}
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf(&[]any{r.document(3)}[0]).Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			r.set(v.Field(i), f, "")
		}
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.String:
		v.SetString(r.string(f, sql))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(r.float(v.Type().Bits(), sql))
	default:
		bits := v.Type().Bits()
		if sql == "integer" {
			bits = 32
		}
		n := int64(r.Uint64()) >> (64 - bits) >> r.IntN(bits)
		if v.CanUint() {
			n = int64(uint64(n) & (1<<(bits-1) - 1))
			v.SetUint(uint64(n))
			return
		}
		v.SetInt(n)
	}
}

// time returns a time in the years 1 to 9999 with microseconds, the resolution of PostgreSQL.
func (r random) time(sql string) time.Time {
	first, last := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	seconds := first.Unix() + r.Int64N(last.Unix()-first.Unix())
	if r.IntN(3) > 0 {
		seconds = 1.5e9 + r.Int64N(1e9)
	}
	at := time.Unix(seconds, 0).UTC()
	if sql == "date" {
		return at.Truncate(24 * time.Hour)
	}
	return at.Add(time.Duration(pick(r, 0, 500_000, r.IntN(1e6))) * time.Microsecond)
}

func (r random) addr() netip.Addr {
	var b [16]byte
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	b[0] = 0x20 // not an IPv4 address in IPv6
	if r.IntN(2) == 0 {
		return netip.AddrFrom4([4]byte(b[:4]))
	}
	return netip.AddrFrom16(b)
}

// float returns any number of the type, often one of few digits.
func (r random) float(bits int, sql string) float64 {
	switch {
	case sql == "numeric(12,4)":
		return float64(r.Int64N(1e12)-5e11) / 1e4
	case r.IntN(2) == 0:
		return float64(r.IntN(2e6)-1e6) / float64(pick(r, 1, 4, 100))
	}
	for {
		f := math.Float64frombits(r.Uint64())
		if bits == 32 || sql == "real" {
			f = float64(math.Float32frombits(r.Uint32()))
		}
		if !math.IsNaN(f) && !math.IsInf(f, 0) && f != 0 {
			return f
		}
	}
}

// string returns a value of the field's format.
func (r random) string(f *schema.Field, sql string) string {
	scalar := f.Type.Kind == schema.String || f.Type.Kind == schema.Array
	switch {
	case scalar && f.Enum != nil:
		return f.Enum[r.IntN(len(f.Enum))].(string)
	case scalar && f.Format == "uuid":
		a, b := r.Uint64(), r.Uint64()
		return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", uint32(a), uint16(a>>32), a>>52, b&0xfff, b>>16)
	case scalar && f.Format == "date":
		return r.time("date").Format(time.DateOnly)
	case scalar && f.Format == "time-local":
		return r.time("").Format("15:04:05.999999")
	case scalar && f.Format == "time":
		return r.time("").Format("15:04:05.999999") + pick(r, "+00:00", "+02:00", "-03:30", "+05:45")
	case scalar && f.Format == "duration":
		return pick(r, "PT0S", "P1M", "P31D", "PT-1S", "P1Y2M3DT4H5M6.5S", fmt.Sprintf("P%dDT%dM%d.%06dS",
			r.IntN(99), r.IntN(60), r.IntN(60), r.IntN(1e6)))
	case scalar && f.Format == "decimal":
		digits, scale := f.Precision, f.Scale
		if digits == 0 {
			digits, scale = 9, 2
		}
		whole := r.Int64N(int64(math.Pow10(digits - scale)))
		rest := r.Int64N(int64(math.Pow10(scale)))
		return fmt.Sprintf("%s%d.%0*d", pick(r, "", "-"), whole>>r.IntN(30), scale, rest)
	case strings.HasPrefix(sql, "char("):
		return strings.TrimRight(r.text(4), " ")
	}
	return r.text(pick(r, 3, 20))
}

// letters have one, two, three and four bytes, and need escapes in JSON.
var letters = []rune("abcdefghijklmnopqrstuvwxyz ABC 0123456789 " +
	"\"\\/\b\f\n\r\t\x01\x1f\x7f<>&'é\u2028\ufffd漢𝄞")

// text returns up to n letters, most of them plain.
func (r random) text(n int) string {
	plain := r.IntN(2) == 0
	b := make([]rune, r.IntN(n+1))
	for i := range b {
		if b[i] = letters[r.IntN(len(letters))]; plain {
			b[i] = letters[r.IntN(26)]
		}
	}
	return string(b)
}

// document returns a JSON value without null at its top, which is not stored as it is.
func (r random) document(depth int) any {
	kind := r.IntN(6)
	if depth == 0 {
		kind = r.IntN(3)
	}
	switch kind {
	case 0:
		return r.text(8)
	case 1:
		return float64(r.IntN(2e6)-1e6) / 8
	case 2:
		return r.IntN(2) == 0
	case 3:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = r.document(depth - 1)
		}
		return list
	}
	object := map[string]any{}
	for range r.IntN(4) {
		object[r.text(4)] = r.document(depth - 1)
	}
	return object
}

// pick returns one of the values.
func pick[T any](r random, values ...T) T { return values[r.IntN(len(values))] }
