package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/bench/internal/gqlgenserver"
	"github.com/stoa-go/stoa/examples/bench/internal/report"
	"github.com/stoa-go/stoa/examples/bench/internal/shop"
)

// TestWithGqlgen reports whether gqlgen takes part. The gate builds with the tag gqlgen.
func TestWithGqlgen(t *testing.T) {
	t.Parallel()
	switch {
	case !gqlgenserver.Available && os.Getenv("CI") != "":
		t.Error(gqlgenserver.LeftOut)
	case !gqlgenserver.Available:
		t.Log(gqlgenserver.LeftOut)
	}
}

// TestResponsesAreEqual checks that all peers send the same responses. Introspection is left out,
// because each server describes itself.
func TestResponsesAreEqual(t *testing.T) {
	t.Parallel()
	for i := range jobs {
		j := &jobs[i]
		if j.name == introspect.name {
			continue
		}
		t.Run(j.name, func(t *testing.T) {
			t.Parallel()
			data := shop.New(300)
			want := ask(t, byHand.handler(data), j)
			if !strings.Contains(string(want[0]), `"id":"o000042"`) {
				t.Fatalf("by hand: %.200s", want[0])
			}
			for _, p := range peers()[1:] {
				got := ask(t, p.handler(data), j)
				for k := range want {
					if diff := cmp.Diff(decoded(t, want[k]), decoded(t, got[k])); diff != "" {
						t.Errorf("%s, request %d (-want +got):\n%.2000s", p.name, k, diff)
					}
				}
			}
			// Members have the order of the selection, so the text is the same, too.
			if got := ask(t, stoa.handler(data), j); !bytes.Equal(
				bytes.TrimSpace(want[0]), bytes.TrimSpace(got[0])) {
				t.Errorf("want %.300s\ngot  %.300s", want[0], got[0])
			}
		})
	}
}

func ask(t *testing.T, h http.Handler, j *job) (responses [][]byte) {
	t.Helper()
	for _, body := range j.bodies() {
		r := httptest.NewRequest("POST", "/graphql", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
		responses = append(responses, w.Body.Bytes())
	}
	return responses
}

func decoded(t *testing.T, data []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v in %.300s", err, data)
	}
	return v
}

// TestDistinctDocuments checks that a job with distinct documents sends a new one each time, and
// that each response is complete.
func TestDistinctDocuments(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	plain := stoaHandler(shop.New(100))
	c, err := newClient(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Query string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		seen[in.Query] = true
	}), &miss)
	if err != nil {
		t.Fatal(err)
	}
	for range 1001 {
		_ = c.send() // an error, because the handler sends no body
	}
	if len(seen) != 1001 {
		t.Errorf("%d documents in 1001 requests", len(seen))
	}
	c.Handler = plain
	if err := c.send(); err != nil {
		t.Fatal(err)
	}
	distinct := c.Response.Bytes
	if c, err = newClient(plain, &list100); err != nil {
		t.Fatal(err)
	}
	if err := c.send(); err != nil {
		t.Fatal(err)
	}
	if c.Response.Bytes != distinct || distinct < 10_000 {
		t.Errorf("%d bytes for a document never seen, %d for the same one with its own name", distinct,
			c.Response.Bytes)
	}
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		b    budget
		want string
	}{
		{"below", budget{"a", 0.5, 0.6, ""}, "| a | 0.50 | at most 0.6 | ok |"},
		{"above", budget{"a", 0.7, 0.6, "x"}, "| a | 0.70 | at most 0.6 | over: x |"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			ok := printBudgets(&out, []budget{tt.b})
			if want := !strings.Contains(tt.want, "over"); ok != want {
				t.Errorf("ok is %v, want %v", ok, want)
			}
			if !strings.Contains(out.String(), tt.want) {
				t.Errorf("it says\n%s\nwithout %s", out.String(), tt.want)
			}
		})
	}
}

// TestMeasure runs every job once. It is not parallel, because it changes GOMAXPROCS. It does not
// check budgets, which are for a run of the command on an idle machine.
func TestMeasure(t *testing.T) {
	if err := flag.Set("test.benchtime", "1x"); err != nil {
		t.Fatal(err)
	}
	results, err := measureJobs(jobs, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range jobs {
		for _, p := range jobs[i].peers() {
			f, ok := results.Figure(tableGraphQL, jobs[i].name, p.name)
			counted := p.name == byHand.name || p.name == stoa.name
			if !ok || f.Microseconds <= 0 || counted != (f.Allocs > 0) {
				t.Errorf("%s of %s: %+v", jobs[i].name, p.name, f)
			}
		}
	}
	for _, b := range report.Budgets {
		if _, ok := results.Ratio(b.Table, b.Job, b.Peer, b.Beside); !ok && b.Table == tableGraphQL &&
			(b.Beside != gqlgen.name || gqlgenserver.Available) {
			t.Errorf("no ratio for the budget %+v", b)
		}
	}
	if peak, size, err := peakOfList(); peak <= 0 || size < 1_000_000 || err != nil {
		t.Errorf("peak %d for %d bytes, %v", peak, size, err)
	}
}

// TestProfile checks that a profile is written for each peer.
func TestProfile(t *testing.T) {
	folder := t.TempDir()
	if err := profile([]job{item}, folder, time.Millisecond, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, p := range []peer{byHand, stoa} {
		file := filepath.Join(folder, "one-item-two-relations-"+strings.ReplaceAll(p.name, " ", "-")+".pprof")
		if info, err := os.Stat(file); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-rounds", "0"}, {"more"}, {"-unknown"}, {"-job", "none"}} {
		if err := run(args, io.Discard); err == nil || errors.Is(err, errBudget) {
			t.Errorf("run(%q) = %v", args, err)
		}
	}
}
