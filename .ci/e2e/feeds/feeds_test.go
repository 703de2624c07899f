package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// TestMain is also the server of the tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "server" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestChaos runs what the script runs, in small.
func TestChaos(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{outbox, silent} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			args := []string{"chaos", "-db", filepath.Join(t.TempDir(), "a.db"), "-mode", mode, "-writes", "300", "-listeners", "10",
				"-kills", "2", "-drops", "50"}
			if err := run(t.Context(), args, io.Discard); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNetwork runs on SQLite what the script runs on PostgreSQL: only clients can be parted from that.
func TestNetwork(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	args := []string{"network", "-db", filepath.Join(t.TempDir(), "a.db"), "-delay", "1ms", "-jitter", "1ms", "-rate", "10000000",
		"-cut", "200000", "-writes", "200", "-listeners", "12", "-kills", "1", "-parts", "1", "-part", "300ms", "-patience", "1m"}
	if err := run(t.Context(), args, &out); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
	if !strings.Contains(out.String(), "process 0 and its clients are parted") {
		t.Errorf("no partition in\n%s", &out)
	}
}

// TestTold runs what the script runs on SQLite.
func TestTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out strings.Builder
	args := []string{"told", "-db", filepath.Join(dir, "a.db"), "-other", filepath.Join(dir, "b.db")}
	if err := run(t.Context(), args, &out); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
}

// TestToldFindsFaults asks a server that serves whatever it is asked.
func TestToldFindsFaults(t *testing.T) {
	t.Parallel()
	run := &told{patience: 5 * time.Minute, client: newClient(1), base: serveToy(t, forget),
		ears: map[string]ear{"REST": newSSE(nil), "WebSocket": newSSE(nil)}}
	cursors, _, err := run.written(t.Context(), 30)
	if err != nil {
		t.Fatal(err)
	}
	run.patience = time.Second // from now on nothing comes that is to be heard
	if err := run.refused(t.Context(), "past", cursors[25], errExpired); err != nil {
		t.Fatal(err)
	}
	if err := run.served(t.Context(), "good", cursors[27]); err != nil {
		t.Fatal(err)
	}
	if len(run.rows) != 4 {
		t.Errorf("%d rows", len(run.rows))
	}
	for _, r := range run.rows {
		if r.good {
			t.Errorf("%s is good: %s", r.what, r.outcome)
		}
	}
	if run.verdict() == nil {
		t.Error("the verdict is good")
	}
}

// TestSockets runs what the script runs, in small. Memory is for the script, which has enough of them, and no race detector.
func TestSockets(t *testing.T) {
	t.Parallel()
	args := []string{"sockets", "-db", filepath.Join(t.TempDir(), "a.db"), "-sockets", "100", "-events", "5", "-pairs", "0",
		"-most", "10000", "-idle", "100ms"}
	if err := run(t.Context(), args, io.Discard); err != nil {
		t.Error(err)
	}
}

func TestSocketsVerdict(t *testing.T) {
	t.Parallel()
	good := func() *sockets {
		return &sockets{many: 1000, most: 40, r: socketsReport{
			empty: process{Resident: 10 << 20}, settled: process{Resident: 40 << 20},
			gone: process{Goroutines: 9, Sockets: 2}, back: process{Goroutines: 9, Sockets: 2},
			calm: []pairRun{{time.Second, 1 << 20}}, troubled: []pairRun{{time.Second, 1 << 20}},
			closed: []span{{12 * time.Second, 13 * time.Second}},
		}}
	}
	tests := []struct {
		name  string
		spoil func(r *socketsReport)
		want  string
	}{
		{"good", func(*socketsReport) {}, ""},
		{"large", func(r *socketsReport) { r.settled.Resident = 60 << 20 }, "KiB"},
		{"goroutines stay", func(r *socketsReport) { r.back.Goroutines++ }, "1 goroutines"},
		{"sockets stay", func(r *socketsReport) { r.back.Sockets++ }, "1 sockets"},
		{"a queue for those who never read", func(r *socketsReport) { r.troubled[0].grown = 1 << 30 }, "takes 1023 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := good()
			tt.spoil(&s.r)
			err := s.verdict()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			var out strings.Builder
			if s.print(&out); !strings.Contains(out.String(), "1.00x") {
				t.Errorf("no ratio:\n%s", &out)
			}
		})
	}
}

// TestFaults plants faults in a server, each of which has to be found, by what it is.
func TestFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		fault string
		found func(n counts) int
		want  string // in the verdict
	}{
		{"", func(counts) int { return 1 }, ""},
		{lose, func(n counts) int { return n.lost }, " lost, "},
		{repeat, func(n counts) int { return n.repeated }, " repeated, "},
		{swap, func(n counts) int { return n.inverted + n.again }, "the log itself"}, // again to whoever has heard it before
		{invent, func(n counts) int { return n.surplus }, "the log itself"},
		{double, func(n counts) int { return n.again }, "the log itself"},
		{blur, func(n counts) int { return n.lost }, " lost, "},
		{forget, func(n counts) int { return n.lost }, " lost, "},
	}
	for _, tt := range tests {
		t.Run(tt.fault, func(t *testing.T) {
			t.Parallel()
			_, n, err := troubled(t, tt.fault, 400)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if tt.found(n) == 0 {
				t.Errorf("not found: %+v", n)
			}
		})
	}
}

