package resource_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The tests in the files layout_*_test.go check the layout of the repository: imports, folders,
// sizes, names and style.

const (
	root       = ".." // of the module, seen from this package
	modulePath = "github.com/stoa-go/stoa"
)

// The packages in layers. Of the module each may import only the packages in its line and those in
// its own folder internal. A package that is not listed fails the test.
var (
	leaves = map[string][]string{
		"query":            nil,
		"resource/schema":  {"query", "resource/internal/jsonappend", "resource/internal/near"},
		"resource/problem": nil, "resource/header": nil, "resource/tx": nil, "resource/contract": nil,
		"resource/cache":                 nil,
		"resource/observe":               {"resource/internal/tally"},
		"resource/patch":                 {"resource/schema"},
		"resource/httpbody":              {"resource/problem", "resource/header"},
		"resource/httpbody/page":         {"resource/httpbody"},
		"resource/csv":                   {"resource/schema", "resource/header"},
		"resource/internal/asread":       nil,
		"resource/internal/pace":         nil,
		"resource/internal/keylock":      nil,
		"resource/internal/safe":         nil,
		"resource/internal/near":         nil,
		"resource/internal/pointer":      {"resource/schema"},
		"resource/internal/jsonappend":   nil,
		"resource/internal/deleted":      {},
		"resource/internal/etag":         {"resource/schema"},
		"resource/internal/retry":        {"resource/internal/tally"},
		"resource/internal/tally":        nil,
		"resource/internal/importresult": {"resource/problem", "resource/schema"},
		"resource/internal/fielderr":     {"resource/problem"},
		"resource/internal/ndjson":       {"resource/problem", "resource/header", "resource/httpbody"},
		"resource/internal/report":       {"resource/schema"},
		"resource/internal/recent":       nil,
		"resource/internal/inputerr":     {"query", "resource/patch", "resource/problem", "resource/schema", "resource/csv"},
		"resource/internal/keys":         {"resource/schema"},
		"resource/internal/keyed":        {"idempotency", "resource/schema"},
		"resource/internal/modified":     nil,
		"resource/internal/stamps":       {"resource/schema"},
		"resource/internal/mistakes":     {"query", "resource/schema", "resource/internal/near"},
		"resource/internal/mount":        nil,
		"resource/internal/jsondiff":     {"resource/schema", "resource/internal/pointer"},
		"resource/internal/sharedfeed":   {"resource/tx", "resource/feed"},
		"resource/feed":                  {"resource/tx", "resource/internal/pace"},
		"resource/feed/eventstream":      nil,
		"resource/client":                {"query", "resource/problem", "resource/feed/eventstream"},
		"idempotency":                    {"resource/problem", "resource/tx", "resource/header", "resource/contract"},
		"middleware":                     {"resource/problem", "resource/header"},
	}
	// Parts of a catalog beside resources, above package resource. Stores and protocols import them.
	parts = []string{"resource/blob", "resource/command"}
	// Stores, protocols and the conformance kit, above package resource. None imports another, but
	// openapi the options of rest and a Negotiator, and resourcetest rest, to test stores with a cache.
	storesAndProtocols = []string{
		"resource/memory",
		"resource/files",
		"resource/job",
		"resource/admin",
		"resource/rest",
		"resource/openapi",
		"query/graphql",
		"resource/resourcetest",
		"resource/resourcetest/relationtest",
	}
	// Versions of an API. The core and the protocols read the contract of a request by resource/contract.
	// Only resource/openapi and resource/serve, which have a Negotiator in their options, import version.
	// No package of the core or above it imports version/compat, which is linked if a program asks for it.
	versions = map[string][]string{
		"version": {"resource/problem", "resource/header", "resource/httpbody", "resource/contract",
			"middleware"},
		"version/compat":      {"version"},
		"version/versiontest": {"version", "version/compat"},
	}
	// Packages that only resource/serve may import beside what stores and protocols may.
	servedTogether = []string{"resource/rest", "resource/openapi", "resource/openapi/docspage", "query/graphql",
		"version"}
	// Packages that serve one leaf.
	besideLeaves = map[string][]string{
		"resource/feed/feedtest":      {"resource/feed", "resource/tx"},
		"idempotency/idempotencytest": {"idempotency", "resource/problem", "resource/tx"},
		"resource/schema/describe":    {"resource/schema/internal/godoc"},
		"resource/openapi/docspage":   {"resource/httpbody/page"},
	}
	// Packages of resource/sql. They may import each other as well.
	ofSQL = map[string][]string{
		"resource/sql/sqltx":      {"resource/tx", "resource/internal/tally"},
		"resource/sql/sqlquery":   {"query"},
		"resource/sql/sqlfeed":    {"resource/feed", "resource/tx"},
		"resource/sql/sqlrecords": {"idempotency", "resource/problem", "resource/tx"},
		"resource/sql/sqltable":   append(slices.Sorted(maps.Keys(leaves)), "resource"),
		// The types of columns, for two of them.
		"resource/sql/internal/sqltype": {},
	}
	// Packages that only tests import, and what they may import in addition.
	forTests = map[string][]string{
		"query/graphql/internal/graphqltest":        {"resource/memory"},
		"query/graphql/internal/graphqltest/oracle": {"resource/memory"},
		"resource/internal/pipe":                    {},
	}

	// The modules that the root module may require.
	requirable = []string{"github.com/coder/websocket", "github.com/evanphx/json-patch/v5",
		"github.com/go-json-experiment/json", "github.com/google/go-cmp", "github.com/graphql-go/graphql"}

	// brought are what those require themselves, and what go mod graph names beside modules.
	brought = []string{"github.com/jessevdk/go-flags", "golang.org/x/sys", "go", "toolchain"}
)

