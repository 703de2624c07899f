package schema_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/schema"
)

// merged has what the other fixtures do not have: optional members of all kinds, and read-only and
// writeOnly pointers.
type merged struct {
	ID       string     `json:"id" readOnly:"true" id:"tenant,number"`
	Tenant   string     `json:"tenant"`
	Number   int        `json:"number"`
	Title    string     `json:"title" required:"true" minLength:"1"`
	Empty    string     `json:"empty,omitempty"`
	Optional *string    `json:"optional,omitempty" maxLength:"3"`
	Zero     int        `json:"zero,omitzero" maximum:"9"`
	Letters  letters    `json:"letters,omitzero"`
	State    string     `json:"state" enum:"new,paid" default:"db"`
	Secret   string     `json:"secret" writeOnly:"true" minLength:"2"`
	Pin      *string    `json:"pin" writeOnly:"true"`
	Sum      *float64   `json:"sum" readOnly:"true"`
	Deep     *profile   `json:"deep" readOnly:"true"`
	At       *time.Time `json:"at,omitzero"`
	Since    time.Time  `json:"since"`
	List     []string   `json:"list,omitempty"`
	Flags    []bool     `json:"flags,omitzero"`
	Digits   *uint64    `json:"digits,string"`
	Profile  profile    `json:"profile,omitzero"`
	Map      map[string]int
	hidden   []string
}

// letters is a string that counts as zero if it has no letters.
type letters string

func (l letters) IsZero() bool { return strings.Trim(string(l), " ") == "" }

func newMerged() *merged {
	return &merged{
		ID: "t,1", Tenant: "t", Number: 1, Title: "Title", Empty: "e", Optional: ptr("opt"), Zero: 3,
		Letters: "abc", State: "new", Secret: "se", Pin: ptr("1234"), Sum: ptr(1.5), Deep: &profile{Bio: "b"},
		At: ptr(time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)), Since: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
		List: []string{"a"}, Flags: []bool{true}, Digits: ptr(uint64(math.MaxUint64)),
		Profile: profile{Bio: "b", Rank: 2, Theme: "dark", Hidden: 1}, Map: map[string]int{"a": 1},
		hidden: []string{"h"},
	}
}

// flatItem has only members that Merge does not encode.
type flatItem struct {
	ID    int64      `json:"id"`
	Name  string     `json:"name" required:"true" maxLength:"5"`
	Note  *string    `json:"note"`
	Count int8       `json:"count" minimum:"0"`
	Size  uint       `json:"size"`
	Ratio float64    `json:"ratio"`
	Done  *bool      `json:"done,omitempty"`
	At    time.Time  `json:"at"`
	Until *time.Time `json:"until,omitzero"`
}

func newFlatItem() *flatItem {
	return &flatItem{ID: 7, Name: "name", Note: ptr("note"), Count: 1, Size: 2, Ratio: -0.5, Done: ptr(true),
		At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Until: ptr(time.Unix(0, 1).UTC())}
}

// newValid returns an item that satisfies all constraints.
func newValid() *everything {
	v := newEverything()
	v.Next.Status = "open"
	return v
}

// byDocument applies a merge patch to the document of base, as Merge states.
func byDocument(typ *schema.Type, base any, p *patch.Patch, opts schema.DecodeOptions) (any, error) {
	doc, err := typ.AppendFull(nil, base)
	if err != nil {
		return nil, err
	}
	patched, err := p.Apply(doc)
	if err != nil {
		return nil, err
	}
	opts.Mode = schema.Patched
	return typ.Decode(typ.Complete(patched, doc, true), &opts)
}

// everyField compares values with all fields, including those that are not in the JSON. Times are equal
// only if they also have the same zone and no reading of the monotonic clock.
var everyField = cmp.Exporter(func(reflect.Type) bool { return true })

// checkMerge compares Merge with byDocument, and reports whether Merge has applied the patch.
func checkMerge(t *testing.T, base any, text string, limits patch.Limits, opts schema.DecodeOptions) bool {
	t.Helper()
	typ := typeOf(t, base)
	opts.Base = base
	p, err := patch.ParseMergePatch([]byte(text), limits)
	if err != nil {
		return false
	}
	sent, size, ok := p.Merge()
	if !ok {
		t.Fatalf("%s is not a merge patch", text)
	}
	before, _ := typ.AppendFull(nil, base)
	got, ok := typ.Merge(sent, size, &opts)
	if !ok {
		return false
	}
	want, err := byDocument(typ, base, p, opts)
	if err != nil {
		t.Fatalf("Merge(%s) of %s = %+v, but the error of the document is %v", text, before, got, err)
	}
	if !reflect.DeepEqual(want, got) {
		t.Fatalf("Merge(%s) of %s (-want +got):\n%s", text, before, cmp.Diff(want, got, everyField))
	}
	wantText, wantErr := typ.AppendFull(nil, want)
	gotText, gotErr := typ.AppendFull(nil, got)
	if wantErr != nil || gotErr != nil || !bytes.Equal(wantText, gotText) {
		t.Fatalf("Merge(%s) has the JSON %s (%v), want %s (%v)", text, gotText, gotErr, wantText, wantErr)
	}
	scribble(reflect.ValueOf(got).Elem(), typ, opts.ReadOnly)
	if after, _ := typ.AppendFull(nil, base); !bytes.Equal(before, after) {
		t.Fatalf("a change of the result of Merge(%s) changes the base from %s to %s", text, before, after)
	}
	return true
}

