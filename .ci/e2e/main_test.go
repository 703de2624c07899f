package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// TestMain also runs the servers under test, for the processes that the tests start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "server" {
		main()
		return
	}
	os.Exit(m.Run())
}

// testEnv returns an env in a folder of the test. Its output is discarded unless out is given.
func testEnv(t *testing.T, out ...io.Writer) *env {
	t.Helper()
	e := &env{out: io.MultiWriter(out...), seed: 1}
	if err := e.open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log of the nodes:\n%s", e.logTail(20))
		}
		e.close()
	})
	return e
}

// newTestTrial returns a trial that starts nothing, with nodes at these URLs.
func newTestTrial(urls ...string) trial {
	return trial{env: &env{out: io.Discard, seed: 1}, Client: client.New(4), Fleet: fleet.Of(urls...)}
}

func TestRunFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, args := range [][]string{nil, {"-run", "tea"}, {"-run", "writes-sqlite", "-size", "huge"},
		{"-run", "writes-sqlite", "-times", "0"}, {"-nonsense"}, {"server"},
		{"server", "tea"}, {"server", "keyed"}, {"server", "keyed", "-db", "-mode", "apart"}, {"server", "things", "-db", "-mode"},
		{"server", "keyed", "-db", dir + "/a.db", "-mode", "tea"}, {"server", "things", "-db", dir + "/a.db", "-mode", "tea"},
		{"server", "doctors", "-db", dir + "/a.db", "-mode", "tea"}, {"server", "tasks", "-db", dir + "/a.db", "-release", "tea"}} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("run(%q) = nil", args)
		}
	}
	var out strings.Builder
	if err := run(t.Context(), []string{"-list"}, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != len(scenarios) {
		t.Fatalf("-list prints %d lines, want %d:\n%s", len(lines), len(scenarios), &out)
	}
	for i, s := range scenarios {
		want := append([]string{s.name, s.place(), strconv.Itoa(s.seeds)}, strings.Fields(s.about)...)
		if diff := cmp.Diff(want, strings.Fields(lines[i])); diff != "" {
			t.Errorf("-list (-want +got):\n%s", diff)
		}
	}
}

// TestRunTimes: each scenario runs with each seed although some fail, and the error names those.
func TestRunTimes(t *testing.T) {
	t.Parallel()
	var ran []string
	some := func(name string, fails uint64) scenario {
		return scenario{name: name, run: func(_ context.Context, e *env) error {
			ran = append(ran, fmt.Sprint(name, e.seed))
			if e.seed == fails {
				return errors.New("tea")
			}
			return nil
		}}
	}
	var out strings.Builder
	err := runAll(t.Context(), []scenario{some("a", 5), some("b", 0)}, 3, env{out: &out, seed: 4})
	if diff := cmp.Diff([]string{"a4", "a5", "a6", "b4", "b5", "b6"}, ran); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	want := "a, seed 5: tea\n  again: go run -C .ci/e2e . -run a -size short -seed 5"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if got := strings.Count(out.String(), ": ok in "); got != 5 {
		t.Errorf("%d runs are reported as ok, want 5:\n%s", got, &out)
	}
}
