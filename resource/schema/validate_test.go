package schema_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	type inner struct {
		Code string `json:"a/b" pattern:"^x"`
	}
	type all struct {
		Text  string           `json:"text" minLength:"2" maxLength:"3"`
		Opt   string           `json:"opt,omitempty" minLength:"2"`
		Zero  int              `json:"zero,omitzero" minimum:"5"`
		Ptr   *string          `json:"ptr" minLength:"2"`
		Int   int64            `json:"int" minimum:"-9007199254740993" maximum:"9007199254740993"`
		Uint  uint64           `json:"uint" maximum:"18446744073709551614"`
		Float float32          `json:"float" minimum:"0.5"`
		Enum  *int             `json:"enum" enum:"1,2"`
		Num   float64          `json:"num" enum:"0,0.5"`
		Pal   colour           `json:"pal" enum:"red,blue,"`
		List  []inner          `json:"list" minItems:"1" maxItems:"2"`
		Map   map[string]inner `json:"m~" maxItems:"1"`
		Ptrs  []*inner         `json:"ptrs" unique:"true"`
		Dates map[int]string   `json:"dates" format:"date"`
		Nest  *all             `json:"nest"`
		Own   string           `json:"own" readOnly:"true" minLength:"9"`
		Own2  inner            `json:"own2" readOnly:"true"`
		At    time.Time        `json:"at"`
	}
	valid := func() *all {
		return &all{Text: "äöü", Float: 0.5, List: []inner{{"x"}}, Ptrs: []*inner{nil, {"x1"}, {"x2"}},
			Dates: map[int]string{1: "2024-02-29"}}
	}
	tests := []struct {
		name   string
		change func(*all)
		want   []string
	}{
		{"valid", func(*all) {}, nil},
		{"code points", func(v *all) { v.Text = "𝄞" }, []string{"/text minLength"}},
		{"too long", func(v *all) { v.Text = "abcd" }, []string{"/text maxLength"}},
		{"optional and given", func(v *all) { v.Opt, v.Zero = "x", 4 },
			[]string{"/opt minLength", "/zero minimum"}},
		{"pointer", func(v *all) { v.Ptr = ptr("") }, []string{"/ptr minLength"}},
		{"integer beyond 2^53, at the bound", func(v *all) { v.Int = -9007199254740993 }, nil},
		{"integer beyond 2^53", func(v *all) { v.Int = -9007199254740994 }, []string{"/int minimum"}},
		{"integer beyond 2^53, above", func(v *all) { v.Int = 9007199254740994 }, []string{"/int maximum"}},
		{"unsigned", func(v *all) { v.Uint = 1<<64 - 1 }, []string{"/uint maximum"}},
		{"float", func(v *all) { v.Float = 0.4999 }, []string{"/float minimum"}},
		{"enum", func(v *all) { v.Enum, v.Num, v.Pal = ptr(3), 1, colour{"green"} },
			[]string{"/enum enum", "/num enum",
				"/pal enum"}},
		{"elements", func(v *all) { v.List = []inner{{"x"}, {"y"}, {"z"}} },
			[]string{"/list maxItems", "/list/1/a~1b pattern", "/list/2/a~1b pattern"}},
		{"no elements", func(v *all) { v.List = nil }, []string{"/list minItems"}},
		{"map", func(v *all) { v.Map = map[string]inner{"~/": {"y"}, "a": {"z"}} },
			[]string{"/m~0 maxItems", "/m~0/a/a~1b pattern", "/m~0/~0~1/a~1b pattern"}},
		{"unique", func(v *all) { v.Ptrs = []*inner{{"x"}, {"x"}} }, []string{"/ptrs unique"}},
		{"unique nil", func(v *all) { v.Ptrs = []*inner{nil, nil} }, []string{"/ptrs unique"}},
		{"formats of elements", func(v *all) { v.Dates[7] = "2023-02-29" }, []string{"/dates/7 format"}},
		{"nested", func(v *all) { v.Nest = valid(); v.Nest.Nest = valid(); v.Nest.Nest.Text = "" },
			[]string{"/nest/nest/text minLength"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := valid()
			tt.change(v)
			if diff := cmp.Diff(tt.want, codes(t, schema.For[all]().Validate(v))); diff != "" {
				t.Errorf("Validate mismatch (-want +got):\n%s", diff)
			}
		})
	}
	if got := schema.For[all]().Validate(&inner{}); got != nil {
		t.Errorf("a value of another type has violations: %v", got)
	}
}

func TestValidateDetails(t *testing.T) {
	t.Parallel()
	type all struct {
		A string  `json:"a" minLength:"1"`
		B string  `json:"b" maxLength:"2"`
		C string  `json:"c" enum:"x,y"`
		D int     `json:"d" minimum:"1"`
		E []int   `json:"e" minItems:"1"`
		F string  `json:"f" format:"email"`
		G string  `json:"g" pattern:"^a+$"`
		H float64 `json:"h" maximum:"-1"`
	}
	var got []string
	for _, v := range schema.For[all]().Validate(&all{B: "123"}) {
		got = append(got, v.Detail)
	}
	want := []string{
		"a must be at least 1 character long", "b must be at most 2 characters long",
		"c must be one of x, y", "d must be at least 1", "e must have at least 1 element",
		"f must be an email address", "g must match the pattern ^a+$", "h must be at most -1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("details mismatch (-want +got):\n%s", diff)
	}
}

