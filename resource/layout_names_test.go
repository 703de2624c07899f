package resource_test

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// exemptNames are the violations of TestNames that are still to be mended, by package. Remove an entry with its violation and
// add none.
var exemptNames = map[string][]string{
	"idempotency":                  {"Claim/claim", "Finish/finish", "Release/release", "patience"},
	"query":                        {"Compare/compare", "Fields/fields"},
	"query/graphql/internal/fetch": {"Write/write"},
	"resource":                     {"Create/create", "Delete/delete", "Get/get", "Logger/logger", "NewID/newID", "Put/put"},
	"resource/feed":                {"Close/close", "Forget/forget", "Purge/purge", "memo"},
	"resource/feed/feedtest":       {"Run/run"},
	"resource/openapi":             {"blobs", "info", "operation", "requestBody", "standing", "tag"},
	"resource/patch":               {"Apply/apply", "Missing/missing"},
	"resource/resourcetest":        {"page", "samples"},
	"resource/rest":                {"Close/close", "Report/report", "frame"},
	"resource/schema":              {"Field/field", "Members/members", "Text/text", "entry"},
}

// TestNames keeps the names of each library package easy to search for: no unexported type shares its name with a function
// or method, and the names of two functions differ by case alone only if the exported one uses the other, as Get calls get.
func TestNames(t *testing.T) {
	t.Parallel()
	for dir, files := range libraryFiles(t) {
		violations := nameViolations(files)
		for _, name := range violations {
			if !slices.Contains(exemptNames[dir], name) {
				t.Errorf("%s: rename %s", dir, name)
			}
		}
		for _, name := range exemptNames[dir] {
			if !slices.Contains(violations, name) {
				t.Logf("%s: %s is mended; remove it from exemptNames", dir, name)
			}
		}
	}
}

// nameViolations returns the names of a package that TestNames rejects, sorted: the name of a type, or those of two functions
// or methods with a slash between them.
func nameViolations(files []libraryFile) []string {
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
