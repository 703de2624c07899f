package idempotencytest_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/idempotency/idempotencytest"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/tx"
)

// faultyStore is a store in memory with a fault.
type faultyStore struct {
	*idempotency.Memory
	claim  func(ctx context.Context, id [32]byte, c idempotency.Claim) (idempotency.Prior, error)
	finish func(ctx context.Context, id [32]byte, token string, r idempotency.Record, expires time.Time) error
	let    func(ctx context.Context, id [32]byte, token string) error
	purge  func(ctx context.Context, now time.Time, max int) (int, error)
}

func (p *faultyStore) Claim(ctx context.Context, id [32]byte,
	c idempotency.Claim) (idempotency.Prior, error) {
	if p.claim != nil {
		return p.claim(ctx, id, c)
	}
	return p.Memory.Claim(ctx, id, c)
}

func (p *faultyStore) Finish(ctx context.Context, id [32]byte, token string, r idempotency.Record,
	expires time.Time) error {
	if p.finish != nil {
		return p.finish(ctx, id, token, r, expires)
	}
	return p.Memory.Finish(ctx, id, token, r, expires)
}

func (p *faultyStore) Release(ctx context.Context, id [32]byte, token string) error {
	if p.let != nil {
		return p.let(ctx, id, token)
	}
	return p.Memory.Release(ctx, id, token)
}

func (p *faultyStore) Purge(ctx context.Context, now time.Time, max int) (int, error) {
	if p.purge != nil {
		return p.purge(ctx, now, max)
	}
	return p.Memory.Purge(ctx, now, max)
}

// changing returns a fault that changes claims.
func changing(change func(c *idempotency.Claim)) func(p *faultyStore) {
	return func(p *faultyStore) {
		p.claim = func(ctx context.Context, id [32]byte, c idempotency.Claim) (idempotency.Prior, error) {
			change(&c)
			return p.Memory.Claim(ctx, id, c)
		}
	}
}

// keeping returns a fault that changes records.
func keeping(change func(r *idempotency.Record)) func(p *faultyStore) {
	return func(p *faultyStore) {
		p.finish = func(ctx context.Context, id [32]byte, token string, r idempotency.Record, expires time.Time) error {
			change(&r)
			return p.Memory.Finish(ctx, id, token, r, expires)
		}
	}
}

