package schema_test

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
)

// typeOf returns the Type of the value that v points to.
func typeOf(t *testing.T, v any) *schema.Type {
	t.Helper()
	typ, err := schema.Of(reflect.TypeOf(v))
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

func TestOfKinds(t *testing.T) {
	t.Parallel()
	type small struct {
		Kind     schema.Kind
		Name     string
		Format   string
		Bits     int
		Unsigned bool
		Len      int
		Nullable bool // elements
	}
	tests := []struct {
		name  string
		value any
		want  small
	}{
		{"string", new(status), small{Kind: schema.String, Name: "status", Len: -1}},
		{"int8", new(int8), small{Kind: schema.Integer, Name: "int8", Bits: 8, Len: -1}},
		{"uint", new(uint), small{Kind: schema.Integer, Name: "uint", Bits: 64, Unsigned: true, Len: -1}},
		{"float32", new(float32), small{Kind: schema.Number, Name: "float32", Bits: 32, Len: -1}},
		{"bool", new(bool), small{Kind: schema.Boolean, Name: "bool", Len: -1}},
		{"time", new(time.Time), small{Kind: schema.String, Name: "Time", Format: "date-time", Len: -1}},
		{"bytes", new([]byte), small{Kind: schema.String, Format: "byte", Len: -1}},
		{"text methods", new(colour), small{Kind: schema.String, Name: "colour", Len: -1}},
		{"JSON methods", new(opaque), small{Kind: schema.Any, Name: "opaque", Len: -1}},
		{"raw JSON", new(jsontext.Value), small{Kind: schema.Any, Name: "Value", Len: -1}},
		{"any", new(any), small{Kind: schema.Any, Len: -1}},
		{"struct", new(geo), small{Kind: schema.Object, Name: "geo", Len: -1}},
		{"slice", new([]*geo), small{Kind: schema.Array, Len: -1, Nullable: true}},
		{"array", new([3]int), small{Kind: schema.Array, Len: 3}},
		{"map", new(map[uint8]string), small{Kind: schema.Map, Len: -1}},
		{"generic", new(pair[geo, []string]),
			small{Kind: schema.Object, Name: "pairOfGeoAndString", Len: -1}},
		{"generic with pointers", new(pair[*geo, *[]pair[string, *int32]]),
			small{Kind: schema.Object, Name: "pairOfNullableGeoAndNullablePairAndStringAndNullableInt32", Len: -1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			typ := typeOf(t, tt.value)
			got := small{typ.Kind, typ.Name, typ.Format, typ.Bits, typ.Unsigned, typ.Len, typ.ElemNullable}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Of mismatch (-want +got):\n%s", diff)
			}
			if typ.GoType != reflect.TypeOf(tt.value).Elem() {
				t.Errorf("GoType = %v, want that of the value", typ.GoType)
			}
		})
	}
}

type pair[A, B any] struct {
	First  A
	Second B
}

