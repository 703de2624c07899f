package main

import (
	"bufio"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/internal/recipe"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
)

func TestMain(m *testing.M) { sqltest.Main(m) }

func TestReadme(t *testing.T) {
	t.Parallel()
	s := recipe.New(t)
	text, _, _ := strings.Cut(recipe.Text(t), "With PostgreSQL")
	s.Start("./processes", "-db", "processes.db")
	s.Start("./processes", "-db", "processes.db", "-addr", "localhost:8081")
	s.Run(text)
}

// Two processes add votes to one note, and each has a subscriber. No vote is lost, and both
// subscribers receive all changes.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	databases := map[string]func(dir string) string{
		"sqlite":   func(dir string) string { return filepath.Join(dir, "processes.db") },
		"postgres": func(string) string { return sqltest.PostgreSQL(t) },
	}
	for name, open := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := recipe.New(t)
			dsn := open(s.Dir)
			var urls []string
			for range 2 {
				urls = append(urls, "http://"+s.Exec("./processes", "-addr", "127.0.0.1:0", "-db", dsn).Address)
			}
			first := send(t, "POST", urls[0]+"/notes", `{"text":"tea or coffee"}`)
			streams := []*http.Response{
				send(t, "GET", urls[0]+"/notes", "", "Accept: text/event-stream"),
				send(t, "GET", urls[1]+"/notes", "", "Accept: text/event-stream"),
			}
			const each = 25
			var all sync.WaitGroup
			for _, url := range urls {
				all.Go(func() {
					for range each {
						vote(t, url+first.Header.Get("Location"))
					}
				})
			}
			all.Wait()
			for i, stream := range streams {
				last := 0
				for lines := bufio.NewScanner(stream.Body); last < 2*each && lines.Scan(); {
					if _, text, ok := strings.Cut(lines.Text(), `"votes":`); ok {
						var votes int
						fmt.Sscan(text, &votes)
						if diff := cmp.Diff(last+1, votes); diff != "" {
							t.Errorf("subscriber %d, votes after %d (-want +got):\n%s", i, last, diff)
						}
						last = votes
					}
				}
				if last != 2*each {
					t.Errorf("subscriber %d has received %d of %d changes", i, last, 2*each)
				}
			}
		})
	}
}

// vote reads the note and writes one vote more if it is unchanged, until that succeeds.
func vote(t *testing.T, url string) {
	for {
		resp := send(t, "GET", url, "")
		line, _ := bufio.NewReader(resp.Body).ReadString('}')
		_, text, _ := strings.Cut(line, `"votes":`)
		var votes int
		fmt.Sscan(text, &votes)
		resp = send(t, "PATCH", url, fmt.Sprintf(`{"votes":%d}`, votes+1), "If-Match: "+resp.Header.Get("ETag"))
		if resp.StatusCode == http.StatusPreconditionFailed {
			continue
		}
		if resp.StatusCode != http.StatusOK {
			t.Errorf("PATCH: %d", resp.StatusCode)
		}
		return
	}
}

func send(t *testing.T, method, url, body string, header ...string) *http.Response {
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return &http.Response{Body: http.NoBody}
	}
	r.Header.Set("Content-Type", "application/json")
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return &http.Response{Body: http.NoBody}
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}