// mayImport returns the packages of the module that a package may import, and whether it is listed.
func mayImport(pkg string) ([]string, bool) {
	allLeaves := slices.Sorted(maps.Keys(leaves))
	if known, ok := leaves[pkg]; ok {
		return known, true
	}
	if known, ok := besideLeaves[pkg]; ok {
		return known, true
	}
	if known, ok := versions[pkg]; ok {
		return known, true
	}
	if pkg == "resource" {
		return allLeaves, true
	}
	if known, ok := ofSQL[pkg]; ok {
		return slices.AppendSeq(slices.Clone(known), maps.Keys(ofSQL)), true
	}
	if slices.Contains(parts, pkg) {
		return append(allLeaves, "resource"), true
	}
	if pkg == "resource/serve" {
		return slices.Concat(allLeaves, []string{"resource"}, parts, servedTogether), true
	}
	if slices.Contains(storesAndProtocols, pkg) {
		allLeaves = append(append(allLeaves, "resource"), parts...)
		switch pkg {
		case "resource/openapi":
			allLeaves = append(allLeaves, "resource/rest", "version")
		case "resource/resourcetest":
			allLeaves = append(allLeaves, "resource/rest")
		}
		return allLeaves, true
	}
	return nil, false
}

// outside returns the package around an internal one, or the package itself.
func outside(pkg string) string {
	before, _, _ := strings.Cut(pkg, "/internal/")
	return before
}

func TestImportLaw(t *testing.T) {
	t.Parallel()
	type listed struct {
		ImportPath string
		Imports    []string
	}
	out := run(t, "go", "list", "-json=ImportPath,Imports", "./...")
	seen := 0
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); seen++ {
		var p listed
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		pkg := strings.TrimPrefix(p.ImportPath, modulePath+"/")
		known, ok := mayImport(pkg)
		if !ok {
			known, ok = mayImport(outside(pkg))
		}
		if !ok {
			t.Errorf("%s is not listed: add to this test what it may import", pkg)
			continue
		}
		known = slices.Concat(known, forTests[pkg])
		for _, imp := range p.Imports {
			imp, inside := strings.CutPrefix(imp, modulePath+"/")
			if forTests[imp] != nil {
				t.Errorf("%s imports %s, which is for tests", pkg, imp)
			}
			if !inside || slices.Contains(known, imp) ||
				strings.Contains(imp, "/internal/") && outside(imp) == outside(pkg) {
				continue
			}
			t.Errorf("%s imports %s; it may import %s", pkg, imp, known)
		}
	}
	if seen < 8 {
		t.Errorf("go list named %d packages", seen)
	}
}

func TestRequirements(t *testing.T) {
	t.Parallel()
	var mod struct{ Require []struct{ Path string } }
	if err := json.Unmarshal(run(t, "go", "mod", "edit", "-json"), &mod); err != nil {
		t.Fatal(err)
	}
	for _, r := range mod.Require {
		if !slices.Contains(requirable, r.Path) {
			t.Errorf("the root module requires %s; drivers and engines belong in nested modules", r.Path)
		}
	}
}

