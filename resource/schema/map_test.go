package schema_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

// loud has an AppendText method with text that needs escapes, and ignores case when decoding.
type loud struct {
	s    string
	mute bool // not encoded, so that different keys can have the same text
}

func (l loud) AppendText(b []byte) ([]byte, error) {
	if l.s == "fail" {
		return b, errColour
	}
	return append(b, `"`+l.s+"\" <\n"...), nil
}

func (l *loud) UnmarshalText(text []byte) error {
	l.s = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(string(text), `"`), "\" <\n"))
	return nil
}

func TestMapKeys(t *testing.T) {
	t.Parallel()
	type maps struct {
		Int   map[int8]int   `json:"int"`
		Uint  map[uint16]int `json:"uint"`
		Named map[status]int `json:"named"`
		Text  map[loud]int   `json:"text"`
	}
	v := &maps{
		Int: map[int8]int{-128: 1, 9: 2, 10: 3}, Uint: map[uint16]int{65535: 1, 0: 2},
		Named: map[status]int{"b": 1, "": 2, "\n": 3}, Text: map[loud]int{{s: "x"}: 1, {s: "y"}: 2},
	}
	all := schema.For[maps]()
	written, err := all.Append(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(marshal(t, v), string(written)); diff != "" {
		t.Errorf("Append mismatch (-want +got):\n%s", diff)
	}
	if got := decode[maps](t, string(written), nil); !all.Equal(v, got) {
		t.Errorf("what was written %s is read as %+v", written, got)
	}
	bad := map[string]string{
		`{"int":{"128":1}}`:    "/int/128 format",
		`{"int":{"x":1}}`:      "/int/x format",
		`{"int":{"+1":1}}`:     "/int/+1 format",
		`{"uint":{"-1":1}}`:    "/uint/-1 format",
		`{"uint":{"65536":1}}`: "/uint/65536 format",
		`{"uint":{"00":[{}]}}`: "/uint/00 format",
		`{"named":{"a":"x"}}`:  "/named/a type",
		`{"named":null}`:       "/named null",
		`{"text":[]}`:          "/text type",
	}
	for data, want := range bad {
		if diff := cmp.Diff([]string{want}, found[maps](t, data, nil)); diff != "" {
			t.Errorf("Decode(%s) mismatch (-want +got):\n%s", data, diff)
		}
	}
	if e := refused(t, all, `{"text":{"a":1,"A":2}}`, nil); e.Code != "duplicateName" {
		t.Errorf("the code of two names for one key is %s, want duplicateName", e.Code)
	}
	for _, v := range []*maps{
		{Text: map[loud]int{{s: "fail"}: 1}}, {Text: map[loud]int{{"x", true}: 1, {"x", false}: 2}},
		{Named: map[status]int{"\xff": 1}},
	} {
		if got, err := all.Append(nil, v); err == nil {
			t.Errorf("Append = %s, want an error", got)
		}
	}
}

func TestMapOfStructs(t *testing.T) {
	t.Parallel()
	type entry struct {
		Name  string `json:"name" minLength:"1"`
		Owner string `json:"owner" readOnly:"true"`
	}
	type book struct {
		Entries map[string]*entry `json:"entries"`
	}
	base := &book{map[string]*entry{"a": {"n", "me"}, "nil": nil}}
	opts := &schema.DecodeOptions{Mode: schema.Patched, Base: base}
	got := decode[book](t, `{"entries":{"a":{"name":"x","owner":"me"},"nil":{"name":"y"},"b":null}}`, opts)
	want := &book{map[string]*entry{"a": {"x", "me"}, "nil": {Name: "y"}, "b": nil}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
	tests := map[string][]string{
		`{"entries":{"a":{"name":"x"}}}`: {"/entries/a/owner readOnly"},
		`{"entries":{"a":{"name":"","owner":"you"},"b":[]}}`: {"/entries/a/name minLength",
			"/entries/a/owner readOnly",
			"/entries/b type"},
	}
	for data, want := range tests {
		if diff := cmp.Diff(want, found[book](t, data, opts)); diff != "" {
			t.Errorf("Decode(%s) mismatch (-want +got):\n%s", data, diff)
		}
	}
}

func TestTextAppender(t *testing.T) {
	t.Parallel()
	type holder struct {
		L loud  `json:"l,omitempty"`
		P *loud `json:"p"`
	}
	v := &holder{loud{s: "é"}, &loud{s: "b"}}
	holders := schema.For[holder]()
	written, err := holders.Append(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(marshal(t, v), string(written)); diff != "" {
		t.Errorf("Append mismatch (-want +got):\n%s", diff)
	}
	f := holders.Field("l")
	if got, want := f.Get(v), "\"é\" <\n"; got != want || f.Text(v) != want {
		t.Errorf("Get = %q, Text = %q, want %q", got, f.Text(v), want)
	}
	failing := &holder{L: loud{s: "fail"}}
	if got := f.Get(failing); got != nil || f.Text(failing) != "" {
		t.Errorf("Get of what cannot be written = %v, want nil", got)
	}
	_, err = holders.Append(nil, failing)
	if err == nil || !strings.Contains(err.Error(), "holder: L: ") {
		t.Errorf("Append = %v, want an error that names the type and the field", err)
	}
	if holders.Equal(failing, v) || !holders.Equal(failing, &holder{L: loud{s: "fail"}}) {
		t.Error("values that cannot be written are not compared in memory")
	}
}

// TestForeign checks types with only one of the two JSON methods. The other direction uses the Go
// kind.
func TestForeign(t *testing.T) {
	t.Parallel()
	type holder struct {
		O oneSided            `json:"o"`
		P *oneSided           `json:"p,omitzero"`
		L []any               `json:"l"`
		M map[string]oneSided `json:"m,omitempty"`
	}
	v := &holder{oneSided{1}, &oneSided{2}, []any{"a", nil, 1.5}, map[string]oneSided{"x": {3}}}
	holders := schema.For[holder]()
	written, err := holders.Append(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(marshal(t, v), string(written)); diff != "" {
		t.Errorf("Append mismatch (-want +got):\n%s", diff)
	}
	got := decode[holder](t, `{"o":{"N":1},"p":null,"l":[null,{"a":[]}]}`, nil)
	if diff := cmp.Diff(&holder{O: oneSided{1}, L: []any{nil, map[string]any{"a": []any{}}}},
		got); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
	want := []string{"/o format", "/p format", "/m/x format"}
	if diff := cmp.Diff(want, found[holder](t, `{"o":{"M":1},"p":[],"m":{"x":{"N":"y"}}}`, nil)); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
	decode[holder](t, `{"o":{"M":1}}`, &schema.DecodeOptions{AllowUnknown: true})
}

type oneSided struct{ N int }

func (o oneSided) MarshalJSON() ([]byte, error) { return []byte(`{"written":true}`), nil }
