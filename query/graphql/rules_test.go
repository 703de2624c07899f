package graphql_test

import (
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

// testdata/rules.md says for every rule of the contract which tests hold it. Here the table itself is held to what it says.

// root is the folder of the repository.
const root = "../.."

var (
	ruleLine  = regexp.MustCompile(`^\| ([GCESHWP][0-9]+) \| [^|]+ \| ([^|]*) \| ([^|]*)\|$`)
	ruleTest  = regexp.MustCompile("^`([^`]+)`$")
	noTestYet = regexp.MustCompile(`^issue [0-9]+: \S`)
)

func TestRuleTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "|---|---|---|---|\n")
	tests, seen := testFunctions(t), map[string]bool{}
	for line := range strings.Lines(table) {
		m := ruleLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			t.Errorf("this is no line of the table: %s", line)
			continue
		}
		if seen[m[1]] {
			t.Errorf("rule %s is there twice", m[1])
		}
		seen[m[1]] = true
		named := strings.Fields(m[2])
		if reason := strings.TrimSpace(m[3]); (len(named) == 0) != noTestYet.MatchString(reason) {
			t.Errorf("rule %s has tests, or says why not: %q", m[1], reason)
		}
		for _, name := range named {
			test := ruleTest.FindStringSubmatch(name)
			if test == nil || !tests[test[1]] {
				t.Errorf("rule %s: there is no test %s", m[1], name)
			}
		}
	}
	if len(seen) < 50 {
		t.Errorf("the table has %d rules", len(seen))
	}
}

// testFunctions finds the tests, fuzz targets and benchmarks of the repository, as folder.TestName. A package below
// query/graphql/internal is called by its own name.
func testFunctions(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	eachFile(t, root, func(path string) {
		if !strings.HasSuffix(path, "_test.go") {
			return
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		folder = strings.TrimPrefix(filepath.ToSlash(folder), "query/graphql/internal/")
		for _, decl := range parsed(t, path, parser.SkipObjectResolution).Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && isTest.MatchString(fn.Name.Name) {
				found[folder+"."+fn.Name.Name] = true
			}
		}
	})
	return found
}

var isTest = regexp.MustCompile(`^(Test|Fuzz|Benchmark)`)

// eachFile calls do for the Go files below a folder.
func eachFile(t *testing.T, folder string, do func(path string)) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == ".git"):
			return fs.SkipDir
		case strings.HasSuffix(path, ".go"):
			do(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func parsed(t *testing.T, path string, mode parser.Mode) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, mode)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestNothingUnsafe: memory is safe, whatever a document says.
func TestNothingUnsafe(t *testing.T) {
	t.Parallel()
	files := 0
	eachFile(t, ".", func(path string) {
		files++
		file := parsed(t, path, parser.ParseComments)
		for _, spec := range file.Imports {
			if spec.Path.Value == `"unsafe"` {
				t.Errorf("%s imports unsafe", path)
			}
		}
		for _, group := range file.Comments {
			if strings.HasPrefix(group.List[len(group.List)-1].Text, "//go:linkname ") {
				t.Errorf("%s reaches into another package by linkname", path)
			}
		}
	})
	if files < 50 {
		t.Errorf("only %d files were looked at", files)
	}
}
