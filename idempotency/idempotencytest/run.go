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

// Options adjust [Run]. The zero value is for stores that keep everything until it is purged.
type Options struct {
	// Forgets says that the engine forgets by itself what has expired, so that Purge has nothing to count and returns 0.
	Forgets bool
	// Copies is how many goroutines claim at once; 64 if zero.
	Copies int
}

// Run tests a store. newStore is called for each case and returns a store without records, for this case alone. opts may be
// nil. Stores that are an [idempotency.Transactor] with a runner are tested inside of its transactions, too.
func Run(t *testing.T, newStore func(t *testing.T) idempotency.Store, opts *Options) {
	t.Helper()
	o := opts.orDefault()
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			store := newStore(t)
			if store == nil {
				t.Fatal("newStore returned no store")
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

// testCase is one thing that a store has to do.
type testCase struct {
	name     string
	contract string // for those who have broken it
	inTx     bool   // needs transactions
	try      func(k *kit)
}

func cases() []testCase {
	var all []testCase
	for _, group := range [][]testCase{claimCases(), tokenCases(), leaseCases(), expiryCases(), quotaCases(), recordCases(), raceCases(),
		txCases()} {
		all = append(all, group...)
	}
	return all
}

// try runs a case in a goroutine of its own, which it may end early, and returns what went wrong.
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

// runnerOf returns the runner of a store, or nil.
func runnerOf(store idempotency.Store) tx.Runner {
	if shares, ok := store.(idempotency.Transactor); ok {
		return shares.Transactions()
	}
	return nil
}

// kit is what a case works with.
type kit struct {
	Options
	ctx   context.Context
	store idempotency.Store
	now   time.Time // of the claims, in whole seconds

	mu       sync.Mutex
	failures []string
}

func (k *kit) errorf(format string, args ...any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failures = append(k.failures, fmt.Sprintf(format, args...))
}

// must ends the case if a call that has to succeed did not.
func (k *kit) must(err error, what string) {
	if err != nil {
		k.errorf("%s failed: %v", what, err)
		runtime.Goexit()
	}
}

// id is the id of an operation.
func id(name string) (h [32]byte) {
	copy(h[:], "id of "+name)
	return h
}

const (
	lease = time.Minute
	kept  = 24 * time.Hour
)

// claim is a claim by a token, now. Its fingerprint is "A", and its owner is ann.
func (k *kit) claim(token string) idempotency.Claim {
	c := idempotency.Claim{Token: token, Now: k.now, Until: k.now.Add(lease), Expires: k.now.Add(kept)}
	c.Fingerprint[0], c.Owner[0] = 'A', 'a'
	return c
}

// want claims, and records a failure unless the store says want. It returns the record.
func (k *kit) want(want idempotency.State, name string, c idempotency.Claim, when string) idempotency.Record {
	return k.wantIn(k.ctx, want, name, c, when)
}

func (k *kit) wantIn(ctx context.Context, want idempotency.State, name string, c idempotency.Claim, when string) idempotency.Record {
	prior, err := k.store.Claim(ctx, id(name), c)
	k.must(err, "Claim of "+name+", "+when+",")
	if prior.State != want {
		k.errorf("Claim of %s, %s: %s, want %s", name, when, prior.State, want)
	}
	return prior.Record
}

// finish finishes the claim of a token with the status.
func (k *kit) finish(name, token string, status int) error {
	return k.finishIn(k.ctx, name, token, status)
}

func (k *kit) finishIn(ctx context.Context, name, token string, status int) error {
	return k.store.Finish(ctx, id(name), token, idempotency.Record{Status: status, Done: k.now}, k.now.Add(kept))
}

// done claims and finishes.
func (k *kit) done(name, token string) {
	k.want(idempotency.Fresh, name, k.claim(token), "the first one")
	k.must(k.finish(name, token, 201), "Finish of "+name)
}

// lost records a failure unless err is ErrLost.
func (k *kit) lost(err error, what string) {
	if !errors.Is(err, idempotency.ErrLost) {
		k.errorf("%s: %v, want ErrLost", what, err)
	}
}
