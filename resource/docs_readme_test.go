package resource_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documents returns the paths of the Markdown files that readers of the repository open: README.md of each folder, and
// .github. Descriptions of test data are not among them.
func documents(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, name := range tracked(t) {
		if filepath.Ext(name) == ".md" && !strings.Contains(name, "testdata/") {
			files = append(files, filepath.Join(root, filepath.FromSlash(name)))
		}
	}
	if len(files) < 12 {
		t.Fatalf("%d documents, want at least 12", len(files))
	}
	return files
}

var (
	fencedBlock = regexp.MustCompile("(?ms)^```.*?^```\n")
	goBlock     = regexp.MustCompile("(?ms)^```go\n(.*?)^```\n")
)

// TestReadmeSize limits README.md to 220 lines, and to 1,500 words outside of code blocks.
func TestReadmeSize(t *testing.T) {
	t.Parallel()
	text := readText(t, filepath.Join(root, "README.md"))
	lines, words := strings.Count(text, "\n"), len(strings.Fields(fencedBlock.ReplaceAllString(text, "")))
	if lines > 220 {
		t.Errorf("README.md has %d lines, want at most 220", lines)
	}
	if words > 1500 {
		t.Errorf("README.md has %d words outside of code blocks, want at most 1500", words)
	}
	t.Logf("%d lines, %d words", lines, words)
}

// TestFolderReadmeSize limits the README.md of a folder to 250 lines.
func TestFolderReadmeSize(t *testing.T) {
	t.Parallel()
	for _, file := range documents(t) {
		if filepath.Base(file) != "README.md" {
			continue
		}
		if lines := strings.Count(readText(t, file), "\n"); lines > 250 {
			t.Errorf("%s has %d lines, want at most 250", file, lines)
		}
	}
}

// TestDocumentCode checks that each block of Go in a document is part of a Go file, and therefore compiles. Indentation and
// comments are ignored.
func TestDocumentCode(t *testing.T) {
	t.Parallel()
	var code []string
	sources(t, func(_ string, text []byte) { code = append(code, bareCode(string(text))) })
	blocks := 0
	for _, file := range documents(t) {
		for _, m := range goBlock.FindAllStringSubmatch(readText(t, file), -1) {
			blocks++
			if !containedInAny(code, bareCode(m[1])) {
				t.Errorf("%s: no Go file contains\n%s", file, m[1])
			}
		}
	}
	if blocks < 8 {
		t.Errorf("%d blocks of Go, want at least 8", blocks)
	}
	if containedInAny(code, bareCode("notes := memory.New[Note](nil)\n"+"notes.Missing()\n")) {
		t.Error("a block that is not in any Go file is found")
	}
}

// bareCode removes indentation, repeated spaces, blank lines and comments that follow a space.
func bareCode(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(" "+strings.Join(strings.Fields(line), " "), " //")
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func containedInAny(texts []string, part string) bool {
	for _, text := range texts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// TestPictures checks that each picture in .github/images is shown by a document, and that its colors do not depend on the
// theme of the page.
func TestPictures(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(root, ".github", "images", "*.svg"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d pictures, %v", len(files), err)
	}
	shown := ""
	for _, file := range documents(t) {
		shown += readText(t, file)
	}
	for _, file := range files {
		svg, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(shown, "images/"+filepath.Base(file)+")") {
			t.Errorf("no document shows %s", file)
		}
		if strings.Contains(string(svg), "currentColor") || !strings.Contains(string(svg), "<title") {
			t.Errorf("%s: want explicit colors and a title", file)
		}
	}
}
