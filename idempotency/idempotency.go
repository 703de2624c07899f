package idempotency

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/resource/tx"
)

// Options configures a Guard. The zero value selects the defaults.
type Options struct {
	// TTL is how long a record is kept. Default 24h. A later repetition is executed as a new
	// request, unless TimeOrdered is set.
	TTL time.Duration
	// Service separates the records of services that share a store, such as one Redis or one table:
	// a key of one is not a key of another, and neither are quotas. All processes of a service have the
	// same name, which never changes. Default empty.
	Service string
	// Required rejects writes without a key with 400, also PUT and DELETE, and so all writes of
	// anonymous callers and all forms with files.
	Required bool
	// Strict requires the key to be a quoted String of Structured Fields (RFC 9651 section 3.3.3).
	// Otherwise a bare token or UUID, which most clients send, is accepted too.
	Strict bool
	// TimeOrdered requires keys that are UUIDs of version 7 (RFC 9562 section 5.7), which contain
	// their creation time. A key older than TTL plus Skew is rejected with 400, because its record
	// may have been purged. A key more than Skew in the future is rejected, too. Records are kept
	// for TTL plus twice Skew, so a client clock that is wrong by at most Skew cannot cause a
	// second execution.
	TimeOrdered bool
	// Skew is the tolerated error of client clocks for TimeOrdered. Default 5m.
	Skew time.Duration
	// Quota limits the live records of one principal. Default 10,000; negative means no limit.
	Quota int
	// MaxResult limits the stored result in bytes. Default 1 MiB. Of a larger result only its media
	// type is stored; see [Record.Reference]. An import stores a shorter one.
	MaxResult int
	// MaxBody limits the body of a keyed request, in bytes, for Wrap and for uploads and imports
	// without a digest. Default 1 MiB. A larger body is rejected with 413.
	MaxBody int64
	// WaitTimeout is how long a repeated request waits for a running one in the same process.
	// Default 2s; negative disables waiting.
	WaitTimeout time.Duration
	// Waiters limits the requests that wait for one key. Default 8. Others receive 409 at once.
	Waiters int
	// Lease limits an operation below ExactlyOnce; its context ends then. Default 1m. If the
	// operation has not finished by then, its outcome is unknown.
	Lease time.Duration
	// TransactionTimeout limits an operation at ExactlyOnce, because other transactions may wait
	// for its locks; its context ends then, and the error rolls it back (503 in a catalog). Default
	// 5s; negative means no limit.
	TransactionTimeout time.Duration
	// AtLeastOnce executes an operation again if its outcome is unknown, instead of reporting 409.
	AtLeastOnce bool
	// Principal returns the principal of a request for Wrap, which needs it; a catalog has its own.
	// A keyed request with an empty principal is rejected with 400. If the service has no
	// authentication, return a constant.
	Principal func(ctx context.Context) string
	// Now returns the current time. Default time.Now.
	Now func() time.Time
	// Logger receives errors of the store. It never receives keys or request bodies. Default
	// slog.Default.
	Logger *slog.Logger
}

// withDefaults returns o with defaults for zero values.
func (o Options) withDefaults() Options {
	setDefault(&o.TTL, 24*time.Hour)
	setDefault(&o.Skew, 5*time.Minute)
	setDefault(&o.Quota, 10_000)
	setDefault(&o.MaxResult, 1<<20)
	setDefault(&o.MaxBody, 1<<20)
	setDefault(&o.WaitTimeout, 2*time.Second)
	setDefault(&o.Waiters, 8)
	setDefault(&o.Lease, time.Minute)
	setDefault(&o.TransactionTimeout, 5*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func setDefault[T comparable](v *T, otherwise T) {
	var zero T
	if *v == zero {
		*v = otherwise
	}
}

// Guard runs each operation once. It claims the operation in a Store before it runs, and stores its
// record afterwards. It is safe for concurrent use.
type Guard struct {
	store   Store
	opts    Options
	flights flights
	sweeper sweeper

	name   string // unique among all Guards, as a prefix of tokens
	tokens atomic.Uint64
	parts  sync.Map // what Identify has returned for each name
}

// Identify returns the part of the first call with this name, and whether there was one. Catalogs call it
// for each part: records of two parts must not have one target.
func (g *Guard) Identify(name string, part any) (first any, known bool) {
	return g.parts.LoadOrStore(name, part)
}

// New returns a Guard. A nil opts selects the defaults. It panics if store is nil.
func New(store Store, opts *Options) *Guard {
	if store == nil {
		panic("idempotency: New needs a Store, and store is nil")
	}
	if s := reflect.ValueOf(store); s.Kind() == reflect.Pointer && s.IsNil() {
		panic(fmt.Sprintf("idempotency: New needs a Store, and store is a nil %T", store))
	}
	if opts == nil {
		opts = &Options{}
	}
	return &Guard{
		store:   store,
		opts:    opts.withDefaults(),
		flights: flights{running: map[[32]byte]*flight{}},
		name:    rand.Text(),
	}
}

// token returns a unique token. It need not be secret, because clients do not receive it.
// token returns a new name for a claim. It is unique among processes, because the guard's own name
// is random.
func (g *Guard) token() string { return g.name + "-" + strconv.FormatUint(g.tokens.Add(1), 36) }

// Options returns the options with defaults in place of zero values.
func (g *Guard) Options() Options { return g.opts }

// LevelFor returns the level of effects in transactions of runner: ExactlyOnce if the store is a
// [Transactor] with an equal runner, otherwise AtMostOnce. runner may be nil. The caller decides
// whether a collection is ByIdentity instead.
func (g *Guard) LevelFor(runner tx.Runner) Level {
	if shares, ok := g.store.(Transactor); ok && runner != nil && shares.Transactions() == runner {
		return ExactlyOnce
	}
	return AtMostOnce
}

func (g *Guard) logger() *slog.Logger {
	if g.opts.Logger != nil {
		return g.opts.Logger
	}
	return slog.Default()
}

// retention returns how long a new record is kept.
func (g *Guard) retention() time.Duration {
	if g.opts.TimeOrdered {
		return g.opts.TTL + 2*g.opts.Skew
	}
	return g.opts.TTL
}

// sweeper schedules purges of expired records. Purging happens in requests, at most once a minute
// and in small batches, so the Guard needs no goroutine.
type sweeper struct {
	next atomic.Int64 // the time of the next purge, in Unix nanoseconds
}

const (
	sweepEvery = time.Minute
	sweepMost  = 1000            // limits how long the store holds locks
	sweepBound = 2 * time.Second // limits the delay of the request that purges
)

// sweep purges a batch if it is due. After a full batch the next one is due immediately.
func (g *Guard) sweep(ctx context.Context) {
	now := g.opts.Now()
	due := g.sweeper.next.Load()
	if now.UnixNano() < due || !g.sweeper.next.CompareAndSwap(due, now.Add(sweepEvery).UnixNano()) {
		return
	}
	if due == 0 { // do not purge in the first minute of the process
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sweepBound)
	defer cancel()
	n, err := g.store.Purge(ctx, now, sweepMost)
	if err != nil {
		g.logger().ErrorContext(ctx, "idempotency: purging records failed", "error", err)
		return
	}
	if n >= sweepMost {
		g.sweeper.next.Store(now.UnixNano())
	}
}