func serveToy(t *testing.T, fault string) string {
	server := httptest.NewServer(newToy(fault))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL
}

// TestExpiryIsFound: of a log that has everything nobody has to begin anew, be there anything to miss or not.
func TestExpiryIsFound(t *testing.T) {
	t.Parallel()
	run, n, err := troubled(t, expire, 400)
	if _, resets := run.reconnects(); err == nil || resets == 0 {
		t.Errorf("%v, %d times somebody began anew: %+v", err, resets, n)
	}
}

// TestUnwritten: a write that was acknowledged and is not there is an error of the run, whatever was heard. Somebody may have
// deleted the version before it meanwhile.
func TestUnwritten(t *testing.T) {
	t.Parallel()
	if _, n, err := troubled(t, unwrite, 200); err == nil || !strings.Contains(err.Error(), " was 3") {
		t.Errorf("%v: %+v", err, n)
	}
}

// troubled lets loose what chaos does on a server with a fault, and returns what was heard, and the verdict.
func troubled(t *testing.T, fault string, writes int) (*trouble, counts, error) {
	t.Helper()
	run := &trouble{settings: settings{mode: outbox, processes: 1, seed: 1}, writes: writes, drops: 30, many: 4, listening: 10,
		drain: 10 * time.Minute, ears: []func(*line) ear{newSSE}}
	n, err := run.on(t.Context(), fleet.Of(serveToy(t, fault)))
	if err == nil {
		err = run.verdict(n)
	}
	return run, n, err
}

func TestSettle(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		item *item
		left int
		want history // the zero value is an error
	}{
		{"there", &item{n: 3}, 3, history{n: 3}},
		{"there, and later than anybody knows", &item{n: 3}, 4, history{n: 4}},
		{"there, and older", &item{n: 3}, 2, history{}},
		{"deleted", &item{n: 3, removed: 3}, 0, history{n: 3, deleted: true}},
		{"deleted, later than anybody knows", &item{n: 3, removed: 4}, 0, history{n: 4, deleted: true}},
		{"deleted, and there", &item{n: 3, removed: 3}, 3, history{}},
		{"deleted before", &item{n: 3, removed: 2}, 0, history{}},
		{"deleted by somebody who does not know", &item{n: 3, doubtful: []int{3, 2}}, 0, history{n: 3, deleted: true}},
		{"deleted by one of two", &item{n: 3, doubtful: []int{4, 3}}, 0, history{n: 3, deleted: true, others: []int{4}}},
		{"gone", &item{n: 3}, 0, history{}},
		{"there, and nobody knows of a deletion", &item{n: 3, doubtful: []int{3}}, 3, history{n: 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.item.settle(tt.left)
			if wrong := tt.want.n == 0; (err != nil) != wrong {
				t.Fatalf("settle = %v", err)
			} else if wrong {
				return
			}
			if len(got.others) == 0 {
				got.others = nil
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(history{})); diff != "" {
				t.Errorf("settle (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExpected(t *testing.T) {
	t.Parallel()
	h := history{lane: 2, n: 3, deleted: true}
	tests := []struct {
		name string
		view view
		want []key
	}{
		{"everything", view{}, []key{{created, 1}, {updated, 2}, {updated, 3}, {deleted, 0}}},
		{"its lane", view{lane: 2}, []key{{created, 1}, {updated, 2}, {updated, 3}, {deleted, 0}}},
		{"another lane", view{lane: 1}, nil},
		{"what is open", view{open: true}, []key{{created, 1}, {deleted, 0}, {created, 3}, {deleted, 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, h.expected(tt.view), cmp.AllowUnexported(key{})); diff != "" {
				t.Errorf("expected (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnknownArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"tea"}, {"server"}, {"server", "-db", "-mode"}, {"chaos", "-nonsense"},
		{"told"}, {"told", "-nonsense"},
		{"sockets", "-nonsense"},
		{"server", "-db", filepath.Join(t.TempDir(), "a.db"), "-mode", "tea"}} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%q will do", args)
		}
	}
}

// TestProcess: what a server says of itself is there.
func TestProcess(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	processHandler(&atomic.Int64{}).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/process/", nil))
	for _, name := range []string{"Goroutines", "Descriptors", "Resident", "Heap", "Stacks"} {
		if !strings.Contains(w.Body.String(), `"`+name+`":`) || strings.Contains(w.Body.String(), `"`+name+`":0,`) {
			t.Errorf("no %s in %s", name, w.Body)
		}
	}
}
