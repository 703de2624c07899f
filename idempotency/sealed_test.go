package idempotency_test

import (
	"context"
	"testing"

	"github.com/stoa-go/stoa/idempotency"
)

// claims records the claims of a store.
type claims struct {
	*idempotency.Memory
	seen []idempotency.Claim
}

func (c *claims) Claim(ctx context.Context, id [32]byte, claim idempotency.Claim) (idempotency.Prior, error) {
	c.seen = append(c.seen, claim)
	return c.Memory.Claim(ctx, id, claim)
}

// TestStoredFingerprint: the stored fingerprint depends on the key, so it does not help to guess
// the request.
func TestStoredFingerprint(t *testing.T) {
	t.Parallel()
	c := &claims{Memory: idempotency.NewMemory(nil)}
	d := &desk{Guard: idempotency.New(c, nil), engine: &engine{}}
	op := anOperation()
	op.Fingerprint = idempotency.Fingerprint([]byte("POST"), []byte(`{"pin":"1234"}`))
	first := d.ask(t.Context(), op, nil)
	again := d.ask(t.Context(), op, nil)
	op.Key += "2"
	other := d.ask(t.Context(), op, nil)
	if first != "201" || again != "201 again" || other != "201" {
		t.Fatalf("they are answered with %s, %s and %s", first, again, other)
	}
	if c.seen[0].Fingerprint == op.Fingerprint || c.seen[0].Fingerprint == c.seen[2].Fingerprint {
		t.Error("the stored fingerprint does not depend on the key")
	}
	if c.seen[0].Fingerprint != c.seen[1].Fingerprint {
		t.Error("the same has two fingerprints")
	}
}
