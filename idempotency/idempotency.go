package idempotency

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/stoa-go/stoa/resource/tx"
)

// Level is what a key is worth.
type Level uint8

// The levels, from the weakest.
const (
	// AtMostOnce: the record is claimed before the effect and completed behind it. If the process dies in between, the
	// outcome is unknown, and the answer to a repetition says so (409, outcome-unknown).
	AtMostOnce Level = iota
	// ByIdentity: what is created has an id that follows from the key, so that creating it again finds it.
	ByIdentity
	// ExactlyOnce: record and effect are written in one transaction.
	ExactlyOnce
)

// Guarantee is what a key is worth for the writes of one part of a catalog, and why.
type Guarantee struct {
	Name   string // of the resource, command or collection of bytes; "graphql" for operations that touch several
	Create Level  // of what creates with an id chosen by the store; Others for everything else
	Others Level
	Reason string // a sentence for people, such as "it shares its transactions with the records"
}

// Options adjust a Keeper. The zero value is meaningful.
type Options struct {
	TTL         time.Duration                    // how long a record is kept; 24 hours if zero
	Required    bool                             // every request that writes needs a key: 400 without
	Strict      bool                             // the key must be a String of Structured Fields, in quotation marks; else a bare token will do
	TimeOrdered bool                             // keys are UUIDs of version 7, and one that is older than TTL is refused (400): it may have been forgotten
	Skew        time.Duration                    // of clients' clocks, for TimeOrdered; 5 minutes if zero
	Quota       int                              // live records of one principal; 10,000 if zero, below zero any number
	MaxResult   int                              // bytes of a result that are kept; above, only that it was done and to what; 1 MiB if zero
	MaxBody     int64                            // bytes of content that Wrap reads for the fingerprint; 1 MiB if zero
	Wait        time.Duration                    // how long a copy waits, in the same process, for the first to finish; 2 seconds if zero, below zero not at all
	Waiters     int                              // how many copies of one key wait; 8 if zero
	Lease       time.Duration                    // how long an operation below ExactlyOnce may take before its outcome counts as unknown; 1 minute if zero
	AtLeastOnce bool                             // do it again, rather than say that the outcome is unknown
	Principal   func(ctx context.Context) string // for Wrap; a catalog has its own. Nobody ("") with a key is refused (400)
	Now         func() time.Time                 // nil is time.Now
	Logger      *slog.Logger                     // nil is slog.Default
}

// Operation is one thing that a client wants done once.
type Operation struct {
	Principal   string   // whose it is
	Method      string   // of the request, or the kind of a GraphQL operation
	Target      string   // route and ids, without what names a contract
	Key         string   // as ParseKey gives it
	Fingerprint [32]byte // of what it means; see Fingerprint
}

// Record is what became of an operation, so that it can be answered again.
type Record struct {
	Status int         // of the answer
	Media  string      // of Result; empty for none
	Result []byte      // in the newest contract, before it was rendered for anybody; nil if it was too large
	Header http.Header // of the answer, the few that cannot be made again: Location
	// Collection, ID and Rev are of the item that was written, empty for none.
	Collection, ID, Rev string
	Done                time.Time
}

// Keeper asks a Store before something is done, and tells it afterwards. It is safe for concurrent use.
type Keeper struct{}

// New returns a Keeper.
func New(store Store, opts *Options) *Keeper { panic("not written yet") }

// Key reads the Idempotency-Key of a request: "" if it has none. The error is a *problem.Details.
func (k *Keeper) Key(h http.Header) (string, error) { panic("not written yet") }

// LevelFor returns the level for effects in transactions of runner, which may be nil.
func (k *Keeper) LevelFor(runner tx.Runner) Level { panic("not written yet") }

// Do does an operation once. Of all calls with the same operation one runs do, and its record is what all of them get;
// replayed reports that it was not this one.
//
// For ExactlyOnce do runs in a transaction of runner, which it must use: ctx carries it. An error of do means that nothing
// was done: nothing is stored, and the same may be tried again. Below ExactlyOnce that holds for errors that are problems of
// the client (4xx); any other leaves it open whether something was done.
//
// Errors of Do itself are *problem.Details: 422 for another fingerprint under the key, 409 for one that is still running or
// whose outcome is unknown, 429 over the quota, 503 if the store fails.
func (k *Keeper) Do(ctx context.Context, op Operation, level Level, runner tx.Runner,
	do func(ctx context.Context) (Record, error)) (rec Record, replayed bool, err error) {
	panic("not written yet")
}

// Derived returns a key for somebody else's service, which follows from the operation that ctx belongs to and a name: a
// charge or a mail that is sent again with it is known there. It is "" outside of a keyed operation.
func Derived(ctx context.Context, name string) string { panic("not written yet") }

// Wrap serves any handler with keys.
func (k *Keeper) Wrap(next http.Handler) http.Handler { panic("not written yet") }

// Fingerprint is the hash of what a request means: its parts, each with its length, so that no two lists are alike.
func Fingerprint(parts ...[]byte) [32]byte { panic("not written yet") }

// Store keeps records. Package idempotencytest has the tests that every Store has to pass.
type Store interface {
	// Claim notes that an operation is begun, unless it is known: then Prior says as what. id is the hash of whose it is,
	// what for, and the key. In a transaction of the store's runner it is rolled back with everything else.
	Claim(ctx context.Context, id [32]byte, c Claim) (Prior, error)
	// Finish puts the record in place of the claim with this token. ErrLost if that is not there any more.
	Finish(ctx context.Context, id [32]byte, token string, r Record, expires time.Time) error
	// Release takes the claim back, as nothing was done. ErrLost if it is not there any more.
	Release(ctx context.Context, id [32]byte, token string) error
	// Purge removes at most max records that expired before now, and never a claim whose lease lasts.
	Purge(ctx context.Context, now time.Time, max int) (int, error)
}

// Claim is an operation that is begun.
type Claim struct {
	Fingerprint [32]byte
	Owner       [32]byte  // hash of the principal, for the quota
	Token       string    // of this attempt, so that a late one cannot finish for another
	Until       time.Time // when the lease ends
	Expires     time.Time // when what is left of it may be purged
	Quota       int       // live records that the owner may have; 0 or below is any number
	TakeOver    bool      // take over an abandoned claim, which is then Fresh
}

// ErrLost is what Finish and Release return where the claim is not there any more: its lease ended, and another took it.
var ErrLost = errors.New("the claim is not held any more")

// State is what a Store knows of an operation.
type State uint8

// The states.
const (
	Fresh     State = iota // nothing: it is claimed now
	Finished               // Prior.Record has it
	InFlight               // somebody is at it
	Abandoned              // somebody was, and the lease has ended: the outcome is unknown
	Mismatch               // it is known with another fingerprint
	OverQuota              // the owner has too many
)

// Prior is what a Store says to a Claim.
type Prior struct {
	State  State
	Record Record
}
