package patch_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/patch"
)

const (
	libraryFails  = "error"
	libraryPanics = "panic"
)

// library applies a patch with evanphx/json-patch and the strictest options it has.
func library(jsonPatch, doc string) (result string) {
	defer func() {
		if recover() != nil {
			result = libraryPanics
		}
	}()
	p, err := jsonpatch.DecodePatch([]byte(jsonPatch))
	if err != nil {
		return libraryFails
	}
	options := jsonpatch.NewApplyOptions()
	options.SupportNegativeIndices = false
	options.EscapeHTML = false
	changed, err := p.ApplyWithOptions([]byte(doc), options)
	if err != nil {
		return libraryFails
	}
	return string(changed)
}

// TestRule125Deviations compares the results of both packages where the library is wrong. If a
// result of the library changes, the library has fixed a defect, and knownFault can drop the case.
func TestRule125Deviations(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		doc, patch string
		library    string
		want       string
		code       string
	}{
		{"test of the empty key", `{"":1}`, `[{"op":"test","path":"/","value":1}]`, libraryFails, `{"":1}`,
			""},
		{"copy of the empty key", `{}`,
			`[{"op":"replace","path":"","value":{"":1}},{"op":"copy","from":"/","path":"/a"},
				{"op":"test","path":"/a","value":1}]`, libraryFails, `{"":1,"a":1}`, ""},
		{"replace of a missing empty key", `{}`, `[{"op":"replace","path":"/","value":1}]`, `{"":1}`, "",
			"missing"},
		{"path through the empty key", `{"":{"a":1}}`, `[{"op":"remove","path":"//a"}]`, libraryFails,
			`{"":{}}`, ""},
		{"test without value", `{"a":null}`, `[{"op":"test","path":"/a"}]`, `{"a":null}`, "", "required"},
		{"test of nothing for null", `{}`, `[{"op":"test","path":"/a","value":null}]`, `{}`, "", "missing"},
		{"test of null in an array", `[[null]]`,
			`[{"op":"test","path":"/0","value":[null]}]`, libraryPanics, `[[null]]`, ""},
		{"index with a leading zero", `[1,2]`, `[{"op":"remove","path":"/01"}]`, `[1]`, "", "index"},
		{"index with a plus", `[1,2]`, `[{"op":"remove","path":"/+1"}]`, `[1]`, "", "index"},
		{"negative zero as index", `[1,2]`, `[{"op":"remove","path":"/-0"}]`, `[2]`, "", "index"},
		{"numbers as text", `[1.0]`, `[{"op":"test","path":"/0","value":1}]`, libraryFails, `[1.0]`, ""},
		{"null as patch", `{}`, `null`, `{}`, "", "type"},
		{"duplicate names", `{}`,
			`[{"op":"add","path":"/a","value":{"b":1,"b":2}}]`, `{"a":{"b":1,"b":2}}`, "", "duplicate"},
		{"op twice", `{"a":1}`, `[{"op":"test","op":"remove","path":"/a"}]`, `{}`, "", "duplicate"},
		{"unknown escape", `{}`, `[{"op":"add","path":"/~2","value":1}]`, `{"~2":1}`, "", "pointer"},
		{"scalar document", `1`, `[{"op":"replace","path":"","value":{}}]`, libraryFails, `{}`, ""},
		{"replacing by a scalar", `{}`, `[{"op":"replace","path":"","value":1}]`, libraryFails, `1`, ""},
		{"removing the document", `{"":1,"a":2}`, `[{"op":"remove","path":""}]`, `{"a":2}`, "", "root"},
		{"copying a document that changed", `{"a":1}`,
			`[{"op":"add","path":"/b","value":2},
				{"op":"copy","from":"","path":"/c"}]`, `{"a":1,"b":2,"c":{"a":1}}`,
			`{"a":1,"b":2,"c":{"a":1,"b":2}}`, ""},
		{"copying to the document", `{"a":[]}`, `[{"op":"copy","from":"/a","path":""}]`, `{"a":[],"":[]}`,
			`[]`, ""},
		{"moving to the same place", `{"a":1,"b":2}`,
			`[{"op":"move","from":"/a","path":"/a"}]`, `{"b":2,"a":1}`, `{"a":1,"b":2}`, ""},
		{"space before an array", ` []`, `[]`, libraryFails, `[]`, ""},
		{"invalid UTF-8", `{}`, "[{\"op\":\"add\",\"path\":\"/\xff\",\"value\":1}]", "{\"\ufffd\":1}", "",
			"syntax"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.library, library(tt.patch, tt.doc)); diff != "" {
				t.Errorf("the library has changed (-known +got):\n%s", diff)
			}
			got, err := applyJSON(tt.patch, tt.doc)
			if diff := cmp.Diff([]string{tt.want, tt.code}, []string{got, fault(err).Code}); diff != "" {
				t.Errorf("document and code (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRule125MergeDeviations compares both packages for merge patches.
func TestRule125MergeDeviations(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		doc, patch string
		library    string
		want       string
	}{
		{"nulls inside arrays", `{}`, `{"a":[{"x":null}]}`, `{"a":[{}]}`, `{"a":[{"x":null}]}`},
		{"null as target", `null`, `{"a":1}`, libraryFails, `{"a":1}`},
		{"HTML", `{}`, `{"a":"<&>"}`, `{"a":"\u003c\u0026\u003e"}`, `{"a":"<&>"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			theirs := libraryFails
			if merged, err := jsonpatch.MergePatch([]byte(tt.doc), []byte(tt.patch)); err == nil {
				theirs = string(merged)
			}
			if diff := cmp.Diff(tt.library, theirs); diff != "" {
				t.Errorf("the library has changed (-known +got):\n%s", diff)
			}
			got, err := applyMerge(tt.patch, tt.doc)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("error %v, document (-want +got):\n%s", err, diff)
			}
		})
	}
}

// libraryOp is an operation of a patch that ParseJSONPatch accepts.
type libraryOp struct {
	op, path, from, value string
}

// libraryOps parses operations in the same way as the library, but with case-sensitive names.
func libraryOps(t *testing.T, jsonPatch string) []libraryOp {
	t.Helper()
	var list []map[string]json.RawMessage
	if err := json.Unmarshal([]byte(jsonPatch), &list); err != nil {
		t.Fatal(err)
	}
	text := func(raw json.RawMessage) (s string) {
		_ = json.Unmarshal(raw, &s) // "from" may have any type in operations that ignore it
		return s
	}
	var ops []libraryOp
	for _, m := range list {
		op := libraryOp{op: text(m["op"]), path: text(m["path"]), from: text(m["from"]),
			value: string(m["value"])}
		ops = append(ops, op)
	}
	return ops
}

var (
	oddIndex   = regexp.MustCompile(`^([+]\d+|-?0\d+|-0)$`)
	oddNumber  = regexp.MustCompile(`-0|\d[.eE]`)
	emptyToken = regexp.MustCompile(`/(/|$)`)
)

// knownFault returns the name of the library's defect that may affect the result of applying
// jsonPatch to doc, or "". It may report a defect for a patch that is not affected, but not for
// ordinary patches.
func knownFault(jsonPatch, doc string, ops []libraryOp) string {
	if doc[0] != '{' && doc[0] != '[' {
		return "scalar document"
	}
	tests := slices.ContainsFunc(ops, func(op libraryOp) bool { return op.op == "test" })
	if tests && strings.Contains(jsonPatch+doc, "null") {
		return "test of null"
	}
	if tests && oddNumber.MatchString(jsonPatch+doc) {
		return "numbers as text"
	}
	for _, op := range ops {
		if name := knownFaultOf(op); name != "" {
			return name
		}
	}
	return ""
}

func knownFaultOf(op libraryOp) string {
	pointers := []string{op.path}
	if op.op == "move" || op.op == "copy" {
		pointers = append(pointers, op.from)
	}
	for _, p := range pointers {
		if emptyToken.MatchString(p) {
			return "the empty key"
		}
		if slices.ContainsFunc(strings.Split(p, "/"), oddIndex.MatchString) {
			return "spelling of an index"
		}
	}
	if slices.Contains(pointers, "") && !(hasValue(op.op) && strings.ContainsAny(op.value[:1], "{[")) {
		return "the document as a place"
	}
	if op.op == "move" && op.from == op.path {
		return "moving to the same place"
	}
	return ""
}

func hasValue(op string) bool { return op == "add" || op == "replace" || op == "test" }

func FuzzJSONPatchAgainstEvanphx(f *testing.F) {
	f.Add(`[{"op":"add","path":"/a/-","value":1},{"op":"move","from":"/a","path":"/b"}]`, `{"a":[0],"c":{}}`)
	f.Add(`[{"op":"test","path":"/c","value":{"x":[1,2],"y":"z"}},{"op":"remove","path":"/c/x/0"}]`,
		`{"c":{"y":"z","x":[1,2]}}`)
	f.Add(`[{"op":"copy","from":"/0","path":"/1/d"},{"op":"replace","path":"/0","value":[]}]`, `[{"a":1},{}]`)
	f.Add(`[{"op":"replace","path":"","value":{"a":[]}},{"op":"add","path":"/a/0","value":{}}]`, `[]`)
	f.Fuzz(func(t *testing.T, jsonPatch, doc string) { compare(t, jsonPatch, doc) })
}

// compare compares both packages, unless a known defect of the library applies. It reports whether
// it made a comparison.
func compare(t *testing.T, jsonPatch, doc string) (compared bool) {
	t.Helper()
	p, err := patch.ParseJSONPatch([]byte(jsonPatch), patch.Limits{})
	canonicalPatch, patchErr := jsontext.AppendFormat(nil, jsonPatch)
	canonicalDoc, docErr := jsontext.AppendFormat(nil, doc)
	if err != nil || patchErr != nil || docErr != nil {
		return false // TestRule125Deviations covers the invalid JSON that the library accepts
	}
	jsonPatch, doc = string(canonicalPatch), string(canonicalDoc)
	if knownFault(jsonPatch, doc, libraryOps(t, jsonPatch)) != "" {
		return false
	}
	got, err := p.Apply([]byte(doc))
	if fault(err).Kind == patch.TooLarge {
		return false
	}
	want := library(jsonPatch, doc)
	if err != nil {
		got = []byte(libraryFails)
	} else if canonical, err := jsontext.AppendFormat(nil, want); err == nil {
		want = string(canonical) // the library escapes U+2028 in names
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s on %s: error %v (-library +got):\n%s", jsonPatch, doc, err, diff)
	}
	return true
}

// TestRule125AgainstEvanphx compares thousands of small random patches. Most of their pointers
// exist in the document, which a fuzzer that mutates bytes rarely achieves.
func TestRule125AgainstEvanphx(t *testing.T) {
	t.Parallel()
	g := newGenerator()
	compared, applied := 0, 0
	for range 10_000 {
		doc, jsonPatch := g.value(3), patchOf(g.ops())
		if compare(t, jsonPatch, doc) {
			compared++
			if _, err := applyJSON(jsonPatch, doc); err == nil {
				applied++
			}
		}
		if t.Failed() {
			return
		}
	}
	if compared < 4000 || applied < 1000 {
		t.Errorf("%d patches compared and %d applied: too few to mean anything", compared, applied)
	}
}