func TestFieldTags(t *testing.T) {
	t.Parallel()
	all, accounts := schema.For[everything](), schema.For[account]()
	name := all.Field("name")
	if !name.Required || *name.MinLength != 1 || *name.MaxLength != 40 || name.GoName != "Name" {
		t.Errorf("name is %+v", name)
	}
	state := all.Field("status")
	if state.Default != "open" {
		t.Errorf("Default = %#v, want the canonical string", state.Default)
	}
	if diff := cmp.Diff([]any{"open", "done"}, state.Enum); diff != "" {
		t.Errorf("Enum mismatch (-want +got):\n%s", diff)
	}
	if !all.Field("maybe").Nullable || all.Field("name").Nullable || !all.Field("any").Nullable {
		t.Error("pointers and any are nullable, and nothing else")
	}
	if !all.Field("big").Quoted || !all.Field("small").OmitZero || !all.Field("single").OmitEmpty {
		t.Error("the json options string, omitzero and omitempty are not kept")
	}
	if f := accounts.Field("email"); f.Format != "email" || f.Type.Format != "" {
		t.Errorf("the formats of email are %q and %q, want that of the tag in the field only", f.Format,
			f.Type.Format)
	}
	if f := all.Field("when"); f.Format != "date-time" {
		t.Errorf("the format of a time is %q", f.Format)
	}
	if f := all.Field("version"); f == nil || !f.ReadOnly || len(f.Index) != 2 {
		t.Errorf("the field of the embedded struct is %+v", f)
	}
	if all.Field("next").Type != all {
		t.Error("a recursive type does not lead back to itself")
	}
	if all.Field("Name") != nil || all.Field("Hidden") != nil || all.Field("secret") != nil {
		t.Error("Field finds what is not there")
	}
	documented := schema.For[struct {
		N uint64    `json:"n" minimum:"1" maximum:"18446744073709551615" default:"18446744073709551615" example:"2" doc:"d" deprecated:"w"`
		L []string  `json:"l" example:"[\"a\"]" format:"uuid"`
		E *float64  `json:"e" enum:"1,2.5" unique:"true"`
		T time.Time `json:"t" default:"2026-01-01T00:00:00Z"`
	}]()
	n := documented.Field("n")
	if n.Minimum != "1" || n.Maximum != "18446744073709551615" || n.Default != uint64(1<<64-1) ||
		n.Example != int64(2) {
		t.Errorf("n is %+v", n)
	}
	if n.Doc != "d" || n.Deprecated != "w" {
		t.Errorf("n is documented %q and %q", n.Doc, n.Deprecated)
	}
	if diff := cmp.Diff(jsontext.Value(`["a"]`), documented.Field("l").Example); diff != "" {
		t.Errorf("Example mismatch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{1.0, 2.5}, documented.Field("e").Enum); diff != "" {
		t.Errorf("Enum mismatch (-want +got):\n%s", diff)
	}
	if want := time.Date(2026, 1, 1, 0, 0, 0, 0,
		time.UTC); !want.Equal(documented.Field("t").Default.(time.Time)) {
		t.Errorf("Default = %v, want %v", documented.Field("t").Default, want)
	}
}

func TestEmbedding(t *testing.T) {
	t.Parallel()
	type deepest struct {
		Name  string `json:"name"`
		Depth int    `json:"depth"`
	}
	type deep struct {
		Name string `json:"name" maxLength:"3"`
		deepest
		Last string `json:"last"`
	}
	type whole struct {
		First string  `json:"first"`
		Deep  deep    `json:",embed"`
		Other deepest `json:"other"`
	}
	v := &whole{"1", deep{"n", deepest{"hidden", 4}, "l"}, deepest{}}
	typ := schema.For[whole]()
	written, err := typ.Append(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(marshal(t, v), string(written)); diff != "" {
		t.Errorf("Append mismatch (-want +got):\n%s", diff)
	}
	if f := typ.Field("depth"); !cmp.Equal([]int{1, 1, 1}, f.Index) || f.Get(v) != int64(4) {
		t.Errorf("depth is at %v with the value %v", f.Index, f.Get(v))
	}
	if f := typ.Field("name"); f.MaxLength == nil || f.Get(v) != "n" {
		t.Errorf("name is not the one that is less deep: %+v", f)
	}
	got := decode[whole](t, `{"last":"x","depth":5,"n\u0061me":"abc","other":{"depth":6}}`, nil)
	want := &whole{Deep: deep{"abc", deepest{Depth: 5}, "x"}, Other: deepest{Depth: 6}}
	if !typ.Equal(want, got) {
		t.Errorf("Decode = %+v, want %+v", got, want)
	}
}

func TestOfIsRemembered(t *testing.T) {
	t.Parallel()
	type tree struct {
		Name     string
		Children []*tree
		ByName   map[string]tree
	}
	types := make([]*schema.Type, 8)
	var wait sync.WaitGroup
	for i := range types {
		wait.Go(func() { types[i] = schema.For[*tree]() })
	}
	wait.Wait()
	for _, typ := range types {
		if typ != types[0] || typ.Field("Children").Type.Elem != typ || typ.Field("ByName").Type.Elem != typ {
			t.Fatal("one Go type has several Types")
		}
	}
}

func TestOfRefuses(t *testing.T) {
	t.Parallel()
	type inner struct{ X int }
	tests := []struct {
		name  string
		value any
		want  []string // parts of the message
	}{
		{"channel", &struct{ C chan int }{}, []string{"C", "chan int", "json:\"-\""}},
		{"func", &struct{ F func() }{}, []string{"F", "func()"}},
		{"complex", &struct{ C complex128 }{}, []string{"complex128"}},
		{"interface", &struct{ E error }{}, []string{"E", "interface", "any"}},
		{"duration", &struct{ D time.Duration }{}, []string{"D", "time.Duration", "integer", `format:"duration"`}},
		{"decimal of a filter", &struct{ D query.Decimal }{}, []string{"query.Decimal", `format:"decimal"`}},
		{"duration of a filter", &struct{ D *query.Duration }{}, []string{"query.Duration", `format:"duration"`}},
		{"pointer to pointer", &struct{ P **int }{}, []string{"P", "pointer to a pointer"}},
		{"map key", &struct{ M map[float64]int }{}, []string{"M", "member names"}},
		{"deep", &struct{ L []map[string]inner2 }{}, []string{"struct.L: inner2.C", "chan"}},
		{"nothing", nil, []string{"requires a type"}},
		{"json format", &struct {
			T time.Time `json:"t,format:RFC3339"`
		}{}, []string{"T", "format", "MarshalText"}},
		{"json case", &struct {
			A int `json:"a,case:ignore"`
		}{}, []string{"A", "case"}},
		{"json option", structOf(`json:"a,omitEmpty"`), []string{"A", "omitEmpty"}},
		{"json string on a string", &struct {
			A string `json:"a,string"`
		}{}, []string{"A", "numbers"}},
		{"two of one name", structOf(`json:"x"`, `json:"x"`), []string{"B", "x", "A"}},
		{"two that differ in case", &struct {
			A int `json:"name"`
			B int `json:"Name"`
		}{}, []string{"only in case"}},
		{"embedded pointer", &struct{ *inner }{}, []string{"inner", "JSON name"}},
		{"embedded by option, not a struct", &struct {
			A map[string]int `json:",embed"`
		}{}, []string{"A", "only a struct"}},
		{"embedded with methods", &struct {
			A colour `json:",embed"`
		}{}, []string{"A", "colour has marshal methods"}},
		{"embedded with options", &struct {
			inner `json:",omitempty"`
		}{}, []string{"inner", "options"}},
		{"name with quotes", structOf(`json:"'a'"`), []string{"A", "quotation marks"}},
		{"tag twice", structOf(`doc:"a" doc:"b"`), []string{"A", "doc", "twice"}},
		{"example of the wrong type", &struct {
			A int `example:"x"`
		}{}, []string{"A", "example", "x", "integer"}},
		{"embedded with constraint", &struct {
			inner `required:"true"`
		}{}, []string{"inner", "required", "embedded"}},
		{"hidden with constraint", &struct {
			A string `json:"-" minLength:"1"`
		}{}, []string{"A", "minLength", "not part"}},
		{"malformed tag", structOf(`json:"a" minLength:1`), []string{"A", "malformed"}},
		{"minLength on an int", &struct {
			A int `minLength:"1"`
		}{}, []string{"A", "minLength", "strings", "an integer"}},
		{"minLength on a time", &struct {
			A time.Time `minLength:"1"`
		}{}, []string{"A", "minLength"}},
		{"minLength on any", &struct {
			A any `minLength:"1"`
		}{}, []string{"A", "minLength", "any JSON"}},
		{"minLength on bytes", &struct {
			A []byte `minLength:"1"`
		}{}, []string{"A", "minLength", "bytes"}},
		{"minLength on an object", &struct {
			A geo `minLength:"1"`
		}{}, []string{"A", "minLength", "an object"}},
		{"minLength on a map of maps", &struct {
			A map[string]map[string]string `minLength:"1"`
		}{}, []string{"A", "minLength", "a map"}},
		{"minLength on numbers in an array", &struct {
			A []float64 `minLength:"1"`
		}{}, []string{"A", "minLength", "a number"}},
		{"minLength is no number", &struct {
			A string `minLength:"x"`
		}{}, []string{"A", "minLength", `"x"`}},
		{"minLength above maxLength", &struct {
			A string `minLength:"2" maxLength:"1"`
		}{}, []string{"A", "minLength"}},
		{"minItems on a string", &struct {
			A string `minItems:"2"`
		}{}, []string{"A", "minItems", "arrays"}},
		{"minItems above maxItems", &struct {
			A []int `minItems:"2" maxItems:"1"`
		}{}, []string{"A", "minItems"}},
		{"pattern", &struct {
			A string `pattern:"("`
		}{}, []string{"A", "pattern", "missing closing"}},
		{"pattern on a bool", &struct {
			A bool `pattern:"x"`
		}{}, []string{"A", "pattern"}},
		{"minimum on a string", &struct {
			A string `minimum:"1"`
		}{}, []string{"A", "minimum", "numbers"}},
		{"minimum is no number", &struct {
			A int `minimum:"one"`
		}{}, []string{"A", "minimum", "one"}},
		{"minimum is no integer", &struct {
			A int `minimum:"1.5"`
		}{}, []string{"A", "minimum", "integer"}},
		{"maximum beyond the type", &struct {
			A int8 `maximum:"128"`
		}{}, []string{"A", "maximum", "128"}},
		{"minimum above maximum", &struct {
			A int64 `minimum:"9007199254740993" maximum:"9007199254740992"`
		}{}, []string{"A", "minimum"}},
		{"enum on a bool", &struct {
			A bool `enum:"true"`
		}{}, []string{"A", "enum"}},
		{"enum of the wrong type", &struct {
			A int `enum:"1,b"`
		}{}, []string{"A", "enum", "b"}},
		{"enum twice", &struct {
			A string `enum:"a,a"`
		}{}, []string{"A", "enum", "twice"}},
		{"default outside enum", &struct {
			A string `enum:"a,b" default:"c"`
		}{}, []string{"A", "default", "c", "a, b"}},
		{"default against a constraint", &struct {
			A string `default:"c" minLength:"2"`
		}{}, []string{"A", "default", "2 characters"}},
		{"default of an array", &struct {
			A []int `default:"[]"`
		}{}, []string{"A", "default", "an array"}},
		{"default out of range", &struct {
			A uint8 `default:"256"`
		}{}, []string{"A", "default", "256"}},
		{"example", &struct {
			A []int `example:"[1"`
		}{}, []string{"A", "example", "JSON"}},
		{"flag", &struct {
			A int `required:"yes"`
		}{}, []string{"A", "required", "true or false"}},
		{"readOnly and writeOnly", &struct {
			A int `readOnly:"true" writeOnly:"true"`
		}{}, []string{"A", "readOnly", "writeOnly"}},
		{"readOnly and required", &struct {
			A int `readOnly:"true" required:"true"`
		}{}, []string{"A", "readOnly", "required"}},
		{"required and omitted", &struct {
			A int `json:"a,omitempty" required:"true"`
		}{}, []string{"A", "required", "omitempty"}},
		{"required and default", &struct {
			A int `default:"1" required:"true"`
		}{}, []string{"A", "required", "default"}},
		{"unique on a map", &struct {
			A map[string]int `unique:"true"`
		}{}, []string{"A", "unique"}},
		{"format on a bool", &struct {
			A bool `format:"date"`
		}{}, []string{"A", "format"}},
		{"format on a time", &struct {
			A time.Time `format:"date"`
		}{}, []string{"A", "format", "date-time"}},
		{"misspelled", &struct {
			A string `minlength:"1"`
		}{}, []string{"A", "minlength", "minLength"}},
		{"misspelled with a dash", &struct {
			A string `read-only:"true"`
		}{}, []string{"A", "read-only", "readOnly"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.Of(reflect.TypeOf(tt.value))
			if err == nil {
				t.Fatal("the type is accepted")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q: %v", want, err)
				}
			}
			if _, again := schema.Of(reflect.TypeOf(tt.value)); again == nil {
				t.Error("the second time, the type is accepted")
			}
		})
	}
}

// structOf returns a struct with string fields A, B and so on that have these tags. It uses package
// reflect because vet would report invalid tags in source code.
func structOf(tags ...string) any {
	var fields []reflect.StructField
	for i, tag := range tags {
		name := string(rune('A' + i))
		fields = append(fields,
			reflect.StructField{Name: name, Type: reflect.TypeFor[string](), Tag: reflect.StructTag(tag)})
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}

// TestOfRefusesUnexported is separate because reflect.StructField needs the package of the field.
func TestOfRefusesUnexported(t *testing.T) {
	t.Parallel()
	_, err := schema.Of(reflect.StructOf([]reflect.StructField{
		{Name: "a", PkgPath: "example.com/p", Type: reflect.TypeFor[int](), Tag: `json:"a"`},
	}))
	if err == nil || !strings.Contains(err.Error(), "not exported") {
		t.Errorf("Of = %v, want an error that says what is not exported", err)
	}
}

type inner2 struct{ C chan int }

func TestForPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		message, _ := recover().(string)
		if !strings.Contains(message, "inner2.C") {
			t.Errorf("For panics with %q, want the name of the field", message)
		}
	}()
	schema.For[inner2]()
}

func TestKindString(t *testing.T) {
	t.Parallel()
	if got := schema.Integer.String() + schema.Map.String() +
		schema.Kind(99).String(); got != "integerobjectKind(99)" {
		t.Errorf("String = %q", got)
	}
}

// manyFields returns a type with n required fields, which have the names of fieldName.
func manyFields(n int) *schema.Type {
	var fields []reflect.StructField
	for i := range n {
		fields = append(fields, reflect.StructField{
			Name: strings.ToUpper(fieldName(i)), Type: reflect.TypeFor[string](),
			Tag: reflect.StructTag(`json:"` + fieldName(i) + `" required:"true"`),
		})
	}
	t, err := schema.Of(reflect.StructOf(fields))
	if err != nil {
		panic(err)
	}
	return t
}

func fieldName(i int) string { return fmt.Sprintf("f%03d", i) }

// newOf returns a pointer to a new value of the type.
func newOf(t *schema.Type) any { return reflect.New(t.GoType).Interface() }
