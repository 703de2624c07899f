package linearizetest_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/resourcetest/linearizetest"
)

// The long form is -histories 1000 -ops 2000.
var (
	histories = flag.Int("histories", 100, "how many histories to check")
	length    = flag.Int("ops", 300, "how many operations make a history")
)

// brokenVariable names the broken store that a second process of the test binary tests.
const brokenVariable = "LINEARIZETEST_BROKEN"

type account struct {
	ID      string `json:"id"`
	Balance int    `json:"balance"`
}

type ops = resource.Ops[account]

func newAccount(n int) account { return account{Balance: n} }

func store(recreate bool) ops {
	return resource.OpsOf(memory.New[account](&memory.Options[account]{Recreate: recreate}))
}

func TestMemoryIsLinearizable(t *testing.T) {
	t.Parallel()
	for _, recreate := range []bool{true, false} {
		name := map[bool]string{true: "ids live again", false: "ids do not live again"}[recreate]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			linearizetest.Run(t, func(*testing.T) ops { return store(recreate) }, newAccount,
				&linearizetest.Options{Histories: *histories, Operations: *length, Recreates: recreate})
		})
	}
}

// broken are stores that no order of calls explains.
var broken = map[string]func() ops{
	"a read is late":             lateReads,
	"replace looks, then writes": looksThenWrites,
	"a write is lost":            losesWrites,
}

func TestBrokenStore(t *testing.T) {
	newOps, ok := broken[os.Getenv(brokenVariable)]
	if !ok {
		t.Skip("TestBrokenStoresAreFound runs this in a process of its own, because it fails")
	}
	// so that all clients are ready before one of them continues
	synctest.Test(t, func(t *testing.T) {
		linearizetest.Run(t, func(*testing.T) ops { return newOps() }, newAccount,
			&linearizetest.Options{Recreates: true})
	})
}

func TestBrokenStoresAreFound(t *testing.T) {
	t.Parallel()
	for name := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run=^TestBrokenStore$")
			cmd.Env = append(os.Environ(), brokenVariable+"="+name)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || !strings.Contains(string(out), "is not linearizable") ||
				!strings.Contains(string(out), "Seed") {
				t.Errorf("the history was not found to be illegal: %v\n%s", err, out)
			}
		})
	}
}

// lateReads answers every tenth Get with what the item was at the one before, as a replica does.
func lateReads() ops {
	o := store(true)
	get := o.Get
	var mu sync.Mutex
	last := map[string]resource.Item[account]{}
	calls := 0
	o.Get = func(ctx context.Context, id string) (resource.Item[account], error) {
		mu.Lock()
		defer mu.Unlock()
		if old, ok := last[id]; ok && calls%10 == 9 {
			calls++
			return old, nil
		}
		calls++
		it, err := get(ctx, id)
		if err == nil {
			last[id] = it
		}
		return it, err
	}
	return o
}

// looksThenWrites compares the revision first and writes afterwards, whatever happened in between. It lets two Replace of one
// revision through by remembering what the second would have seen, so that none has to come at the right moment.
func looksThenWrites() ops {
	o := store(true)
	replace := o.Replace
	var mu sync.Mutex
	replaced := map[string]resource.Rev{} // what the last Replace of each item has found
	o.Replace = func(ctx context.Context, id string, expect resource.Rev, v account) (resource.Item[account],
		error) {
		mu.Lock()
		defer mu.Unlock()
		now, err := o.Get(ctx, id)
		if old, ok := replaced[id]; ok && err == nil && old == expect {
			expect = now.Rev
		}
		it, err := replace(ctx, id, expect, v)
		if err == nil {
			replaced[id] = expect
		}
		return it, err
	}
	return o
}

// losesWrites acknowledges every tenth Replace without doing it.
func losesWrites() ops {
	o := store(true)
	replace := o.Replace
	var mu sync.Mutex
	calls := 0
	o.Replace = func(ctx context.Context, id string, expect resource.Rev, v account) (resource.Item[account],
		error) {
		mu.Lock()
		defer mu.Unlock()
		if it, err := o.Get(ctx, id); err == nil && it.Rev == expect {
			if calls++; calls%10 == 0 {
				return resource.Item[account]{ID: id, Rev: resource.NewRev(), Value: v}, nil
			}
		}
		return replace(ctx, id, expect, v)
	}
	return o
}
