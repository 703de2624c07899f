package resource_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestArchitecturePaths: each file and each function that ARCHITECTURE.md names exists, so that its walks can be followed.
func TestArchitecturePaths(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, ".github", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines > 250 {
		t.Errorf("ARCHITECTURE.md has %d lines, want at most 250", lines)
	}
	step := regexp.MustCompile("`((?:[a-z_]+/)+[a-z_]+\\.go)` `([A-Za-z]+)`")
	all := step.FindAllStringSubmatch(string(text), -1)
	if len(all) < 20 {
		t.Errorf("found %d steps, want at least 20", len(all))
	}
	for _, m := range all {
		file, name := m[1], m[2]
		if !strings.HasPrefix(file, "resource/") && !strings.HasPrefix(file, "query/") {
			file = path.Join("query/graphql", file)
		}
		src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			t.Error(err)
			continue
		}
		if !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + name + `[(\[]`).Match(src) {
			t.Errorf("%s has no function %s", file, name)
		}
	}
}

// TestArchitectureFamilies checks that each family of files of the core, as ARCHITECTURE.md and CONTRIBUTING.md list them,
// exists.
func TestArchitectureFamilies(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(`[a-z_]+\*?(?:\.go)?`)
	found := 0
	for _, document := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md"} {
		text := readText(t, filepath.Join(root, ".github", document))
		for line := range strings.Lines(text) {
			first, second, ok := strings.Cut(strings.Trim(line, "| \n"), " | ")
			families := first // ARCHITECTURE.md
			if strings.HasSuffix(second, ".go`") {
				families = second // CONTRIBUTING.md
			} else if !ok || !strings.HasPrefix(first, "`") || !strings.Contains(first, " ") || strings.Contains(first, "/") {
				continue
			}
			for _, family := range pattern.FindAllString(families, -1) {
				found++
				glob := filepath.Join(root, "resource", strings.TrimSuffix(family, ".go")+".go")
				if files, err := filepath.Glob(glob); err != nil || len(files) == 0 {
					t.Errorf("%s lists %s, and there is no %s, %v", document, family, glob, err)
				}
			}
		}
	}
	if found < 60 {
		t.Errorf("%d families, want at least 60", found)
	}
}
