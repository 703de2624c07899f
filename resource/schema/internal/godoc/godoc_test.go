package godoc_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/schema/internal/godoc"
	"github.com/stoa-go/stoa/resource/schema/internal/godoc/testdata/names"
	"github.com/stoa-go/stoa/resource/schema/internal/godoc/testdata/notes"
)

// TestCommitted checks every generated file of the repository. To write them again, run go generate
// in their folders.
func TestCommitted(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..", "..")
	checked := 0
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || path != root && strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.Name() != godoc.FileName:
			return nil
		}
		checked++
		if err := godoc.Check(filepath.Dir(path), nil); err != nil {
			t.Error(err)
		}
		return nil
	})
	if err != nil || checked < 2 {
		t.Errorf("%d files checked, %v", checked, err)
	}
}

// texts returns the descriptions of a type and of its fields, in one line for each, with a ! before
// the reason of a deprecation.
func texts(t *schema.Type) []string {
	var out []string
	add := func(name, doc, deprecated string) {
		line := name + ": " + doc
		if deprecated != "" {
			line += "!" + deprecated
		}
		out = append(out, line)
	}
	add("", t.Doc, t.Deprecated)
	for _, f := range t.Fields {
		add(f.Name, f.Doc, f.Deprecated)
		for _, v := range f.Enum {
			c := f.EnumComment(v)
			add(f.Name+fmt.Sprintf("=%v", v), c.Doc, c.Deprecated)
		}
	}
	return out
}

func TestReflected(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		typ  *schema.Type
		want []string
	}{
		{"embedded and generic", schema.For[notes.Note](), []string{
			": A short text.\n\n### Limits\n\nA note has:\n\n" +
				"- a title of at most 80 characters, which is shown in lists,\n- a `body`, and\n" +
				"- a state, such as `draft` or `published`.\n\nIts times are of the type time.Time:\n\n" +
				"    {\"created\": \"2026-11-25T12:00:00Z\"}\n\n" +
				"See [RFC 3339](https://www.rfc-editor.org/rfc/rfc3339) for the format, and Tag for `labels`.",
			"id: The id.",
			"times: ",
			`title: The title of the note. It must not contain \<script> or \*stars\*; snake_case, 2 * 3 and \_emphasis\_ may occur.`,
			"body: In CommonMark.",
			"state: The state of the note.",
			"state=draft: Only the author sees the note.",
			"state=published: Everyone can read it.",
			"state=archived: Read-only.",
			"pinned: Whether the note is first in lists.",
			"rank: Rank decides the order of pinned notes.!Use `position`.",
			"color: The color of the tag.!This reason is shown.",
			"old: In the comment.!by the tag",
			"X: X and Y are a position.",
			"Y: X and Y are a position.",
			"lines: The parts of the note.",
			"tags: The labels.",
			"pages: The notes that follow.",
			"priority: 1 is the most urgent.",
			"priority=1: For today.",
			"priority=2: For this week.",
			"priority=3: ",
			"plain: Plain has no description in its type.",
		}},
		{"unnamed struct", schema.For[notes.Note]().Field("lines").Type.Elem,
			[]string{": ", "text: The text of a part.", "at: Where the part is."}},
		{"unnamed struct in another", schema.For[notes.Note]().Field("lines").Type.Elem.Field("at").Type,
			[]string{": ", "page: The number from 1."}},
		{"enum", schema.For[notes.Note]().Field("state").Type, []string{": The state of a note.!Use `visibility`."}},
		{"instance", schema.For[notes.Page[notes.Linked]](),
			[]string{": A list.", "items: The elements.", "next: The cursor of the next page."}},
		{"another instance", schema.For[notes.Pair[int, string]](),
			[]string{": Pair has a blank type parameter.", "value: The value."}},
		{"defined by another type", schema.For[notes.Linked](),
			[]string{": Defined by another type of the package.", "name: The name of the label."}},
		{"element of a named slice", schema.For[notes.Rows]().Elem, []string{": ", "cell: A value."}},
		{"no comments", schema.For[notes.Bare](), []string{": ", "b: "}},
		{"by hand, for no type", schema.For[notes.Handmade](), []string{": ", "a: "}},
		{"imports of the same name", schema.For[names.Thing](), []string{": A thing.", "a: "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, texts(tt.typ)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// folder writes files to a new folder.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// note is a package with one description.
const note = "package p\n\n// Note is a text.\ntype Note struct {\n\tA string `json:\"a\"`\n}\n"

func TestGenerateErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string
		types []string
		want  string // DIR is the folder
	}{
		{"syntax error", map[string]string{"a.go": note, "b.go": "package p\n\ntype T struct {\n\tA string `json\n"}, nil,
			"DIR/b.go:4:11: raw string literal not terminated"},
		{"no package clause", map[string]string{"a.go": "// Empty\n"}, nil,
			"DIR/a.go:1:10: expected 'package', found 'EOF'"},
		{"no files", nil, nil, "DIR: no Go files without build constraints"},
		{"constrained only", map[string]string{"a_linux.go": note, "b.go": "//go:build !linux\n\n" + note}, nil,
			"DIR: no Go files without build constraints"},
		{"two packages", map[string]string{"a.go": note, "b.go": "package q\n"}, nil,
			"DIR: the files have the packages p and q"},
		{"no comments", map[string]string{"a.go": "package p\n\ntype Note struct {\n\tA string `json:\"a\"`\n}\n"}, nil,
			"DIR: no struct with struct tags has a doc comment"},
		{"no tags", map[string]string{"a.go": "package p\n\n// Note is a text.\ntype Note struct{ A string }\n"}, nil,
			"DIR: no struct with struct tags has a doc comment"},
		{"unknown type", map[string]string{"a.go": note}, []string{"Note", "Nope"}, "package p has no type Nope"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, tt.files)
			out, err := godoc.Generate(dir, tt.types)
			if err == nil {
				t.Fatalf("no error, and the file\n%s", out)
			}
			got := strings.ReplaceAll(filepath.ToSlash(err.Error()), filepath.ToSlash(dir), "DIR")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := godoc.Generate("testdata/nope", nil); !os.IsNotExist(err) {
		t.Errorf("a folder that does not exist: %v", err)
	}
}

// A package that does not compile is described: its generated file may be the reason.
func TestUncompilable(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"a.go": note,
		"b.go": "package p\n\nimport \"example.com/missing\"\n\nvar x int = missing.Y\n\nfunc f() { g() }\n",

		godoc.FileName: "package p\n\nfunc (*Gone) SchemaDescription() {}\nsyntax error",
	})
	out, err := godoc.Generate(dir, nil)
	if err != nil || !strings.Contains(string(out), `"A text."`) {
		t.Errorf("%v\n%s", err, out)
	}
}

