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
	time.Sleep(10 * time.Minute) // until it is killed
	return 0
}

// TestMain is also the shop.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "shop-") {
		os.Exit(fakeShop(os.Args[1]))
	}
	os.Exit(m.Run())
}

func testFleet(t *testing.T, n int, args ...string) *fleet.Fleet {
	t.Helper()
	f := fleet.New(n, io.Discard, append([]string{os.Args[0]}, args...)...)
	t.Cleanup(f.Kill)
	return f
}

// TestDoor: a process is told what is for it alone, and found where its door is.
func TestDoor(t *testing.T) {
	t.Parallel()
	f := testFleet(t, 2, "shop-ends-once")
	dir := t.TempDir()
	f.Args = func(i int) []string { return []string{filepath.Join(dir, fmt.Sprint(i))} }
	f.Door = func(i int, url string) string {
		return fmt.Sprint("door ", i, " of ", url[:len("http://shop.example/")])
	}
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range f.Len() {
		if got, want := f.URL(i), fmt.Sprint("door ", i, " of http://shop.example/"); got != want {
			t.Errorf("process %d is at %s, want %s", i, got, want)
		}
		if _, err := os.Stat(filepath.Join(dir, fmt.Sprint(i))); err != nil {
			t.Errorf("process %d was not told: %v", i, err)
		}
	}
}

func TestFleet(t *testing.T) {
	t.Parallel()
	f := testFleet(t, 3, "shop-fine")
	rng := rand.New(rand.NewPCG(1, 1))
	if url := f.PickNow(rng); url != "" {
		t.Errorf("before the start there is %s", url)
	}
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range 100 {
		seen[f.PickNow(rng)] = true
	}
	if len(seen) != 3 || seen[""] {
		t.Errorf("picked %v, want three processes", seen)
	}
	dead, pid := f.URL(1), f.PID(1)
	f.KillOne(1)
	f.KillOne(1) // who is dead stays dead
	if syscall.Kill(pid, 0) == nil {
		t.Error("a killed process is there")
	}
	for range 100 {
		if f.PickNow(rng) == dead {
			t.Fatal("a killed process was picked")
		}
	}
	if err := f.StartOne(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if url := f.URL(1); url == "" || url == dead {
		t.Errorf("it is started again as %q", url)
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
		t.Error("a process that ends at once was started")
	}
	if err := fleet.New(1, io.Discard, filepath.Join(t.TempDir(), "nothing")).Start(ctx); err == nil {
		t.Error("a program that is not there was started")
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
	f.Shoot(1)
	if i := <-died; i != 1 {
		t.Errorf("process %d died, and 1 was shot", i)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for f.PID(1) == 0 {
		if _, err := f.Pick(t.Context(), rng); err != nil { // the other one is there
			t.Fatal(err)
		}
	}
	if f.PID(1) == pid {
		t.Error("it was not started again")
	}
	stop()
	if err := <-over; err != nil {
		t.Error(err)
	}
	f.Kill()
	f.Shoot(1) // who is dead stays dead
	if err := f.Wait(ctx, 1); err == nil {
		t.Error("a process that is down has ended again")
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	f := fleet.Of("http://a.example", "http://b.example")
	f.Kill()
	if f.Len() != 2 || f.URL(1) != "http://b.example" || f.PID(0) != 0 {
		t.Errorf("%d, the second at %q", f.Len(), f.URL(1))
	}
}
