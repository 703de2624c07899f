package patch_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/patch"
)

// doubling returns a patch that doubles the document n times.
func doubling(n int) string {
	ops := []string{`{"op":"replace","path":"","value":[0]}`}
	for range n {
		ops = append(ops, `{"op":"copy","from":"","path":"/-"}`)
	}
	return "[" + strings.Join(ops, ",") + "]"
}

func repeated(n int, ops string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(ops+",", n), ",") + "]"
}

// testRoot is an operation that succeeds for an empty object and changes nothing.
const testRoot = `{"op":"test","path":"","value":{}}`

func TestRule122Limits(t *testing.T) {
	t.Parallel()
	size := patch.Limits{Size: 20}
	depth := patch.Limits{Depth: 3}
	tests := []struct {
		name   string
		limits patch.Limits
		doc    string
		patch  string
		code   string
	}{
		{name: "operations", doc: `{}`, patch: repeated(1000, testRoot)},
		{name: "operations, one more", doc: `{}`, patch: repeated(1001, testRoot), code: "operations"},
		{name: "operations, set", limits: patch.Limits{Ops: 1}, doc: `{}`, patch: repeated(2, testRoot),
			code: "operations"},

		{name: "doubling", doc: `0`, patch: doubling(20)},
		{name: "doubling, two more", doc: `0`, patch: doubling(22), code: "size"},
		{
			name: "size", limits: size, doc: `{"a":"12345678"}`,
			patch: `[{"op":"replace","path":"/a","value":"123456789012"}]`,
		},
		{
			name: "size, one more", limits: size, doc: `{"a":"12345678"}`,
			patch: `[{"op":"replace","path":"/a","value":"1234567890123"}]`, code: "size",
		},
		{
			name: "size of a member", limits: size, doc: `{"a":"12345678"}`,
			patch: `[{"op":"add","path":"/","value":""}]`, code: "size",
		},
		{
			name: "size of an element", limits: size, doc: `["1234567890",1]`,
			patch: `[{"op":"add","path":"/0","value":"1"}]`,
		},
		{
			name: "size of an element, one more", limits: size, doc: `["1234567890",1]`,
			patch: `[{"op":"add","path":"/0","value":"12"}]`, code: "size",
		},
		{
			name: "size of the first element", limits: patch.Limits{Size: 9}, doc: `{"a":[]}`,
			patch: `[{"op":"add","path":"/a/0","value":1}]`,
		},
		{
			name: "size of a longer name", limits: size, doc: `{"a":"123456789012"}`,
			patch: `[{"op":"move","from":"/a","path":"/ab"}]`, code: "size",
		},
		{
			name: "size after a removal", limits: size, doc: `{"a":"12345","b":[1]}`,
			patch: `[{"op":"add","path":"/b/0","value":1},{"op":"remove","path":"/b"},
				{"op":"add","path":"/c","value":1}]`, code: "size",
		},
		{
			name: "size after removals", limits: size, doc: `{"a":"1234","b":[1]}`,
			patch: `[{"op":"remove","path":"/b/0"},{"op":"remove","path":"/b"},` +
				`{"op":"add","path":"/c","value":1}]`,
		},
		{
			name: "size after a move over the parent", limits: size, doc: `{"a":{"b":[1],"c":2}}`,
			patch: `[{"op":"replace","path":"/a/b/0","value":0},{"op":"move","from":"/a/b","path":"/a"},
				{"op":"add","path":"/d","value":"12345"}]`,
		},
		{
			name: "size after a move over the parent, one more", limits: size, doc: `{"a":{"b":[1],"c":2}}`,
			patch: `[{"op":"replace","path":"/a/b/0","value":0},{"op":"move","from":"/a/b","path":"/a"},
				{"op":"add","path":"/d","value":"123456"}]`, code: "size",
		},
		{
			name: "larger already, the same size", limits: size, doc: `{"a":"12345678901234567890"}`,
			patch: `[{"op":"add","path":"/a","value":"09876543210987654321"}]`,
		},
		{
			name: "larger already, growing", limits: size, doc: `{"a":"12345678901234567890"}`,
			patch: `[{"op":"add","path":"/b","value":0}]`, code: "size",
		},
		{
			name: "copies in turn", limits: patch.Limits{Size: 25}, doc: `["12345678"]`,
			patch: repeated(3, `{"op":"copy","from":"/0","path":"/1"},{"op":"remove","path":"/1"}`),
			code:  "size",
		},

		{name: "depth of a value", doc: `{}`, patch: `[{"op":"replace","path":"","value":` + nested(64) +
			`}]`},
		{
			name: "depth of a value, one more", doc: `{}`,
			patch: `[{"op":"replace","path":"","value":` + nested(65) + `}]`, code: "depth",
		},
		{name: "depth of the document", limits: depth, doc: `[[]]`,
			patch: `[{"op":"add","path":"/0/-","value":[]}]`},
		{
			name: "depth of the document, one more", limits: depth, doc: `[[]]`,
			patch: `[{"op":"add","path":"/0/-","value":[[]]}]`, code: "depth",
		},
		{
			name: "depth by copies", limits: depth, doc: `[[]]`,
			patch: `[{"op":"copy","from":"","path":"/-"},{"op":"copy","from":"","path":"/-"}]`, code: "depth",
		},
		{
			name: "depth of a pointer", limits: depth, doc: `[[[[1]]]]`,
			patch: `[{"op":"test","path":"/0/0/0/0","value":1}]`, code: "depth",
		},
		{name: "deeper already", limits: depth, doc: `[[[[1]]]]`,
			patch: `[{"op":"add","path":"/0","value":2}]`},
		{
			name: "deeper already, deepening", limits: depth, doc: `[[[[1]]]]`,
			patch: `[{"op":"copy","from":"","path":"/-"}]`, code: "depth",
		},
		{
			name: "brackets in strings have no depth", limits: depth, doc: `["\"[[[["]`,
			patch: `[{"op":"add","path":"/0","value":"{[\\{[\"{["}]`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := parseAndApply(patch.ParseJSONPatch, tt.patch, tt.doc, tt.limits)
			got := fault(err)
			if diff := cmp.Diff(tt.code, got.Code); diff != "" {
				t.Errorf("code (-want +got):\n%s", diff)
			}
			if tt.code != "" && got.Kind != patch.TooLarge {
				t.Errorf("kind is %v, want %v", got.Kind, patch.TooLarge)
			}
		})
	}
}

