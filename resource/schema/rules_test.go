package schema_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

// The tests in this file check the HTTP rules that concern documents. Their names contain the
// numbers.

func TestRule065JSONGate(t *testing.T) {
	t.Parallel()
	places := schema.For[account]()
	valid := `{"email":"a@example.com","password":"long enough"}`
	decode[account](t, " \t\r\n"+valid+" \n", nil)
	tests := []struct{ name, data, code string }{
		{"invalid UTF-8", strings.Replace(valid, "long", "l\xffng", 1), "encoding"},
		{"byte order mark", "\ufeff" + valid, "encoding"},
		{"duplicate name", strings.Replace(valid, "{", `{"email":"x",`, 1), "duplicateName"},
		{"lone surrogate", strings.Replace(valid, "long", `\udfff`, 1), "encoding"},
		{"a second value", valid + valid, "trailing"},
		{"too deep", strings.Repeat(`{"profile":`, 65) + "1" + strings.Repeat("}", 65), "depth"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if e := refused(t, places, tt.data, nil); e.Code != tt.code {
				t.Errorf("the code is %s, want %s: %v", e.Code, tt.code, e)
			}
		})
	}
	// A name that differs only in case is unknown, so a proxy that checks one cannot miss the
	// other.
	if diff := cmp.Diff([]string{"/Email unknown"},
		found[account](t, strings.Replace(valid, "{", `{"Email":"x",`, 1),
			nil)); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
}

