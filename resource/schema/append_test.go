package schema_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

// marshal encodes a value with go-json-experiment/json, for comparison with Append.
func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAppendEqualsJSON(t *testing.T) {
	t.Parallel()
	type named []byte
	type letters [3]byte
	type wrapper struct {
		S string   `json:",omitempty"`
		P *wrapper `json:",omitempty"`
		N named
		L *letters
		A []any
		M map[string]map[uint8][]int
		E struct{} `json:",omitempty"`
		T []time.Time
	}
	tests := []struct {
		name  string
		value any
	}{
		{"everything", newEverything()},
		{"zero", &everything{}},
		{"account without writeOnly", &flat{}},
		{"nested empties are omitted", &wrapper{P: &wrapper{}}},
		{"bytes and maps",
			&wrapper{N: named("hi"), L: &letters{1}, M: map[string]map[uint8][]int{"b": nil, "a": {10: {1},
				9: {}}}}},
		{"control characters", &wrapper{S: "\x00\x1f\"\\/\b\f\n\r\t<>&\u2028é𝄞"}},
		{"floats", &struct{ A, B, C, D, E float64 }{0, math.Copysign(0, -1), 1e-7, 1.7976931348623157e308,
			123456789.125}},
		{"small floats", &struct{ A, B float32 }{3.4e38, 1e-7}},
		{"integers", &struct {
			A int64
			B uint64
			C int8
			D uint64 `json:",string"`
			E int64  `json:"e,string,omitempty"`
		}{math.MinInt64, math.MaxUint64, -128, 0, 0}},
		{"times",
			&wrapper{T: []time.Time{{}, time.Unix(0, 1).UTC(), time.Date(9999, 12, 31, 23, 59, 59, 999999999,
				time.FixedZone("", -86340))}}},
		{"deep any",
			&wrapper{A: []any{map[string]any{"z": 1, "a": map[string]int{"y": 1, "x": 2}}, nil, "s"}}},
		{"embedded", &struct {
			address
			City string `json:"city"`
		}{address{Street: "inner", City: "hidden"}, "outer"}},
		{"no struct", &[]string{"a", "b"}},
		{"empty struct", &struct{}{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := typeOf(t, tt.value).Append([]byte("before:"), tt.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("before:"+marshal(t, tt.value), string(got)); diff != "" {
				t.Errorf("Append mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAppendFailsWhereJSONFails(t *testing.T) {
	t.Parallel()
	type node struct{ Next *node }
	loop := &node{}
	loop.Next = loop
	tests := []struct {
		name  string
		value any
	}{
		{"not a number", &struct{ F float64 }{math.NaN()}},
		{"pointer to infinity", &struct{ F *float32 }{ptr(float32(math.Inf(1)))}},
		{"invalid UTF-8", &struct{ S string }{"\xff"}},
		{"half a rune", &struct{ S string }{"\xf0\x9d"}},
		{"invalid UTF-8 in a key", &struct{ M map[string]int }{map[string]int{"\xff": 1}}},
		{"two keys of one name", &struct{ M map[colour]int }{map[colour]int{{"x\x00"}: 1, {"\xff"}: 2}}},
		{"year 10000", &struct{ T time.Time }{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}},
		{"year -1", &struct{ T time.Time }{time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)}},
		{"a day of offset",
			&struct{ T time.Time }{time.Date(2000, 1, 1, 0, 0, 0, 0, time.FixedZone("", 24*3600))}},
		{"a method's invalid JSON", &struct{ O opaque }{opaque{"{"}}},
		{"a cycle", loop},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := json.Marshal(tt.value); err == nil {
				t.Fatal("go-json-experiment/json accepts it, so this is no test")
			}
			got, err := typeOf(t, tt.value).Append([]byte("before"), tt.value)
			if err == nil {
				t.Errorf("Append wrote %s, want an error", got)
			}
			if string(got) != "before" {
				t.Errorf("Append left %q in dst, want %q", got, "before")
			}
		})
	}
}

func TestAppendOtherType(t *testing.T) {
	t.Parallel()
	place := schema.For[flat]()
	for _, v := range []any{nil, flat{}, (*flat)(nil), &address{}} {
		if got, err := place.Append(nil, v); err == nil {
			t.Errorf("Append(%T) = %s, want an error", v, got)
		}
	}
}

func TestAppendWriteOnly(t *testing.T) {
	t.Parallel()
	type vault struct {
		Key string `json:"key" writeOnly:"true"`
	}
	type holder struct {
		Name   string           `json:"name"`
		One    vault            `json:"one,omitempty"`
		Many   []vault          `json:"many"`
		ByName map[string]vault `json:"byName"`
	}
	v := &holder{"n", vault{"1"}, []vault{{"2"}}, map[string]vault{"x": {"3"}}}
	holders := schema.For[holder]()
	got, err := holders.Append(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"name":"n","many":[{}],"byName":{"x":{}}}`, string(got)); diff != "" {
		t.Errorf("Append mismatch (-want +got):\n%s", diff)
	}
	full, err := holders.AppendFull(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(marshal(t, v), string(full)); diff != "" {
		t.Errorf("AppendFull mismatch (-want +got):\n%s", diff)
	}
}

func TestAppendField(t *testing.T) {
	t.Parallel()
	v := newEverything()
	all := schema.For[everything]()
	// Each member of the object must equal the output of AppendField.
	for _, f := range all.Fields {
		bare, err := all.AppendField(nil, f, v)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := all.Append(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := json.Marshal(f.Name)
		if member := append(append(name, ':'), bare...); !bytes.Contains(whole, member) {
			t.Errorf("the document does not have %s", member)
		}
	}
	if got, err := all.AppendField(nil, all.Field("small"), &everything{}); err != nil || string(got) != "0" {
		t.Errorf("a field that omitzero leaves out is written %s, %v, want 0", got, err)
	}
	if got, err := all.AppendField(nil, all.Field("number"), &everything{}); err != nil ||
		string(got) != "null" {
		t.Errorf("a nil pointer is written %s, %v, want null", got, err)
	}
	if got, err := all.AppendField(nil, schema.For[flat]().Field("name"), v); err == nil {
		t.Errorf("a field of another type is written %s, want an error", got)
	}
}

// TestAppendMembersOneByOne composes objects of their members, which must have the bytes of Append.
func TestAppendMembersOneByOne(t *testing.T) {
	t.Parallel()
	type embedded struct {
		Quoted int `json:"quoted,string"`
	}
	type item struct {
		Text   string     `json:"text"`
		Omit   string     `json:"omit,omitempty"`
		Zero   *time.Time `json:"zero,omitzero"`
		Secret string     `json:"secret" writeOnly:"true"`
		embedded
		Float float64 `json:"float"`
	}
	typ := schema.For[item]()
	tests := []struct {
		name  string
		value item
	}{
		{name: "zero"},
		{name: "all", value: item{"\"\x00", "é", &time.Time{}, "secret", embedded{7}, 0.1}},
		{name: "invalid text", value: item{Text: "\xff"}},
		{name: "invalid number", value: item{Float: math.NaN()}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want, wantErr := typ.Append(nil, &tt.value)
			var got []byte
			var gotErr error
			for _, f := range typ.Fields {
				before := len(got)
				if got, gotErr = typ.AppendMember(got, f, &tt.value); gotErr != nil {
					if len(got) != before {
						t.Errorf("%d bytes were appended before the error", len(got)-before)
					}
					break
				}
			}
			if wantErr != nil {
				if gotErr == nil || gotErr.Error() != wantErr.Error() {
					t.Errorf("AppendMember = %v, want %v", gotErr, wantErr)
				}
				return
			}
			if len(got) > 0 {
				got[0] = '{'
			}
			if diff := cmp.Diff(string(want), string(got)+"}"); diff != "" || gotErr != nil {
				t.Errorf("%v, members (-want +got):\n%s", gotErr, diff)
			}
		})
	}
	if _, err := typ.AppendMember(nil, schema.For[account]().Fields[0], &item{}); err == nil {
		t.Error("AppendMember accepts a field of another struct")
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	accounts := schema.For[account]()
	tests := []struct {
		name  string
		names []string
		want  string
	}{
		{"schema order", []string{"plan", "id", "plan"}, `{"id":"a1","plan":"paid"}`},
		{"nested", []string{"profile"}, `{"profile":{"bio":"b","rank":3,"theme":"dark"}}`},
		{"none", nil, `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := accounts.Select(tt.names)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Append(nil, newAccount())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("Append mismatch (-want +got):\n%s", diff)
			}
		})
	}
	for _, name := range []string{"nope", "password", "ID", "Hash", ""} {
		_, err := accounts.Select([]string{"id", name})
		if err == nil || !strings.Contains(err.Error(), "email") ||
			strings.Contains(err.Error(), "there are id, email, password") {
			t.Errorf("Select(%q) = %v, want an error with the names of readable fields", name, err)
		}
	}
	s, err := accounts.Select([]string{"id"})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Fields()) != 1 || s.Fields()[0] != accounts.Field("id") {
		t.Errorf("Fields = %v, want the one selected", s.Fields())
	}
	if _, err := s.Append(nil, &flat{}); err == nil {
		t.Error("a Selection accepts a value of another type")
	}
}