// scribble changes what the writable fields of the struct v refer to.
func scribble(v reflect.Value, typ *schema.Type, readOnly []string) {
	for _, f := range typ.Fields {
		field := v.FieldByIndex(f.Index)
		if f.ReadOnly || slices.Contains(readOnly, f.Name) || f.Type.Kind == schema.Object {
			continue
		}
		switch field.Kind() {
		case reflect.Pointer:
			if !field.IsNil() {
				field.Elem().SetZero()
			}
		case reflect.Slice:
			for i := range field.Len() {
				field.Index(i).SetZero()
			}
		case reflect.Map:
			field.Clear()
		}
	}
}

// TestMerge checks which patches need no document, and that the result is that of the document.
func TestMerge(t *testing.T) {
	t.Parallel()
	with := func(change func(*flatItem)) *flatItem {
		v := newFlatItem()
		change(v)
		return v
	}
	withMerged := func(change func(*merged)) *merged {
		v := newMerged()
		change(v)
		return v
	}
	tests := []struct {
		name   string
		base   any
		patch  string
		limits patch.Limits
		opts   schema.DecodeOptions
		want   bool
	}{
		{name: "no member", base: newFlatItem(), patch: `{}`, want: true},
		{name: "one member", base: newFlatItem(), patch: `{"count":2}`, want: true},
		{name: "white space and escapes", base: newFlatItem(), patch: " {\n\"na\\u006de\" : \"\\u00e9\" } ",
			want: true},
		{name: "all kinds", base: newFlatItem(), patch: `{"name":"a\n","count":1e1,"size":3.0,"ratio":1e-7,` +
			`"done":false,"at":"2026-01-01T00:00:00+02:00","until":"1999-01-01T00:00:00Z","note":""}`, want: true},
		{name: "remove nullable members", base: newFlatItem(), patch: `{"note":null,"done":null,"until":null}`,
			want: true},
		{name: "remove members that get zero", base: newFlatItem(), patch: `{"count":null,"at":null}`, want: true},
		{name: "remove a required member", base: newFlatItem(), patch: `{"name":null}`},
		{name: "repeat a read-only id", base: newFlatItem(), patch: `{"id":7,"count":3}`,
			opts: schema.DecodeOptions{ReadOnly: []string{"id"}}, want: true},
		{name: "change a read-only id", base: newFlatItem(), patch: `{"id":8}`,
			opts: schema.DecodeOptions{ReadOnly: []string{"id"}}},
		{name: "remove a read-only id", base: newFlatItem(), patch: `{"id":null}`,
			opts: schema.DecodeOptions{ReadOnly: []string{"id"}}},
		{name: "a read-only member that does not satisfy its constraint",
			base: with(func(v *flatItem) { v.Name = "too long" }), patch: `{"count":2}`,
			opts: schema.DecodeOptions{ReadOnly: []string{"name"}}, want: true},
		{name: "wrong type", base: newFlatItem(), patch: `{"count":"1"}`},
		{name: "object in place of a scalar", base: newFlatItem(), patch: `{"count":{}}`},
		{name: "too large for the Go type", base: newFlatItem(), patch: `{"count":128}`},
		{name: "violation", base: newFlatItem(), patch: `{"count":-1}`},
		{name: "violation of a member that is not named", base: with(func(v *flatItem) { v.Count = -1 }),
			patch: `{"size":1}`},
		{name: "unknown member", base: newFlatItem(), patch: `{"counts":1}`},
		{name: "ignored member", base: newFlatItem(), patch: `{"counts":1}`,
			opts: schema.DecodeOptions{AllowUnknown: true}},
		{name: "not an object", base: newFlatItem(), patch: `1`},
		{name: "array", base: newFlatItem(), patch: `[{"count":1}]`},
		{name: "a string that JSON cannot have", base: with(func(v *flatItem) { v.Name = "\xff" }),
			patch: `{"count":2}`},
		{name: "a pointer to such a string", base: with(func(v *flatItem) { v.Note = ptr("\xff") }),
			patch: `{"count":2}`},
		{name: "the same, replaced", base: with(func(v *flatItem) { v.Note = ptr("\xff") }),
			patch: `{"note":"valid"}`},
		{name: "a number that JSON cannot have", base: with(func(v *flatItem) { v.Ratio = math.NaN() }),
			patch: `{"count":2}`},
		{name: "negative zero", base: with(func(v *flatItem) { v.Ratio = math.Copysign(0, -1) }),
			patch: `{"count":2}`, want: true},
		{name: "time in a zone", base: with(func(v *flatItem) { v.At = v.At.In(time.FixedZone("X", 3600)) }),
			patch: `{"count":2}`, want: true},
		{name: "time of the monotonic clock", base: with(func(v *flatItem) { v.At = time.Now() }),
			patch: `{"count":2}`, want: true},
		{name: "year 10000", base: with(func(v *flatItem) { v.At = v.At.AddDate(8000, 0, 0) }), patch: `{"count":2}`},
		{name: "may exceed the size", base: newFlatItem(), patch: `{"count":2}`, limits: patch.Limits{Size: 200}},
		{name: "too many members", base: newFlatItem(), patch: `{"count":2}`,
			opts: schema.DecodeOptions{MaxNames: 8}},
		{name: "too deep", base: newFlatItem(), patch: `{"count":[[1]]}`, opts: schema.DecodeOptions{MaxDepth: 2}},

		{name: "everything", base: newValid(), patch: `{"name":"other"}`, want: true},
		{name: "an array replaces an array", base: newValid(), patch: `{"tags":["x","y"],"any":[null]}`,
			want: true},
		{name: "existing elements", base: newValid(), patch: `{"lines":[{"sku":"B","count":9,"price":6}]}`,
			want: true},
		{name: "object of a struct", base: newValid(), patch: `{"address":{"street":"x"}}`},
		{name: "object of a map", base: newValid(), patch: `{"labels":{"a":null}}`},
		{name: "object of any", base: newValid(), patch: `{"any":{"b":null}}`},
		{name: "remove a struct, a map and an array", base: newValid(),
			patch: `{"other":null,"labels":null,"tags":null}`, want: true},

		{name: "composite id", base: newMerged(), patch: `{"title":"x"}`, want: true},
		{name: "repeat a composite id", base: newMerged(), patch: `{"id":"t,1","tenant":"t","number":1}`, want: true},
		{name: "change a composite id", base: newMerged(), patch: `{"number":2}`},
		{name: "remove a part of the id", base: newMerged(), patch: `{"number":null}`},
		{name: "nil", base: &merged{ID: "t,1", Tenant: "t", Number: 1, Title: "x", State: "new", Secret: "se"},
			patch: `{"title":"y"}`, want: true},
		{name: "empty and not nil", base: withMerged(func(v *merged) {
			v.Optional, v.List, v.Flags, v.Letters = ptr(""), []string{}, []bool{}, "  "
		}), patch: `{"title":"y"}`, want: true},
		{name: "write a secret", base: newMerged(), patch: `{"secret":"other","pin":null}`, want: true},
		{name: "an empty value that the store would set", base: newMerged(), patch: `{"state":""}`},
		{name: "the same, stored", base: withMerged(func(v *merged) { v.State = "" }), patch: `{"zero":1}`,
			want: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := checkMerge(t, tt.base, tt.patch, tt.limits, tt.opts); got != tt.want {
				t.Errorf("Merge(%s) applies the patch: %v, want %v", tt.patch, got, tt.want)
			}
		})
	}
}