func TestRule066NumbersKeepText(t *testing.T) {
	t.Parallel()
	type counter struct {
		Int   int64          `json:"int"`
		Uint  uint64         `json:"uint"`
		Text  uint64         `json:"text,string"`
		Any   any            `json:"any"`
		Raw   map[string]any `json:"raw"`
		Float float64        `json:"float"`
	}
	want := `{"int":9007199254740993,"uint":18446744073709551615,"text":"9007199254740993",` +
		`"any":[9007199254740993,-9007199254740993,1e30,9007199254740992],` +
		`"raw":{"n":123456789012345678901234567890},"float":0.1}`
	counters := schema.For[counter]()
	created := decode[counter](t, want, nil)
	for range 2 { // POST to GET, and GET to PATCH
		written, err := counters.AppendFull(nil, created)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(written)); diff != "" {
			t.Fatalf("digits are lost (-want +got):\n%s", diff)
		}
		created = decode[counter](t, string(written),
			&schema.DecodeOptions{Mode: schema.Patched, Base: created})
	}
	for _, text := range []string{"1e2", "1.0", "-0"} {
		data := strings.Replace(want, `"9007199254740993"`, `"`+text+`"`, 1)
		if diff := cmp.Diff([]string{"/text type"}, found[counter](t, data, nil)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestRule067UnknownMembers(t *testing.T) {
	t.Parallel()
	data := `{"text":"a","nmae":{"x":[1]},"Text":"b"}`
	type v1 struct {
		Text string `json:"text"`
	}
	if diff := cmp.Diff([]string{"/nmae unknown", "/Text unknown"}, found[v1](t, data, nil)); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
	_, err := schema.For[v1]().Decode([]byte(data), nil)
	if err == nil || !strings.Contains(err.Error(), `did you mean "text"?`) {
		t.Errorf("the error does not say what may have been meant: %v", err)
	}
	if got := decode[v1](t, data, &schema.DecodeOptions{AllowUnknown: true}); got.Text != "a" {
		t.Errorf("Text = %q, want that of the exact name", got.Text)
	}
	// A member of a newer version is unknown in an older one.
	type v2 struct {
		Text string `json:"text"`
		More string `json:"more"`
	}
	newer := `{"text":"a","more":"b"}`
	decode[v2](t, newer, nil)
	if diff := cmp.Diff([]string{"/more unknown"}, found[v1](t, newer, nil)); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
}

func TestRule068NullAbsentZero(t *testing.T) {
	t.Parallel()
	type note struct {
		Text  string  `json:"text"`
		Title *string `json:"title" default:"untitled"`
		Size  *int    `json:"size,omitempty"`
	}
	tests := []struct{ data, created, patched string }{
		{`{"text":"t","title":null,"size":0}`, `{"text":"t","title":null,"size":0}`,
			`{"text":"t","title":null,"size":0}`},
		{`{"text":"t","title":"","size":null}`, `{"text":"t","title":""}`, `{"text":"t","title":""}`},
		{`{"text":""}`, `{"text":"","title":"untitled"}`, `{"text":"","title":null}`},
		{`{}`, `{"text":"","title":"untitled"}`, `{"text":"","title":null}`},
	}
	base := &note{"before", ptr("before"), ptr(1)}
	for _, tt := range tests {
		for mode, want := range map[schema.Mode]string{schema.Create: tt.created, schema.Replace: tt.created,
			schema.Patched: tt.patched} {
			got := decode[note](t, tt.data, &schema.DecodeOptions{Mode: mode, Base: base})
			if diff := cmp.Diff(want, marshal(t, got)); diff != "" {
				t.Errorf("mode %d: Decode(%s) mismatch (-want +got):\n%s", mode, tt.data, diff)
			}
		}
	}
	if diff := cmp.Diff([]string{"/text null"}, found[note](t, `{"text":null}`, nil)); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
}

func TestRule069WrongShape(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"null", "[]", "true", "0", `"{}"`, ` [{"email":"a@example.com"}] `} {
		if diff := cmp.Diff([]string{" type"}, found[account](t, data, nil)); diff != "" {
			t.Errorf("Decode(%s) mismatch (-want +got):\n%s", data, diff)
		}
	}
	if e := refused(t, schema.For[account](), "", nil); e.Code != "empty" {
		t.Errorf("the code for nothing is %s, want empty", e.Code)
	}
}

func TestRule070AllViolations(t *testing.T) {
	t.Parallel()
	data := `{"nope":1,"plan":"gold","profile":{"bio":7,"x/~y":1},"password":"short","note":[],"email":null}`
	want := []string{
		"/email null", "/password minLength", "/plan enum", "/note type", "/profile/bio type",
		"/profile/x~1~0y unknown",
		"/nope unknown",
	}
	if diff := cmp.Diff(want, found[account](t, data, nil)); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
}

func TestRule086ReadOnlyMembers(t *testing.T) {
	t.Parallel()
	base := newAccount()
	document := func(balance, rank string) string {
		return `{"id":"a1","email":"a@example.com","password":"long enough","plan":"paid","balance":` +
			balance +
			`,"profile":{"bio":"","rank":` + rank + `,"theme":""},"created":"2026-01-01T12:00:00Z"}`
	}
	for _, mode := range []schema.Mode{schema.Replace, schema.Patched} {
		opts := &schema.DecodeOptions{Mode: mode, Base: base, ReadOnly: []string{"id"}}
		decode[account](t, document("12", "3.0"), opts)
		want := []string{"/balance readOnly", "/profile/rank readOnly"}
		if diff := cmp.Diff(want, found[account](t, document("13", "null"), opts)); diff != "" {
			t.Errorf("mode %d: Decode mismatch (-want +got):\n%s", mode, diff)
		}
		invalid := strings.Replace(document("12", "3"), "a@example.com", "nobody", 1)
		if diff := cmp.Diff([]string{"/email format"}, found[account](t, invalid, opts)); diff != "" {
			t.Errorf("mode %d: Decode mismatch (-want +got):\n%s", mode, diff)
		}
	}
	want := []string{"/balance readOnly", "/profile/rank readOnly", "/created readOnly"}
	if diff := cmp.Diff(want, found[account](t, document("0", "0"), nil)); diff != "" {
		t.Errorf("Decode of a new value mismatch (-want +got):\n%s", diff)
	}
}

func TestRule126DeterministicOutput(t *testing.T) {
	t.Parallel()
	all := schema.For[everything]()
	first, err := all.Append(nil, newEverything())
	if err != nil {
		t.Fatal(err)
	}
	for range 50 { // the order of a Go map is random
		again, err := all.Append(nil, newEverything())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(first), string(again)); diff != "" {
			t.Fatalf("Append mismatch (-first +again):\n%s", diff)
		}
	}
	if strings.Contains(string(first), `\u003c`) || !strings.Contains(string(first), "<b>") {
		t.Errorf("HTML is escaped: %s", first)
	}
	if !jsontext.Value(first).IsValid() || strings.HasPrefix(string(first), "\ufeff") {
		t.Errorf("what is written is not plain JSON: %s", first)
	}
}