// TestAppendAllocations is not parallel, because testing.AllocsPerRun counts for the whole process.
func TestAppendAllocations(t *testing.T) {
	type inner struct {
		Lat, Lng float64
		Name     *string
	}
	type struct8 struct {
		ID    int64
		Name  string
		Note  *string `json:",omitempty"`
		Ok    bool
		When  time.Time
		Until *time.Time
		Tags  []string
		In    inner
		Ptr   *inner
		Big   uint64 `json:",string"`
		Data  []byte
	}
	list := make([]struct8, 100)
	for i := range list {
		list[i] = struct8{
			ID:   int64(i),
			Name: "Ünïcode \"quoted\" and longer than the buffer of a small string is, with <tags> & more",
			Note: ptr("n"), When: time.Unix(1e9, 1), Until: ptr(time.Unix(2e9, 0).UTC()),
			Tags: []string{"a", "ä"},
			In:   inner{1.5, -2.5, ptr("x")}, Ptr: &inner{}, Big: 1 << 63, Data: []byte("bytes"),
		}
	}
	one := schema.For[struct8]()
	buf := make([]byte, 0, 1<<20)
	selection, err := one.Select([]string{"ID", "Name"})
	if err != nil {
		t.Fatal(err)
	}
	name := one.Field("Name")
	allocs := testing.AllocsPerRun(10, func() {
		buf = buf[:0]
		for i := range list {
			if buf, err = one.Append(buf, &list[i]); err != nil {
				t.Fatal(err)
			}
			if buf, err = selection.Append(buf, &list[i]); err != nil {
				t.Fatal(err)
			}
			if buf, err = one.AppendField(buf, name, &list[i]); err != nil {
				t.Fatal(err)
			}
			if !one.Equal(&list[i], &list[i]) {
				t.Fatal("a value is not equal to itself")
			}
		}
	})
	if allocs > 0 {
		t.Errorf("writing and comparing 100 values allocates %v times, want 0", allocs)
	}
}