// TestUniqueNumbers compares elements by their values, as JSON Schema does.
func TestUniqueNumbers(t *testing.T) {
	t.Parallel()
	type all struct {
		Floats   []float64        `json:"floats" unique:"true"`
		Pointers []*float32       `json:"pointers" unique:"true"`
		Nested   [][2]float64     `json:"nested" unique:"true"`
		Maps     []map[string]any `json:"maps" unique:"true"`
		Any      []any            `json:"any" unique:"true"`
		Raw      []jsontext.Value `json:"raw" unique:"true"`
		Texts    []string         `json:"texts" unique:"true"`
	}
	tests := []struct {
		data string
		want []string
	}{
		{`{"floats":[0,-0]}`, []string{"/floats unique"}},
		{`{"floats":[-0.0,0.0]}`, []string{"/floats unique"}},
		{`{"floats":[1,-1,0]}`, nil},
		{`{"pointers":[-0,null,0]}`, []string{"/pointers unique"}},
		{`{"nested":[[0,1],[-0,1]]}`, []string{"/nested unique"}},
		{`{"nested":[[0,1],[-0,-1]]}`, nil},
		{`{"maps":[{"a":0},{"a":-0}]}`, []string{"/maps unique"}},
		{`{"any":[0,-0]}`, []string{"/any unique"}},
		{`{"any":[9007199254740993,9007199254740994,{"a":"-0"},{"a":"0"}]}`, nil},
		{`{"raw":[1,1.0]}`, []string{"/raw unique"}},
		{`{"raw":[{"a":1,"b":2},{"b":2,"a":1e0}]}`, []string{"/raw unique"}},
		{`{"raw":[9007199254740993,9007199254740992]}`, nil},
		{`{"texts":["0","-0"]}`, nil},
	}
	for _, tt := range tests {
		var got []string
		var bad schema.Violations
		if _, err := schema.For[all]().Decode([]byte(tt.data), nil); errors.As(err, &bad) {
			for _, v := range bad {
				got = append(got, v.Pointer+" "+v.Code)
			}
		} else if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.data, diff)
		}
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	long := "a123456789b123456789c123456789d123456789e123456789f123456789g123"
	tests := []struct {
		name      string
		typ       *schema.Type
		good, bad []string
	}{
		{"date-time", schema.For[struct {
			S string `format:"date-time"`
		}](), []string{"2026-11-20T08:30:00Z", "2026-11-20T08:30:00.123456789+05:30",
			"0000-01-01T00:00:00-23:59"},
			[]string{"", "2026-11-20", "2026-11-20 08:30:00Z", "2026-11-20T08:30:00", "2026-02-30T08:30:00Z",
				"2026-11-20T8:30:00Z",
				"2026-11-20T08:30:00,5Z", "2026-11-20T08:30:00+24:00", "2026-11-20T08:30:00+00:60",
				"2026-11-20T24:00:00Z"}},
		{"date", schema.For[struct {
			S string `format:"date"`
		}](), []string{"2024-02-29"}, []string{"2023-02-29", "2024-2-9", "20240229", "2024-02-29Z", ""}},
		{"time", schema.For[struct {
			S string `format:"time"`
		}](), []string{"08:30:00Z", "23:59:59.5+01:00"},
			[]string{"08:30", "08:30:00", "24:00:00Z", "8:30:00Z", ""}},
		{"time-local", schema.For[struct {
			S string `format:"time-local"`
		}](), []string{"08:30:00", "23:59:59.5"},
			[]string{"", "08:30", "08:30:00Z", "08:30:00+01:00", "24:00:00", "8:30:00", "08:30:00,5"}},
		{"decimal", schema.For[struct {
			S string `format:"decimal"`
		}](), []string{"0", "-12.50", "0.001", "123456789012345678901234567890"},
			[]string{"", "1e3", "+1", "01", ".5", "5.", "1,5", "NaN"}},
		{"duration", schema.For[struct {
			S string `format:"duration"`
		}](), []string{"PT0S", "P1Y2M3DT4H5M6.5S", "P2W", "P1M-1D"},
			[]string{"", "P", "1 day", "PT1H1D", "P1.5D", "PT1.1234567S", "P178956970Y8M"}},
		{"email", schema.For[struct {
			S string `format:"email"`
		}](), []string{"a@b.example", "first.last+tag@sub.example.com", "ü@example.com"},
			[]string{"", "a", "@b", "a@", "A <a@b.example>", "<a@b.example>", "a@b.example ", "a b@c.example",
				"a@b@c",
				"a@[127.0.0.1]",
				"a@b.example, c@d.example", "\"a b\"@c.example", "a@b.example\r\nBcc: x",
				"a(comment)@b.example"}},
		{"uuid", schema.For[struct {
			S string `format:"uuid"`
		}](), []string{"123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"},
			[]string{"", "123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g",
				"{123e4567-e89b-12d3-a456-42661417400}",
				"123e4567-e89b-12d3-a4560426614174000"}},
		{"uri", schema.For[struct {
			S string `format:"uri"`
		}](), []string{"https://example.com/a?b=%20#c", "urn:isbn:123", "mailto:a@b.example", "file:///etc"},
			[]string{"", "/relative", "example.com", "http://[::1", "http://a b", "http:",
				"https://example.com/é",
				"http://a/<b>", "://x",
				"http://a/%zz"}},
		{"hostname", schema.For[struct {
			S string `format:"hostname"`
		}](), []string{"example.com", "a", "xn--bcher-kva.example", "3com.com", long[:63] + ".com"},
			[]string{"", "-a.com", "a-.com", "a..com", "a_b.com", "bücher.example", long + ".com",
				"example.com.", "a b"}},
		{"ipv4", schema.For[struct {
			S string `format:"ipv4"`
		}](), []string{"127.0.0.1"},
			[]string{"", "127.0.0", "127.0.0.01", "256.0.0.1", "::1", "::ffff:127.0.0.1"}},
		{"ipv6", schema.For[struct {
			S string `format:"ipv6"`
		}](), []string{"::1", "2001:db8::1", "::ffff:127.0.0.1"},
			[]string{"", "127.0.0.1", "fe80::1%eth0", "1::2::3", "[::1]"}},
		{"formats of an application are documentation", schema.For[struct {
			S string `format:"x-phone"`
		}](), []string{"", "anything"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := tt.typ.Fields[0]
			check := func(text string) []string {
				v := newOf(tt.typ)
				reflect.ValueOf(v).Elem().FieldByIndex(f.Index).SetString(text)
				return codes(t, tt.typ.Validate(v))
			}
			for _, text := range tt.good {
				if got := check(text); got != nil {
					t.Errorf("%q has violations: %v", text, got)
				}
			}
			for _, text := range tt.bad {
				if diff := cmp.Diff([]string{"/S format"}, check(text)); diff != "" {
					t.Errorf("%q mismatch (-want +got):\n%s", text, diff)
				}
			}
		})
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	all := schema.For[everything]()
	if !all.Equal(newEverything(), newEverything()) {
		t.Error("two values made alike are not equal")
	}
	same := newEverything()
	same.Hidden, same.secret, same.When = "other", "other", same.When.In(time.FixedZone("", 3600))
	if !all.Equal(newEverything(), same) {
		t.Error("values that differ in what JSON cannot see, and in the time zone, are not equal")
	}
	if !all.Equal(&everything{}, &everything{Tags: []string{}, Labels: map[string]string{}, Data: []byte{}}) {
		t.Error("nil and empty are not equal")
	}
	changes := []func(*everything){
		func(v *everything) { v.ID++ },
		func(v *everything) { v.Name = "other" },
		func(v *everything) { v.Big = 1 },
		func(v *everything) { v.Ratio = 2 },
		func(v *everything) { v.Ok = false },
		func(v *everything) { v.Maybe = nil },
		func(v *everything) { v.Maybe = ptr("other") },
		func(v *everything) { v.When = v.When.Add(1) },
		func(v *everything) { v.Colour.name = "blue" },
		func(v *everything) { v.Data[0] = 9 },
		func(v *everything) { v.Hash[3]++ },
		func(v *everything) { v.Tags[1] = "c" },
		func(v *everything) { v.Tags = v.Tags[:1] },
		func(v *everything) { v.Labels["a"] = "x" },
		func(v *everything) { delete(v.Labels, "a") },
		func(v *everything) { delete(v.Labels, "a"); v.Labels["b"] = "1" },
		func(v *everything) { v.ByNumber[9] = &geo{} },
		func(v *everything) { v.Colours[colour{"red"}] = false },
		func(v *everything) { v.Address.Street = "" },
		func(v *everything) { v.Other.Geo.Lng = 0 },
		func(v *everything) { v.Lines[1].Count = 0 },
		func(v *everything) { v.Pointers[1] = nil },
		func(v *everything) { v.Any = 1 },
		func(v *everything) { v.Raw = nil },
		func(v *everything) { v.Opaque.raw = "3" },
		func(v *everything) { v.Next.Name = "" },
		func(v *everything) { v.Version++ },
	}
	for i, change := range changes {
		changed := newEverything()
		change(changed)
		if all.Equal(newEverything(), changed) || all.Equal(changed, newEverything()) {
			t.Errorf("change %d is not seen", i)
		}
	}
	if all.Equal(newEverything(), &flat{}) || all.Equal(nil, nil) {
		t.Error("pointers to something else are equal")
	}
	secret, other := newAccount(), newAccount()
	other.Password = "another one"
	if schema.For[account]().Equal(secret, other) {
		t.Error("a writeOnly field does not count")
	}
}
