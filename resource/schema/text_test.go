package schema_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

type scalars struct {
	Str    status     `json:"str"`
	Enum   string     `json:"enum" enum:"a,b"`
	I8     int8       `json:"i8"`
	I64    *int64     `json:"i64"`
	U64    uint64     `json:"u64"`
	F32    float32    `json:"f32"`
	F64    *float64   `json:"f64"`
	Ok     bool       `json:"ok"`
	At     *time.Time `json:"at"`
	Colour colour     `json:"colour"`
	List   []string   `json:"list"`
	Any    any        `json:"any"`
	Bytes  []byte     `json:"bytes"`
	geo
}

func TestFieldParse(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 8, 30, 0, 5, time.UTC)
	tests := []struct {
		field string
		good  map[string]any
		bad   []string
	}{
		{"str", map[string]any{"": "", "é": "é"}, []string{"\xff"}},
		{"enum", map[string]any{"a": "a"}, []string{"", "c", "A"}},
		{"i8", map[string]any{"0": int64(0), "-128": int64(-128), "127": int64(127)},
			[]string{"", "-", "+1", "01", "-0", "-01", "128", "-129", "1.0", "1e1", " 1", "1 ", "0x1", "١",
				"1_0"}},
		{"i64", map[string]any{"-9223372036854775808": int64(-1 << 63)},
			[]string{"9223372036854775808", "null"}},
		{"u64", map[string]any{"5": int64(5), "18446744073709551615": uint64(1<<64 - 1)},
			[]string{"-1", "18446744073709551616"}},
		{"f32", map[string]any{"0.5": 0.5, "-1e2": -100.0},
			[]string{"", "NaN", "Inf", "0x1p1", "1e39", ".5", "5.", "1_0",
				"+1", " 1"}},
		{"f64", map[string]any{"1e300": 1e300}, []string{"1e309"}},
		{"ok", map[string]any{"true": true, "false": false}, []string{"", "1", "TRUE", "t"}},
		{"at", map[string]any{"2026-11-20T08:30:00.000000005Z": at},
			[]string{"", "2026-11-20", "2026-11-20T08:30:00"}},
		{"colour", map[string]any{"red": "red"}, []string{"RED", "green"}},
		{"any", nil, []string{"1"}},
		{"bytes", nil, []string{"AAAA"}},
		{"lat", map[string]any{"1.5": 1.5}, []string{"x"}},
	}
	typ := schema.For[scalars]()
	for _, tt := range tests {
		t.Run(tt.field, func(t *testing.T) {
			t.Parallel()
			f := typ.Field(tt.field)
			if f.Comparable() != (tt.good != nil) {
				t.Errorf("Comparable = %v", f.Comparable())
			}
			for text, want := range tt.good {
				got, err := f.Parse(text)
				if err != nil {
					t.Fatalf("Parse(%q): %v", text, err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("Parse(%q) mismatch (-want +got):\n%s", text, diff)
				}
				v := new(scalars)
				if err := f.SetText(v, text); err != nil {
					t.Fatalf("SetText(%q): %v", text, err)
				}
				if diff := cmp.Diff(want, f.Get(v)); diff != "" {
					t.Errorf("Get after SetText(%q) mismatch (-want +got):\n%s", text, diff)
				}
				if back, err := f.Parse(f.Text(v)); err != nil || !cmp.Equal(want, back) {
					t.Errorf("Parse(Text) = %v, %v, want %v", back, err, want)
				}
			}
			for _, text := range tt.bad {
				if got, err := f.Parse(text); err == nil {
					t.Errorf("Parse(%q) = %v, want an error", text, got)
				}
				v := &scalars{I8: 7, Enum: "b"}
				before := marshal(t, v)
				if err := f.SetText(v, text); err == nil || marshal(t, v) != before {
					t.Errorf("SetText(%q) = %v, and the value is %+v", text, err, v)
				}
			}
		})
	}
}

func TestFieldOfNil(t *testing.T) {
	t.Parallel()
	typ := schema.For[scalars]()
	for _, name := range []string{"i64", "f64", "at", "any", "bytes"} {
		f := typ.Field(name)
		if got := f.Get(&scalars{}); got != nil {
			t.Errorf("Get(%s) = %v, want nil", name, got)
		}
		if got := f.Text(&scalars{}); got != "" {
			t.Errorf("Text(%s) = %q, want nothing", name, got)
		}
	}
	f := typ.Field("str")
	for _, v := range []any{nil, scalars{}, (*scalars)(nil), &geo{}} {
		if f.Get(v) != nil || f.Text(v) != "" || f.IsZero(v) || f.SetText(v, "x") == nil {
			t.Errorf("%T is taken for a pointer to the struct", v)
		}
	}
}

func TestFieldIsZero(t *testing.T) {
	t.Parallel()
	typ := schema.For[scalars]()
	set := &scalars{Str: "x", I64: ptr(int64(0)), At: &time.Time{}, List: []string{}}
	tests := map[string]bool{"str": false, "i8": true, "i64": false, "list": false, "any": true, "at": true,
		"lat": true}
	for name, want := range tests {
		if got := typ.Field(name).IsZero(set); got != want {
			t.Errorf("IsZero(%s) = %v, want %v", name, got, want)
		}
	}
}
