package godoc

// Reading a package: its files, and what the type checker knows of them without its imports.

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// pkg is a parsed package.
type pkg struct {
	fset  *token.FileSet
	name  string
	decls map[string]*typeDecl // by type name
	// consts are the constants of the package in the order of the source.
	consts []constDecl
	// scope has all names of the package, and types the result of the type checker. Types of other
	// packages are invalid.
	scope *types.Scope
	types *types.Package
	// handmade are the types that have the method in a file that is not generated.
	handmade map[string]bool
}

// typeDecl is a type declaration at the top level of a package.
type typeDecl struct {
	spec    *ast.TypeSpec
	doc     *ast.CommentGroup
	imports map[string]string // of the file: paths by name
}

// constDecl is a constant at the top level.
type constDecl struct {
	name    string
	comment *ast.CommentGroup
	imports map[string]string
}

// noImporter imports nothing, because describing a package must not depend on whether its imports
// compile, or the package itself: a generated file that is out of date may prevent it.
type noImporter struct{}

func (noImporter) Import(string) (*types.Package, error) {
	return nil, errors.New("imports are not resolved")
}

// load parses the package in a folder, without tests, the generated file and files with build
// constraints: a method of a type that is missing on some platform would not compile there.
func load(dir string) (*pkg, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	p := &pkg{fset: token.NewFileSet(), decls: map[string]*typeDecl{}, handmade: map[string]bool{}}
	var files []*ast.File
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || !isSource(dir, name) {
			continue
		}
		name = filepath.Join(dir, name)
		f, err := parser.ParseFile(p.fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err // it names the file
		}
		if isConstrained(f) {
			continue
		}
		if p.name != "" && p.name != f.Name.Name {
			return nil, fmt.Errorf("%s: the files have the packages %s and %s", dir, p.name, f.Name.Name)
		}
		p.name = f.Name.Name
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no Go files without build constraints", dir)
	}
	conf := types.Config{
		Importer: noImporter{}, FakeImportC: true, IgnoreFuncBodies: true,
		Error: func(error) {}, // missing imports are errors, and the rest is known nevertheless
	}
	p.types, _ = conf.Check(p.name, p.fset, files, nil)
	p.scope = p.types.Scope()
	for _, f := range files {
		p.addDecls(f)
	}
	return p, nil
}

// isSource reports whether a file is part of the package on every platform, as far as its name shows.
func isSource(dir, name string) bool {
	if name == FileName || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
		return false
	}
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled = "none", "none", true
	ok, err := ctx.MatchFile(dir, name)
	return ok || err != nil // the parser reports the error
}

// isConstrained reports whether a file has a build constraint.
func isConstrained(f *ast.File) bool {
	for _, group := range f.Comments {
		if group.Pos() > f.Package {
			break
		}
		for _, c := range group.List {
			if constraint.IsGoBuild(c.Text) {
				return true
			}
		}
	}
	return false
}

// addDecls adds the types, constants and relevant methods of a file.
func (p *pkg) addDecls(f *ast.File) {
	imports := importsOf(f)
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv != nil && decl.Name.Name == method {
				p.handmade[receiver(decl)] = true
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.Name == "_" {
						continue
					}
					p.decls[spec.Name.Name] = &typeDecl{spec, docOf(decl, spec.Doc, spec.Comment), imports}
				case *ast.ValueSpec:
					if decl.Tok != token.CONST {
						continue
					}
					for _, name := range spec.Names {
						p.consts = append(p.consts,
							constDecl{name.Name, docOf(decl, spec.Doc, spec.Comment), imports})
					}
				}
			}
		}
	}
}

// docOf returns the comment of a type or a constant: above it, above the keyword if there are no
// parentheses, or at the end of the line.
func docOf(decl *ast.GenDecl, above, after *ast.CommentGroup) *ast.CommentGroup {
	if above == nil && !decl.Lparen.IsValid() {
		above = decl.Doc
	}
	if above == nil {
		return after
	}
	return above
}

// receiver returns the name of the type of a method.
func receiver(fn *ast.FuncDecl) string {
	typ := fn.Recv.List[0].Type
	for {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
		case *ast.ParenExpr:
			typ = t.X
		case *ast.IndexExpr:
			typ = t.X
		case *ast.IndexListExpr:
			typ = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

// importsOf returns the paths of the imports of a file by the name that doc links use.
func importsOf(f *ast.File) map[string]string {
	imports := map[string]string{}
	for _, spec := range f.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(target)
		if spec.Name != nil {
			name = spec.Name.Name
		} else if major, _ := path.Match("v[0-9]*", name); major {
			name = path.Base(path.Dir(target))
		}
		imports[name] = target
	}
	return imports
}
