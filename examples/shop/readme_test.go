package main_test

import (
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/internal/console"
)

// varying matches values that differ each time: retry delays, cursors and UUIDs.
var varying = regexp.MustCompile(
	`retry: [0-9]{4}\b|id: [\w-]{23,}|[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// startedShop matches a block with the command that starts the shop. startedOther matches one that
// starts another example, which has its own test.
var (
	startedShop  = regexp.MustCompile("(?m)^```\ngo run -C examples \\./shop(?: (.*))?\n```$")
	startedOther = regexp.MustCompile("(?m)^```\ngo run -C examples \\./(?:[^s\n]|s[^h\n]).*\n```$")
)

// session is a shop that a document starts, and the commands that follow in the same section. other
// are the arguments of a shop on port 8081, if the document starts one just before.
type session struct{ document, other, args, text string }

// TestDocumentSessions starts the shop as the documents of the repository describe, runs the
// commands that follow with bash, and compares their output.
func TestDocumentSessions(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(tool, "is not installed")
		}
	}
	sessions, blocks := documentSessions(t)
	tested := 0
	for _, s := range sessions {
		tested += strings.Count(s.text, "\n```console\n")
		t.Run(s.document, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			here, asWritten := s.start(t, dir)
			script, want := console.Script(s.text)
			shell := exec.CommandContext(t.Context(), "bash", "-c", here.Replace(script))
			shell.Dir = dir
			out, err := shell.CombinedOutput()
			if err != nil {
				t.Error(err)
			}
			got := asWritten.Replace(string(out))
			diff := cmp.Diff(varying.ReplaceAllString(want, "..."), varying.ReplaceAllString(got, "..."))
			if diff != "" {
				t.Errorf("(-document +got):\n%s", diff)
			}
		})
	}
	if len(sessions) < 7 {
		t.Errorf("%d sessions, want at least 7", len(sessions))
	}
	if tested != blocks {
		t.Errorf("%d blocks of commands are tested, want %d: start each section with a block "+
			"\"go run -C examples ./shop\"", tested, blocks)
	}
}

// start starts the shops of a session, and returns the conversions between the addresses and files of
// the document and theirs.
func (s *session) start(t *testing.T, dir string) (here, asWritten *strings.Replacer) {
	t.Helper()
	to, from := []string{" shop.db", " " + filepath.Join(dir, "shop.db")}, []string{}
	begin := func(args, port string) {
		args = strings.NewReplacer(to...).Replace(" " + strings.Replace(args, "-addr localhost"+port, "", 1))
		host := strings.TrimPrefix(open(t, strings.Fields(args)...).url, "http://")
		_, own, err := net.SplitHostPort(host)
		if err != nil {
			t.Fatal(err)
		}
		to = append(to, ".localhost"+port, ".localhost:"+own, "localhost"+port, host)
		from = append(from, ".localhost:"+own, ".localhost"+port, host, "localhost"+port)
	}
	if s.other != "" {
		begin(s.other, ":8081")
	}
	begin(s.args, ":8080")
	return strings.NewReplacer(to...), strings.NewReplacer(from...)
}

// documentSessions returns the sessions of all Markdown files, and the number of blocks with
// commands, without those of other examples.
func documentSessions(t *testing.T) (sessions []session, blocks int) {
	t.Helper()
	const root = "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		document, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, section := range strings.Split(string(text), "\n## ") {
			blocks += strings.Count(section, "\n```console\n")
			if other := startedOther.FindStringIndex(section); other != nil {
				blocks -= strings.Count(section[other[1]:], "\n```console\n")
				section = section[:other[0]]
			}
			starts := startedShop.FindAllStringSubmatchIndex(section, -1)
			other := ""
			for i, m := range starts {
				s := session{document: filepath.ToSlash(document), other: other, text: section[m[1]:]}
				if m[2] >= 0 {
					s.args = section[m[2]:m[3]]
				}
				if i+1 < len(starts) {
					s.text = section[m[1]:starts[i+1][0]]
				}
				if other = ""; strings.Contains(s.args, "-addr localhost:8081") {
					other = s.args
					continue
				}
				sessions = append(sessions, s)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sessions, blocks
}
