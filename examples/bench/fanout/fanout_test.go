package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMain(m *testing.M) {
	if side := os.Getenv("FANOUT_SERVE"); side != "" {
		if err := serveSide(side, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestSidesTellTheSame: what is compared is the same work, message by message.
func TestSidesTellTheSame(t *testing.T) {
	t.Parallel()
	var messages []string
	for _, s := range sides {
		addr, stop, err := startServer(s)
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		c := &crowd{addr: addr, failed: make(chan error, 3)}
		defer c.leave()
		if err := c.join(3); err != nil {
			t.Fatal(err)
		}
		if _, err := c.change(2); err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSpace(*c.sample.Load())
		if !strings.Contains(text, `"kind":"UPDATED"`) || !strings.Contains(text, `"id":"o000042"`) {
			t.Errorf("%s tells %s", s.name, text)
		}
		messages = append(messages, text)
	}
	if len(messages[0]) != len(messages[1]) {
		t.Errorf("the sides tell otherwise (-%s +%s)\n%s", sides[0].name, sides[1].name, cmp.Diff(messages[0], messages[1]))
	}
}

// TestMeasure: a measurement as small as can be has all its figures.
func TestMeasure(t *testing.T) {
	for _, s := range sides {
		whole, err := overSockets(s, 2, 10*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		made, err := intoStreams(s, 2, 10*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		for what, r := range map[string]result{"over sockets": whole, "without": made} {
			if r.events <= 0 || r.processor <= 0 || r.size == 0 {
				t.Errorf("%s, %s: %+v", s.name, what, r)
			}
		}
	}
}
