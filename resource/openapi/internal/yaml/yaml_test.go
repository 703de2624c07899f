package yaml_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/openapi/internal/yaml"
)

func TestFromJSON(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, json, want string }{
		{"mapping", `{"openapi":"3.1.0","info":{"title":"The shop"}}`,
			"openapi: \"3.1.0\"\ninfo:\n  title: The shop\n"},
		{"order and numbers", `{"b":1,"a":1e3,"c":9007199254740993,"d":-0.50}`,
			"b: 1\na: 1e3\nc: 9007199254740993\nd: -0.50\n"},
		{"empty", `{"a":{},"b":[],"c":"","d":null,"e":true}`, "a: {}\nb: []\nc: \"\"\nd: null\ne: true\n"},
		{"sequences", `{"a":["x",{"k":1,"l":[2,[3]]},{},[]]}`,
			"a:\n  - x\n  - k: 1\n    l:\n      - 2\n      -\n        - 3\n  - {}\n  - []\n"},
		{"top sequence", `[1,{"a":2}]`, "- 1\n- a: 2\n"},
		{"scalar", `"text"`, "text\n"},
		{"block", `{"a":{"b":"one\n\ntwo"}}`, "a:\n  b: |-\n    one\n\n    two\n"},
		{"block with a line break at its end", `{"a":"one\n  two\n"}`, "a: |\n  one\n    two\n"},
		{"block in a sequence", `["a\nb"]`, "- |-\n  a\n  b\n"},
		{"block alone", `"a\nb"`, "|-\n  a\n  b\n"},
		{"no block", `["\na"," a\nb","a\n\n","a\n","a\u0000\nb"]`,
			"- \"\\na\"\n- \" a\\nb\"\n- \"a\\n\\n\"\n- \"a\\n\"\n- \"a\\u0000\\nb\"\n"},
		{"words of other types", `["yes","No","on","null","~","True","y","12","1.5","2026-01-01","0x1",".5","nil"]`,
			"- \"yes\"\n- \"No\"\n- \"on\"\n- \"null\"\n- \"~\"\n- \"True\"\n- \"y\"\n- \"12\"\n- \"1.5\"\n" +
				"- \"2026-01-01\"\n- \"0x1\"\n- \".5\"\n- nil\n"},
		{"indicators", `["a: b","a #b","a:","a ","-","#a","*a","&a","a:b","a#b","{a}","/a/{id}","$ref","@a","a - b"]`,
			"- \"a: b\"\n- \"a #b\"\n- \"a:\"\n- \"a \"\n- \"-\"\n- \"#a\"\n- \"*a\"\n- \"&a\"\n- a:b\n- \"a#b\"\n" +
				"- \"{a}\"\n- /a/{id}\n- $ref\n- \"@a\"\n- a - b\n"},
		{"colons and white space", `["fe80::","Values:\n","a:: b","C::","a:\tb","see \n","a \u0085b","a:\u00a0b","a::b"]`,
			"- \"fe80::\"\n- \"Values:\\n\"\n- \"a:: b\"\n- \"C::\"\n- \"a:\\tb\"\n- \"see \\n\"\n- \"a \\u0085b\"\n" +
				"- \"a:\u00a0b\"\n- \"a::b\"\n"},
		{"keys", `{"200":1,"*/*":2,"application/json":3,"a b":4,"":5}`,
			"\"200\": 1\n\"*/*\": 2\napplication/json: 3\na b: 4\n\"\": 5\n"},
		{"characters", `["ä","\u007f","\u2028","\ud83d\ude00","\"\\","\t"]`,
			"- \"ä\"\n- \"\\u007f\"\n- \"\\u2028\"\n- \"😀\"\n- \"\\\"\\\\\"\n- \"\\t\"\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := yaml.FromJSON([]byte(tt.json))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFromJSONRejects(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", `{"a":}`, "[1", "1 2", `{"a":1}x`, `{"a":1,"a":2}`} {
		if got, err := yaml.FromJSON([]byte(text)); err == nil {
			t.Errorf("%s: no error, but %q", text, got)
		}
	}
}

// FuzzFromJSON checks that each valid text has a YAML form that is the same again for the same
// text, ends with one line break and has no tab in its indentation.
func FuzzFromJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"x\ny"}]}`, `"\u0085"`, `[[[]],{"":{}}]`, `-1e-9`, `{"a":" \n"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := yaml.FromJSON(text)
		if err != nil {
			return
		}
		again, err := yaml.FromJSON(text)
		if err != nil || !bytes.Equal(got, again) {
			t.Fatalf("%q: another result: %q, %v", got, again, err)
		}
		if !bytes.HasSuffix(got, []byte("\n")) {
			t.Errorf("%q does not end with a line break", got)
		}
		for line := range bytes.Lines(got) {
			if trimmed := bytes.TrimLeft(line, " "); len(trimmed) > 0 && trimmed[0] == '\t' {
				t.Errorf("%q: a line is indented with a tab", got)
			}
		}
	})
}
