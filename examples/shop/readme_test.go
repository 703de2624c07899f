package main

import (
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	curlTarget = regexp.MustCompile(`^\$ curl (?:-X ([A-Z]+) )?'?localhost:8080([^' ]*)`)
	curlHeader = regexp.MustCompile(`-H '([^']*)'`)
	curlBody   = regexp.MustCompile(`-d '([^']*)'`)
)

// TestReadmeShowsRealAnswers says what README.md has under Versions, one command after the other.
func TestReadmeShowsRealAnswers(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## Versions\n")
	_, block, _ := strings.Cut(section, "\n```console\n")
	block, _, _ = strings.Cut(block, "\n```\n")
	lines := strings.Split(block, "\n")
	if len(lines) < 6 || len(lines)%2 != 0 {
		t.Fatalf("there are %d lines, which are not pairs of command and answer", len(lines))
	}
	s := openShop(t)
	for i := 0; i < len(lines); i += 2 {
		if diff := cmp.Diff(lines[i+1], curl(t, s, lines[i]).Body.String()); diff != "" {
			t.Errorf("%s (-README +got):\n%s", lines[i], diff)
		}
	}
}

// curl does what a command of README.md says.
func curl(t *testing.T, s *opened, command string) *httptest.ResponseRecorder {
	t.Helper()
	m := curlTarget.FindStringSubmatch(command)
	if m == nil {
		t.Fatalf("%s is no command that this test understands", command)
	}
	method, body := m[1], ""
	if method == "" {
		method = "GET"
	}
	if m := curlBody.FindStringSubmatch(command); m != nil {
		body = m[1]
	}
	var header []string
	for _, m := range curlHeader.FindAllStringSubmatch(command, -1) {
		header = append(header, m[1])
	}
	return ask(t, s, method, m[2], body, header...)
}
