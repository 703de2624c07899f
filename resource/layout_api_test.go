package resource_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// update writes the golden files of this package: go test ./resource -run TestExportedAPI -update
var update = flag.Bool("update", false, "write the golden files")

// libraries returns the documentation of each package that other modules can import, by path from
// the root.
func libraries(t *testing.T) map[string]*doc.Package {
	t.Helper()
	fset := token.NewFileSet()
	files := map[string][]*ast.File{}
	sources(t, func(name string, text []byte) {
		dir := path.Dir(name)
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "examples/") ||
			slices.Contains(strings.Split(dir, "/"), "internal") {
			return
		}
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files[dir] = append(files[dir], f)
	})
	pkgs := map[string]*doc.Package{}
	for dir, list := range files {
		p, err := doc.NewFromFiles(fset, list, modulePath+"/"+dir)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != "main" {
			pkgs[dir] = p
		}
	}
	return pkgs
}

// TestExportedAPI compares the exported API of each package with a listing in testdata/api, so that
// review sees each change.
func TestExportedAPI(t *testing.T) {
	t.Parallel()
	pkgs := libraries(t)
	golden := filepath.Join("testdata", "api")
	stale := map[string]bool{}
	old, err := filepath.Glob(filepath.Join(golden, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range old {
		stale[file] = true
	}
	for dir, p := range pkgs {
		file := filepath.Join(golden, strings.ReplaceAll(dir, "/", "-")+".txt")
		delete(stale, file)
		got := listing(t, p)
		if *update {
			if err := os.MkdirAll(golden, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%v: if the package is new, run the test with -update", err)
			continue
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: if the change is intended, run the test with -update (-want +got):\n%s", dir, diff)
		}
	}
	for file := range stale {
		if err := os.Remove(file); *update && err != nil {
			t.Error(err)
		} else if !*update {
			t.Errorf("%s: the package does not exist", file)
		}
	}
}

// listing prints the exported declarations of a package without bodies and without comments.
func listing(t *testing.T, p *doc.Package) string {
	t.Helper()
	b := bytes.NewBufferString("package " + p.Name + "\n")
	show := func(decl ast.Node) {
		b.WriteByte('\n')
		hidden := bare(decl)
		// A file set without positions makes the layout independent of the source's.
		config := printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 8}
		if err := config.Fprint(b, token.NewFileSet(), decl); err != nil {
			t.Fatal(err)
		}
		if hidden {
			b.WriteString(" // and what is not exported")
		}
		b.WriteByte('\n')
	}
	values := func(list []*doc.Value) {
		for _, v := range list {
			show(v.Decl)
		}
	}
	funcs := func(list []*doc.Func) {
		for _, f := range list {
			show(f.Decl)
		}
	}
	values(p.Consts)
	values(p.Vars)
	funcs(p.Funcs)
	for _, typ := range p.Types {
		show(typ.Decl)
		values(typ.Consts)
		values(typ.Vars)
		funcs(typ.Funcs)
		funcs(typ.Methods)
	}
	return b.String()
}

// bare removes the comments of a declaration. It reports whether [doc] has removed unexported
// fields or methods.
func bare(decl ast.Node) (hidden bool) {
	incomplete := func(flag *bool) {
		hidden = hidden || *flag
		*flag = false
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			n.Doc = nil
		case *ast.FuncDecl:
			n.Doc = nil
		case *ast.TypeSpec:
			n.Doc, n.Comment = nil, nil
		case *ast.ValueSpec:
			n.Doc, n.Comment = nil, nil
		case *ast.Field:
			n.Doc, n.Comment = nil, nil
		case *ast.StructType:
			incomplete(&n.Incomplete)
		case *ast.InterfaceType:
			incomplete(&n.Incomplete)
		}
		return true
	})
	return hidden
}

// TestExportedNames checks that each package, each exported name and each exported method has a doc
// comment. TestSizes limits their number.
func TestExportedNames(t *testing.T) {
	t.Parallel()
	for dir, p := range libraries(t) {
		check := func(name, doc string) {
			if doc == "" {
				t.Errorf("%s: %s has no doc comment", dir, name)
			}
		}
		values := func(list []*doc.Value) {
			for _, v := range list {
				for _, name := range v.Names {
					check(name, v.Doc)
				}
			}
		}
		funcs := func(list []*doc.Func, recv string) {
			for _, f := range list {
				check(recv+f.Name, f.Doc)
			}
		}
		check("package "+p.Name, p.Doc)
		values(p.Consts)
		values(p.Vars)
		funcs(p.Funcs, "")
		for _, typ := range p.Types {
			check(typ.Name, typ.Doc)
			values(typ.Consts)
			values(typ.Vars)
			funcs(typ.Funcs, "")
			funcs(typ.Methods, typ.Name+".")
			for _, spec := range typ.Decl.Specs {
				documentMethods(t, dir, spec.(*ast.TypeSpec))
			}
		}
	}
}

// documentMethods checks that each method of an interface with more than one has a comment, because
// the comment of the type cannot describe it.
func documentMethods(t *testing.T, dir string, spec *ast.TypeSpec) {
	t.Helper()
	iface, ok := spec.Type.(*ast.InterfaceType)
	if !ok || len(iface.Methods.List) < 2 {
		return
	}
	for _, m := range iface.Methods.List {
		if len(m.Names) > 0 && m.Doc == nil && m.Comment == nil {
			t.Errorf("%s: %s.%s has no documentation", dir, spec.Name.Name, m.Names[0].Name)
		}
	}
}
