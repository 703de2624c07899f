package resource_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rulesFile is the HTTP rulebook. TestRuleTable checks that it has every rule once, and that its lists of tests are
// complete.
var rulesFile = filepath.Join(root, ".github", "RULES.md")

// rule is one section of the rulebook.
type rule struct {
	id     string // 1 to 162, D1 to D14
	text   string
	source string
	planned,
	noTest string // may be empty
	tests      []string // folder.TestName
	begin, end int      // the lines of the list of tests; equal if there is none
}

var (
	ruleHeading = regexp.MustCompile(`^### (D?[0-9]+)\. \S`)
	ruleItem    = regexp.MustCompile(`^- (Source|Planned|Tests|No test): (.+)$`)
	ruleSource  = regexp.MustCompile(`^(MUST|SHOULD|POLICY)(, (RFC [0-9]+|draft-[a-z0-9-]+)( §[0-9.]+)?(, (RFC [0-9]+|§[0-9.]+)( §[0-9.]+)?)*)?$`)
	rulePlanned = regexp.MustCompile(`^issue [0-9]+ \S.*\.$`)
	ruleNoTest  = regexp.MustCompile(`^the documentation contains "([^"]+)"\.$`)
	ruleNumber  = regexp.MustCompile(`^TestRule([0-9]{3}|D[0-9]+)`)
	backticked  = regexp.MustCompile("`([^`]+)`")
)

// TestRuleTable compares the rulebook with the tests of the repository. With -update it rewrites the lists of tests: it
// adds tests that carry the number of a rule, and follows tests to another folder. A test that is gone is always an
// error, because a rule may have lost its test.
func TestRuleTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	rules := readRules(t, lines)
	if got, want := ruleIDs(rules), allRules(); !slices.Equal(got, want) {
		t.Errorf("rules %q, want %q", got, want)
	}
	folders := testFolders(t)
	numbered := numberedTests(folders)
	listed := map[string]bool{}
	for i := len(rules) - 1; i >= 0; i-- { // from the end, so that line numbers remain valid
		r := rules[i]
		checkRule(t, r)
		want := currentTests(t, r, folders, numbered)
		for _, name := range want {
			listed[name] = true
		}
		switch {
		case slices.Equal(r.tests, want):
		case *update:
			lines = slices.Replace(lines, r.begin, r.end, formatTests(want)...)
		default:
			t.Errorf("rule %s: list of tests (-have +want); go test ./resource -run TestRuleTable -update writes it:\n%s",
				r.id, cmp.Diff(r.tests, want))
		}
	}
	for name, in := range folders {
		for _, folder := range in {
			if strings.HasPrefix(name, "TestRule") && name != "TestRuleTable" && !listed[folder+"."+name] {
				t.Errorf("%s.%s is in the list of no rule", folder, name)
			}
		}
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(rulesFile, []byte(strings.Join(lines, "\n")), 0o666); err != nil {
			t.Error(err)
		}
	}
}

// readRules returns the rules in the order of the file.
func readRules(t *testing.T, lines []string) (rules []*rule) {
	t.Helper()
	var r *rule
	for i := 0; i < len(lines); i++ {
		if strings.HasPrefix(lines[i], "#") {
			r = nil
		}
		if m := ruleHeading.FindStringSubmatch(lines[i]); m != nil {
			r = &rule{id: m[1]}
			rules = append(rules, r)
			continue
		}
		if r == nil {
			continue
		}
		m := ruleItem.FindStringSubmatch(lines[i])
		if m == nil {
			if r.source != "" && lines[i] != "" {
				t.Errorf("line %d: unexpected text after the source of rule %s", i+1, r.id)
			}
			r.text = strings.TrimSpace(r.text + " " + lines[i])
			continue
		}
		begin, value := i, m[2]
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  ") {
			i++
			value += " " + strings.TrimSpace(lines[i])
		}
		switch m[1] {
		case "Source":
			r.source = value
		case "Planned":
			r.planned = value
		case "No test":
			r.noTest = value
		case "Tests":
			for _, name := range backticked.FindAllStringSubmatch(value, -1) {
				r.tests = append(r.tests, name[1])
			}
			if rest := strings.Trim(backticked.ReplaceAllString(value, ""), " ,"); rest != "" {
				t.Errorf("rule %s: unexpected %q among the tests", r.id, rest)
			}
			r.begin, r.end = begin, i+1
		}
		if r.tests == nil {
			r.begin, r.end = i+1, i+1
		}
	}
	return rules
}

