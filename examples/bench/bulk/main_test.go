package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

func TestMain(m *testing.M) { sqltest.Main(m) }

// someLines returns n places as JSON Lines.
func someLines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `{"id":"%d","name":"Place %d","country":"GR","population":%d,"lat":1.5}`+"\n", i, i,
			i)
	}
	return b.Bytes()
}

func TestInsertByHand(t *testing.T) {
	t.Parallel()
	s, err := buildShop(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		server func() string
	}{
		{"SQLite", func() string { return "" }},
		{"PostgreSQL", func() string { return sqltest.PostgreSQL(t) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			target, err := newTarget(t.Context(), tt.server(), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer target.close()
			for _, lines := range []int{1, chunk, chunk + 7} {
				if _, n, err := s.insertByHand(t.Context(), target, someLines(lines)); n != lines ||
					err != nil {
					t.Errorf("%d rows of %d lines, %v", n, lines, err)
				}
			}
		})
	}
}

func TestStatement(t *testing.T) {
	t.Parallel()
	got := statement(sqltx.PostgreSQL, 2)
	for _, part := range []string{"INSERT INTO places (id, name, ", "($1, $2, ", "($11, $12, ", ", $20) ON CONFLICT (id) DO UPDATE SET name = "} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is not in %s", part, got)
		}
	}
}

func TestPost(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		status int
		body   string
		want   int
		ok     bool
	}{
		{"all created", http.StatusOK, `{"created":3,"replaced":0,"rejected":[]}`, 3, true},
		{"one was there", http.StatusOK, `{"created":2,"replaced":1,"rejected":[]}`, 0, false},
		{"one rejected", http.StatusOK, `{"created":2,"replaced":0,"rejected":[{"line":3}]}`, 0, false},
		{"refused", http.StatusServiceUnavailable, `{}`, 0, false},
		{"no JSON", http.StatusOK, `fine`, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent, err := io.ReadAll(r.Body)
				if err != nil || string(sent) != "lines" ||
					r.Header.Get("Content-Type") != "application/x-ndjson" {
					t.Errorf("it was sent %q as %s, %v", sent, r.Header.Get("Content-Type"), err)
				}
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			}))
			t.Cleanup(server.Close)
			if n, err := post(t.Context(), server.URL, []byte("lines")); n != tt.want ||
				(err == nil) != tt.ok {
				t.Errorf("post = %d, %v", n, err)
			}
		})
	}
}

func TestReadLines(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	io.WriteString(w, "lines")
	w.Close()
	for name, content := range map[string][]byte{"plain.jsonl": []byte("lines"), "zipped.jsonl.gz": zipped.Bytes()} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readLines(file); string(got) != "lines" || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"-places", "/nowhere.jsonl"}, {"-places", "x", "more"}, {"-places", "x", "-rounds", "0"}} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("run(%q) = nil", args)
		}
	}
}