func TestRule122LimitsOfMergePatches(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		limits patch.Limits
		doc    string
		patch  string
		code   string
	}{
		{name: "depth", doc: `1`, patch: nested(64)},
		{name: "depth, one more", doc: `1`, patch: nested(65), code: "depth"},
		{name: "size", limits: patch.Limits{Size: 13}, doc: `{"a":1}`, patch: `{"b":2}`},
		{name: "size, one more", limits: patch.Limits{Size: 12}, doc: `{"a":1}`, patch: `{"b":2}`,
			code: "size"},
		{name: "larger already, shrinking", limits: patch.Limits{Size: 2}, doc: `{"a":1,"b":2}`,
			patch: `{"b":null}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := parseAndApply(patch.ParseMergePatch, tt.patch, tt.doc, tt.limits)
			want := patch.Error{}
			if tt.code != "" {
				want = patch.Error{Kind: patch.TooLarge, Operation: -1, Code: tt.code}
			}
			if diff := cmp.Diff(want, fault(err)); diff != "" {
				t.Errorf("fault (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRule122SizeIsExact applies patches with exactly the size limit that their largest
// intermediate document needs, and with one byte less.
func TestRule122SizeIsExact(t *testing.T) {
	t.Parallel()
	g := newGenerator()
	checked := 0
	for range 6000 {
		doc, ops := g.value(3), g.ops()
		peak := 0
		for n := range ops {
			after, err := applyJSON(patchOf(ops[:n+1]), doc)
			if err != nil {
				peak = 0
				break
			}
			peak = max(peak, len(after))
		}
		if peak <= len(doc) {
			continue // nothing grows, or an operation fails
		}
		checked++
		exact, oneLess := patch.Limits{Size: int64(peak)}, patch.Limits{Size: int64(peak - 1)}
		if _, err := parseAndApply(patch.ParseJSONPatch, patchOf(ops), doc, exact); err != nil {
			t.Fatalf("%s on %s with %d bytes: %v", patchOf(ops), doc, peak, err)
		}
		_, err := parseAndApply(patch.ParseJSONPatch, patchOf(ops), doc, oneLess)
		if fault(err).Code != "size" {
			t.Fatalf("%s on %s with one byte less than %d: error %v", patchOf(ops), doc, peak, err)
		}
	}
	if checked < 300 {
		t.Errorf("only %d patches checked", checked)
	}
}

// TestHugeNumbersAreCheap does not terminate if Apply expands the number.
func TestHugeNumbersAreCheap(t *testing.T) {
	t.Parallel()
	exponent := strings.Repeat("9", 1<<20)
	for _, pair := range [][2]string{
		{"1e1000000000", "1.0e1000000000"},
		{"1e-1000000000", "0.1e-999999999"},
		{"1e" + exponent, "0.1e1" + strings.Repeat("0", len(exponent))},
	} {
		text := fmt.Sprintf(`[{"op":"test","path":"","value":%s}]`, pair[0])
		if _, err := applyJSON(text, pair[1]); err != nil {
			t.Errorf("testing %.30s for %.30s: %v", pair[1], pair[0], err)
		}
	}
}

// TestPatchIsImmutable applies a patch concurrently after the text it was parsed from was
// overwritten.
func TestPatchIsImmutable(t *testing.T) {
	t.Parallel()
	const doc = `{"a":{"b":[1,{"c":2}]},"d":"x"}`
	tests := []struct {
		name  string
		parse parser
		patch string
		want  string
	}{
		{
			name: "JSON patch", parse: patch.ParseJSONPatch,
			patch: `[{"op":"add","path":"/e","value":{"f":[]}},{"op":"add","path":"/e/f/-","value":{"g":1}},
				{"op":"test","path":"/e","value":{"f":[{"g":1.0}]}},{"op":"remove","path":"/a/b/0"}]`,
			want: `{"a":{"b":[{"c":2}]},"d":"x","e":{"f":[{"g":1}]}}`,
		},
		{
			name: "merge patch", parse: patch.ParseMergePatch,
			patch: `{"e":{"f":[],"g":null},"a":{"b":0}}`, want: `{"a":{"b":0},"d":"x","e":{"f":[]}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := []byte(tt.patch)
			p, err := tt.parse(text, patch.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			clear(text)
			shared := append([]byte(doc), "beyond"...)
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					got, err := p.Apply(shared[:len(doc)])
					if diff := cmp.Diff(tt.want, string(got)); diff != "" || err != nil {
						t.Errorf("error %v, document (-want +got):\n%s", err, diff)
					}
				})
			}
			wg.Wait()
			if !bytes.Equal(shared, []byte(doc+"beyond")) {
				t.Errorf("Apply changed the document to %s", shared)
			}
		})
	}
}

func TestZeroPatchChangesNothing(t *testing.T) {
	t.Parallel()
	got, err := new(patch.Patch).Apply([]byte(`{"a": 1}`))
	if diff := cmp.Diff(`{"a":1}`, string(got)); diff != "" || err != nil {
		t.Errorf("error %v, document (-want +got):\n%s", err, diff)
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 500)
	tests := []struct {
		name  string
		patch string
		want  string
	}{
		{"conflict", `[{"op":"remove","path":"/a"}]`,
			`patch: conflict: operation 0: the path "/a" does not exist`},
		{"syntax", `x`, `patch: malformed: the patch is not valid JSON at byte 0`},
		{"too large", `[{"op":"add","path":"","value":` + nested(65) + `}]`,
			`patch: too large: operation 0: value must not be nested deeper than 64 levels`},
		{"long", `[{"op":"` + long + `","path":""}]`,
			`patch: malformed: operation 0: op must be add, remove, replace, move, copy or test, not "` +
				long[:80] + `"...`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := applyJSON(tt.patch, `{}`)
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
	if diff := cmp.Diff("Kind(9)", patch.Kind(9).String()); diff != "" {
		t.Errorf("unknown kind (-want +got):\n%s", diff)
	}
}
