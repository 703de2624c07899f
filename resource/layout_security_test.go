package resource_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// dials are the names by which a package would open a connection, by package.
var dials = map[string][]string{
	"net/http": {
		"Get",
		"Head",
		"Post",
		"PostForm",
		"Client",
		"DefaultClient",
		"Transport",
		"DefaultTransport",
		"NewRequest",
		"NewRequestWithContext",
	},
	"net": {
		"Dial",
		"DialTimeout",
		"DialTCP",
		"DialUDP",
		"DialIP",
		"DialUnix",
		"Dialer",
		"LookupHost",
		"LookupIP",
		"LookupAddr",
		"DefaultResolver",
		"Resolver",
	},
	"net/rpc": {
		"Dial",
	},
	"crypto/tls": {"Dial", "DialWithDialer", "Dialer"},
	"net/smtp":   {"SendMail", "Dial"},
}

// TestNothingDials checks that the module opens no connections, so no request can make it call
// another server. Databases are reached by the drivers that the application chooses. Package client,
// which no other package imports, and packages for tests are left out.
func TestNothingDials(t *testing.T) {
	t.Parallel()
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root &&
				(ofAnotherModule(path) || strings.HasPrefix(d.Name(), ".") || strings.HasSuffix(d.Name(), "test") ||
					filepath.ToSlash(path) == root+"/resource/client") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		for _, use := range dialsIn(t, path, nil) {
			t.Errorf("%s: %s opens a connection", path, use)
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Errorf("%d files were read, %v", files, err)
	}
	mutant := `package p; import web "net/http"; func f(url string) { web.Get(url) }`
	if got := dialsIn(t, "mutant.go", []byte(mutant)); len(got) != 1 {
		t.Errorf("the mutant has %q, want web.Get", got)
	}
}

func ofAnotherModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// dialsIn returns the names in dials that a file uses. text is its content; nil means it is read.
func dialsIn(t *testing.T, path string, text []byte) (uses []string) {
	t.Helper()
	var source any
	if text != nil {
		source = text
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]string{} // by the name in the file
	for _, spec := range file.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		name := imported[strings.LastIndexByte(imported, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		packages[name] = imported
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && slices.Contains(dials[packages[x.Name]], s.Sel.Name) {
				uses = append(uses, x.Name+"."+s.Sel.Name)
			}
		}
		return true
	})
	return uses
}
