package schema_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

// refused returns the error for a document that is not valid JSON.
func refused(t *testing.T, typ *schema.Type, data string, opts *schema.DecodeOptions) *schema.SyntaxError {
	t.Helper()
	v, err := typ.Decode([]byte(data), opts)
	e, ok := errors.AsType[*schema.SyntaxError](err)
	if !ok {
		t.Fatalf("Decode(%.80q) = %+v, %v, want a SyntaxError", data, v, err)
	}
	if v != nil || e.Detail == "" || !strings.Contains(e.Error(), e.Detail) {
		t.Errorf("Decode(%.80q) = %v, %#v", data, v, e)
	}
	return e
}

func TestDecodeSyntax(t *testing.T) {
	t.Parallel()
	type place struct {
		Name string            `json:"name"`
		Any  any               `json:"any"`
		Map  map[string]place2 `json:"map"`
	}
	type got struct {
		Code, Pointer string
		Offset        int64
	}
	tests := []struct {
		name, data string
		want       got
	}{
		{"nothing", "", got{"empty", "", 0}},
		{"only space", " \n\t", got{"empty", "", 0}},
		{"cut off", `{"name":"x"`, got{"syntax", "", 11}},
		{"cut off in a string", `{"name":"x`, got{"syntax", "/name", 10}},
		{"no value", `{"name":}`, got{"syntax", "/name", 8}},
		{"single quotes", `{'name':1}`, got{"syntax", "", 1}},
		{"name without quotes", `{name:1}`, got{"syntax", "", 2}},
		{"comma at the end", `{"name":"x",}`, got{"syntax", "", 11}},
		{"comment", `{"name":"x"/**/}`, got{"syntax", "", 11}},
		{"NaN", `{"any":NaN}`, got{"syntax", "/any", 7}},
		{"leading zero", `{"any":01}`, got{"syntax", "", 8}},
		{"plus sign", `{"any":+1}`, got{"syntax", "/any", 7}},
		{"mismatched brackets", `{"any":[}`, got{"syntax", "/any/0", 8}},
		{"control character", "{\"name\":\"a\nb\"}", got{"syntax", "/name", 10}},
		{"bad escape", `{"name":"\x"}`, got{"syntax", "/name", 9}},
		{"duplicate", `{"name":"a","name":"b"}`, got{"duplicateName", "/name", 12}},
		{"duplicate by escape", `{"name":"a","n\u0061me":"b"}`, got{"duplicateName", "/name", 12}},
		{"duplicate of the unknown", `{"nope":1,"nope":1}`, got{"duplicateName", "/nope", 10}},
		{"duplicate inside any", `{"any":[{"a":1,"a":2}]}`, got{"duplicateName", "/any/0/a", 15}},
		{"duplicate in a map", `{"map":{"a":{},"a":{}}}`, got{"duplicateName", "/map/a", 15}},
		{"duplicate inside the unknown", `{"nope":{"b":{"a":1,"a":2}}}`,
			got{"duplicateName", "/nope/b/a", 20}},
		{"byte order mark", "\ufeff{}", got{"encoding", "", 0}},
		{"UTF-8", "{\"name\":\"\xff\"}", got{"encoding", "/name", 9}},
		{"UTF-8 in a name", "{\"\xc3\":1}", got{"encoding", "", 2}},
		{"overlong", "{\"name\":\"\xc0\x80\"}", got{"encoding", "/name", 9}},
		{"lone surrogate", `{"name":"\ud800"}`, got{"encoding", "/name", 9}},
		{"surrogates in the wrong order", `{"name":"\uDC00\uD800"}`, got{"encoding", "/name", 9}},
		{"something follows", `{} {}`, got{"trailing", "", 2}},
		{"garbage follows", `{}x`, got{"trailing", "", 2}},
		{"wins over violations", `{"name":1,"nope":2`, got{"syntax", "", 18}},
		{"inside the wrong root", `[{"a":1,"a":2}]`, got{"duplicateName", "/0/a", 8}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := refused(t, schema.For[place](), tt.data, nil)
			if diff := cmp.Diff(tt.want, got{e.Code, e.Pointer, e.Offset}); diff != "" {
				t.Errorf("Decode mismatch (-want +got):\n%s\n%s", diff, e.Detail)
			}
		})
	}
}

type place2 struct {
	Name string `json:"name"`
}

func TestDecodeLimits(t *testing.T) {
	t.Parallel()
	type tree struct {
		Any  any             `json:"any"`
		Kids []tree          `json:"kids"`
		Map  map[string]tree `json:"map"`
		Text string          `json:"text"`
	}
	trees := schema.For[tree]()
	nest := func(depth int, open, inner, end string) string {
		return strings.Repeat(open, depth) + inner + strings.Repeat(end, depth)
	}
	members := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(`,"` + fieldName(i) + `":{}`)
		}
		return "{" + b.String()[1:] + "}"
	}
	deep := []struct {
		name, data string
		ok         bool
	}{
		{"fields to the limit", nest(4, `{"kids":[`, "", "]}"), true},
		{"fields beyond", nest(4, `{"kids":[`, "{}", "]}"), false},
		{"maps to the limit", nest(3, `{"map":{"a":`, `{"text":""}`, "}}"), true},
		{"maps beyond", nest(4, `{"map":{"a":`, "{}", "}}"), false},
		{"any to the limit", `{"any":` + nest(7, "[", "", "]") + "}", true},
		{"any beyond", `{"any":` + nest(8, "[", "", "]") + "}", false},
		{"wrong shape beyond", `{"text":` + nest(8, "[", "", "]") + "}", false},
		{"unknown beyond", `{"nope":` + nest(8, `{"a":`, "1", "}") + "}", false},
		{"wrong root beyond", nest(9, `[`, "1", "]"), false},
		{"brackets in strings do not count", `{"any":["[[[[[[[[[[{{{{{{{{\\\"[[[[[[[[[[[["]}`, true},
		{"hundreds of thousands", nest(300_000, "[", "", "]"), false},
	}
	for _, tt := range deep {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := &schema.DecodeOptions{MaxDepth: 8, MaxNames: 10}
			if tt.ok {
				decode[tree](t, tt.data, opts)
				return
			}
			// The limit of jsontext applies first.
			e := refused(t, trees, tt.data, opts)
			if e.Code != "depth" && tt.name != "hundreds of thousands" {
				t.Errorf("the code is %s, want depth", e.Code)
			}
		})
	}
	for _, data := range []string{members(11), `{"any":` + members(11) + "}", `{"map":` + members(11) + "}",
		`{"text":` + members(11) + "}"} {
		e := refused(t, trees, data, &schema.DecodeOptions{MaxNames: 10, AllowUnknown: true})
		if e.Code != "names" {
			t.Errorf("the code for %s is %s, want names", data, e.Code)
		}
	}
	for _, data := range []string{members(10), `{"any":` + members(10) + "}", `{"map":` + members(10) + "}",
		`{"any":{"::::::::::::":1}}`} {
		decode[tree](t, data, &schema.DecodeOptions{MaxNames: 10, AllowUnknown: true})
	}
	decode[tree](t, `{"any":`+nest(63, "[", "", "]")+"}", nil)
	if e := refused(t, trees, `{"any":`+nest(64, "[", "", "]")+"}", nil); e.Code != "depth" {
		t.Errorf("the code is %s, want depth", e.Code)
	}
	decode[tree](t, members(1000), &schema.DecodeOptions{AllowUnknown: true})
	if e := refused(t, trees, members(1001), &schema.DecodeOptions{AllowUnknown: true}); e.Code != "names" {
		t.Errorf("the code is %s, want names", e.Code)
	}
}
