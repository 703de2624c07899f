package patch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/patch"
)

// suiteCase is a record of the JSON Patch test suite. Doc and Patch are texts, because a decoder
// would drop duplicate names.
type suiteCase struct {
	Comment  string
	Doc      json.RawMessage
	Patch    json.RawMessage
	Expected json.RawMessage
	Error    string
	Disabled bool
}

// TestSuite runs the public test suite, including the disabled cases: replacing a scalar document,
// testing a whole document, and two "op" members.
func TestSuite(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file            string
		cases, disabled int
	}{
		{file: "tests.json", cases: 78, disabled: 3},
		{file: "spec_tests.json", cases: 17, disabled: 1},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			disabled := 0
			cases := readSuite(t, tt.file)
			for i, c := range cases {
				if c.Disabled {
					disabled++
				}
				t.Run(fmt.Sprintf("%d %s", i, c.Comment), func(t *testing.T) { c.run(t) })
			}
			if diff := cmp.Diff([]int{tt.cases, tt.disabled}, []int{len(cases), disabled}); diff != "" {
				t.Errorf("number of cases, and of disabled ones (-want +got):\n%s", diff)
			}
		})
	}
}

func readSuite(t *testing.T, file string) []suiteCase {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "json-patch-tests", file))
	if err != nil {
		t.Fatal(err)
	}
	var cases []suiteCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

func (c suiteCase) run(t *testing.T) {
	got, err := applyJSON(string(c.Patch), string(c.Doc))
	if c.Error != "" {
		if _, ok := errors.AsType[*patch.Error](err); !ok {
			t.Errorf("%s on %s: got %s and the error %v, want: %s", c.Patch, c.Doc, got, err, c.Error)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s on %s: %v", c.Patch, c.Doc, err)
	}
	if c.Expected == nil {
		c.Expected = c.Doc // all operations are tests
	}
	if diff := cmp.Diff(decode(t, string(c.Expected)), decode(t, got)); diff != "" {
		t.Errorf("%s on %s (-want +got):\n%s", c.Patch, c.Doc, diff)
	}
}
