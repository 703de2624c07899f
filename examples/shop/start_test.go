package main_test

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReport(t *testing.T) {
	t.Parallel()
	s := open(t)
	report := strings.Join(s.report, "\n") + "\n"
	for _, want := range []string{
		"database: SQLite, ", "synchronous=FULL", "; seeded\n", "callers: every caller is guest; no rate limit (see -rate)\n",
		"pages: / (start page), /health, /openapi ",
		"/orders  GET POST PUT PATCH DELETE; keys: exactly once; events: in the transaction of each write\n",
		"/places  GET POST", "/jobs  GET", "/auth/login  POST\n", "/places/import  POST; keys: ",
		"/orders/cancel-stale  POST; keys: exactly once\n", "/graphql  ",
		"/files  GET POST PUT DELETE; keys: once by identity, or at most once; " +
			"events: after each write, and a crash in between loses the event\n",
		"\nweak: /orders /users /places: no Authorize and no Scope: ", "\nweak: callers: no authentication (see -auth)\n",
		"\ncontracts: 2.0.0 current (default); 1.1.0 deprecated, sunset 2027-06-30; 1.0.0 deprecated, sunset 2027-06-30; " +
			"0.9.0 retired, sunset 2026-01-31\n    named in: the path, the host, ",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("report without %q:\n%s", want, report)
		}
	}
	if !strings.HasPrefix(s.url, "http://127.0.0.1:") || strings.HasSuffix(s.url, ":0") {
		t.Errorf("the listen address is %q", s.url)
	}
}

func TestReportVerbose(t *testing.T) {
	t.Parallel()
	report := strings.Join(open(t, "-v").report, "\n") + "\n"
	for _, want := range []string{
		"/health", "/orders/{id}  GET, HEAD, PUT, ", "/users", "/places", "Creator Replacer Deleter", "Creator Inserter",
		"contract 2.0.0  current, named 2 2.0 2.0.0, default\n",
		"contract 1.1.0  deprecated, named 1 1.1 1.1.0, deprecated 2026-06-01T00:00:00Z, sunset 2027-06-30T23:59:59Z\n",
		"contract 1.0.0  deprecated, named 1.0 1.0.0, ", "contract 0.9.0  retired, sunset 2026-01-31T23:59:59Z\n",
		"the header", "the query parameter version", "every caller is guest", "see -auth",
		"in contract 1.1.0 only\n/orders/{id}  ", "    view: Order11, without filters by createdAt customerId",
		"/graphql  ", "    limits: ", "introspection is on", "/auth/login  POST", "/places/import  POST",
		"/orders/cancel-stale  POST", "as a job in /jobs",
		"    keys: exactly once: the write and its record commit in one transaction", "    keys: once by identity, or at most once: ",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("report without %q:\n%s", want, report)
		}
	}
}

// TestReportLines limits the lines of the report, including the line with the address.
func TestReportLines(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"-db", "memory"}, {"-auth"}} {
		if report := open(t, args...).report; len(report)+1 > 25 {
			t.Errorf("%v: %d lines:\n%s", args, len(report)+1, strings.Join(report, "\n"))
		}
	}
}

func TestSignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			open(t).close(sig)
		})
	}
}

// A request that is still sending its body at shutdown gets its response.
func TestDrain(t *testing.T) {
	t.Parallel()
	s := open(t)
	address := strings.TrimPrefix(s.url, "http://")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	drains := idle(t, address)
	body := `{"lines":[{"itemId":1,"qty":1}]}`
	fmt.Fprintf(
		conn,
		"POST /orders HTTP/1.1\r\nHost: localhost\r\n%s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
		asJSON,
		len(body),
	)
	in := bufio.NewReader(conn)
	if line, err := in.ReadString('\n'); !strings.Contains(line, "100") {
		t.Fatalf("the shop did not send 100: %q, %v", line, err)
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	drains()
	fmt.Fprint(conn, body)
	if _, err := in.ReadString('\n'); err != nil { // empty line after 100
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 201 {
		t.Errorf("the request in flight returned %d, want 201", resp.StatusCode)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the shop ended with %v", err)
	}
}

// idle opens a connection and sends a request on it. closed waits until the server closes the
// connection. On shutdown the server first closes its listener and then idle connections.
func idle(t *testing.T, address string) (closed func()) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprint(conn, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
	in := bufio.NewReader(conn)
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if rest, err := io.ReadAll(in); len(rest) > 0 || err != nil {
			t.Errorf("an idle connection ended with %q, %v", rest, err)
		}
	}
}

func TestWrongArguments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		args   []string
		status int
		says   string
	}{
		{"unknown flag", []string{"-wings"}, 2, "-wings"},
		{"not a flag", []string{"serve"}, 2, `"serve" is not a flag`},
		{"address", []string{"-addr", "nowhere"}, 1, "nowhere"},
		{"cache", []string{"-cache", "public\nSet-Cookie: a=b"}, 2, "-cache"},
		{"invalid rate", []string{"-rate", "many"}, 2, "-rate"},
		{"missing file", []string{"-addr", "127.0.0.1:0", "-places", "/nowhere.jsonl"}, 1, "/nowhere.jsonl"},
		{"unsupported database", []string{"-db", "mysql://localhost/shop"}, 2, "mysql://"},
		{"memory as a SQLite name", []string{"-db", ":memory:"}, 2, "-db memory"},
		{"missing folder", []string{"-db", "/nowhere/shop.db"}, 1, "/nowhere/shop.db"},
		{"database unreachable", []string{"-db", "postgres://shop:secret@127.0.0.1:1/shop"}, 1, "127.0.0.1"},
		{"a contract that stays", []string{"-at", "2.0.0=http://localhost:1"}, 2, "1.0.0 or 1.1.0"},
		{"no URL of a contract", []string{"-forward", "1.0.0=localhost:1"}, 2, "use CONTRACT=URL"},
		{"now", []string{"-now", "tomorrow"}, 2, "2027-06-30T23:59:59Z"},
		{"time before the retirement of 0.9.0", []string{"-now", "2026-01-31T23:59:58Z"}, 2, "0.9.0"},
		{"help", []string{"-h"}, 0, "-places"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			status, said := fails(t, tt.args...)
			if status != tt.status || !strings.Contains(said, tt.says) {
				t.Errorf("exit status %d, want %d; output %q", status, tt.status, said)
			}
			if strings.Contains(said, "secret") {
				t.Errorf("the output contains a password: %q", said)
			}
		})
	}
}

