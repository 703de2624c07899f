package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// varying are ids, times and cursors, which are others each time.
var varying = regexp.MustCompile(`retry: [0-9]{4}\b|id: [\w-]{23,}|[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// TestReadmeService starts the shop as README.md says, and has a shell say what it says next, with curl itself.
func TestReadmeService(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("curl is not installed")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var sessions []string
	for _, title := range []string{"GraphQL", "Keys", "Change feeds", "The shop, as a service"} {
		_, section, _ := strings.Cut(string(readme), "\n## "+title+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		section, _, _ = strings.Cut(section, "\n```\ngo run -C examples ./starwars\n") // which has a test of its own
		sessions = append(sessions, strings.Split(section, "\n```\ngo run -C examples ./shop ")[1:]...)
	}
	if len(sessions) != 5 {
		t.Fatalf("README.md has %d sessions", len(sessions))
	}
	for _, text := range sessions {
		args, text, _ := strings.Cut(text, "\n")
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			fields := strings.Fields(strings.Replace(args, "shop.db", filepath.Join(dir, "shop.db"), 1))
			host := strings.TrimPrefix(open(t, fields...).url, "http://")
			script, want := transcript(text)
			shell := exec.CommandContext(t.Context(), "bash", "-c", strings.ReplaceAll(script, "localhost:8080", host))
			shell.Dir = dir
			got, err := shell.CombinedOutput()
			if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(varying.ReplaceAllString(want, "..."), varying.ReplaceAllString(strings.ReplaceAll(string(got), host, "localhost:8080"), "...")); diff != "" {
				t.Errorf("(-README +got):\n%s", diff)
			}
		})
	}
}

// transcript makes a script of the commands in blocks of a session, which prints what stands there: the commands, each with
// its output on lines of its own.
func transcript(text string) (script, want string) {
	var commands, lines []string
	for _, block := range strings.Split(text, "\n```console\n")[1:] {
		block, _, _ = strings.Cut(block, "\n```\n")
		for line := range strings.SplitSeq(block, "\n") {
			lines = append(lines, line)
			if said, ok := strings.CutPrefix(line, "$ "); ok {
				quoted := "'" + strings.ReplaceAll(line, "'", `'\''`) + "'"
				// In this shell, so that variables stay; awk ends the last line where it has no end.
				commands = append(commands, "printf '%s\\n' "+quoted, "{ "+said+"\n} >said 2>&1", "awk 1 said")
			}
		}
	}
	return strings.Join(commands, "\n"), strings.Join(lines, "\n") + "\n"
}
