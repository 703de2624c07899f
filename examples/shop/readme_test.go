package main

import (
	"cmp"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

var (
	curlTarget = regexp.MustCompile(`^(?:\$ )?curl (?:-i )?(?:-X ([A-Z]+) )?'?(?:http://)?([a-z0-9.-]*localhost):8080([^' ]*)`)
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
		if diff := gocmp.Diff(lines[i+1], curl(t, s, lines[i]).Body.String()); diff != "" {
			t.Errorf("%s (-README +got):\n%s", lines[i], diff)
		}
	}
}

// TestPageShowsCommandsThatWork says what the page has for each way to name a contract. All of them name 1.1.0.
func TestPageShowsCommandsThatWork(t *testing.T) {
	t.Parallel()
	_, ways, _ := strings.Cut(string(pageHTML), `<dl id="ways">`)
	ways, _, _ = strings.Cut(ways, "</dl>")
	commands := regexp.MustCompile(`<code>(.*)</code>`).FindAllStringSubmatch(ways, -1)
	s := openShop(t)
	for _, m := range commands {
		w := curl(t, s, m[1])
		if got := w.Header().Get("API-Version"); w.Code/100 != 2 || got != "1.1.0" {
			t.Errorf("%s: %d in contract %q", m[1], w.Code, got)
		}
	}
	if len(commands) != 6 {
		t.Errorf("the page has %d commands", len(commands))
	}
	if !strings.Contains(string(pageHTML), ` id="`+strings.TrimPrefix(contractsPage, "/#")+`"`) {
		t.Errorf("the page has no %s", contractsPage)
	}
}

// curl does what a command of README.md or of the page says.
func curl(t *testing.T, s *opened, command string) *httptest.ResponseRecorder {
	t.Helper()
	m := curlTarget.FindStringSubmatch(command)
	if m == nil {
		t.Fatalf("%s is no command that this test understands", command)
	}
	method, body := cmp.Or(m[1], "GET"), ""
	header := []string{"Host: " + m[2]}
	if data := curlBody.FindStringSubmatch(command); data != nil {
		body = data[1]
		method = cmp.Or(m[1], "POST")
	}
	for _, m := range curlHeader.FindAllStringSubmatch(command, -1) {
		header = append(header, m[1])
	}
	return ask(t, s, method, m[3], body, header...)
}
