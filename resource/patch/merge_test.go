package patch_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/patch"
)

// TestRule123AppendixA has the table of RFC 7396 appendix A. It compares texts, because the order
// of members must not change.
func TestRule123AppendixA(t *testing.T) {
	t.Parallel()
	tests := []struct {
		doc, patch, want string
	}{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `null`, `null`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.patch+" on "+tt.doc, func(t *testing.T) {
			t.Parallel()
			got, err := applyMerge(tt.patch, tt.doc)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("error %v, document (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestRule123Merge(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name             string
		doc, patch, want string
	}{
		{"nulls in an array stay", `{}`, `{"a":[null,{"x":null,"y":[null]}]}`,
			`{"a":[null,{"x":null,"y":[null]}]}`},
		{"nulls in an array stay, at the root", `{}`, `[{"x":null}]`, `[{"x":null}]`},
		{"nulls in an array stay, over an object", `{"a":{"x":1}}`, `{"a":[{"x":null}]}`,
			`{"a":[{"x":null}]}`},
		{"elements are not merged", `{"a":[{"x":1},2]}`, `{"a":[{"y":1}]}`, `{"a":[{"y":1}]}`},
		{"nulls of a new object go", `{"a":1}`,
			`{"a":{"x":null,"y":{"z":null}},"b":{"x":null}}`, `{"a":{"y":{}},"b":{}}`},
		{"nulls of the document stay", `{"a":{"x":null}}`, `{"a":{"y":1}}`, `{"a":{"x":null,"y":1}}`},
		{"object on null", `null`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{"object on a string", `"x"`, `{"a":null}`, `{}`},
		{"object on a null member", `{"a":null}`, `{"a":{"b":null}}`, `{"a":{}}`},
		{"empty object on an array", `[1]`, `{}`, `{}`},
		{"empty object changes nothing", `{"b":1,"a":[{}]}`, `{}`, `{"b":1,"a":[{}]}`},
		{"removing what is missing", `{"a":1}`, `{"b":null,"c":{"d":null}}`, `{"a":1,"c":{}}`},
		{"false is no null", `{"a":1}`, `{"a":false}`, `{"a":false}`},
		{"order", `{"z":1,"y":{"b":1,"a":2},"x":3}`,
			`{"w":0,"x":null,"y":{"c":0,"a":3},"v":0,"z":2}`, `{"z":2,"y":{"b":1,"a":3,"c":0},"w":0,"v":0}`},
		{"text of numbers", `{"a":1.50,"b":9007199254740993}`,
			`{"c":1E+2,"d":-0.0}`, `{"a":1.50,"b":9007199254740993,"c":1E+2,"d":-0.0}`},
		{"nothing is escaped for HTML", `{"<":"&"}`, `{"\u003e":"\u0026<>"}`, `{"<":"&",">":"&<>"}`},
		{"names by their characters", `{"\u0061\u0301":1,"é":2}`, `{"a\u0301":null,"\u00e9":3}`, `{"é":3}`},
		{"the empty name", `{"":1,"a":2}`, `{"":null}`, `{"a":2}`},
		{"space", ` { "a" : [ 1 , 2 ] , "b" : " " } `, "{\n\t\"c\": [ 3 ]\n}", `{"a":[1,2],"b":" ","c":[3]}`},
		{"marks inside strings", `{"a":"},\"]{","b":"\\"}`,
			`{"b":"[\\\"","c":"{"}`, `{"a":"},\"]{","b":"[\\\"","c":"{"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := applyMerge(tt.patch, tt.doc)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("%s on %s: error %v, document (-want +got):\n%s", tt.patch, tt.doc, err, diff)
			}
		})
	}
}

// TestRule124Null shows that a merge patch cannot set a member to null, and a JSON Patch can.
func TestRule124Null(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		apply func(string, string) (string, error)
		patch string
		want  string
	}{
		{"merge patch", applyMerge, `{"a":null}`, `{}`},
		{"JSON Patch", applyJSON, `[{"op":"add","path":"/a","value":null}]`, `{"a":null}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, doc := range []string{`{}`, `{"a":1}`, `{"a":null}`} {
				got, err := tt.apply(tt.patch, doc)
				if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
					t.Errorf("on %s: error %v, document (-want +got):\n%s", doc, err, diff)
				}
			}
		})
	}
}

// TestMergePatchErrorsNameNoOperation checks that an error in an array element has no operation.
func TestMergePatchErrorsNameNoOperation(t *testing.T) {
	t.Parallel()
	_, err := applyMerge(`[0,{"a":1,"a":2}]`, `{}`)
	want := patch.Error{Kind: patch.Malformed, Operation: -1, Code: "duplicate"}
	if diff := cmp.Diff(want, fault(err)); diff != "" {
		t.Errorf("fault (-want +got):\n%s", diff)
	}
}
