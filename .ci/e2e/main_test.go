package main

import (
	"io"
	"os"
	"strings"
	"testing"
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

func TestRunFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, args := range [][]string{nil, {"-run", "tea"}, {"-run", "writes-sqlite", "-size", "huge"}, {"-nonsense"}, {"server"},
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
	for _, s := range scenarios {
		if !strings.Contains(out.String(), s.name+" ") {
			t.Errorf("-list does not print %s", s.name)
		}
	}
}
