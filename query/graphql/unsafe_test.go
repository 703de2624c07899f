package graphql_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoUnsafeCode checks that no package imports unsafe or uses linkname, so that no document can
// cause unsafe memory access.
func TestNoUnsafeCode(t *testing.T) {
	t.Parallel()
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		files++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			if spec.Path.Value == `"unsafe"` {
				t.Errorf("%s imports unsafe", path)
			}
		}
		for _, group := range file.Comments {
			for _, comment := range group.List {
				if strings.HasPrefix(comment.Text, "//go:linkname ") {
					t.Errorf("%s reaches into another package by linkname", path)
				}
			}
		}
		return nil
	})
	if err != nil || files < 50 {
		t.Errorf("%d files were looked at: %v", files, err)
	}
}