// comment returns the description and the deprecation that a comment of the type Note becomes.
func comment(t testing.TB, dir, text string) (doc, deprecated string) {
	t.Helper()
	src := "package p\n\n// " + strings.ReplaceAll(text, "\n", "\n// ") +
		strings.TrimPrefix(note, "package p\n\n// Note is a text.")
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := godoc.Generate(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", out, 0)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		kv, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		if lit, ok := kv.Value.(*ast.BasicLit); ok {
			value, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			switch kv.Key.(*ast.Ident).Name {
			case "Doc":
				doc = value
			case "Deprecated":
				deprecated = value
			}
		}
		return true
	})
	return doc, deprecated
}

func TestComments(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, comment, doc, deprecated string }{
		{"is", "Note is a text.", "A text.", ""},
		{"with an article", "A Note is a text.", "A text.", ""},
		{"are", "The Note are texts.", "Texts.", ""},
		{"was", "Note was written.", "Written.", ""},
		{"means", "Note means that it is new.", "It is new.", ""},
		{"colon", "Note: new", "New.", ""},
		{"reports whether", "Note reports whether it is new.", "Whether it is new.", ""},
		{"another verb stays", "Note returns a text.", "Note returns a text.", ""},
		{"another name stays", "Notes is a text.", "Notes is a text.", ""},
		{"in the second paragraph it stays", "A text.\n\nNote is old.", "A text.\n\nNote is old.", ""},
		{"own spelling", "iPhone or v2", "iPhone or v2.", ""},
		{"no period after a question", "Is it new?", "Is it new?", ""},
		{"line breaks", "Note is a\ntext.", "A text.", ""},
		{"deprecated", "A text.\n\nDeprecated: Use\nanother.", "A text.", "Use another."},
		{"only deprecated", "Deprecated: Use another.", "", "Use another."},
		{"twice deprecated", "Deprecated: a\n\nA text.\n\nDeprecated: b", "A text.", "a b"},
		{"code in backticks", "The `a*b_c` of <x>.", "The `a*b_c` of \\<x>.", ""},
		{"single backtick", "A ` and a < b.", "A \\` and a < b.", ""},
		{"brackets", "An index [1], not [a](b).", "An index [1], not \\[a](b).", ""},
		{"no list", "1. of May\n\n- no list\n\n> no quote\n\n-1 is valid",
			"1\\. of May.\n\n\\- no list.\n\n\\> no quote.\n\n-1 is valid.", ""},
		{"numbered list", "Steps:\n\n 1. a\n\n 2. b\n\n    c", "Steps:\n\n1. a\n\n2. b\n\n   c", ""},
		{"heading and code", "A text.\n\n# Use\n\n\tcode\n\n\tmore", "A text.\n\n### Use\n\n    code\n\n    more", ""},
		{"links", "See [Note.A], [Note], [time.Time], [x] and https://a.b/c.",
			"See `a`, Note, time.Time, [x] and https://a.b/c.", ""},
		{"reference", "See [the page].\n\n[the page]: https://a.b/c", "See [the page](https://a.b/c).", ""},
	}
	dir := t.TempDir()
	for _, tt := range tests {
		doc, deprecated := comment(t, dir, tt.comment)
		if diff := cmp.Diff([]string{tt.doc, tt.deprecated}, []string{doc, deprecated}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.go": note})
	name := filepath.Join(dir, godoc.FileName)
	edit := func(old, text string) func() {
		return func() {
			if err := os.WriteFile(filepath.Join(dir, "a.go"),
				[]byte(strings.Replace(note, old, text, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	steps := []struct {
		name   string
		before func()
		args   []string
		code   int
		want   string // DIR is the folder
	}{
		{"check without a file", nil, []string{"-check", dir}, 1,
			"describe: DIR/descriptions_gen.go does not exist; run go generate\n"},
		{"write", nil, []string{dir}, 0, ""},
		{"check", nil, []string{"-check", dir}, 0, ""},
		{"write again", nil, []string{dir}, 0, ""},
		{"check after an edit", edit("a text", "another text"), []string{"-check", dir}, 1,
			"describe: DIR/descriptions_gen.go:15 differs from the doc comments; run go generate\n"},
		{"write after an edit", nil, []string{dir}, 0, ""},
		{"check after writing", nil, []string{"-check", dir, dir}, 0, ""},
		{"a type without tags", edit(" `json:\"a\"`", ""), []string{"-check", "-types", "Note", dir}, 1,
			"describe: DIR/descriptions_gen.go:15 differs from the doc comments; run go generate\n"},
		{"two folders", nil, []string{"-check", dir, filepath.Join(dir, "nope")}, 1,
			"describe: DIR: no struct with struct tags has a doc comment\n" +
				"describe: open DIR/nope: no such file or directory\n"},
	}
	for _, tt := range steps {
		if tt.before != nil {
			tt.before()
		}
		var stderr strings.Builder
		if code := godoc.Main(tt.args, &stderr); code != tt.code {
			t.Errorf("%s: exit code %d, want %d", tt.name, code, tt.code)
		}
		if diff := cmp.Diff(tt.want, strings.ReplaceAll(stderr.String(), dir, "DIR")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	// A checkout on Windows has other line ends.
	edit("", "")()
	if code := godoc.Main([]string{dir}, os.Stderr); code != 0 {
		t.Fatal(code)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.ReplaceAll(string(text), "\n", "\r\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := godoc.Check(dir, nil); err != nil {
		t.Error(err)
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-h"}, 0, "usage: describe [-check] [-types names] [folder ...]\n"},
		{[]string{"-nope"}, 2, "flag provided but not defined: -nope\n"},
	}
	for _, tt := range tests {
		var stderr strings.Builder
		if code := godoc.Main(tt.args, &stderr); code != tt.code || !strings.HasPrefix(stderr.String(), tt.want) {
			t.Errorf("%s: %d, %s", tt.args, code, &stderr)
		}
	}
}

func ExampleGenerate() {
	file, err := godoc.Generate("testdata/names", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, methods, _ := strings.Cut(string(file), ")\n\n")
	fmt.Println(strings.TrimSpace(methods))
	// Output:
	// // SchemaDescription returns the doc comments of Thing. It implements [schema_.Describer].
	// func (*Thing) SchemaDescription() schema_.Description {
	// 	return schema_.Description{
	// 		Type: reflect_.TypeFor[Thing](),
	// 		Doc:  "A thing.",
	// 	}
	// }
}

// FuzzGenerate checks that every comment becomes a file that parses, and that a second run gives the
// same file.
func FuzzGenerate(f *testing.F) {
	for _, comment := range []string{
		"Note is a text.", "- a\n- b\n\n 1. c\n 2. d", "Deprecated: x\n\nDeprecated: y", "a `b ``c`` d` `", "# H\n\n\tcode\n\n> q",
		"[Note.A] [Note] [x.Y] [ http://a.b ]\n\n[ref]: http://c.d", "*\\_<[a](b)", "1.", "\x00\u2028é", "A Note is ",
	} {
		f.Add(comment)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, comment string) {
		src := "package p\n\n// " + strings.ReplaceAll(comment, "\n", "\n// ") + note[len("package p\n\n// Note is a text."):]
		if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		first, err := godoc.Generate(dir, nil)
		if err != nil {
			return // the parser rejects some characters
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "a.go", first, 0); err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		second, err := godoc.Generate(dir, nil)
		if err != nil || string(first) != string(second) {
			t.Errorf("%v (-first +second):\n%s", err, cmp.Diff(string(first), string(second)))
		}
	})
}