// TestFaultsAreFound checks that each fault is found by the named test case.
func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		mutate func(p *faultyStore)
		found  string
	}{
		{"ids are ignored", func(p *faultyStore) {
			p.claim = func(ctx context.Context, _ [32]byte, c idempotency.Claim) (idempotency.Prior, error) {
				return p.Memory.Claim(ctx, [32]byte{}, c)
			}
		}, "claim"},
		{"no record", keeping(func(r *idempotency.Record) { *r = idempotency.Record{} }), "finish"},
		{"no fingerprint", changing(func(c *idempotency.Claim) { c.Fingerprint = [32]byte{} }), "mismatch"},
		{
			"half of the fingerprint",
			changing(func(c *idempotency.Claim) { clear(c.Fingerprint[16:]) }),
			"mismatch",
		},
		{"no members", changing(func(c *idempotency.Claim) { c.Members = nil }), "members"},
		{"no token", changing(func(c *idempotency.Claim) { c.Token = "" }), "tokens"},
		{
			"never abandoned",
			changing(func(c *idempotency.Claim) { c.Until = c.Now.Add(1000 * time.Hour) }),
			"abandoned",
		},
		{"the clock of the store", changing(func(c *idempotency.Claim) { c.Now = time.Now() }), "abandoned"},
		{"empty lease", changing(func(c *idempotency.Claim) { c.Until = c.Now }), "claim"},
		{"always takes over", changing(func(c *idempotency.Claim) { c.TakeOver = true }), "abandoned"},
		{"never takes over", changing(func(c *idempotency.Claim) { c.TakeOver = false }), "takeover"},
		{"no quota", changing(func(c *idempotency.Claim) { c.Quota = 0 }), "quota"},
		{"one owner", changing(func(c *idempotency.Claim) { c.Owner = [32]byte{} }), "quota"},
		{"expires with the claim", func(p *faultyStore) {
			p.finish = func(ctx context.Context, id [32]byte, token string, r idempotency.Record, _ time.Time) error {
				return p.Memory.Finish(ctx, id, token, r, r.Done.Add(24*time.Hour))
			}
		}, "expiry"},
		{"never expires", func(p *faultyStore) {
			p.finish = func(ctx context.Context, id [32]byte, token string, r idempotency.Record, expires time.Time) error {
				return p.Memory.Finish(ctx, id, token, r, expires.Add(1000*time.Hour))
			}
		}, "expiry"},
		{"finish ignores errors", func(p *faultyStore) {
			p.finish = func(ctx context.Context, id [32]byte, token string, r idempotency.Record, expires time.Time) error {
				if err := p.Memory.Finish(ctx, id, token, r, expires); err != nil && ctx.Err() != nil {
					return err
				}
				return nil
			}
		}, "tokens"},
		{"release does nothing", func(p *faultyStore) {
			p.let = func(ctx context.Context, id [32]byte, token string) error { return nil }
		}, "release"},
		{"no contexts", func(p *faultyStore) {
			p.claim = func(ctx context.Context, id [32]byte, c idempotency.Claim) (idempotency.Prior, error) {
				return p.Memory.Claim(context.WithoutCancel(ctx), id, c)
			}
		}, "context"},
		{"never purges", func(p *faultyStore) {
			p.purge = func(context.Context, time.Time, int) (int, error) { return 0, nil }
		}, "purge"},
		{"purge ignores max", func(p *faultyStore) {
			p.purge = func(ctx context.Context, now time.Time, _ int) (int, error) { return p.Memory.Purge(ctx, now, 1<<30) }
		}, "purge"},
		{"purges live records", func(p *faultyStore) {
			p.purge = func(ctx context.Context, now time.Time, max int) (int, error) {
				return p.Memory.Purge(ctx, now.Add(1000*time.Hour), max)
			}
		}, "purge"},
		{
			"result cut",
			keeping(func(r *idempotency.Record) { r.Result = r.Result[:min(len(r.Result), 65535)] }),
			"records",
		},
		{
			"result as text",
			keeping(
				func(r *idempotency.Record) { r.Result = []byte(strings.ToValidUTF8(string(r.Result), "?")) },
			),
			"records",
		},
		{"one line of each field", keeping(func(r *idempotency.Record) {
			header := r.Header.Clone()
			for name := range header {
				header[name] = header[name][:1]
			}
			r.Header = header
		}), "records"},
		{"no revision", keeping(func(r *idempotency.Record) { r.Rev = "" }), "records"},
		{
			"whole seconds",
			keeping(func(r *idempotency.Record) { r.Done = r.Done.Truncate(time.Second) }),
			"records",
		},
		{"claim is not atomic", readThenClaim, "concurrent claims"},
		{"no transactions", func(p *faultyStore) {
			p.claim = func(ctx context.Context, id [32]byte, c idempotency.Claim) (idempotency.Prior, error) {
				return p.Memory.Claim(tx.Without(ctx), id, c)
			}
		}, "rollback"},
		{"finish outside of transactions", func(p *faultyStore) {
			p.finish = func(ctx context.Context, id [32]byte, token string, r idempotency.Record, expires time.Time) error {
				return p.Memory.Finish(tx.Without(ctx), id, token, r, expires)
			}
		}, "rollback"},
		{"release outside of transactions", func(p *faultyStore) {
			p.let = func(ctx context.Context, id [32]byte, token string) error {
				return p.Memory.Release(tx.Without(ctx), id, token)
			}
		}, "rollback"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			// in a bubble, in which the clock of the process does not advance
			synctest.Test(t, func(t *testing.T) {
				found := idempotencytest.Failing(t.Context(), func() idempotency.Store {
					p := &faultyStore{
						Memory: idempotency.NewMemory(&idempotency.MemoryOptions{Runner: memory.NewDB()}),
					}
					tt.mutate(p)
					return p
				}, nil)
				if !slices.Contains(found, tt.found) {
					t.Errorf("detected by %q, want %q among them", found, tt.found)
				}
			})
		})
	}
}

// readThenClaim is the most common fault: a read and a write in place of one atomic step. All
// claims read before the first writes.
func readThenClaim(p *faultyStore) {
	var mu sync.Mutex
	seen := map[[32]byte]int{}
	p.claim = func(ctx context.Context, id [32]byte, c idempotency.Claim) (idempotency.Prior, error) {
		mu.Lock()
		seen[id]++
		first := seen[id] <= 2 && c.Token != "late"
		mu.Unlock()
		if prior, err := p.Memory.Claim(ctx, id, c); err != nil || prior.State != idempotency.InFlight ||
			!first {
			return prior, err
		}
		return idempotency.Prior{State: idempotency.Fresh}, nil // the row did not exist when it was read
	}
}

// TestSound: a store without faults passes.
func TestSound(t *testing.T) {
	t.Parallel()
	found := idempotencytest.Failing(t.Context(), func() idempotency.Store {
		return &faultyStore{Memory: idempotency.NewMemory(&idempotency.MemoryOptions{Runner: memory.NewDB()})}
	}, &idempotencytest.Options{Copies: 8})
	if len(found) > 0 {
		t.Errorf("the tests fail: %q", found)
	}
	withoutPurge := idempotencytest.Failing(t.Context(), func() idempotency.Store {
		p := &faultyStore{Memory: idempotency.NewMemory(nil)}
		p.purge = func(context.Context, time.Time, int) (int, error) { return 0, nil }
		return p
	}, &idempotencytest.Options{Forgets: true})
	if len(withoutPurge) > 0 {
		t.Errorf("the tests fail with Forgets: %q", withoutPurge)
	}
}
