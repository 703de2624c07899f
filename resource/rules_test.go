package resource_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// testdata/rules.md says for every rule which tests hold it. Here the table itself is held to what it says.

// ruleRow is one line of the table.
type ruleRow struct {
	rule   string   // 1 to 153, D1 to D13
	tests  []string // folder.TestName
	notYet string
}

var (
	backticked = regexp.MustCompile("`([^`]+)`")
	reason     = regexp.MustCompile(`^(issue [0-9]+|later): \S`)
	docReason  = regexp.MustCompile(`^doc: (\S+) "([^"]+)"$`)
	ruleNumber = regexp.MustCompile(`^TestRule([0-9]{3}|D[0-9]{2})`)
)

func TestRuleTable(t *testing.T) {
	t.Parallel()
	rows := readRules(t)
	tests := testFunctions(t)
	seen := map[string]int{}
	placed := map[string]map[string]bool{} // test -> rules
	for _, row := range rows {
		seen[row.rule]++
		if len(row.tests) == 0 && row.notYet == "" {
			t.Errorf("rule %s has neither tests nor a reason", row.rule)
		}
		checkReason(t, row)
		for _, name := range row.tests {
			if !tests[name] {
				t.Errorf("rule %s: there is no test %s", row.rule, name)
			}
			if placed[name] == nil {
				placed[name] = map[string]bool{}
			}
			placed[name][row.rule] = true
		}
	}
	for _, rule := range allRules() {
		if seen[rule] != 1 {
			t.Errorf("rule %s is there %d times", rule, seen[rule])
		}
		delete(seen, rule)
	}
	for rule := range seen {
		t.Errorf("there is no rule %s", rule)
	}
	for name := range tests {
		_, short, _ := strings.Cut(name, ".")
		if !strings.HasPrefix(short, "TestRule") || short == "TestRuleTable" {
			continue
		}
		switch rule := ruleOf(short); {
		case len(placed[name]) == 0:
			t.Errorf("%s is not in the table", name)
		case rule != "" && !placed[name][rule]:
			t.Errorf("%s is not in the row of rule %s", name, rule)
		}
	}
}

func allRules() []string {
	var rules []string
	for i := range 153 {
		rules = append(rules, fmt.Sprint(i+1))
	}
	for i := range 13 {
		rules = append(rules, fmt.Sprintf("D%d", i+1))
	}
	return rules
}

// ruleOf returns the rule that a test bears in its name, and "" if it bears none.
func ruleOf(test string) string {
	m := ruleNumber.FindStringSubmatch(test)
	if m == nil {
		return ""
	}
	if digits, ok := strings.CutPrefix(m[1], "D"); ok {
		return "D" + strings.TrimLeft(digits, "0")
	}
	return strings.TrimLeft(m[1], "0")
}

func checkReason(t *testing.T, row ruleRow) {
	t.Helper()
	if row.notYet == "" || reason.MatchString(row.notYet) {
		return
	}
	m := docReason.FindStringSubmatch(row.notYet)
	if m == nil {
		t.Errorf("rule %s: %q is no reason", row.rule, row.notYet)
		return
	}
	text, err := os.ReadFile(filepath.Join(root, m[1]))
	if err != nil || !strings.Contains(string(text), m[2]) {
		t.Errorf("rule %s: %s does not say %q (%v)", row.rule, m[1], m[2], err)
	}
}

// readRules reads the rows of the table.
func readRules(t *testing.T) []ruleRow {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []ruleRow
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) == 1 {
			continue
		}
		if len(cells) != 6 {
			t.Errorf("%d columns, want 4: %s", len(cells)-2, line)
			continue
		}
		row := ruleRow{rule: strings.TrimSpace(cells[1]), notYet: strings.TrimSpace(cells[4])}
		if row.rule == "rule" || strings.HasPrefix(row.rule, "---") {
			continue
		}
		for _, m := range backticked.FindAllStringSubmatch(cells[3], -1) {
			row.tests = append(row.tests, m[1])
		}
		if rest := strings.TrimSpace(backticked.ReplaceAllString(cells[3], "")); rest != "" {
			t.Errorf("rule %s: %q among the tests is no test", row.rule, rest)
		}
		rows = append(rows, row)
	}
	return rows
}

// testFunctions finds the tests and fuzz targets of the whole repository, as folder.TestName.
func testFunctions(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && isTest(fn.Name.Name) {
				found[filepath.ToSlash(folder)+"."+fn.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func isTest(name string) bool {
	return strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz")
}
