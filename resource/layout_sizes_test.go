package resource_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// goFile is a Go file that is neither a test nor generated.
type goFile struct {
	lines  int
	syntax *ast.File
}

// libraryFiles returns the Go files of the packages of the library, nested modules included, by
// directory.
func libraryFiles(t *testing.T) map[string][]goFile {
	t.Helper()
	files := map[string][]goFile{}
	sources(t, func(name string, text []byte) {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "examples/") || generated(text) {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		dir := path.Dir(name)
		files[dir] = append(files[dir], goFile{bytes.Count(text, []byte("\n")), f})
	})
	return files
}

// generated reports whether a Go file was written by a program.
func generated(text []byte) bool {
	return bytes.Contains(text[:min(len(text), 400)], []byte("DO NOT EDIT"))
}

// size is the size of a package without tests and generated files. names counts exported types,
// functions, constants and variables, without methods and fields.
type size struct{ files, lines, names int }

// usualSize limits the size of a package, and largePackages that of packages which exceed it. Raise
// a limit only in a commit that names the feature that needs it.
var (
	usualSize     = size{files: 50, lines: 4000, names: 60}
	largePackages = map[string]size{
		"query":                 {files: 50, lines: 4600, names: 81},
		"resource":              {files: 62, lines: 12830, names: 81},
		"resource/openapi":      {files: 50, lines: 6200, names: 60},
		"resource/resourcetest": {files: 50, lines: 9200, names: 60},
		"resource/rest":         {files: 50, lines: 6400, names: 60},
		"resource/schema":       {files: 50, lines: 6800, names: 60},
		"resource/sql/sqltable": {files: 50, lines: 10000, names: 60},
		"version":               {files: 50, lines: 4250, names: 60},
		"version/compat":        {files: 50, lines: 4200, names: 60}, // equal schemas in different forms
	}
)

func TestSizes(t *testing.T) {
	t.Parallel()
	packages := libraryFiles(t)
	for dir, files := range packages {
		got := size{files: len(files)}
		for _, f := range files {
			got.lines += f.lines
			got.names += exportedNames(f.syntax)
		}
		limit, ok := largePackages[dir]
		if !ok {
			limit = usualSize
		}
		if got.files > limit.files || got.lines > limit.lines || got.names > limit.names {
			t.Errorf("%s has %+v, want at most %+v", dir, got, limit)
		}
	}
	for dir := range largePackages {
		if packages[dir] == nil {
			t.Errorf("largePackages has %s, which is no library package", dir)
		}
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