// TestAppendFloatIsTheShortest compares appendShortDecimal with jsontext at the limits of its
// range.
func TestAppendFloatIsTheShortest(t *testing.T) {
	t.Parallel()
	type number struct {
		F float64 `json:"f"`
	}
	typ := schema.For[number]()
	check := func(f float64) {
		t.Helper()
		want, err := json.Marshal(&number{f})
		if err != nil {
			t.Fatal(err)
		}
		got, err := typ.Append(nil, &number{f})
		if err != nil || string(got) != string(want) {
			t.Errorf("Append(%v) = %s, %v, want %s", f, got, err, want)
		}
	}
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -1, 1e-6, 9.999995e-7, 1.5e-6, 0.1, 0.3, 0.1 +
		0.2, 31.22222,
		121.45806, 999999999.999999, 999999999.9999999, 1e9, 1e15, 1e21, 123456.7890125, 2.5e-7,
		0.000001000000000001} {
		check(f)
		check(math.Nextafter(f, math.Inf(1)))
		check(math.Nextafter(f, math.Inf(-1)))
		check(-f)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		decimal := float64(r.Int64N(1e15)) / math.Pow10(r.IntN(10))
		check(decimal)
		check(math.Nextafter(decimal, 0))
		check(math.Float64frombits(r.Uint64()&^(1<<62) | 1<<61))
	}
}
