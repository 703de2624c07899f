package recipe_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// row matches a recipe in the table of examples/README.md.
var row = regexp.MustCompile("(?m)^\\| \\[(\\w+)\\]\\((\\S+)\\) \\| [^|]+ \\| `go run -C examples \\./(\\S+)` \\|$")

// TestRecipes checks that examples/README.md lists at least 16 recipes, and that each has a page which
// starts it, a test that runs the page, and a main.go of at most 120 lines.
func TestRecipes(t *testing.T) {
	t.Parallel()
	const examples = "../.."
	recipes := row.FindAllStringSubmatch(read(t, examples, "README.md"), -1)
	if len(recipes) < 16 {
		t.Errorf("%d recipes, want at least 16", len(recipes))
	}
	listed := []string{"bench", "internal", "shop", "starwars"} // these are not recipes
	for _, m := range recipes {
		name := m[1]
		listed = append(listed, name)
		if m[2] != name+"/README.md" || m[3] != name {
			t.Errorf("%s is listed as %s and ./%s", name, m[2], m[3])
		}
		if lines := strings.Count(read(t, examples, name, "main.go"), "\n"); lines > 120 {
			t.Errorf("%s/main.go has %d lines, want at most 120", name, lines)
		}
		page := read(t, examples, name, "README.md")
		if lines := strings.Count(page, "\n"); lines > 80 {
			t.Errorf("%s/README.md has %d lines, want one page of at most 80", name, lines)
		}
		for _, part := range []string{
			"\n```\ngo run -C examples ./" + name, "\n```console\n$ ", "\n## How it works\n", "\n## In production\n",
		} {
			if !strings.Contains(page, part) {
				t.Errorf("%s/README.md lacks %q", name, part)
			}
		}
		tests, err := filepath.Glob(filepath.Join(examples, name, "*_test.go"))
		if err != nil || !slices.ContainsFunc(tests, func(file string) bool {
			return strings.Contains(read(t, file), "func TestReadme(t *testing.T)")
		}) {
			t.Errorf("%s has no TestReadme: %v", name, err)
		}
	}
	var folders []string
	entries, err := os.ReadDir(examples)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, e.Name())
		}
	}
	slices.Sort(listed)
	if diff := cmp.Diff(folders, listed); diff != "" {
		t.Errorf("folders and examples/README.md (-folders +listed):\n%s", diff)
	}
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
