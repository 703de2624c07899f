package idempotency_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stoa-go/stoa/idempotency"
)

func TestDefaults(t *testing.T) {
	t.Parallel()
	got := idempotency.New(idempotency.NewMemory(nil), nil).Options()
	want := idempotency.Options{TTL: 24 * time.Hour, Skew: 5 * time.Minute, Quota: 10_000, MaxResult: 1 << 20, MaxBody: 1 << 20,
		WaitTimeout: 2 * time.Second, Waiters: 8, Lease: time.Minute, TransactionTimeout: 5 * time.Second}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(want, "Now", "Principal", "Logger")); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	if who := got.Principal(t.Context()); who != "" || got.Now().IsZero() {
		t.Errorf("by default %q asks at %v", who, got.Now())
	}
}

func TestMistakesAtRegistration(t *testing.T) {
	t.Parallel()
	for name, mistake := range map[string]func(){
		"New without a store":    func() { idempotency.New(nil, nil) },
		"Wrap without a handler": func() { idempotency.New(idempotency.NewMemory(nil), nil).Wrap(nil) },
	} {
		func() {
			defer func() {
				if got, want := recover(), "idempotency: "+name; got != any(want) {
					t.Errorf("it panicked with %v, want %s", got, want)
				}
			}()
			mistake()
		}()
	}
}

// TestCheck is for keys that come by another way than the header.
func TestCheck(t *testing.T) {
	t.Parallel()
	k := idempotency.New(idempotency.NewMemory(nil), &idempotency.Options{Strict: true})
	for key, good := range map[string]bool{"a": true, `a "b"`: true, "": false, "a\n": false, "ä": false} {
		if err := k.Check(key); (err == nil) != good {
			t.Errorf("%q: %v", key, err)
		}
	}
}
