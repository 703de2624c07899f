package main

import (
	"cmp"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

var (
	curlTarget = regexp.MustCompile(
		`^(?:\$ )?curl (?:-i )?(?:-X ([A-Z]+) )?'?(?:http://)?([a-z0-9.-]*localhost):8080([^' ]*)`)
	curlHeader = regexp.MustCompile(`-H '([^']*)'`)
	curlBody   = regexp.MustCompile(`-d '([^']*)'`)
)

// TestPageShowsCommandsThatWork runs the commands on the page, one for each way to name a contract.
// All name 1.1.0.
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

// curl sends the request of a curl command on the page.
func curl(t *testing.T, s *opened, command string) *httptest.ResponseRecorder {
	t.Helper()
	m := curlTarget.FindStringSubmatch(command)
	if m == nil {
		t.Fatalf("%s is not a command that this test supports", command)
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
