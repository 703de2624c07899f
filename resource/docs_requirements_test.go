package resource_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// requirementTest matches a test or an example in the table of requirements.
var requirementTest = regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz|Example)[A-Za-z0-9_]+)`")

// TestOriginalRequirements checks the table of the original requirements in RULES.md: each of the 14 has its row, in order,
// with tests that exist.
func TestOriginalRequirements(t *testing.T) {
	t.Parallel()
	_, section, found := strings.Cut(readText(t, rulesFile), "\n## The original requirements\n")
	if !found {
		t.Fatal("there is no section of the requirements")
	}
	folders, n := testFolders(t), 0
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| | ") {
			continue
		}
		n++
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if want := fmt.Sprint(n); strings.TrimSpace(cells[0]) != want || len(cells) != 4 {
			t.Errorf("row %q has %d cells, want row %s with 4", cells[0], len(cells), want)
			continue
		}
		tests := requirementTest.FindAllStringSubmatch(cells[3], -1)
		if len(tests) == 0 {
			t.Errorf("requirement %d names no test", n)
		}
		for _, m := range tests {
			exists := slices.Contains(folders[m[2]], m[1])
			if strings.HasPrefix(m[2], "Example") {
				exists = hasExample(t, m[1], m[2])
			}
			if !exists {
				t.Errorf("requirement %d: there is no test %s.%s", n, m[1], m[2])
			}
		}
	}
	if n != 14 {
		t.Errorf("%d requirements, want 14", n)
	}
}

// hasExample reports whether a test file of a folder has an example.
func hasExample(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		return strings.Contains(readText(t, file), "\nfunc "+name+"() {\n")
	})
}
