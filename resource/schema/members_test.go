package schema_test

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

// TestMembers compares the output of Members with that of AppendField, for every kind of field.
func TestMembers(t *testing.T) {
	t.Parallel()
	all := schema.For[everything]()
	var list []schema.Labelled
	for i, f := range all.Fields {
		list = append(list, schema.Labelled{Field: f, Label: []byte(`,"m` + strconv.Itoa(i) + `":`)})
	}
	m, err := all.Members(list...)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []*everything{newEverything(), {}} {
		want := []byte("before")
		for i, f := range all.Fields {
			if want, err = all.AppendField(append(want, list[i].Label...), f, v); err != nil {
				t.Fatal(err)
			}
		}
		got, err := m.Append([]byte("before"), v)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("mismatch (-want +got):\n%s", diff)
		}
	}
}

func TestMembersQuote(t *testing.T) {
	t.Parallel()
	type numbers struct {
		ID   int64   `json:"id"`
		Size uint8   `json:"size"`
		F    float64 `json:"f"`
		Text string  `json:"text"`
		Told int     `json:"told,string"`
		Ptr  *int    `json:"ptr"`
	}
	typ := schema.For[numbers]()
	var list []schema.Labelled
	for _, f := range typ.Fields {
		list = append(list, schema.Labelled{Field: f, Label: []byte(" "), Quote: true})
	}
	m, err := typ.Members(list...)
	if err != nil {
		t.Fatal(err)
	}
	n := 7
	tests := []struct {
		name string
		v    numbers
		want string
	}{
		{"full", numbers{-1, 2, 0.5, `a"b`, 3, &n}, ` "-1" "2" "0.5" "a\"b" "3" "7"`},
		{"empty", numbers{}, ` "0" "0" "0" "" "0" null`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := m.Append(nil, &tt.v)
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
		})
	}
}

func TestMembersFail(t *testing.T) {
	t.Parallel()
	type sizes struct {
		Name string    `json:"name"`
		F    float64   `json:"f"`
		When time.Time `json:"when"`
	}
	typ := schema.For[sizes]()
	if _, err := typ.Members(schema.Labelled{Field: schema.For[flat]().Field("name")}); err == nil {
		t.Error("a field of another type is taken")
	}
	m, err := typ.Members(schema.Labelled{Field: typ.Field("name")}, schema.Labelled{Field: typ.Field("f")},
		schema.Labelled{Field: typ.Field("when")})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		v    any
		says string
	}{
		{&sizes{Name: "x", F: math.NaN()}, "F: "},
		{&sizes{Name: "x", When: time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC)}, "When: "},
		{&sizes{Name: "\xff"}, "Name: "},
		{&flat{}, "want a"},
		{(*sizes)(nil), "got a nil"},
		{nil, "want a"},
	} {
		got, err := m.Append([]byte("before"), tt.v)
		if string(got) != "before" || err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v: got %s, %v, want an error with %q", tt.v, got, err, tt.says)
		}
	}
}

func TestMembersAllocateNothing(t *testing.T) {
	all := schema.For[flat]()
	var list []schema.Labelled
	for _, f := range all.Fields {
		list = append(list, schema.Labelled{Field: f, Label: []byte(`,"` + f.Name + `":`)})
	}
	m, err := all.Members(list...)
	if err != nil {
		t.Fatal(err)
	}
	v, buf := newFlat(), make([]byte, 0, 1<<12)
	if n := testing.AllocsPerRun(10, func() {
		if buf, err = m.Append(buf[:0], &v); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func BenchmarkMembers(b *testing.B) {
	all := schema.For[flat]()
	var list []schema.Labelled
	for _, f := range all.Fields {
		list = append(list, schema.Labelled{Field: f, Label: []byte(`,"` + f.Name + `":`)})
	}
	m, err := all.Members(list...)
	if err != nil {
		b.Fatal(err)
	}
	v, buf := newFlat(), make([]byte, 0, 1<<12)
	b.Run("together", func(b *testing.B) {
		for b.Loop() {
			if buf, err = m.Append(buf[:0], &v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("one by one", func(b *testing.B) {
		for b.Loop() {
			buf = buf[:0]
			for i := range list {
				if buf, err = all.AppendField(append(buf, list[i].Label...), list[i].Field, &v); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
