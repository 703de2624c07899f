package resource_test

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	markdownCode    = regexp.MustCompile("(?s)\n```.*?\n```|`[^`\n]+`")
	markdownLink    = regexp.MustCompile(`\]\(([^)\s]+)(?: "[^"]*")?\)|(?m:^\[[^\]\n]+\]: (\S+))|(?:src|href|srcset)="([^"\s]+)"`)
	markdownHeading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
)

// TestDocumentLinks checks that relative links in documents lead to files of the repository, and fragments to headings.
func TestDocumentLinks(t *testing.T) {
	t.Parallel()
	for _, file := range documents(t) {
		for _, link := range brokenLinks(t, file, readText(t, file)) {
			t.Errorf("%s: broken link %s", file, link)
		}
	}
	// The test finds what it looks for.
	text := "# A `b` c, d\n[ok](#a-b-c-d) [ok](../go.mod) [ok](https://example.com/x) `[code](none)`\n```\n[code](none)\n```\n" +
		"[1](none.md) [2](#none) <img src=\"none.svg\">\n[3]: none.txt\n[4](../README.md#none) [5](../resource/none.go)\n"
	mutant := filepath.Join(root, ".github", "none.md")
	if got := brokenLinks(t, mutant, text); len(got) != 6 {
		t.Errorf("broken links %q, want 6", got)
	}
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// brokenLinks returns the relative links in the text of a file that lead nowhere.
func brokenLinks(t *testing.T, file, text string) (broken []string) {
	t.Helper()
	for _, m := range markdownLink.FindAllStringSubmatch(markdownCode.ReplaceAllString(text, ""), -1) {
		link := m[1] + m[2] + m[3]
		u, err := url.Parse(link)
		if err != nil {
			broken = append(broken, link)
			continue
		}
		if u.IsAbs() || u.Host != "" {
			continue
		}
		target, content := file, text
		if u.Path != "" {
			target = filepath.Join(filepath.Dir(file), filepath.FromSlash(u.Path))
			if _, err := os.Stat(target); err != nil {
				broken = append(broken, link)
				continue
			}
		}
		if u.Fragment == "" || filepath.Ext(target) != ".md" {
			continue
		}
		if target != file {
			content = readText(t, target)
		}
		if !headings(content)[u.Fragment] {
			broken = append(broken, link)
		}
	}
	return broken
}

// headings returns the fragments under which GitHub renders the headings of a Markdown text.
func headings(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range markdownHeading.FindAllStringSubmatch(text, -1) {
		found[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])] = true
	}
	return found
}

// pendingPaths are paths in CONTRIBUTING.md that do not exist yet.
var pendingPaths []string

// TestContributingPaths checks that the files and folders which CONTRIBUTING.md names exist.
func TestContributingPaths(t *testing.T) {
	t.Parallel()
	path := regexp.MustCompile("`((?:resource|query|version|idempotency|middleware|examples|\\.ci)(?:/[A-Za-z0-9_./]+)?)[ `]")
	found := path.FindAllStringSubmatch(readText(t, filepath.Join(root, ".github", "CONTRIBUTING.md")), -1)
	for _, m := range found {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(m[1]))); err != nil && !slices.Contains(pendingPaths, m[1]) {
			t.Errorf("CONTRIBUTING.md names %s, which does not exist", m[1])
		}
	}
	if len(found) < 30 {
		t.Errorf("%d paths, want at least 30", len(found))
	}
}
