package graphql_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRuleTable checks that each test named in testdata/rules.md exists.
func TestRuleTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(?:([a-z0-9]+)\\.)?((?:Test|Fuzz)[A-Za-z0-9]+)`")
	tests, rows := map[string]map[string]bool{}, 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[1]) == "rule" {
			continue
		}
		rows++
		found := named.FindAllStringSubmatch(cells[2], -1)
		for _, m := range found {
			if tests[m[1]] == nil {
				tests[m[1]] = testsOf(t, m[1])
			}
			if !tests[m[1]][m[2]] {
				t.Errorf("%s: there is no test %s", strings.TrimSpace(cells[1]), m[0])
			}
		}
		switch later := strings.TrimSpace(cells[3]); {
		case strings.HasPrefix(strings.TrimSpace(cells[1]), "**"): // a heading
		case len(found) == 0 && !strings.HasPrefix(later, "issue "):
			t.Errorf("%s: neither tests nor an issue", strings.TrimSpace(cells[1]))
		}
	}
	if rows < 50 {
		t.Errorf("only %d rules are there", rows)
	}
}

// testsOf finds the tests of a folder, under the name that the table has for it.
func testsOf(t *testing.T, folder string) map[string]bool {
	t.Helper()
	dir, ok := map[string]string{"": ".", "ci": "../../.ci/clients/graphql/reference",
		"clients": "../../.ci/clients/graphql/codegen/v2",
		"shop":    "../../examples/shop", "sqlrecordstest": "../../resource/sql/sqltest/sqlrecordstest",
		"starwars": "../../examples/starwars", "peers": "../../examples/bench/graphql",
		"oracle": "internal/graphqltest/oracle"}[folder]
	if !ok {
		dir = filepath.Join("internal", folder)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Errorf("no tests in %s: %v", dir, err)
	}
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllStringSubmatch(
			string(text), -1) {
			found[m[1]] = true
		}
	}
	return found
}
