package patch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/patch"
)

func TestRule065Gate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		patch     string
		code      string
		operation int // Error.Operation
	}{
		{"empty", "", "syntax", -1},
		{"space only", " \n", "syntax", -1},
		{"byte order mark", "\ufeff[]", "syntax", -1},
		{"second value", "[] []", "syntax", -1},
		{"truncated", `[{"op":"remove","path":"/a"}`, "syntax", -1},
		{"comma at the end", `[{"op":"remove","path":"/a"},]`, "syntax", 1},
		{"comment", "[] // nothing", "syntax", -1},
		{"no number", `[{"op":"add","path":"/a","value":NaN}]`, "syntax", 0},
		{"leading zero", `[{"op":"add","path":"/a","value":01}]`, "syntax", 0},
		{"invalid UTF-8", "[{\"op\":\"add\",\"path\":\"/a\",\"value\":\"\xff\"}]", "syntax", 0},
		{"lone surrogate", `[{"op":"add","path":"/a","value":"\ud800"}]`, "syntax", 0},
		{"duplicate name", `[{},{"op":"add","path":"/a","value":{"b":{"x":1,"x":2}}}]`, "duplicate", 1},
		{"duplicate name by escape", `[{"op":"add","path":"/a","value":1,"\u0076alue":2}]`, "duplicate", 0},
		{"duplicate name in an object", `{"a":1,"a":1}`, "duplicate", -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := applyJSON(tt.patch, `{}`)
			want := patch.Error{Kind: patch.Malformed, Operation: tt.operation, Code: tt.code}
			if diff := cmp.Diff(want, fault(err)); diff != "" {
				t.Errorf("ParseJSONPatch(%q) (-want +got):\n%s", tt.patch, diff)
			}
			_, err = applyMerge(tt.patch, `{}`)
			want.Operation = -1
			if diff := cmp.Diff(want, fault(err)); diff != "" {
				t.Errorf("ParseMergePatch(%q) (-want +got):\n%s", tt.patch, diff)
			}
		})
	}
}

func TestRule065GateForTheDocument(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"", "{", `{"a":1,"a":2}`, "\"\xff\"", "1 2"} {
		for _, apply := range []func(string, string) (string, error){applyJSON, applyMerge} {
			got, err := apply(`[]`, doc)
			if err == nil {
				t.Errorf("document %q was accepted and became %q", doc, got)
			} else if !strings.HasPrefix(fault(err).Code, "not a *patch.Error") {
				t.Errorf("document %q is blamed on the client: %v", doc, err)
			}
		}
	}
}

