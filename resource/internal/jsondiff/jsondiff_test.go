package jsondiff_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/internal/jsondiff"
)

func TestLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, was, is string
		want          []string
	}{
		{"equal", `{"a":1}`, `{"a":1}`, nil},
		{"value", `1`, `2`, []string{` was 1 and is 2`}},
		{"member", `{"a":1,"b":"x"}`, `{"a":1,"b":"y"}`, []string{`/b was "x" and is "y"`}},
		{"added and removed", `{"a":1}`, `{"b/c":2}`, []string{`/a was 1 and is absent`, `/b~1c was absent and is 2`}},
		{"element", `{"a":[1,2]}`, `{"a":[1,3]}`, []string{`/a/1 was 2 and is 3`}},
		{"length", `{"a":[1]}`, `{"a":[]}`, []string{`/a was [1] and is []`}},
		{"kind", `{"a":[1]}`, `{"a":{}}`, []string{`/a was [1] and is {}`}},
	} {
		got := jsondiff.Lines(jsontext.Value(tt.was), jsontext.Value(tt.is))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: lines (-want +got):\n%s", tt.name, diff)
		}
	}
}
