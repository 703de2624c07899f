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

	"github.com/stoa-go/stoa/ci/chaos/internal/fleet"
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