func TestRule116Sequential(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		doc   string
		patch string
		want  string
		fault patch.Error
	}{
		{
			name: "later operations see earlier ones",
			doc:  `{"a":[]}`,
			patch: `[{"op":"add","path":"/a/-","value":{}},{"op":"add","path":"/a/0/b","value":1},
				{"op":"test","path":"/a","value":[{"b":1}]},{"op":"copy","from":"/a/0","path":"/c"},
				{"op":"replace","path":"/a/0/b","value":2},{"op":"move","from":"/a/0/b","path":"/d"}]`,
			want: `{"a":[{}],"c":{"b":1},"d":2}`,
		},
		{
			name:  "the first error fails the whole patch",
			doc:   `{"a":1}`,
			patch: `[{"op":"remove","path":"/a"},{"op":"remove","path":"/a"},{"op":"remove","path":"/b"}]`,
			fault: patch.Error{Kind: patch.Conflict, Operation: 1, Path: "/a", Code: "missing"},
		},
		{
			name:  "a test at the end takes everything back",
			doc:   `{"a":1}`,
			patch: `[{"op":"replace","path":"/a","value":2},{"op":"test","path":"/a","value":1}]`,
			fault: patch.Error{Kind: patch.Conflict, Operation: 1, Path: "/a", Code: "test"},
		},
		{
			name:  "a bad operation anywhere is found before any is applied",
			doc:   `{}`,
			patch: `[{"op":"remove","path":"/missing"},{"op":"spam","path":"/a"}]`,
			fault: patch.Error{Kind: patch.Malformed, Operation: 1, Code: "op"},
		},
		{name: "no operations", doc: ` [ 1 , {"a" : "\u0062"} ] `, patch: `[]`, want: `[1,{"a":"b"}]`},
		{name: "a scalar document", doc: `1.50`, patch: `[{"op":"test","path":"","value":1.5}]`,
			want: `1.50`},
		{
			name: "order of members",
			doc:  `{"z":1,"y":2,"x":3}`,
			patch: `[{"op":"replace","path":"/y","value":0},{"op":"add","path":"/b","value":4},
				{"op":"add","path":"/a","value":5},{"op":"add","path":"/z","value":6}]`,
			want: `{"z":6,"y":0,"x":3,"b":4,"a":5}`,
		},
		{
			name:  "numbers keep their text, strings are not escaped for HTML",
			doc:   `{"n":9007199254740993,"m":1.0e+2,"s":"<&>","t":"\u003c\u2028"}`,
			patch: `[{"op":"add","path":"/o","value":-0.10},{"op":"add","path":"/<&>","value":"\u0026"}]`,
			want:  `{"n":9007199254740993,"m":1.0e+2,"s":"<&>","t":"<` + "\u2028" + `","o":-0.10,"<&>":"&"}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := applyJSON(tt.patch, tt.doc)
			if diff := cmp.Diff(tt.fault, fault(err)); diff != "" {
				t.Errorf("fault (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("document (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRule117Faults(t *testing.T) {
	t.Parallel()
	malformed := func(operation int, path, code string) patch.Error {
		return patch.Error{Kind: patch.Malformed, Operation: operation, Path: path, Code: code}
	}
	conflict := func(path, code string) patch.Error {
		return patch.Error{Kind: patch.Conflict, Operation: 0, Path: path, Code: code}
	}
	const doc = `{"a":{"b":[1,null]},"s":"x","n":null}`
	tests := []struct {
		name  string
		patch string
		want  patch.Error
	}{
		{"null is no patch", `null`, malformed(-1, "", "type")},
		{"an object is no patch", `{"op":"remove","path":"/s"}`, malformed(-1, "", "type")},
		{"a string is no operation", `["remove"]`, malformed(0, "", "type")},
		{"null is no operation", `[{"op":"remove","path":"/s"},null]`, malformed(1, "", "type")},
		{"unknown operation", `[{"op":"Remove","path":"/s"}]`, malformed(0, "", "op")},
		{"relative pointer", `[{"op":"remove","path":"s"}]`, malformed(0, "s", "pointer")},
		{"fragment", `[{"op":"remove","path":"#/s"}]`, malformed(0, "#/s", "pointer")},
		{"bad from", `[{"op":"copy","from":"s","path":"/t"}]`, malformed(0, "s", "pointer")},

		{"remove what is missing", `[{"op":"remove","path":"/x"}]`, conflict("/x", "missing")},
		{"replace what is missing", `[{"op":"replace","path":"/x","value":1}]`, conflict("/x", "missing")},
		{"test what is missing", `[{"op":"test","path":"/x","value":null}]`, conflict("/x", "missing")},
		{"add below what is missing", `[{"op":"add","path":"/x/y","value":1}]`, conflict("/x/y", "missing")},
		{"add below a string", `[{"op":"add","path":"/s/0","value":1}]`, conflict("/s/0", "missing")},
		{"add below null", `[{"op":"add","path":"/n/a","value":1}]`, conflict("/n/a", "missing")},
		{"through a string", `[{"op":"add","path":"/s/0/a","value":1}]`, conflict("/s/0/a", "missing")},
		{"copy from what is missing", `[{"op":"copy","from":"/x","path":"/y"}]`, conflict("/x", "missing")},
		{"move from what is missing", `[{"op":"move","from":"/x","path":"/x"}]`, conflict("/x", "missing")},
		{"move to what is missing", `[{"op":"move","from":"/s","path":"/x/y"}]`, conflict("/x/y", "missing")},
		{"element past the end", `[{"op":"replace","path":"/a/b/2","value":1}]`,
			conflict("/a/b/2", "missing")},
		{"add past the end", `[{"op":"add","path":"/a/b/3","value":1}]`, conflict("/a/b/3", "missing")},
		{"test fails", `[{"op":"test","path":"/a/b/0","value":"1"}]`, conflict("/a/b/0", "test")},
		{"name on an array", `[{"op":"add","path":"/a/b/c","value":1}]`, conflict("/a/b/c", "index")},
		{"remove the document", `[{"op":"remove","path":""}]`, conflict("", "root")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := applyJSON(tt.patch, doc)
			if diff := cmp.Diff(tt.want, fault(err)); diff != "" {
				t.Errorf("%s became %s (-want +got):\n%s", tt.patch, got, diff)
			}
		})
	}
}

func TestRule118Members(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		patch string
		want  string
		code  string
	}{
		{"op missing", `[{"path":"/a","value":1}]`, "", "required"},
		{"op null", `[{"op":null,"path":"/a","value":1}]`, "", "type"},
		{"op twice", `[{"op":"add","path":"/a","value":1,"op":"remove"}]`, "", "duplicate"},
		{"op in capitals is another member", `[{"OP":"add","path":"/a","value":1}]`, "", "required"},
		{"path missing", `[{"op":"remove"}]`, "", "required"},
		{"path a number", `[{"op":"remove","path":0}]`, "", "type"},
		{"add without value", `[{"op":"add","path":"/a"}]`, "", "required"},
		{"replace without value", `[{"op":"replace","path":"/a"}]`, "", "required"},
		{"test without value", `[{"op":"test","path":"/n"}]`, "", "required"},
		{"copy without from", `[{"op":"copy","path":"/a","value":1}]`, "", "required"},
		{"move without from", `[{"op":"move","path":"/a"}]`, "", "required"},
		{"from null", `[{"op":"move","from":null,"path":"/a"}]`, "", "type"},
		{"null is a value", `[{"op":"add","path":"/a","value":null}]`, `{"n":null,"a":null}`, ""},
		{"unknown members", `[{"op":"remove","x":{"op":"add"},"path":"/n","value":[1]}]`, `{}`, ""},
		{"from of an operation without", `[{"op":"remove","path":"/n","from":7}]`, `{}`, ""},
		{"order of members", `[{"value":1,"path":"/n","op":"add"}]`, `{"n":1}`, ""},
		{"escaped names and values", `[{"\u006fp":"a\u0064d","path":"\/n","value":1}]`, `{"n":1}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := applyJSON(tt.patch, `{"n":null}`)
			if diff := cmp.Diff([]string{tt.want, tt.code}, []string{got, fault(err).Code}); diff != "" {
				t.Errorf("%s: document and code (-want +got):\n%s", tt.patch, diff)
			}
		})
	}
}

