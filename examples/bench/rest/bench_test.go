package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
)

func BenchmarkJobs(b *testing.B) {
	for _, j := range jobs {
		for _, p := range []peer{byHand, byStoa, onMemory} {
			name := strings.NewReplacer(" ", "-", ",", "").Replace(j.name + "/" + p.name)
			b.Run(name, func(b *testing.B) { run(b, j, p) })
		}
	}
}

// TestResponsesAreEqual checks that all peers send the same members. A peer that sends less would
// be faster for that reason.
func TestResponsesAreEqual(t *testing.T) {
	t.Parallel()
	for _, j := range jobs {
		for _, p := range []peer{byStoa, onMemory} {
			t.Run(j.name+"/"+p.name, func(t *testing.T) {
				t.Parallel()
				want, got := newClient(t, j, byHand), newClient(t, j, p)
				for range 3 {
					want.Send()
					got.Send()
					if err := want.check(); err != nil {
						t.Error(err)
					}
					if err := got.check(); err != nil {
						t.Error(err)
					}
					compareResponses(t, &want.Response, &got.Response)
				}
			})
		}
	}
}

func compareResponses(t *testing.T, want, got *measure.Response) {
	t.Helper()
	if diff := cmp.Diff(members(t, want.Body), members(t, got.Body)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	for _, name := range []string{"Content-Type", "Location", "Cache-Control", "X-Content-Type-Options"} {
		if diff := cmp.Diff(want.Header().Get(name), got.Header().Get(name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name := range want.Header() {
		if got.Header().Get(name) == "" {
			t.Errorf("no %s", name)
		}
	}
}

// members decodes a response body. It drops the members of a page that only Stoa adds.
func members(t *testing.T, body []byte) map[string]any {
	t.Helper()
	if len(body) == 0 {
		return nil
	}
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	delete(m, "next")
	return m
}

func TestHandRefusesWhatTheTagsForbid(t *testing.T) {
	t.Parallel()
	bodies := []string{
		`{}`,
		`{"name":"","country":"CN"}`,
		`{"name":"x","country":"cn"}`,
		`{"name":"x"}`,
		`{"name":"x","country":"CN","population":-1}`,
		`{"name":"x","country":"CN","lat":91}`,
		`{"name":"x","country":"CN","lon":-181}`,
		`{"name":"x","country":"CN","more":1}`,
		`{"name":1,"country":"CN"}`,
		`{"id":7,"name":"x","country":"CN"}`,
		`{"name":"x","country":"CN"}{}`,
		`{"name":"` + strings.Repeat("x", 201) + `","country":"CN"}`,
	}
	for _, body := range bodies {
		for _, p := range []peer{byHand, byStoa} {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				c := newClient(t, jobs[2], p)
				c.Bodies = [][]byte{[]byte(body)}
				c.Send()
				if c.Response.Status != 400 && c.Response.Status != 422 {
					t.Errorf("POST %s returned %d", body, c.Response.Status)
				}
			})
		}
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
