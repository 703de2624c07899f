package idempotency_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/memory"
)

// TestExpiry uses the clock of the process.
func TestExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := idempotency.New(idempotency.NewMemory(nil), nil)
		d := &desk{Guard: g, engine: &engine{}}
		got := []string{d.ask(t.Context(), anOperation(), nil)}
		for _, after := range []time.Duration{24*time.Hour - 1, 1} {
			time.Sleep(after)
			got = append(got, d.ask(t.Context(), anOperation(), nil))
		}
		if diff := cmp.Diff([]string{"201", "201 again", "201"}, got); diff != "" {
			t.Errorf("at once, before and after a day (-want +got):\n%s", diff)
		}
	})
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	now := time.Now()
	claim := func(m *idempotency.Memory, n int, now time.Time) error {
		_, err := m.Claim(t.Context(), [32]byte{byte(n)},
			idempotency.Claim{Token: "t", Now: now, Until: now.Add(1), Expires: now.Add(2)})
		return err
	}
	stores := map[string]idempotency.MemoryOptions{"entries": {Entries: 3}, "bytes": {Bytes: 3 * 640}}
	for name, opts := range stores {
		m := idempotency.NewMemory(&opts)
		for n := range 3 {
			if err := claim(m, n, now); err != nil {
				t.Errorf("%s: claim %d: %v", name, n, err)
			}
		}
		if err := claim(m, 3, now); !errors.Is(err, idempotency.ErrFull) {
			t.Errorf("%s: a claim too many: %v", name, err)
		}
		if err := claim(m, 3, now.Add(2)); err != nil {
			t.Errorf("%s: when the others have expired: %v", name, err)
		}
	}
}

// TestMemoryIsFull: an operation is recorded even if there is no memory for its result.
func TestMemoryIsFull(t *testing.T) {
	t.Parallel()
	g := idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Bytes: 1000}), nil)
	for range 2 {
		rec, replayed, err := g.Do(
			t.Context(),
			anOperation(),
			idempotency.AtMostOnce,
			nil,
			func(context.Context) (idempotency.Record, error) {
				return idempotency.Record{Status: 201, Result: make([]byte, 500), ID: "7"}, nil
			},
		)
		if err != nil || rec.ID != "7" || replayed && !rec.Reference() {
			t.Errorf("replayed %t, %v: %+v", replayed, err, rec)
		}
	}
}

// TestMemoryPurgesItself: new claims purge expired entries.
func TestMemoryPurgesItself(t *testing.T) {
	t.Parallel()
	now := time.Now()
	m := idempotency.NewMemory(nil)
	for n := range 5000 {
		id := [32]byte{byte(n), byte(n >> 8)}
		at := now.Add(time.Duration(n) * time.Second)
		if _, err := m.Claim(
			t.Context(),
			id,
			idempotency.Claim{Token: "t", Now: at, Until: at, Expires: at.Add(100 * time.Second)},
		); err != nil {
			t.Fatal(err)
		}
	}
	n, err := m.Purge(t.Context(), now.Add(time.Hour*24), 10_000)
	if err != nil || n > 110 {
		t.Errorf("%d were left to be purged (%v), want about 100", n, err)
	}
}

// purges counts the purges of a store.
type purges struct {
	*idempotency.Memory
	at  []time.Duration
	n   int // the result of the next purge
	err error
}

func (p *purges) Purge(ctx context.Context, now time.Time, max int) (int, error) {
	if p.at = append(p.at, now.Sub(start())); max > 1000 {
		panic("too many at a time")
	}
	n := p.n
	p.n = 0
	return n, p.err
}

func start() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// TestGuardPurgesDuringRequests: once a minute, and immediately after a full batch.
func TestGuardPurgesDuringRequests(t *testing.T) {
	t.Parallel()
	now := start()
	p := &purges{Memory: idempotency.NewMemory(nil)}
	g := idempotency.New(p, &idempotency.Options{Now: func() time.Time { return now }, Logger: quiet()})
	d := &desk{Guard: g, engine: &engine{}}
	for n := range 300 { // seconds
		op := anOperation()
		op.Key = strconv.Itoa(n)
		if n == 120 {
			p.n = 1000
		}
		if n == 180 {
			p.err = context.DeadlineExceeded
		}
		if got := d.ask(t.Context(), op, nil); got != "201" {
			t.Error(got)
		}
		now = now.Add(time.Second)
	}
	want := []time.Duration{
		60 * time.Second,
		120 * time.Second,
		121 * time.Second,
		181 * time.Second,
		241 * time.Second,
	}
	if diff := cmp.Diff(want, p.at); diff != "" {
		t.Errorf("purged at (-want +got):\n%s", diff)
	}
}

// TestMemoryCollectionsAreExactlyOnce: a collection in memory commits or rolls back with its
// records.
func TestMemoryCollectionsAreExactlyOnce(t *testing.T) {
	t.Parallel()
	type note struct {
		ID string `json:"id"`
	}
	db := memory.NewDB()
	notes := memory.New(&memory.Options[note]{DB: db})
	g := idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Runner: db}), nil)
	if got := g.LevelFor(notes.Transactions()); got != idempotency.ExactlyOnce {
		t.Fatalf("the level is %s", got)
	}
	refuse := true
	for range 3 {
		_, _, err := g.Do(
			t.Context(),
			anOperation(),
			idempotency.ExactlyOnce,
			notes.Transactions(),
			func(ctx context.Context) (idempotency.Record, error) {
				if _, err := notes.Create(ctx, note{}); err != nil {
					return idempotency.Record{}, err
				}
				if refuse {
					return idempotency.Record{}, errors.New("and then it failed")
				}
				return idempotency.Record{Status: 201}, nil
			},
		)
		if (err != nil) != refuse {
			t.Error(err)
		}
		refuse = false
	}
	if n, err := notes.Count(t.Context(), query.Query{}); n != 1 || err != nil {
		t.Errorf("there are %d notes (%v), want 1", n, err)
	}
}

func TestQuota(t *testing.T) {
	t.Parallel()
	d := newDesk(idempotency.AtMostOnce, idempotency.Options{Quota: 2})
	var got []string
	for _, key := range []string{"1", "2", "3", "1"} {
		op := anOperation()
		op.Key = key
		got = append(got, d.ask(t.Context(), op, nil))
	}
	if diff := cmp.Diff([]string{"201", "201", "429 quota-exceeded 60", "201 again"}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

// TestEndedContexts: calls with a canceled context have no effect.
func TestEndedContexts(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := idempotency.NewMemory(nil).
		Purge(ctx, start(), 1); n != 0 ||
		!errors.Is(err, context.Canceled) {
		t.Errorf("Purge: %d, %v", n, err)
	}
}

// TestMemoryReservesSpaceForClaims: many large results do not prevent new claims.
func TestMemoryReservesSpaceForClaims(t *testing.T) {
	t.Parallel()
	const room = 1 << 20
	g := idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Bytes: room}), nil)
	d := &desk{Guard: g, engine: &engine{}}
	large := func(context.Context) (idempotency.Record, error) {
		return idempotency.Record{Media: "application/octet-stream", Result: make([]byte, room/16)}, nil
	}
	op := anOperation()
	for n := range 40 {
		op.Key = strconv.Itoa(n)
		if got := d.ask(t.Context(), op, large); got != "200" {
			t.Fatalf("operation %d: %s", n, got)
		}
	}
	op.Principal = "another"
	for n := range 100 {
		op.Key = strconv.Itoa(n)
		if got := d.ask(t.Context(), op, nil); got != "201" {
			t.Fatalf("operation %d of another caller: %s", n, got)
		}
	}
}
