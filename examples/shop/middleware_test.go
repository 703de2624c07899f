package main_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestRate(t *testing.T) {
	t.Parallel()
	s := open(t, "-db", "memory", "-rate", "3/1h")
	for i := range 3 {
		resp, body := s.send("GET", "/orders/1", "")
		if want := fmt.Sprintf(`"default";r=%d;t=`, 2-i); resp.StatusCode != 200 ||
			!strings.HasPrefix(resp.Header.Get("RateLimit"), want) {
			t.Errorf("request %d: %d, RateLimit %q, want %q\n%s", i, resp.StatusCode,
				resp.Header.Get("RateLimit"), want, body)
		}
	}
	resp, body := s.send("GET", "/v1/orders/1", "", "Forwarded: for=192.0.2.1", "X-Forwarded-For: 192.0.2.1")
	wait, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if resp.StatusCode != 429 || err != nil || wait < 1 || wait > 1200 ||
		!strings.Contains(body, "quota-exceeded") {
		t.Errorf("%d, Retry-After %q: %s", resp.StatusCode, resp.Header.Get("Retry-After"), body)
	}
	if got := resp.Header.Get("RateLimit-Policy"); got != `"default";q=3;w=3600` {
		t.Errorf("RateLimit-Policy is %q", got)
	}
	if resp, _ := s.send("GET", "/health", ""); resp.StatusCode != 200 {
		t.Errorf("/health is %d", resp.StatusCode)
	}
	if report := strings.Join(s.report, "\n"); !strings.Contains(report, "rate limit 3/1h") {
		t.Errorf("the report has no rate limit:\n%s", report)
	}
}

// With -auth each user has a separate rate limit.
func TestRateOfEach(t *testing.T) {
	t.Parallel()
	s := open(t, "-db", "memory", "-auth", "-rate", "2/1h")
	var tokens []string // logins count for the address, because the caller has no principal yet
	for _, name := range []string{"ann", "bob"} {
		_, body := s.send("POST", "/auth/login",
			fmt.Sprintf(`{"email":"%s@example.com","password":"%[1]s"}`, name), asJSON)
		tokens = append(tokens, "Authorization: Bearer "+strings.Split(body, `"`)[3])
	}
	if resp, _ := s.send("GET", "/places/264371", ""); resp.StatusCode != 429 {
		t.Errorf("without a token: %d", resp.StatusCode)
	}
	for range 2 {
		for _, token := range tokens {
			if resp, _ := s.send("GET", "/places/264371", "", token); resp.StatusCode != 200 {
				t.Errorf("%d", resp.StatusCode)
			}
		}
	}
	if resp, _ := s.send("GET", "/places/264371", "", tokens[0]); resp.StatusCode != 429 {
		t.Errorf("%d", resp.StatusCode)
	}
}

// The middleware of every server is in effect.
func TestMiddleware(t *testing.T) {
	t.Parallel()
	s := open(t, "-db", "memory")
	var ids []string
	for _, tt := range []struct {
		name, method, target, body string
		header                     []string
		status                     int
		want                       []string
	}{
		{"an item", "GET", "/orders/1?token=secret", "", []string{"Authorization: Bearer secret"}, 400, []string{"X-Frame-Options: DENY",
			"Content-Security-Policy: default-src 'none'; frame-ancestors 'none'", "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer"}},
		{"a page of another origin", "POST", "/files", "x", []string{"Content-Type: text/plain", "Origin: https://evil.example",
			"Sec-Fetch-Site: cross-site"}, 403, nil},
		{"a page of this origin", "POST", "/files", "x", []string{"Content-Type: text/plain", "Sec-Fetch-Site: same-origin"}, 201, nil},
		{"a long target", "GET", "/orders?status=" + strings.Repeat("x", 9000), "", nil, 414, nil},
		{"a large header", "GET", "/orders", "", []string{"X-Large: " + strings.Repeat("x", 33<<10)}, 431, nil},
		// Without Expect, a client that continues to send would lose the response with the
		// connection.
		{"large content", "POST", "/orders", strings.Repeat(" ", 1<<20+1), []string{asJSON, "Expect: 100-continue"}, 413, nil},
		{"a large file", "PUT", "/files/large", strings.Repeat("x", 1<<20+1), nil, 201, nil},
	} {
		resp, body := s.send(tt.method, tt.target, tt.body, tt.header...)
		if resp.StatusCode != tt.status {
			t.Errorf("%s: %d, want %d: %.200s", tt.name, resp.StatusCode, tt.status, body)
		}
		for _, line := range tt.want {
			name, value, _ := strings.Cut(line, ": ")
			if got := resp.Header.Get(name); got != value {
				t.Errorf("%s: %s is %q, want %q", tt.name, name, got, value)
			}
		}
		ids = append(ids, resp.Header.Get("X-Request-Id"))
	}
	s.close(syscall.SIGTERM)
	for _, id := range ids {
		if id == "" || !strings.Contains(s.stderr.String(), "request_id="+id) {
			t.Errorf("the log has no line for the request %q", id)
		}
	}
	if log := s.stderr.String(); strings.Contains(log, "secret") {
		t.Errorf("the log contains secrets:\n%s", log)
	}
}

// The size limit also applies to a request body of unknown length.
func TestMiddlewareChunks(t *testing.T) {
	t.Parallel()
	s := open(t, "-db", "memory")
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /orders HTTP/1.1\r\nHost: localhost\r\n%s\r\nTransfer-Encoding: chunked\r\n\r\n",
		asJSON)
	chunk := "10000\r\n" + strings.Repeat(" ", 1<<16) + "\r\n"
	go func() {
		for range 1 << 10 { // 64 MiB if all of it were read
			if _, err := fmt.Fprint(conn, chunk); err != nil {
				return
			}
		}
	}()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 413 {
		t.Errorf("status %d, want 413", resp.StatusCode)
	}
}