func TestRule119Pointers(t *testing.T) {
	t.Parallel()
	const doc = `{"a":[10,11],"":{"":1},"01":2,"-":3,"m~n":4,"x/y":5,"~1":6,"é\"\\":7,"-1":8}`
	tests := []struct {
		path string
		want string // the value at the path
		code string
	}{
		{path: "", want: doc},
		{path: "/", want: `{"":1}`},
		{path: "//", want: `1`},
		{path: "///", code: "missing"},
		{path: "/a/0", want: `10`},
		{path: "/a/1", want: `11`},
		{path: "/a/", code: "index"},
		{path: "/a/00", code: "index"},
		{path: "/a/01", code: "index"},
		{path: "/a/+1", code: "index"},
		{path: "/a/-1", code: "index"},
		{path: "/a/-0", code: "index"},
		{path: "/a/1e0", code: "index"},
		{path: "/a/1.0", code: "index"},
		{path: "/a/ 1", code: "index"},
		{path: "/a/١", code: "index"},
		{path: "/a/-", code: "missing"},
		{path: "/a/2", code: "missing"},
		{path: "/a/18446744073709551616", code: "missing"},
		{path: "/a/18446744073709551617", code: "missing"},
		{path: "/01", want: `2`},
		{path: "/-", want: `3`},
		{path: "/-1", want: `8`},
		{path: "/m~0n", want: `4`},
		{path: "/x~1y", want: `5`},
		{path: "/~01", want: `6`},
		{path: `/é\"\\`, want: `7`},
		{path: "/m~n", code: "pointer"},
		{path: "/m~", code: "pointer"},
		{path: "/m~2n", code: "pointer"},
		{path: "a", code: "pointer"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			// Copy the value to another member, to find out which value the path refers to.
			text := fmt.Sprintf(`[{"op":"copy","from":"%s","path":"/a/0"},
				{"op":"move","from":"/a/0","path":""}]`, tt.path)
			got, err := applyJSON(text, doc)
			if diff := cmp.Diff([]string{tt.want, tt.code}, []string{got, fault(err).Code}); diff != "" {
				t.Errorf("value and code at %q (-want +got):\n%s", tt.path, diff)
			}
		})
	}
}

