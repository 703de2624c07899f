package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// fakeShop is the process of a shop that listens to nobody: one that is fine, one that ends at once, and one that ends
// the first time.
func fakeShop(kind string) int {
	switch kind {
	case "shop-ends":
		return 1
	case "shop-ends-once":
		if os.Mkdir(os.Args[2], 0o700) == nil {
			return 1
		}
	}
	fmt.Printf("a report\nshop: listening on http://shop.example/%d\nmore\n", os.Getpid())
	time.Sleep(time.Minute)
	return 0
}

func testFleet(t *testing.T, n int, args ...string) *fleet {
	t.Helper()
	f := newFleet(n, io.Discard, append([]string{os.Args[0]}, args...)...)
	t.Cleanup(f.kill)
	return f
}

func TestFleet(t *testing.T) {
	t.Parallel()
	f := testFleet(t, 3, "shop-fine")
	rng := rand.New(rand.NewPCG(1, 1))
	if url := f.pickNow(rng); url != "" {
		t.Errorf("before the start there is %s", url)
	}
	if err := f.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range 100 {
		seen[f.pickNow(rng)] = true
	}
	if len(seen) != 3 || seen[""] {
		t.Errorf("picked %v, want three processes", seen)
	}
	dead, pid := f.members[1].url, f.members[1].cmd.Process
	f.killOne(1)
	f.killOne(1) // who is dead stays dead
	if pid.Signal(os.Interrupt) == nil {
		t.Error("a killed process is there")
	}
	for range 100 {
		if f.pickNow(rng) == dead {
			t.Fatal("a killed process was picked")
		}
	}
	if err := f.startOne(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if url := f.members[1].url; url == "" || url == dead {
		t.Errorf("it is started again as %q", url)
	}
}

func TestFleetStartsAgainWhatEndsAtOnce(t *testing.T) {
	t.Parallel()
	f := testFleet(t, 1, "shop-ends-once", filepath.Join(t.TempDir(), "once"))
	if err := f.start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestFleetGivesUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := testFleet(t, 1, "shop-ends").start(ctx); err == nil {
		t.Error("a process that ends at once was started")
	}
	if err := newFleet(1, io.Discard, filepath.Join(t.TempDir(), "nothing")).start(ctx); err == nil {
		t.Error("a program that is not there was started")
	}
}

// TestWriteIsSentOnce sees to it that the transport does not repeat a write whose connection breaks: then nobody could
// tell what the refusal of the second one means.
func TestWriteIsSentOnce(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPost, http.MethodPatch} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			var writes atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet {
					writes.Add(1)
					panic(http.ErrAbortHandler)
				}
			}))
			t.Cleanup(server.Close)
			c := newClient(&fleet{members: []*member{{url: server.URL}}}, newTransport(1))
			rng := rand.New(rand.NewPCG(1, 1))
			if _, err := c.read(t.Context(), rng, "/"); err != nil { // so that the connection is used again
				t.Fatal(err)
			}
			a, err := c.write(t.Context(), rng, method, "/", "")
			if err != nil || a.outcome != unknown || writes.Load() != 1 {
				t.Errorf("%+v, %v after %d writes, want one of an unknown outcome", a, err, writes.Load())
			}
		})
	}
}
