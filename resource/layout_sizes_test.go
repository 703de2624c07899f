package resource_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// goFile is a Go file that is neither a test nor generated.
type goFile struct {
	name   string // its path from the root
	text   []byte
	syntax *ast.File
}

var (
	parseAll sync.Once
	parsed   map[string][]goFile
)

// goFiles returns the Go files of all packages, nested modules included, by directory.
func goFiles(t *testing.T) map[string][]goFile {
	t.Helper()
	parseAll.Do(func() {
		parsed = map[string][]goFile{}
		fset := token.NewFileSet()
		sources(t, func(name string, text []byte) {
			if strings.HasSuffix(name, "_test.go") ||
				bytes.Contains(text[:min(len(text), 400)], []byte("DO NOT EDIT")) {
				return
			}
			f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			parsed[path.Dir(name)] = append(parsed[path.Dir(name)], goFile{name, text, f})
		})
	})
	return parsed
}

// libraryFiles is goFiles without the examples.
func libraryFiles(t *testing.T) map[string][]goFile {
	t.Helper()
	files := maps.Clone(goFiles(t))
	maps.DeleteFunc(files, func(dir string, _ []goFile) bool { return strings.HasPrefix(dir, "examples/") })
	return files
}

// TestSizes compares the size of each library package with its ceiling in testdata/sizes.txt: the
// number of files, of lines and of exported names, without tests and generated files. Exported
// names are types, functions, constants and variables of the package, without methods and fields. A
// ceiling is raised only in a commit that names the feature that needs it.
func TestSizes(t *testing.T) {
	t.Parallel()
	ceilings := readTable(t, "sizes.txt", 3)
	for dir, files := range libraryFiles(t) {
		got := []int{len(files), 0, 0}
		for _, f := range files {
			got[1] += bytes.Count(f.text, []byte("\n"))
			got[2] += exportedNames(f.syntax)
		}
		want, ok := ceilings[dir]
		if !ok {
			t.Errorf(
				"add %s to testdata/sizes.txt: it has %d files, %d lines and %d exported names",
				dir,
				got[0],
				got[1],
				got[2],
			)
			continue
		}
		for i, what := range []string{"files", "lines", "exported names"} {
			if got[i] > want[i] {
				t.Errorf("%s has %d %s, want at most %d", dir, got[i], what, want[i])
			}
		}
		delete(ceilings, dir)
	}
	for dir := range ceilings {
		t.Errorf("testdata/sizes.txt lists %s, which is no library package", dir)
	}
}

// exportedNames counts the exported types, functions, constants and variables that a file declares.
func exportedNames(f *ast.File) int {
	n := 0
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil && decl.Name.IsExported() {
				n++
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.IsExported() {
						n++
					}
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						if id.IsExported() {
							n++
						}
					}
				}
			}
		}
	}
	return n
}

// readTable reads a file of testdata: on each line a name and so many numbers. Empty lines and
// lines that begin with # are comments.
func readTable(t *testing.T, name string, columns int) map[string][]int {
	t.Helper()
	table := map[string][]int{}
	for line := range strings.Lines(readText(t, filepath.Join("testdata", name))) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		row := make([]int, columns)
		if len(fields) != columns+1 || table[fields[0]] != nil {
			t.Fatalf("%s: line %q repeats a name or has not %d numbers", name, line, columns)
		}
		for i, field := range fields[1:] {
			n, err := strconv.Atoi(field)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			row[i] = n
		}
		table[fields[0]] = row
	}
	return table
}
