package schema_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

// source makes values of bytes; when there are none left, everything is zero.
type source struct{ data []byte }

func (s *source) next(n int) []byte {
	b := make([]byte, n)
	s.data = s.data[copy(b, s.data):]
	return b
}

func (s *source) byte() byte     { return s.next(1)[0] }
func (s *source) uint64() uint64 { return binary.LittleEndian.Uint64(s.next(8)) }

// text is short, may be invalid UTF-8, and often has what must be escaped.
func (s *source) text() string { return string(s.next(int(s.byte() % 16))) }

// fill sets v to something that depends on the source. Cycles cannot arise, and depth ends with the bytes.
func (s *source) fill(v reflect.Value) {
	if special := s.special(v.Type()); special != nil {
		v.Set(reflect.ValueOf(special))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(s.byte()&1 == 1)
	case reflect.String:
		v.SetString(s.text())
	case reflect.Int, reflect.Int8, reflect.Int64:
		v.SetInt(int64(s.uint64()))
	case reflect.Uint8, reflect.Uint16, reflect.Uint64:
		v.SetUint(s.uint64())
	case reflect.Float32, reflect.Float64:
		v.SetFloat(math.Float64frombits(s.uint64()))
	case reflect.Pointer:
		if s.byte()&1 == 1 {
			v.Set(reflect.New(v.Type().Elem()))
			s.fill(v.Elem())
		}
	case reflect.Slice:
		n := int(s.byte() % 4)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		s.fillAll(v)
	case reflect.Array:
		s.fillAll(v)
	case reflect.Map:
		s.fillMap(v)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() || v.Type().Field(i).Anonymous {
				s.fill(f)
			}
		}
	}
}

func (s *source) fillAll(v reflect.Value) {
	for i := range v.Len() {
		s.fill(v.Index(i))
	}
}

func (s *source) fillMap(v reflect.Value) {
	n := int(s.byte() % 4)
	if n == 0 {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for range n {
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		s.fill(key)
		s.fill(elem)
		v.SetMapIndex(key, elem)
	}
}

// special makes values of the types about whose inside package reflect does not say enough.
func (s *source) special(t reflect.Type) any {
	values := []string{"null", "1e400", `{"b":1,"a":[2]}`, `"x"`, "{", `"\ud800"`, ` [ 1 ] `}
	switch t {
	case reflect.TypeFor[time.Time]():
		zone := time.FixedZone("", int(int16(s.uint64()))*10)
		return time.Unix(int64(s.uint64()%(1<<39))-1<<37, int64(s.uint64()%1e9)).In(zone)
	case reflect.TypeFor[colour]():
		return colour{s.text()}
	case reflect.TypeFor[opaque]():
		return opaque{values[int(s.byte())%len(values)]}
	case reflect.TypeFor[jsontext.Value]():
		return jsontext.Value(values[int(s.byte())%len(values)])
	case reflect.TypeFor[any]():
		return map[string]any{s.text(): s.text(), "n": float64(s.byte()), "l": []any{nil, true}}
	}
	return nil
}

func FuzzAppendEqualsJSON(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, v := range []any{new(flat), new(everything), new(scalars), new([]line), new(map[colour]*address)} {
			s := source{data}
			s.fill(reflect.ValueOf(v).Elem())
			typ := typeOf(t, v)
			want, wantErr := json.Marshal(v, json.Deterministic(true))
			got, gotErr := typ.AppendFull(nil, v)
			if (wantErr == nil) != (gotErr == nil) {
				t.Fatalf("%T: go-json-experiment/json says %v, Append says %v", v, wantErr, gotErr)
			}
			if wantErr != nil {
				continue
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Fatalf("%T: Append mismatch (-want +got):\n%s", v, diff)
			}
			if !typ.Equal(v, v) {
				t.Fatalf("%T: a value is not equal to itself", v)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, base := range []any{&flat{}, newEverything(), newAccount(), &[]scalars{}, &map[int8]*line{}} {
			typ := typeOf(t, base)
			checkCreate(t, typ, data)
			for _, mode := range []schema.Mode{schema.Replace, schema.Patched} {
				v, err := typ.Decode(data, &schema.DecodeOptions{Mode: mode, Base: base, AllowUnknown: true})
				checkResult(t, typ, data, v, err)
			}
		}
	})
}

// checkCreate checks what is read as a new value against what go-json-experiment/json reads.
func checkCreate(t *testing.T, typ *schema.Type, data []byte) {
	t.Helper()
	v, err := typ.Decode(data, nil)
	checkResult(t, typ, data, v, err)
	if err != nil {
		return
	}
	other := newOf(typ)
	switch err := json.Unmarshal(data, other, json.RejectUnknownMembers(true)); {
	case err != nil && !isOurInteger(err):
		t.Fatalf("%s: Decode accepts %s, go-json-experiment/json says %v", typ.GoType, data, err)
	case err == nil && typ == schema.For[flat]() && !typ.Equal(v, other):
		t.Fatalf("Decode(%s) = %+v, want %+v", data, v, other)
	}
}

// isOurInteger reports whether the error is about a number like 1.0, which Decode takes for the integer that it is.
func isOurInteger(err error) bool {
	semantic, ok := errors.AsType[*json.SemanticError](err)
	return ok && bytes.ContainsAny(semantic.JSONValue, ".eE-")
}

// checkResult checks that what was accepted can be written and read again, and that what was not has a reason.
func checkResult(t *testing.T, typ *schema.Type, data []byte, v any, err error) {
	t.Helper()
	if err != nil {
		violations, ok := errors.AsType[schema.Violations](err)
		if syntax, isSyntax := errors.AsType[*schema.SyntaxError](err); !ok && !isSyntax || ok && len(violations) == 0 {
			t.Fatalf("Decode(%s) = %v (%v)", data, err, syntax)
		}
		for _, violation := range violations {
			if !jsontext.Pointer(violation.Pointer).IsValid() {
				t.Fatalf("Decode(%s) finds something at %q", data, violation.Pointer)
			}
		}
		return
	}
	full, err := typ.AppendFull(nil, v)
	if err != nil {
		t.Fatalf("what was read of %s cannot be written: %v", data, err)
	}
	again, err := typ.Decode(full, &schema.DecodeOptions{Mode: schema.Patched, Base: v})
	if err != nil {
		t.Fatalf("what was read of %s is written %s and not accepted: %v", data, full, err)
	}
	if !typ.Equal(v, again) {
		t.Fatalf("what was read of %s is written %s and read as something else", data, full)
	}
}