// checkRule checks everything but the tests of a rule.
func checkRule(t *testing.T, r *rule) {
	t.Helper()
	if r.text == "" {
		t.Errorf("rule %s has no text", r.id)
	}
	if !ruleSource.MatchString(r.source) {
		t.Errorf("rule %s: invalid source %q", r.id, r.source)
	}
	if r.planned != "" && !rulePlanned.MatchString(r.planned) {
		t.Errorf("rule %s: planned change %q does not begin with an issue", r.id, r.planned)
	}
	if r.noTest == "" {
		return
	}
	if m := ruleNoTest.FindStringSubmatch(r.noTest); m == nil {
		t.Errorf("rule %s: invalid reason %q for having no test", r.id, r.noTest)
	} else if !documented(t, m[1]) {
		t.Errorf("rule %s: no Go file outside of tests contains %q", r.id, m[1])
	}
}

// currentTests returns the tests that the list of a rule should have: those that are listed, in the folder where they are
// now, and those that carry its number.
func currentTests(t *testing.T, r *rule, folders map[string][]string, numbered map[string][]string) []string {
	t.Helper()
	want := map[string]bool{}
	for _, name := range numbered[r.id] {
		want[name] = true
	}
	for _, name := range r.tests {
		folder, short, _ := strings.Cut(name, ".")
		in := folders[short]
		switch {
		case len(in) == 0:
			t.Errorf("rule %s: there is no test %s; if the rule still has a test, remove the name from the list", r.id, name)
		case slices.Contains(in, folder):
			want[name] = true
		default:
			for _, folder := range in {
				want[folder+"."+short] = true
			}
		}
	}
	if len(want) == 0 && r.noTest == "" {
		t.Errorf("rule %s has no test", r.id)
	}
	return slices.Sorted(maps.Keys(want))
}

// formatTests returns the list of tests as lines of at most 110 columns.
func formatTests(tests []string) []string {
	if len(tests) == 0 {
		return nil
	}
	lines := []string{"- Tests:"}
	for i, name := range tests {
		item := " `" + name + "`"
		if i < len(tests)-1 {
			item += ","
		}
		if last := lines[len(lines)-1]; len(last)+len(item) > 110 {
			lines = append(lines, " "+item)
		} else {
			lines[len(lines)-1] = last + item
		}
	}
	return lines
}

func ruleIDs(rules []*rule) (ids []string) {
	for _, r := range rules {
		ids = append(ids, r.id)
	}
	return ids
}

// allRules returns the ids of all rules in their order.
func allRules() (ids []string) {
	for i := range 164 {
		ids = append(ids, fmt.Sprint(i+1))
	}
	for i := range 14 {
		ids = append(ids, fmt.Sprintf("D%d", i+1))
	}
	return ids
}

// numberedTests returns by rule the tests that carry its number, as folder.TestName.
func numberedTests(folders map[string][]string) map[string][]string {
	tests := map[string][]string{}
	for name, in := range folders {
		m := ruleNumber.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		id := strings.TrimLeft(m[1], "0")
		if digits, ok := strings.CutPrefix(id, "D"); ok {
			id = "D" + strings.TrimLeft(digits, "0")
		}
		for _, folder := range in {
			tests[id] = append(tests[id], folder+"."+name)
		}
	}
	return tests
}

// testFolders returns the folders of every test and fuzz target of the repository, by name.
func testFolders(t *testing.T) map[string][]string {
	t.Helper()
	folders := map[string][]string{}
	walkGo(t, func(path string) {
		if !strings.HasSuffix(path, "_test.go") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		folder = filepath.ToSlash(folder)
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if ok && fn.Recv == nil && isTest(fn.Name.Name) && !slices.Contains(folders[fn.Name.Name], folder) {
				folders[fn.Name.Name] = append(folders[fn.Name.Name], folder)
			}
		}
	})
	return folders
}

func isTest(name string) bool {
	return strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz")
}

// documented reports whether a Go file that is not a test contains the text.
func documented(t *testing.T, text string) (found bool) {
	t.Helper()
	walkGo(t, func(path string) {
		if found || strings.HasSuffix(path, "_test.go") {
			return
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found = strings.Contains(string(content), text)
	})
	return found
}

// walkGo calls f with every Go file of the repository, without folders that begin with a dot and test data.
func walkGo(t *testing.T, f func(path string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(path, ".go"):
			f(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
