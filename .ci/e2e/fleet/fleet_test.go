package fleet_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// fakeShop is a node that prints an address and does not listen. By kind it runs until it is killed, ends at once, or ends the
// first time.
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
	time.Sleep(10 * time.Minute) // until it is killed
	return 0
}

// TestMain also runs fakeShop, for the processes that the tests start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "shop-") {
		os.Exit(fakeShop(os.Args[1]))
	}
	os.Exit(m.Run())
}

func testFleet(t *testing.T, n int, args ...string) *fleet.Fleet {
	t.Helper()
	f := fleet.New(n, io.Discard, append([]string{os.Args[0]}, args...)...)
	t.Cleanup(f.KillAll)
	return f
}

// TestAddress: each process has its own settings, and is reached through its proxy.
func TestAddress(t *testing.T) {
	t.Parallel()
	f := testFleet(t, 2, "shop-ends-once")
	dir := t.TempDir()
	f.Args = func(i int) []string { return []string{filepath.Join(dir, fmt.Sprint(i))} }
	f.Address = func(i int, url string) string {
		return fmt.Sprint("proxy ", i, " of ", url[:len("http://shop.example/")])
	}
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range f.Len() {
		if got, want := f.URL(i), fmt.Sprint("proxy ", i, " of http://shop.example/"); got != want {
			t.Errorf("node %d is at %s, want %s", i, got, want)
		}
		if _, err := os.Stat(filepath.Join(dir, fmt.Sprint(i))); err != nil {
			t.Errorf("node %d did not get its argument: %v", i, err)
		}
	}
}

func pick(t *testing.T, f *fleet.Fleet, rng *rand.Rand) string {
	t.Helper()
	url, err := f.Pick(t.Context(), rng)
	if err != nil {
		t.Fatal(err)
	}
	return url
}

func TestFleet(t *testing.T) {
	t.Parallel()
	f := testFleet(t, 3, "shop-fine")
	rng := rand.New(rand.NewPCG(1, 1))
	expired, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if url, err := f.Pick(expired, rng); err == nil {
		t.Errorf("Pick returned %s before the start", url)
	}
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range 100 {
		seen[pick(t, f, rng)] = true
	}
	if len(seen) != 3 || seen[""] {
		t.Errorf("picked %v, want three nodes", seen)
	}
	dead, pid := f.URL(1), f.PID(1)
	f.Kill(1)
	f.Kill(1) // no effect on a node that is down
	if syscall.Kill(pid, 0) == nil {
		t.Error("a killed node is still running")
	}
	for range 100 {
		if pick(t, f, rng) == dead {
			t.Fatal("Pick returned a killed node")
		}
	}
	if err := f.StartNode(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if url := f.URL(1); url == "" || url == dead {
		t.Errorf("restarted as %q", url)
	}
}

func TestFleetStartsAgainWhatEndsAtOnce(t *testing.T) {
	t.Parallel()
	f := testFleet(t, 1, "shop-ends-once", filepath.Join(t.TempDir(), "once"))
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestFleetGivesUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := testFleet(t, 1, "shop-ends").Start(ctx); err == nil {
		t.Error("Start succeeded for a process that ends at once")
	}
	if err := fleet.New(1, io.Discard, filepath.Join(t.TempDir(), "nothing")).Start(ctx); err == nil {
		t.Error("Start succeeded for a program that does not exist")
	}
}

func TestFleetIsSupervised(t *testing.T) {
	t.Parallel()
	f := testFleet(t, 2, "shop-fine")
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	died, over := make(chan int, 10), make(chan error)
	go func() { over <- f.Supervise(ctx, func(i int) { died <- i }) }()
	pid := f.PID(1)
	f.Signal(1)
	if i := <-died; i != 1 {
		t.Errorf("node %d died, want 1", i)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for f.PID(1) == 0 {
		if _, err := f.Pick(t.Context(), rng); err != nil { // the other one is there
			t.Fatal(err)
		}
	}
	if f.PID(1) == pid {
		t.Error("the node was not restarted")
	}
	stop()
	if err := <-over; err != nil {
		t.Error(err)
	}
	f.KillAll()
	f.Signal(1) // no effect on a node that is down
	if err := f.Wait(ctx, 1); err == nil {
		t.Error("Wait succeeded for a node that is down")
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	f := fleet.Of("http://a.example", "http://b.example")
	f.KillAll()
	if f.Len() != 2 || f.URL(1) != "http://b.example" || f.PID(0) != 0 {
		t.Errorf("%d, the second at %q", f.Len(), f.URL(1))
	}
}