// TestModuleGraph checks that an application that requires the module gets no database driver with
// it, even indirectly.
func TestModuleGraph(t *testing.T) {
	t.Parallel()
	edges := strings.Fields(string(run(t, "go", "mod", "graph")))
	if len(edges) < 2*len(brought) {
		t.Fatalf("go mod graph names %q", edges)
	}
	for _, module := range edges {
		path, _, _ := strings.Cut(module, "@")
		if path != modulePath && !slices.Contains(requirable, path) && !slices.Contains(brought, path) {
			t.Errorf("%s is in go mod graph of the root; drivers belong in nested modules", module)
		}
	}
}

// run runs a command in the root of the module and returns its output.
func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = root
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, &complaint)
	}
	return out
}

// tracked returns the files that git tracks. It skips the test outside of a checkout, for example
// in an archive or in the module cache, and if there is no git.
func tracked(t *testing.T) []string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("not in a checkout:", err)
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	names := strings.Split(strings.TrimSuffix(string(run(t, "git", "ls-files", "-z")), "\x00"), "\x00")
	if len(names) < 50 {
		t.Fatalf("git tracks %d files only", len(names))
	}
	return names
}

// trackedTexts calls fn with each file that git tracks, and its path from the root.
func trackedTexts(t *testing.T, fn func(name string, text []byte)) {
	t.Helper()
	for _, name := range tracked(t) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		fn(name, text)
	}
}

func TestTopLevel(t *testing.T) {
	t.Parallel()
	allowed := []string{"LICENSE", "README.md", "examples", "go.mod", "go.sum", "idempotency", "middleware",
		"query", "resource", "version"}
	for _, name := range tracked(t) {
		top, _, _ := strings.Cut(name, "/")
		if !slices.Contains(allowed, top) && !strings.HasPrefix(top, ".") {
			t.Errorf("%s: only %s and dot-files may be at the top level", name, strings.Join(allowed, ", "))
		}
	}
}

// TestNoPlaceNamed checks that no file contains a path of a development machine, and no lock file a
// mirror.
func TestNoPlaceNamed(t *testing.T) {
	t.Parallel()
	var places [][]byte
	for _, parts := range [][2]string{ // in two parts, so that this file does not contain them
		{"proxy.golang", ".org"}, {"sum.golang", ".org"}, {"registry.npmjs", ".org"}, {"registry.yarnpkg", ".com"},
		{"deb.debian", ".org"}, {"security.debian", ".org"}, {"archive.ubuntu", ".com"}, {"files.pythonhosted", ".org"},
		{"pypi", ".org"}, {"static.crates", ".io"}, {"docker", ".io/"}, {"/wo", "rk/"}, {"/ro", "ot/"}, {"/ho", "me/"},
	} {
		places = append(places, []byte(parts[0]+parts[1]))
	}
	trackedTexts(t, func(name string, text []byte) {
		for _, place := range places {
			if i := bytes.Index(text, place); i >= 0 {
				t.Errorf("%s:%d names %s", name, 1+bytes.Count(text[:i], []byte("\n")), place)
			}
		}
	})
}

// sources calls fn with each Go file of the repository, nested modules included, and its path from
// the root.
func sources(t *testing.T, fn func(path string, text []byte)) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen++
		short, err := filepath.Rel(root, path)
		fn(filepath.ToSlash(short), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 50 {
		t.Fatalf("only %d Go files found", seen)
	}
}

// TestStyleBudget limits the length of files and functions. Functions in tests may be longer
// because they contain tables.
func TestStyleBudget(t *testing.T) {
	t.Parallel()
	const fileLines, functionLines = 700, 80
	fset := token.NewFileSet()
	var lengths []int
	sources(t, func(path string, text []byte) {
		if bytes.HasPrefix(text, []byte("// Code generated by ")) {
			return
		}
		if n := bytes.Count(text, []byte("\n")); n > fileLines {
			t.Errorf("%s has %d lines, want %d at most", path, n, fileLines)
		}
		f, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || strings.HasSuffix(path, "_test.go") {
				continue
			}
			n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1
			lengths = append(lengths, n)
			if n > functionLines {
				t.Errorf("%s: %s has %d lines, want %d at most", path, fn.Name.Name, n, functionLines)
			}
		}
	})
	if len(lengths) < 500 {
		t.Fatalf("only %d functions found", len(lengths))
	}
	slices.Sort(lengths)
	t.Logf("%d functions; median %d lines, 90th percentile %d, longest %d",
		len(lengths), lengths[len(lengths)/2], lengths[len(lengths)*9/10], lengths[len(lengths)-1])
}
