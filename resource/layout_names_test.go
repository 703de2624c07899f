package resource_test

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// TestNames keeps the names of each library package easy to search for: no unexported type shares
// its name with a function or method, and the names of two functions differ by case alone only if
// the exported one uses the other, as Get calls get.
func TestNames(t *testing.T) {
	t.Parallel()
	for dir, files := range libraryFiles(t) {
		for _, name := range nameViolations(files) {
			t.Errorf("rename: %s %s", dir, name)
		}
	}
}

// nameViolations returns the names of a package that TestNames rejects, sorted: the name of a type,
// or those of two functions or methods with a slash between them.
func nameViolations(files []goFile) []string {
	types := map[string]bool{}
	used := map[string]map[string]bool{} // by function: the identifiers in its body
	for _, file := range files {
		for _, decl := range file.syntax.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if used[decl.Name.Name] == nil {
					used[decl.Name.Name] = map[string]bool{}
				}
				addIdentifiers(used[decl.Name.Name], decl.Body)
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						types[spec.Name.Name] = true
					}
				}
			}
		}
	}
	var found []string
	byLower := map[string][]string{}
	for name := range used {
		if types[name] && !ast.IsExported(name) {
			found = append(found, name)
		}
		byLower[strings.ToLower(name)] = append(byLower[strings.ToLower(name)], name)
	}
	for _, names := range byLower {
		slices.Sort(names) // exported names first
		for i, name := range names {
			for _, other := range names[i+1:] {
				if !ast.IsExported(name) || !used[name][other] {
					found = append(found, name+"/"+other)
				}
			}
		}
	}
	slices.Sort(found)
	return found
}

// addIdentifiers adds the identifiers in a function body, which may be nil.
func addIdentifiers(names map[string]bool, body *ast.BlockStmt) {
	if body == nil {
		return
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			names[id.Name] = true
		}
		return true
	})
}