func TestRule119Places(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		doc, patch string
		want       string
		code       string
	}{
		{"add to the empty key", `{}`, `[{"op":"add","path":"/","value":1}]`, `{"":1}`, ""},
		{"remove the empty key", `{"":1,"a":2}`, `[{"op":"remove","path":"/"}]`, `{"a":2}`, ""},
		{"replace no empty key", `{"a":1}`, `[{"op":"replace","path":"/","value":2}]`, "", "missing"},
		{"add below the empty key", `{"":{}}`, `[{"op":"add","path":"//","value":1}]`, `{"":{"":1}}`, ""},
		{"move from the empty key", `{"":1}`, `[{"op":"move","from":"/","path":"/a"}]`, `{"a":1}`, ""},
		{"copy the document", `{"a":1}`,
			`[{"op":"remove","path":"/a"},{"op":"copy","from":"","path":"/b"}]`, `{"b":{}}`, ""},
		{"copy to the document", `{"a":[1]}`, `[{"op":"copy","from":"/a","path":""}]`, `[1]`, ""},
		{"add a scalar document", `{"a":1}`, `[{"op":"add","path":"","value":null}]`, `null`, ""},
		{"replace by a scalar document", `[]`, `[{"op":"replace","path":"","value":"x"}]`, `"x"`, ""},
		{"a scalar document again", `1`,
			`[{"op":"replace","path":"","value":{}},{"op":"add","path":"/a","value":1}]`, `{"a":1}`, ""},
		{"append", `[1]`, `[{"op":"add","path":"/-","value":2},{"op":"copy","from":"/0","path":"/-"}]`,
			`[1,2,1]`, ""},
		{"append by index", `[1]`, `[{"op":"add","path":"/1","value":2}]`, `[1,2]`, ""},
		{"insert", `[1,2]`, `[{"op":"add","path":"/0","value":0}]`, `[0,1,2]`, ""},
		{"end of an array inside a path", `[[]]`, `[{"op":"add","path":"/-/0","value":0}]`, "", "missing"},
		{"append by replace", `[1]`, `[{"op":"replace","path":"/-","value":2}]`, "", "missing"},
		{"append with a leading zero", `[1]`, `[{"op":"add","path":"/01","value":2}]`, "", "index"},
		{"dash as a name", `{}`, `[{"op":"add","path":"/-","value":1}]`, `{"-":1}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := applyJSON(tt.patch, tt.doc)
			if diff := cmp.Diff([]string{tt.want, tt.code}, []string{got, fault(err).Code}); diff != "" {
				t.Errorf("%s on %s: document and code (-want +got):\n%s", tt.patch, tt.doc, diff)
			}
		})
	}
}

func TestRule120Equality(t *testing.T) {
	t.Parallel()
	digits := strings.Repeat("123456789", 40)
	members := func(order func(int) int) string {
		var list []string
		for i := range 50 {
			list = append(list, fmt.Sprintf(`"k%d":%d`, order(i), order(i)))
		}
		return "{" + strings.Join(list, ",") + "}"
	}
	tests := []struct {
		name string
		a, b string
		want bool
	}{
		{"one", `1`, `1.0`, true},
		{"one with an exponent", `1`, `1e0`, true},
		{"ten to the minus one", `10e-1`, `0.1E+1`, true},
		{"hundred", `100`, `1e2`, true},
		{"zeros", `0`, `-0.000e17`, true},
		{"zero and a little", `0`, `1e-400`, false},
		{"sign", `1`, `-1`, false},
		{"beyond a double, equal", `9007199254740993`, `9007199254740993.0`, true},
		{"beyond a double, not equal", `9007199254740993`, `9007199254740992`, false},
		{"long, equal", digits, digits + `0e-1`, true},
		{"long, not equal", digits, digits[:len(digits)-1] + `8`, false},
		{"overflow is not infinity", `1e400`, `1e401`, false},
		{"huge exponent", `1e1000000000`, `10e999999999`, true},
		{"huge exponent, not equal", `1e1000000000`, `1e1000000001`, false},
		{"tiny", `1e-1000000000`, `0.1e-999999999`, true},
		{"exponent beyond int64", `1e99999999999999999999`, `0.1e100000000000000000000`, true},
		{"exponent beyond int64, down", `1e-100000000000000000000`, `10e-100000000000000000001`, true},
		{"exponent beyond int64, borrow", `100e999999999999999999999998`, `1e1000000000000000000000000`,
			true},
		{"exponent beyond int64, not equal", `1e99999999999999999999`, `1e99999999999999999998`, false},
		{"exponent beyond int64, borrow below the point", `0.00001e1000000000000000000000000`,
			`1e999999999999999999999995`, true},
		{"exponent just beyond int64", `1e9999999999999999999`, `1e9999999999999999998`, false},
		{"exponents of either sign", `1e99999999999999999999`, `1e-99999999999999999999`, false},
		{"exponent across the exact range", `1e99999999999999999`, `0.1e100000000000000000`, true},
		{"exponent with leading zeros", `1e+000000000000000000000000000000002`, `100`, true},

		{"number and string", `1`, `"1"`, false},
		{"number and true", `1`, `true`, false},
		{"zero and null", `0`, `null`, false},
		{"true and false", `true`, `false`, false},
		{"null", `null`, `null`, true},
		{"empty array and object", `[]`, `{}`, false},
		{"empty array and null", `[]`, `null`, false},

		{"escaped string", `"\u0061\/\u00e9\ud83d\ude00"`, `"a/é😀"`, true},
		{"no normalization", `"é"`, `"e\u0301"`, false},
		{"case", `"a"`, `"A"`, false},
		{"line separator", `"\u2028"`, `"` + "\u2028" + `"`, true},

		{"members in another order", `{"a":1,"b":[{"c":2,"d":3}]}`, `{"b":[{"d":3.0,"c":2}],"a":1e0}`, true},
		{"many members in another order", members(func(i int) int { return i }),
			members(func(i int) int { return 49 - i }), true},
		{"escaped name", `{"\u0061":1}`, `{"a":1}`, true},
		{"another name", `{"a":1}`, `{"b":1}`, false},
		{"null member and no member", `{"a":null}`, `{}`, false},
		{"null member and another", `{"a":null}`, `{"b":null}`, false},
		{"elements in another order", `[1,2]`, `[2,1]`, false},
		{"fewer elements", `[1,2]`, `[1]`, false},
		{"nulls in arrays", `[null,[null]]`, `[null,[null]]`, true},
		{"null in an array and not", `[null]`, `[0]`, false},
		{"space", `[1, {"a" : 2} ]`, `[1,{"a":2}]`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, pair := range [][2]string{{tt.a, tt.b}, {tt.b, tt.a}} {
				// The "add" makes Apply parse the object, so that a text is compared with a tree.
				text := fmt.Sprintf(`[{"op":"test","path":"/v","value":%[1]s},
					{"op":"add","path":"/w","value":0},
					{"op":"test","path":"","value":{"w":0,"v":%[1]s}}]`, pair[0])
				_, err := applyJSON(text, fmt.Sprintf(`{"v":%s}`, pair[1]))
				want := ""
				if !tt.want {
					want = "test"
				}
				if diff := cmp.Diff(want, fault(err).Code); diff != "" {
					t.Errorf("testing %s for %s (-want +got):\n%s", pair[1], pair[0], diff)
				}
			}
		})
	}
}

func TestRule121Move(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		doc, patch string
		want       string
		fault      patch.Error
	}{
		{
			name: "into its own child", doc: `{"a":{"b":{}}}`,
			patch: `[{"op":"move","from":"/a","path":"/a/b/c"}]`,
			fault: patch.Error{Kind: patch.Malformed, Path: "/a/b/c", Code: "ownChild"},
		},
		{
			name: "the document into itself", doc: `{}`, patch: `[{"op":"move","from":"","path":"/a"}]`,
			fault: patch.Error{Kind: patch.Malformed, Path: "/a", Code: "ownChild"},
		},
		{
			name: "a name that begins like another", doc: `{"a":1}`,
			patch: `[{"op":"move","from":"/a","path":"/ab"}]`, want: `{"ab":1}`,
		},
		{
			name: "to where it is", doc: `{"a":1,"b":2}`,
			patch: `[{"op":"move","from":"/a","path":"/a"},{"op":"move","from":"","path":""}]`,
			want:  `{"a":1,"b":2}`,
		},
		{
			name: "over its parent", doc: `{"a":{"b":{"c":1},"d":2},"e":3}`,
			patch: `[{"op":"move","from":"/a/b","path":"/a"}]`, want: `{"a":{"c":1},"e":3}`,
		},
		{
			name: "over the document", doc: `{"a":{"b":[1]}}`,
			patch: `[{"op":"move","from":"/a/b","path":""},{"op":"add","path":"/0","value":0}]`,
			want:  `[0,1]`,
		},
		{
			name: "within an array", doc: `[1,2,3]`,
			patch: `[{"op":"move","from":"/0","path":"/2"},{"op":"move","from":"/0","path":"/-"}]`,
			want:  `[3,1,2]`,
		},
		{
			name: "past the end of the shorter array", doc: `[1,2]`,
			patch: `[{"op":"move","from":"/0","path":"/2"}]`,
			fault: patch.Error{Kind: patch.Conflict, Path: "/2", Code: "missing"},
		},
		{
			name: "into a copy of itself", doc: `{"a":{}}`,
			patch: `[{"op":"copy","from":"/a","path":"/b"},{"op":"move","from":"/a","path":"/b/a"}]`,
			want:  `{"b":{"a":{}}}`,
		},
		{
			name: "copy into its own child", doc: `{"a":{"x":1}}`,
			patch: `[{"op":"copy","from":"/a","path":"/a/b"},{"op":"add","path":"/a/b/x","value":2}]`,
			want:  `{"a":{"x":1,"b":{"x":2}}}`,
		},
		{
			name: "what is copied does not change with its source", doc: `{"a":[[1]]}`,
			patch: `[{"op":"add","path":"/a/0/0","value":0},{"op":"copy","from":"/a","path":"/b"},
				{"op":"remove","path":"/a/0/1"},{"op":"add","path":"/b/0/-","value":2}]`,
			want: `{"a":[[0]],"b":[[0,1,2]]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := applyJSON(tt.patch, tt.doc)
			if diff := cmp.Diff(tt.fault, fault(err)); diff != "" {
				t.Errorf("fault (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("document (-want +got):\n%s", diff)
			}
		})
	}
}