// TestMergeManyFields checks fields beyond the 64 that a machine word can number.
func TestMergeManyFields(t *testing.T) {
	t.Parallel()
	var fields []reflect.StructField
	for i := range 150 {
		name := string(rune('A'+i/26)) + string(rune('a'+i%26))
		fields = append(fields, reflect.StructField{Name: name, Type: reflect.TypeFor[*string]()})
	}
	base := reflect.New(reflect.StructOf(fields))
	for i := range fields {
		base.Elem().Field(i).Set(reflect.ValueOf(ptr(fields[i].Name)))
	}
	for _, text := range []string{`{"Aa":"x"}`, `{"Cn":null,"Da":"y","Ff":"z"}`} {
		if !checkMerge(t, base.Interface(), text, patch.Limits{}, schema.DecodeOptions{}) {
			t.Errorf("Merge does not apply %s", text)
		}
	}
}

// TestMergeInvalid checks that a text that is no patch is refused without a panic.
func TestMergeInvalid(t *testing.T) {
	t.Parallel()
	typ := schema.For[flatItem]()
	opts := &schema.DecodeOptions{Base: newFlatItem()}
	for _, text := range []string{"", "{", `{"`, `{"count`, `{"count"`, `{"count":`, `{"count":1`, `{"count":1,`,
		`{"count":1]`, `{"count":}`, `{"count": 1}`, `{ "count":1}`, `{"count":,}`, `{"count":[1}`, `{"count"1}`,
		`{"count":"1}`, `{,}`, `{"count":1}}`, `{"count":1,"count":2}`} {
		if v, ok := typ.Merge([]byte(text), 1<<20, opts); ok {
			t.Errorf("Merge(%s) = %+v, want none", text, v)
		}
	}
	for _, base := range []any{nil, (*flatItem)(nil), flatItem{}, newAccount()} {
		if v, ok := typ.Merge([]byte("{}"), 1<<20, &schema.DecodeOptions{Base: base}); ok {
			t.Errorf("Merge of a %T = %+v, want none", base, v)
		}
	}
}