func TestSeedFalse(t *testing.T) {
	t.Parallel()
	s := open(t, "-seed=false")
	for _, path := range []string{"/orders", "/users", "/places"} {
		if _, body := s.send("GET", path, ""); body != `{"items":[]}` {
			t.Errorf("GET %s: %s", path, body)
		}
	}
}

func TestMemoryIsADatabase(t *testing.T) {
	t.Parallel()
	s := open(t, "-db", "memory")
	_, body := s.send("GET", "/places?limit=1", "", "Prefer: count=exact")
	if !strings.Contains(body, `"total":1000`) {
		t.Errorf("not 1000 places: %s", body)
	}
}

func TestCache(t *testing.T) {
	t.Parallel()
	s := open(t, "-cache", "public, max-age=60")
	for _, path := range []string{"/orders", "/orders/1", "/users/1", "/places?limit=1"} {
		if resp, _ := s.send("GET", path, ""); resp.Header.Get("Cache-Control") != "public, max-age=60" {
			t.Errorf("GET %s: Cache-Control is %q", path, resp.Header.Get("Cache-Control"))
		}
	}
}

func TestPlacesFlag(t *testing.T) {
	t.Parallel()
	const two = `{"id":"a","name":"Athens","country":"GR","population":664046}` + "\n\n" + `{"id":"b","name":"Bern","country":"CH"}` + "\n"
	tests := []struct {
		name, file, content string
		status              int
		says                string
	}{
		{"plain", "places.jsonl", two, 0, ""},
		{"gzip", "places.jsonl.gz", two, 0, ""},
		{"invalid place", "places.jsonl", two + `{"id":"c","name":"Nowhere"}`, 1, "line 4"},
		{"taken id", "places.jsonl", two + `{"id":"a","name":"Athens","country":"US"}`, 1,
			"line 4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), tt.file)
			writeFile(t, path, tt.content)
			if tt.status != 0 {
				status, said := fails(t, "-addr", "127.0.0.1:0", "-places", path)
				if status != tt.status || !strings.Contains(said, tt.says) {
					t.Errorf("exit status %d, want %d; output %q", status, tt.status, said)
				}
				return
			}
			_, body := open(t, "-places", path).send("GET", "/places?fields=name", "")
			if diff := cmp.Diff(`{"items":[{"name":"Athens"},{"name":"Bern"}]}`, body); diff != "" {
				t.Errorf("places (-want +got):\n%s", diff)
			}
		})
	}
}

// writeFile writes a file, compressed if its name ends in .gz.
func writeFile(t *testing.T, path, content string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if !strings.HasSuffix(path, ".gz") {
		fmt.Fprint(file, content)
		return
	}
	out := gzip.NewWriter(file)
	fmt.Fprint(out, content)
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// HTTP/1.1 and HTTP/2 return the same responses.
func TestProtocols(t *testing.T) {
	t.Parallel()
	s := open(t)
	var h1, h2 http.Protocols
	h1.SetHTTP1(true)
	h2.SetUnencryptedHTTP2(true)
	var got []string
	for _, p := range []*http.Protocols{&h1, &h2} {
		client := http.Client{Transport: &http.Transport{Protocols: p}}
		resp, err := client.Get(s.url + "/orders/1")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		got = append(got, fmt.Sprint(resp.Proto, resp.StatusCode, resp.Header.Get("ETag")))
		client.CloseIdleConnections()
	}
	if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "HTTP/2.0") }) {
		t.Fatalf("no HTTP/2: %q", got)
	}
	if diff := cmp.Diff(strings.TrimPrefix(got[0], "HTTP/1.1"),
		strings.TrimPrefix(got[1], "HTTP/2.0")); diff != "" {
		t.Errorf("answers (-HTTP/1.1 +HTTP/2):\n%s", diff)
	}
}
