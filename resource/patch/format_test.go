package patch_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/patch"
)

// union adds strings to members that are lists, unless they are in them: {"tags": ["new"]}.
var union = patch.Format{
	MediaType:   "application/vnd.example.union+json",
	Description: "Strings to add to lists.",
	Idempotent:  true,
	Apply:       addMissing,
}

func addMissing(doc, add []byte) ([]byte, error) {
	var lists map[string][]string
	if err := json.Unmarshal(add, &lists); err != nil {
		return nil, patch.NewError(patch.Malformed, "", "type", "the patch must be an object of lists of strings")
	}
	var members map[string]any
	if err := json.Unmarshal(doc, &members); err != nil {
		return nil, err
	}
	for name, list := range lists {
		old, ok := members[name].([]any)
		if !ok {
			return nil, patch.NewError(patch.Conflict, "/"+name, "missing", "there is no list "+name)
		}
		have := map[any]bool{}
		for _, v := range old {
			have[v] = true
		}
		for _, v := range list {
			if !have[v] {
				old, have[v] = append(old, v), true
			}
		}
		members[name] = old
	}
	return json.Marshal(members)
}

func ExampleFormat() {
	p, err := union.Parse([]byte(`{"tags": ["new", "old"]}`), patch.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	once, err := p.Apply([]byte(`{"name": "tea", "tags": ["old"]}`))
	fmt.Println(string(once), err)
	twice, err := p.Apply(once)
	fmt.Println(string(twice), err)
	_, err = p.Apply([]byte(`{"name": "tea"}`))
	fmt.Println(err)
	// Output:
	// {"name":"tea","tags":["old","new"]} <nil>
	// {"name":"tea","tags":["old","new"]} <nil>
	// patch: conflict: there is no list tags
}

func TestFormatParse(t *testing.T) {
	t.Parallel()
	text := union
	text.MediaType = "text/x-union"
	tests := []struct {
		name, patch string
		format      patch.Format
		limits      patch.Limits
		want        string // the text of the patch
		err         patch.Error
	}{
		{name: "canonical", patch: ` { "tags" : [ "\u0061" ] } `, format: union, want: `{"tags":["a"]}`},
		{name: "any value", patch: `7`, format: union, want: `7`},
		{name: "no JSON", patch: " a\xff ", format: text, want: " a\xff "},
		{name: "syntax", patch: `{`, format: union, err: patch.Error{Kind: patch.Malformed, Operation: -1, Code: "syntax"}},
		{name: "syntax of an array", patch: `[1,`, format: union,
			err: patch.Error{Kind: patch.Malformed, Operation: -1, Code: "syntax"}},
		{name: "duplicate", patch: `{"a":1,"a":1}`, format: union,
			err: patch.Error{Kind: patch.Malformed, Operation: -1, Code: "duplicate"}},
		{name: "depth", patch: `[[[]]]`, format: union, limits: patch.Limits{Depth: 2},
			err: patch.Error{Kind: patch.TooLarge, Operation: -1, Code: "depth"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			data := []byte(tt.patch)
			p, err := tt.format.Parse(data, tt.limits)
			if diff := cmp.Diff(tt.err, fault(err)); diff != "" {
				t.Fatalf("error (-want +got):\n%s", diff)
			}
			if err != nil {
				return
			}
			clear(data) // the patch shares no memory with it
			if diff := cmp.Diff(tt.want, string(p.Text())); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if f := p.Format(); f == nil || f.MediaType != tt.format.MediaType {
				t.Errorf("Format returned %v", f)
			}
		})
	}
	if p, err := patch.ParseMergePatch([]byte(`{}`), patch.Limits{}); err != nil || p.Format() != nil {
		t.Errorf("a merge patch has the format %v, %v", p.Format(), err)
	}
}

func TestFormatParsePanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if diff := cmp.Diff(any(`patch: the format "text/x" has no Apply`), recover()); diff != "" {
			t.Errorf("panic (-want +got):\n%s", diff)
		}
	}()
	_, _ = patch.Format{MediaType: "text/x"}.Parse(nil, patch.Limits{})
}

