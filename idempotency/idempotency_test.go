package idempotency_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stoa-go/stoa/idempotency"
)

func TestDefaults(t *testing.T) {
	t.Parallel()
	got := idempotency.New(idempotency.NewMemory(nil), nil).Options()
	want := idempotency.Options{
		TTL:                24 * time.Hour,
		Skew:               5 * time.Minute,
		Quota:              10_000,
		MaxResult:          1 << 20,
		MaxBody:            1 << 20,
		WaitTimeout:        2 * time.Second,
		Waiters:            8,
		Lease:              time.Minute,
		TransactionTimeout: 5 * time.Second,
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(want, "Now", "Principal", "Logger")); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	if got.Principal != nil || got.Now().IsZero() {
		t.Errorf("default principal is set: %t, time %v", got.Principal != nil, got.Now())
	}
}

func TestMistakesAtRegistration(t *testing.T) {
	t.Parallel()
	for name, mistake := range map[string]func(){
		"New needs a Store, and store is nil":   func() { idempotency.New(nil, nil) },
		"Wrap needs a handler, and next is nil": func() { idempotency.New(idempotency.NewMemory(nil), nil).Wrap(nil) },
		"Wrap needs Options.Principal, the owner of a key; without authentication set a function that returns a constant": func() {
			idempotency.New(idempotency.NewMemory(nil), nil).Wrap(http.NotFoundHandler())
		},
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

// TestCheck is for keys that are not sent as a header field.
func TestCheck(t *testing.T) {
	t.Parallel()
	g := idempotency.New(idempotency.NewMemory(nil), &idempotency.Options{Strict: true})
	for key, good := range map[string]bool{"a": true, `a "b"`: true, "": false, "a\n": false, "ä": false} {
		if err := g.Check(key); (err == nil) != good {
			t.Errorf("%q: %v", key, err)
		}
	}
}
