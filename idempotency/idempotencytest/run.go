package idempotencytest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/tx"
)

// Options configures [Run]. The zero value is for stores that keep records until Purge.
type Options struct {
	// Forgets is true if the engine removes expired records itself, so that Purge returns 0.
	Forgets bool
	// Copies is the number of concurrent claims. Default 64.
	Copies int
}

// Run tests a store. It calls newStore for each test case; newStore returns a new, empty store. A
// nil opts selects the defaults. If the store is an [idempotency.Transactor] with a Runner, it is
// tested in transactions as well. The cases are subtests and need no particular order. None of them
// waits, except for the store.
func Run(t *testing.T, newStore func(t *testing.T) idempotency.Store, opts *Options) {
	t.Helper()
	o := opts.orDefault()
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			store := newStore(t)
			if store == nil {
				t.Fatal("newStore returned nil")
			}
			if c.inTx && runnerOf(store) == nil {
				t.Skip("the store has no transactions")
			}
			if failures := try(t.Context(), c, store, o); len(failures) > 0 {
				t.Errorf("%s\n    The contract: %s", strings.Join(failures, "\n"), c.contract)
			}
		})
	}
}

// orDefault returns o with defaults for zero values.
func (o *Options) orDefault() Options {
	out := Options{}
	if o != nil {
		out = *o
	}
	if out.Copies <= 0 {
		out.Copies = 64
	}
	return out
}

// testCase is one requirement of the contract. The contract is the reason of the case as well as
// its rule, because an implementer sees only the failure message.
type testCase struct {
	name     string
	contract string // printed with each failure
	inTx     bool   // needs transactions
	try      func(k *kit)
}

// cases returns all test cases. The simple ones precede those that rely on them.
func cases() []testCase {
	var all []testCase
	groups := [][]testCase{
		claimCases(), tokenCases(), leaseCases(), expiryCases(),
		quotaCases(), recordCases(), raceCases(), txCases(),
	}
	for _, group := range groups {
		all = append(all, group...)
	}
	return all
}

// try runs a test case in a goroutine, which the case may end early with runtime.Goexit, and
// returns the failures. Goexit ends only that goroutine, so the failures that were recorded before
// are still reported.
func try(ctx context.Context, c testCase, store idempotency.Store, o Options) []string {
	k := &kit{Options: o, ctx: ctx, store: store, now: time.Now().Truncate(time.Second).UTC()}
	over := make(chan struct{})
	go func() {
		defer close(over)
		c.try(k)
	}()
	<-over
	return k.failures
}

// runnerOf returns the Runner of a store, or nil. A Transactor may return nil, for example a store
// in memory without a database.
func runnerOf(store idempotency.Store) tx.Runner {
	if shares, ok := store.(idempotency.Transactor); ok {
		return shares.Transactions()
	}
	return nil
}

// kit is the environment of one test case. Its methods may be called from several goroutines of the
// case.
type kit struct {
	Options
	ctx   context.Context
	store idempotency.Store
	now   time.Time // the time of the claims, in whole seconds

	mu       sync.Mutex
	failures []string
}

// errorf records a failure. It is safe for concurrent use.
func (k *kit) errorf(format string, args ...any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failures = append(k.failures, fmt.Sprintf(format, args...))
}

// must ends the test case if err is not nil.
func (k *kit) must(err error, what string) {
	if err != nil {
		k.errorf("%s failed: %v", what, err)
		runtime.Goexit()
	}
}

// id returns the id of an operation.
func id(name string) (h [32]byte) {
	copy(h[:], "id of "+name)
	return h
}

const (
	// The durations of the claims of this kit. They differ, so that a store which confuses Until
	// and Expires fails.
	lease = time.Minute
	kept  = 24 * time.Hour
)

// claim returns a claim with the given token at k.now. Its fingerprint is "A" and its owner is ann.
// Claims that differ only in the token are copies of one request.
func (k *kit) claim(token string) idempotency.Claim {
	c := idempotency.Claim{Token: token, Now: k.now, Until: k.now.Add(lease), Expires: k.now.Add(kept)}
	c.Fingerprint[0], c.Owner[0] = 'A', 'a'
	return c
}

// want claims an operation and records a failure unless the state is want. It returns the record.
func (k *kit) want(want idempotency.State, name string, c idempotency.Claim, when string) idempotency.Record {
	return k.wantIn(k.ctx, want, name, c, when)
}

// wantIn is want with a context, which may carry a transaction. It ends the case if Claim fails,
// because the state of the id is then unknown.
func (k *kit) wantIn(ctx context.Context, want idempotency.State, name string, c idempotency.Claim,
	when string) idempotency.Record {
	prior, err := k.store.Claim(ctx, id(name), c)
	k.must(err, "Claim of "+name+" ("+when+")")
	if prior.State != want {
		k.errorf("Claim of %s (%s) returned %s, want %s", name, when, prior.State, want)
	}
	return prior.Record
}

// finish finishes a claim with a record of the given status.
func (k *kit) finish(name, token string, status int) error {
	return k.finishIn(k.ctx, name, token, status)
}

// finishIn is finish with a context, which may carry a transaction.
func (k *kit) finishIn(ctx context.Context, name, token string, status int) error {
	return k.store.Finish(ctx, id(name), token, idempotency.Record{Status: status, Done: k.now},
		k.now.Add(kept))
}

// done claims and finishes an operation.
func (k *kit) done(name, token string) {
	k.want(idempotency.Fresh, name, k.claim(token), "first claim")
	k.must(k.finish(name, token, 201), "Finish of "+name)
}

// lost records a failure unless err is ErrLost. Success would mean that the store changed a claim
// that the token does not own.
func (k *kit) lost(err error, what string) {
	if !errors.Is(err, idempotency.ErrLost) {
		k.errorf("%s returned %v, want ErrLost", what, err)
	}
}