func TestFormatApply(t *testing.T) {
	t.Parallel()
	fails := errors.New("fails")
	result := func(text string, err error) patch.Format {
		return patch.Format{MediaType: "text/x", Apply: func(_, p []byte) ([]byte, error) {
			clear(p) // a mistake that must not change the patch
			return []byte(text), err
		}}
	}
	tests := []struct {
		name   string
		format patch.Format
		want   string
		err    func(error) bool
	}{
		{"canonical", result(` { "a" : 1.0 } `, nil), `{"a":1.0}`, nil},
		{"error", result("", fails), "", func(err error) bool { return err == fails }},
		{"invalid JSON", result("{", nil), "", func(err error) bool {
			return err != nil && strings.HasPrefix(err.Error(), `patch: the format "text/x" returned invalid JSON: `)
		}},
		{"two values", result("{}{}", nil), "", func(err error) bool { return err != nil }},
		{"depth", result(nested(65), nil), "", func(err error) bool { return fault(err).Code == "depth" }},
		{"size", result(`"`+strings.Repeat("x", 9<<20)+`"`, nil), "",
			func(err error) bool { return fault(err).Code == "size" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := tt.format.Parse([]byte("text"), patch.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Apply([]byte(`{"a":1}`))
			if tt.err == nil && err != nil || tt.err != nil && !tt.err(err) {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if !bytes.Equal(p.Text(), []byte("text")) {
				t.Errorf("Apply has changed the patch to %q", p.Text())
			}
		})
	}
}

// constant is a format that returns the patch.
var constant = patch.Format{MediaType: "application/vnd.example.constant+json",
	Apply: func(_, p []byte) ([]byte, error) { return p, nil }}

func TestApplyVisible(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, full, visible, changed, want string }{
		{"unchanged", `{"a":1,"h":2}`, `{"a":1}`, `{"a":1}`, `{"a":1,"h":2}`},
		{"changed", `{"a":1,"h":2}`, `{"a":1}`, `{"a":3,"b":4}`, `{"a":3,"b":4,"h":2}`},
		{"written", `{"a":1,"h":2}`, `{"a":1}`, `{"a":1,"h":3}`, `{"a":1,"h":3}`},
		{"removed", `{"a":{"h":1,"b":2},"c":3}`, `{"a":{"b":2},"c":3}`, `{"c":3}`, `{"c":3}`},
		{"nested", `{"a":{"h":1,"b":2}}`, `{"a":{"b":2}}`, `{"a":{"b":4}}`, `{"a":{"b":4,"h":1}}`},
		{"other type", `{"a":{"h":1}}`, `{"a":{}}`, `{"a":[]}`, `{"a":[]}`},
		{"omitted object", `{"a":{"h":1}}`, `{}`, `{}`, `{"a":{"h":1}}`},
		{"elements", `[{"a":1,"h":1},{"a":2,"h":2},{"a":3,"h":3}]`, `[{"a":1},{"a":2},{"a":3}]`, `[{"a":3},{"a":9},{"a":1}]`,
			`[{"a":3,"h":3},{"a":9},{"a":1,"h":1}]`},
		{"equal elements", `[{"h":1},{"h":2},{"h":3}]`, `[{},{},{}]`, `[{},{}]`, `[{"h":1},{"h":2}]`},
		{"equal elements keep their index", `[{"h":1},{"h":2},{"h":3}]`, `[{},{},{}]`, `[7,{},{}]`, `[7,{"h":2},{"h":3}]`},
		{"a neighbor becomes equal", `[{"a":1,"h":1},{"h":2},{"h":3}]`, `[{"a":1},{},{}]`, `[{},{},{}]`,
			`[{},{"h":2},{"h":3}]`},
		{"more equal elements", `[{"h":1}]`, `[{}]`, `[{},{}]`, `[{"h":1},{}]`},
		{"scalar", `1`, `1`, `2`, `2`},
		{"no canonical text", ` { "a" : 1, "h" : 2 } `, ` { "a" : 1 } `, `{"a":3}`, `{"a":3,"h":2}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := constant.Parse([]byte(tt.changed), patch.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.ApplyVisible([]byte(tt.full), []byte(tt.visible))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	p, _ := constant.Parse([]byte(`{}`), patch.Limits{})
	for _, texts := range [][2]string{{`{`, `{}`}, {`{}`, `{`}} {
		if _, err := p.ApplyVisible([]byte(texts[0]), []byte(texts[1])); err == nil {
			t.Errorf("%q was accepted", texts)
		}
	}
}

// without removes the members with the name h.
func without(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range v {
			if name != "h" {
				out[name] = without(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = without(v[i])
		}
		return out
	}
	return v
}

// FuzzApplyVisible: the client sees what the patch returned, and a patch without effect keeps all.
func FuzzApplyVisible(f *testing.F) {
	f.Add(`{"a":{"h":1,"b":[{"h":2,"c":3},{"c":3}]},"h":4}`, `{"a":{"b":[{"c":3}]},"d":5}`)
	f.Add(`[{"h":1},{"h":2}]`, `[{},{},{}]`)
	f.Add(`{"a":1.0}`, `{"a":1}`)
	f.Fuzz(func(t *testing.T, doc, other string) {
		if !jsontext.Value(doc).IsValid() || !jsontext.Value(other).IsValid() {
			return
		}
		encode := func(v any) []byte {
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		full, changed := decode(t, doc), without(decode(t, other))
		visible := without(full)
		for _, want := range []any{visible, changed} {
			p, err := constant.Parse(encode(want), patch.Limits{Depth: 10000})
			if err != nil {
				return // such as a number that is too long
			}
			got, err := p.ApplyVisible(encode(full), encode(visible))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, without(decode(t, string(got)))); diff != "" {
				t.Errorf("%s to %s: visible (-want +got):\n%s", doc, other, diff)
			}
			if cmp.Equal(want, visible) && !cmp.Equal(full, decode(t, string(got))) {
				t.Errorf("%s without a change became %s", doc, got)
			}
		}
	})
}
