package idempotency

import (
	"context"
	"crypto/rand"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/resource/tx"
)

// Options adjust a Guard. The zero value is meaningful.
type Options struct {
	// TTL is how long a record is kept; 24 hours if zero. A repetition that comes later is done as if it were new, unless
	// keys are TimeOrdered.
	TTL time.Duration
	// Required asks for a key with every request that writes: 400 without.
	Required bool
	// Strict wants the key as a String of Structured Fields, in quotation marks (RFC 9651 section 3.3.3). Else a bare token
	// will do, which is what most clients send.
	Strict bool
	// TimeOrdered wants keys that are UUIDs of version 7 (RFC 9562 section 5.7), which tell when they were made. One that is
	// older than TTL and Skew is refused (400), as what it was used for may be forgotten. Records are kept for 2*Skew more
	// than TTL then, so that no clock within Skew of ours finds a gap between the two.
	TimeOrdered bool
	// Skew is how far clocks of clients may be off, for TimeOrdered; 5 minutes if zero.
	Skew time.Duration
	// Quota is how many live records one principal may have; 10,000 if zero, below zero any number.
	Quota int
	// MaxResult is how many bytes of a result are kept; 1 MiB if zero. Of a larger one it is only kept that it was done,
	// and to what: see [Record.Reference].
	MaxResult int
	// MaxBody is how many bytes of content Wrap reads; 1 MiB if zero. More is 413.
	MaxBody int64
	// WaitTimeout is how long a copy waits, in the same process, for the first to finish; 2 seconds if zero, below zero not at all.
	WaitTimeout time.Duration
	// Waiters is how many copies of one key wait at a time; 8 if zero.
	Waiters int
	// Lease is how long an operation below ExactlyOnce may take, and its context lasts; 1 minute if zero. If it is not
	// finished then, its outcome counts as unknown.
	Lease time.Duration
	// TransactionTimeout is how long what is done ExactlyOnce may take, and its context lasts, as others may have to wait for its
	// transaction; 5 seconds if zero, below zero any time.
	TransactionTimeout time.Duration
	// AtLeastOnce does it again rather than say that the outcome is unknown.
	AtLeastOnce bool
	// Principal tells whose a request is, for Wrap; a catalog has its own. Nobody ("") with a key is refused (400): whoever
	// is open by design names one principal for all. Nil is nobody.
	Principal func(ctx context.Context) string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Logger is told when the store fails, and never a key or content; nil is slog.Default.
	Logger *slog.Logger
}

// withDefaults puts what is meant in the place of what is zero.
func (o Options) withDefaults() Options {
	orElse(&o.TTL, 24*time.Hour)
	orElse(&o.Skew, 5*time.Minute)
	orElse(&o.Quota, 10_000)
	orElse(&o.MaxResult, 1<<20)
	orElse(&o.MaxBody, 1<<20)
	orElse(&o.WaitTimeout, 2*time.Second)
	orElse(&o.Waiters, 8)
	orElse(&o.Lease, time.Minute)
	orElse(&o.TransactionTimeout, 5*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Principal == nil {
		o.Principal = func(context.Context) string { return "" }
	}
	return o
}

func orElse[T comparable](v *T, otherwise T) {
	var zero T
	if *v == zero {
		*v = otherwise
	}
}

// Guard asks a Store before something is done, and tells it afterwards. It is safe for concurrent use.
type Guard struct {
	store   Store
	opts    Options
	flights flights
	sweeper sweeper

	name   string // of this Guard among all there are
	tokens atomic.Uint64
}

// New returns a Guard. opts may be nil. It panics if the store is nil.
func New(store Store, opts *Options) *Guard {
	if store == nil {
		panic("idempotency: New without a store")
	}
	if opts == nil {
		opts = &Options{}
	}
	return &Guard{store: store, opts: opts.withDefaults(), flights: flights{now: map[[32]byte]*flight{}}, name: rand.Text()}
}

// token returns one that was never used. It has to be unique and not secret: clients do not see it.
func (k *Guard) token() string { return k.name + "-" + strconv.FormatUint(k.tokens.Add(1), 36) }

// Options returns what the Guard goes by, with the defaults in place of zeros.
func (k *Guard) Options() Options { return k.opts }

// LevelFor returns the level for effects in transactions of runner, which may be nil: ExactlyOnce if the store is a
// [Transactor] with an equal runner, else AtMostOnce. Whether a collection is ByIdentity instead only its owner knows.
func (k *Guard) LevelFor(runner tx.Runner) Level {
	if shares, ok := k.store.(Transactor); ok && runner != nil && shares.Transactions() == runner {
		return ExactlyOnce
	}
	return AtMostOnce
}

func (k *Guard) logger() *slog.Logger {
	if k.opts.Logger != nil {
		return k.opts.Logger
	}
	return slog.Default()
}

// retention is how long what is claimed now is kept.
func (k *Guard) retention() time.Duration {
	if k.opts.TimeOrdered {
		return k.opts.TTL + 2*k.opts.Skew
	}
	return k.opts.TTL
}

// sweeper has records purged on the way: by whoever finished something new, once in a while and not many at a time. So
// nothing has to be started and stopped, and what is stored in an hour is purged in an hour.
type sweeper struct {
	next atomic.Int64 // when, in nanoseconds of Unix time
}

const (
	sweepEvery = time.Minute
	sweepMost  = 1000            // so that no lock is held for long
	sweepBound = 2 * time.Second // of whoever does it
)

// sweep purges a batch if it is time. While batches are full the next one is due at once.
func (k *Guard) sweep(ctx context.Context) {
	now := k.opts.Now()
	due := k.sweeper.next.Load()
	if now.UnixNano() < due || !k.sweeper.next.CompareAndSwap(due, now.Add(sweepEvery).UnixNano()) {
		return
	}
	if due == 0 { // the first minute of a process belongs to others
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sweepBound)
	defer cancel()
	n, err := k.store.Purge(ctx, now, sweepMost)
	if err != nil {
		k.logger().ErrorContext(ctx, "idempotency: records cannot be purged", "error", err)
		return
	}
	if n >= sweepMost {
		k.sweeper.next.Store(now.UnixNano())
	}
}
