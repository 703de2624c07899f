package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/bench/internal/report"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(serveVariable); name != "" {
		exit(serveSocket(name, os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func BenchmarkJobs(b *testing.B) {
	for _, j := range jobs {
		for _, p := range inProcess {
			name := strings.NewReplacer(" ", "-", ",", "").Replace(j.name + "/" + p.name)
			b.Run(name, func(b *testing.B) {
				c, err := newClient(j, p)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					if err := c.send(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// response is what all peers must send alike. A peer that sends less would be faster for that reason.
type response struct {
	Status       int
	Body         map[string]any
	ContentType  string // without parameters, as gin adds a charset
	Location     string
	CacheControl string
	HasETag      bool
	VaryAccept   bool
}

// responseOf reads a response. It drops the member of a page that only Stoa adds.
func responseOf(t *testing.T, resp *http.Response) response {
	t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := response{
		Status:       resp.StatusCode,
		Location:     resp.Header.Get("Location"),
		CacheControl: resp.Header.Get("Cache-Control"),
		HasETag:      strings.HasPrefix(resp.Header.Get("ETag"), `"`),
		VaryAccept:   strings.HasPrefix(resp.Header.Get("Vary"), "Accept"),
	}
	if media := resp.Header.Get("Content-Type"); media != "" {
		if got.ContentType, _, err = mime.ParseMediaType(media); err != nil {
			t.Error(err)
		}
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &got.Body); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
	}
	delete(got.Body, "next")
	return got
}

// TestResponsesAreEqual starts a server process of each peer, sends each job three times to it, and
// compares the responses with those by hand.
func TestResponsesAreEqual(t *testing.T) {
	t.Parallel()
	processes, stop, err := startProcesses(t.Context(), overSockets)
	defer stop()
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		var want []response
		for i, s := range processes {
			var got []response
			for turn := range 3 {
				got = append(got, s.request(t, j, turn))
			}
			if i == 0 {
				want = got
			}
			if got[0].Status != j.status {
				t.Errorf("%s, %s: status %d, want %d", j.name, overSockets[i].name, got[0].Status, j.status)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s: responses (-want +got):\n%s", j.name, overSockets[i].name, diff)
			}
		}
	}
}

// request sends the request of a job.
func (s *process) request(t *testing.T, j job, turn int) response {
	t.Helper()
	var body io.Reader
	if len(j.bodies) > 0 {
		body = strings.NewReader(j.bodies[turn%len(j.bodies)])
	}
	req, err := http.NewRequestWithContext(t.Context(), j.method, "http://"+s.address+j.url(sampleID), body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "identity")
	if j.contentType != "" {
		req.Header.Set("Content-Type", j.contentType)
	}
	if j.conditional {
		tag, err := s.etag(t.Context(), j.url(sampleID))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("If-None-Match", tag)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return responseOf(t, resp)
}

// TestPeersValidate checks that all peers refuse what the tags forbid, in POST and in PATCH.
func TestPeersValidate(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, member string }{
		{name: "empty name", member: `"name":""`},
		{name: "long name", member: `"name":"` + strings.Repeat("x", 201) + `"`},
		{name: "country in lower case", member: `"country":"cn"`},
		{name: "long country", member: `"country":"CHN"`},
		{name: "negative population", member: `"population":-1`},
		{name: "north of the pole", member: `"lat":91`},
		{name: "beyond the date line", member: `"lon":-181`},
		{name: "number as name", member: `"name":1`},
	}
	for _, p := range overSockets {
		handler, err := p.make(items)
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range tests {
			for _, j := range jobs {
				if len(j.bodies) == 0 {
					continue
				}
				body := `{` + tt.member + `}`
				if j.method == http.MethodPost {
					body = withMember(t, tt.member)
				}
				req := httptest.NewRequest(j.method, j.url(sampleID), strings.NewReader(body))
				req.Header.Set("Content-Type", j.contentType)
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, req)
				if w.Code < 400 || w.Code > 422 {
					t.Errorf("%s, %s, %s: status %d for %s", p.name, j.name, tt.name, w.Code, body)
				}
			}
		}
	}
}

// withMember returns a valid item with one other member: "name":value.
func withMember(t *testing.T, member string) string {
	t.Helper()
	var p map[string]json.RawMessage
	for _, text := range []string{newPlace[0], `{` + member + `}`} {
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestHandRefusesInvalidBodies checks what the handlers by hand and Stoa refuse, and the frameworks
// do not.
func TestHandRefusesInvalidBodies(t *testing.T) {
	t.Parallel()
	bodies := []string{
		`{}`,
		`{"name":"x"}`,
		`{"id":7,"name":"x","country":"CN"}`,
		`{"name":"x","country":"CN","more":1}`,
		`{"name":"x","country":"CN"}{}`,
	}
	for _, body := range bodies {
		for _, p := range []peer{byHand, byStoa} {
			c, err := newClient(jobs[2], p)
			if err != nil {
				t.Fatal(err)
			}
			c.Bodies = [][]byte{[]byte(body)}
			c.Send()
			if c.Response.Status != 400 && c.Response.Status != 422 {
				t.Errorf("%s: POST %s returned %d", p.name, body, c.Response.Status)
			}
		}
	}
}

// TestRun measures each job for a moment, and checks that all figures are printed and stored.
func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.json")
	var out strings.Builder
	err := run(t.Context(), []string{"-rounds", "1", "-time", "1ms", "-job", "GET", "-json", file}, &out)
	if err != nil && !errors.Is(err, errBudget) {
		t.Fatal(err)
	}
	results, err := report.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range selectJobs("GET") {
		for _, p := range overSockets {
			f, ok := results.Figure(tableSockets, j.name, p.name)
			if !ok || f.Microseconds <= 0 || !strings.Contains(out.String(), "| "+j.name+" | "+p.name+" |") {
				t.Errorf("%s of %s over sockets: %+v", j.name, p.name, f)
			}
		}
		for _, p := range inProcess {
			f, ok := results.Figure(tableInProcess, j.name, p.name)
			if !ok || f.Microseconds <= 0 || f.Allocs < 0 {
				t.Errorf("%s of %s in process: %+v", j.name, p.name, f)
			}
		}
	}
	for _, b := range report.Budgets {
		if b.Table != tableInProcess && b.Table != tableSockets || !strings.HasPrefix(b.Job, "GET") {
			continue
		}
		if _, ok := results.Ratio(b.Table, b.Job, b.Peer, b.Beside); !ok {
			t.Errorf("no ratio for the budget %+v", b)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-rounds", "0"}, {"more"}, {"-job", "DELETE"}, {"-unknown"}} {
		if err := run(t.Context(), args, io.Discard); err == nil || errors.Is(err, errBudget) {
			t.Errorf("run(%q) = %v", args, err)
		}
	}
}

// TestProfile checks that a profile is written for each peer, in process and over sockets.
func TestProfile(t *testing.T) {
	folder := t.TempDir()
	if err := profile(t.Context(), jobs[:1], folder, time.Millisecond, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"GET-item-Stoa", "GET-item-by-hand", "sockets-GET-item-Stoa",
		"sockets-GET-item-by-hand"} {
		if info, err := os.Stat(filepath.Join(folder, name+".pprof")); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSocketStatus checks that a response with another status is an error, not a fast response.
func TestSocketStatus(t *testing.T) {
	t.Parallel()
	s, err := startProcess(t.Context(), byHand)
	if err != nil {
		t.Fatal(err)
	}
	defer s.stop()
	missing := job{name: "missing", method: "GET", path: "/nothing", status: 200}
	if _, err := s.perRequest(context.Background(), missing, time.Millisecond); err == nil {
		t.Error("a status of 404 was counted as a response")
	}
}

func TestNoConcurrentWriteIsLost(t *testing.T) {
	t.Parallel()
	got, err := raceOverHTTP(t.Context(), 200, 16)
	if err != nil {
		t.Fatal(err)
	}
	got.took, got.refused = 0, 0 // refused writes were retried, or are missing among the acknowledged
	want := outcome{sent: 200, acknowledged: 200}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(outcome{})); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
}

// TestExportIsComplete checks the lines of an export but not the growth of the heap, which parallel
// tests share. The command checks the growth.
func TestExportIsComplete(t *testing.T) {
	t.Parallel()
	got, err := exportOverHTTP(t.Context(), 50_000)
	if err != nil {
		t.Fatal(err)
	}
	if got.lines != got.want {
		t.Errorf("%d lines, want %d", got.lines, got.want)
	}
}