// randomMerge returns an item and a merge patch that the bytes determine. Most of them are valid.
func randomMerge(data []byte) (base any, text string, opts schema.DecodeOptions) {
	s := source{data}
	fresh := []func() any{
		func() any { return newFlatItem() },
		func() any { return newValid() },
		func() any { return newAccount() },
		func() any { return newMerged() },
	}[s.byte()%4]
	base, other := fresh(), fresh()
	typ, _ := schema.Of(reflect.TypeOf(base))
	for _, v := range []any{base, other} {
		for range s.byte() % 4 {
			f := typ.Fields[int(s.byte())%len(typ.Fields)]
			if field := reflect.ValueOf(v).Elem().FieldByIndex(f.Index); s.byte()%3 == 0 {
				field.SetZero()
			} else {
				s.fill(field)
			}
		}
	}
	if s.byte()&1 == 1 {
		opts.ReadOnly = []string{"id"}
	}
	opts.AllowUnknown = s.byte()%8 == 0
	literals := []string{"null", `""`, "0", "-1", "true", "[]", "{}", `"x"`, "[null]", `["a","b"]`, "1e400",
		`{"a":null}`, "12345678901234567890", `"2026-01-01T00:00:00Z"`, `[{"sku":"A"}]`, `"\u2028"`, "1.0"}
	var b strings.Builder
	b.WriteByte('{')
	for i := range s.byte() % 4 {
		name, value := "unknown", []byte(literals[int(s.byte())%len(literals)])
		if k := int(s.byte()); k < 250 {
			f := typ.Fields[k%len(typ.Fields)]
			name = f.Name
			if given, err := typ.AppendField(nil, f, other); err == nil && s.byte()%4 > 0 {
				value = given
			}
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + name + `":`)
		b.Write(value)
	}
	b.WriteByte('}')
	return base, b.String(), opts
}

// TestMergeRandom compares Merge with the document for random items and patches. Many of them must be
// applied by Merge, so that the comparison means something.
func TestMergeRandom(t *testing.T) {
	t.Parallel()
	applied := 0
	for i := range uint64(20_000) {
		random := rand.New(rand.NewPCG(i, 1))
		data := make([]byte, 0, 256)
		for range cap(data) / 8 {
			data = binary.LittleEndian.AppendUint64(data, random.Uint64())
		}
		base, text, opts := randomMerge(data)
		if checkMerge(t, base, text, patch.Limits{}, opts) {
			applied++
		}
	}
	t.Logf("Merge has applied %d of 20000 patches", applied)
	if applied < 4_000 {
		t.Errorf("Merge has applied %d of 20000 patches, want at least 4000", applied)
	}
}

// FuzzMerge compares Merge with the document, for generated items and patches and for given patches.
func FuzzMerge(f *testing.F) {
	for i := range byte(16) {
		f.Add([]byte{i, 3, i * 7, 1, 5, i, 9, 200, 2, i, 1, 2, 3}, `{"name":"x","note":null}`)
	}
	for _, text := range []string{`{}`, `{"title":"x","list":["a"],"map":{"a":null}}`,
		`{"tags":["a","b"],"any":[1,null]}`, `{"email":"a@example.com","password":null}`, `{"id":"a1","note":"n"}`,
		`[]`, `null`, `{"count":1,"count":2}`} {
		f.Add([]byte{1, 2, 3}, text)
	}
	f.Fuzz(func(t *testing.T, data []byte, given string) {
		base, text, opts := randomMerge(data)
		checkMerge(t, base, text, patch.Limits{}, opts)
		base, _, opts = randomMerge(data)
		checkMerge(t, base, given, patch.Limits{}, opts)
	})
}
