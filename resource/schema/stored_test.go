package schema_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

var stored = &schema.DecodeOptions{Mode: schema.Stored}

// TestStored checks that stored documents are decoded even if the constraints have changed.
func TestStored(t *testing.T) {
	t.Parallel()
	type part struct {
		Key string `json:"key" readOnly:"true"`
	}
	type now struct {
		ID     string          `json:"id" readOnly:"true"`
		Name   string          `json:"name" required:"true" minLength:"3" pattern:"^[a-z]+$"`
		Status string          `json:"status,omitzero" default:"open" enum:"open,done"`
		N      int             `json:"n" minimum:"10"`
		Big    int64           `json:"big,string,omitempty"`
		Secret string          `json:"secret" writeOnly:"true" required:"true"`
		Parts  []part          `json:"parts,omitempty" maxItems:"1" unique:"true"`
		ByName map[string]part `json:"byName,omitempty"`
		Maybe  *part           `json:"maybe,omitempty"`
	}
	tests := []struct {
		name string
		doc  string
		want now
	}{
		{"read-only and out of bounds", `{"id":"7","name":"A","n":1}`, now{ID: "7", Name: "A", N: 1}},
		{"nothing", `{}`, now{}},
		{"no defaults: what is not there was zero", `{"id":"7"}`, now{ID: "7"}},
		{"values that are none today", `{"status":"lost"}`, now{Status: "lost"}},
		{"members that are none today", `{"old":{"a":[1,{}]},"id":"7"}`, now{ID: "7"}},
		{"null where today none is allowed", `{"name":null,"n":null,"big":null,"parts":null}`, now{}},
		{"null where it is", `{"maybe":null}`, now{}},
		{"read-only in arrays and maps",
			`{"parts":[{"key":"a"},{"key":"a"}],"byName":{"x":{"key":"b"}},"maybe":{"key":"c"}}`,
			now{Parts: []part{{"a"}, {"a"}}, ByName: map[string]part{"x": {"b"}}, Maybe: &part{"c"}}},
		{"numbers in strings", `{"big":"9007199254740993"}`, now{Big: 9007199254740993}},
	}
	typ := schema.For[now]()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := typ.Decode([]byte(tt.doc), stored)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("Decode(%s) (-want +got):\n%s", tt.doc, diff)
			}
		})
	}
}

// TestStoredRefuses checks values that the Go type cannot represent.
func TestStoredRefuses(t *testing.T) {
	t.Parallel()
	typ := schema.For[struct {
		N    int8   `json:"n"`
		Name string `json:"name"`
	}]()
	for _, doc := range []string{`{"n":"1"}`, `{"n":300}`, `{"n":1.5}`, `{"name":1}`, `{"name":{}}`, `[]`,
		`null`, ``, `{"n":1`, `{} {}`} {
		if v, err := typ.Decode([]byte(doc), stored); err == nil {
			t.Errorf("Decode(%s) = %+v, want an error", doc, v)
		}
	}
}

// TestStoredReadsWhatIsWritten checks that depth and size are not limited.
func TestStoredReadsWhatIsWritten(t *testing.T) {
	t.Parallel()
	type node struct {
		Next *node          `json:"next,omitempty"`
		Wide map[string]int `json:"wide,omitempty"`
	}
	deep := &node{Wide: map[string]int{}}
	for i := range 2000 {
		deep.Wide[strings.Repeat("x", i)] = i
	}
	for range 500 {
		deep = &node{Next: deep}
	}
	roundTrip(t, schema.For[node](), deep)
	roundTrip(t, schema.For[everything](), newEverything())
	roundTrip(t, schema.For[everything](), &everything{})
	roundTrip(t, schema.For[account](), newAccount())
}

// roundTrip checks that the output of Append is decoded, and encoded as the same bytes again.
func roundTrip(t *testing.T, typ *schema.Type, v any) {
	t.Helper()
	doc, err := typ.Append(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	read, err := typ.Decode(doc, stored)
	if err != nil {
		t.Fatalf("what was written is not read: %v", err)
	}
	again, err := typ.Append(nil, read)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(doc), string(again)); diff != "" {
		t.Fatalf("what was read is written (-want +got):\n%s", diff)
	}
}

// methodsRefuse reports whether methods of the types reject their own output, which Stored does not
// prevent.
func methodsRefuse(typ *schema.Type, doc []byte) bool {
	_, err := typ.Decode(doc, stored)
	if syntax, ok := errors.AsType[*schema.SyntaxError](err); ok {
		return syntax.Code == "duplicateName"
	}
	bad, ok := errors.AsType[schema.Violations](err)
	return ok && !slices.ContainsFunc(bad, func(v schema.Violation) bool { return v.Code != "format" })
}

// FuzzStored encodes and decodes values of all kinds.
func FuzzStored(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, v := range []any{new(flat), new(everything), new(scalars), new([]line),
			new(map[colour]*address)} {
			s := source{data}
			s.fill(reflect.ValueOf(v).Elem())
			typ := typeOf(t, v)
			if doc, err := typ.Append(nil, v); err == nil && !methodsRefuse(typ, doc) {
				roundTrip(t, typ, v)
			}
			if read, err := typ.Decode(data, stored); err == nil {
				if _, err := typ.Append(nil, read); err != nil {
					t.Fatalf("what was read of %s cannot be written: %v", data, err)
				}
			}
		}
	})
}
