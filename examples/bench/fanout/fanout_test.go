package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/bench/internal/gqlgenserver"
	"github.com/stoa-go/stoa/examples/bench/internal/report"
)

func TestMain(m *testing.M) {
	if name := os.Getenv("FANOUT_SERVE"); name != "" {
		if err := servePeer(name, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

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

// TestMessagesAreEqual checks that all peers send the same messages.
func TestMessagesAreEqual(t *testing.T) {
	t.Parallel()
	var messages []string
	for _, p := range peers() {
		addr, stop, err := startServer(p)
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		c := &subscribers{addr: addr, failed: make(chan error, 3)}
		defer c.leave()
		if err := c.join(3); err != nil {
			t.Fatal(err)
		}
		if _, err := c.change(2); err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSpace(*c.sample.Load())
		if !strings.Contains(text, `"kind":"UPDATED"`) || !strings.Contains(text, `"id":"o000042"`) {
			t.Errorf("%s sends %s", p.name, text)
		}
		messages = append(messages, text)
	}
	for i, message := range messages {
		if len(message) != len(messages[0]) {
			t.Errorf("messages differ (-%s +%s)\n%s", peers()[0].name, peers()[i].name,
				cmp.Diff(messages[0], message))
		}
	}
}

// TestMeasure checks that a minimal measurement produces all figures.
func TestMeasure(t *testing.T) {
	for _, p := range peers() {
		whole, err := overWebSockets(p, 2, 10*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		made, err := intoStreams(p, 2, 10*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		for what, r := range map[string]result{"over sockets": whole, "without": made} {
			if r.events <= 0 || r.processor <= 0 || r.size == 0 {
				t.Errorf("%s, %s: %+v", p.name, what, r)
			}
		}
	}
}

// TestGrow measures two numbers of subscribers.
func TestGrow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.json")
	args := []string{"-grow", "-sizes", "2,4", "-rounds", "1", "-time", "1ms", "-json", file}
	if err := run(args, io.Discard); err != nil {
		t.Fatal(err)
	}
	results, err := report.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * len(peers()); len(results.Curves) != want {
		t.Errorf("%d curves, want %d", len(results.Curves), want)
	}
	for _, c := range results.Curves {
		if len(c.Points) != 2 || c.Points[1].Size != 4 || c.Points[1].Microseconds <= 0 {
			t.Errorf("%+v", c)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"more"}, {"-rounds", "0"}, {"-sizes", "5,4"}, {"-serve", "absent"}} {
		if err := run(args, io.Discard); err == nil {
			t.Errorf("run(%q) succeeded", args)
		}
	}
}
