package idempotency

import (
	"context"
	"errors"
	"time"

	"github.com/stoa-go/stoa/resource/tx"
)

// Store stores records. Implementations must pass the tests of package idempotencytest and be safe
// for concurrent use.
//
// Errors are logged. After one of Claim, and of Finish in a transaction, the client receives 503
// and the operation has no effect. After others it receives the response, and the claim remains. An
// error that a transaction's runner has to recognize, such as a conflict, must be wrapped so that
// errors.Is finds it.
type Store interface {
	// Claim claims an operation that is not in the store yet; otherwise Prior has its state. id is
	// a hash of principal, method, target and key. Of several concurrent claims one is Fresh. Claim
	// does not wait for a transaction that holds the id, but returns InFlight. Records that have
	// expired at c.Now are treated as absent.
	//
	// In a transaction of the store's runner, the claim is rolled back with the transaction.
	Claim(ctx context.Context, id [32]byte, c Claim) (Prior, error)
	// Finish replaces the claim with the given token by a record, also after the end of its lease.
	// It returns ErrLost if the claim does not exist any more.
	Finish(ctx context.Context, id [32]byte, token string, r Record, expires time.Time) error
	// Release removes the claim, because the operation had no effect. It returns ErrLost if the
	// claim does not exist any more.
	Release(ctx context.Context, id [32]byte, token string) error
	// Purge removes at most max records and abandoned claims that have expired by now, and never a
	// claim within its lease. It returns their number. The Guard calls it about once a minute,
	// after a request.
	Purge(ctx context.Context, now time.Time, max int) (int, error)
}

// Transactor is a [Store] that takes part in transactions: calls with a context of a transaction of
// its Runner commit or roll back with it. Effects in the same transactions are ExactlyOnce.
type Transactor interface {
	// Transactions returns the Runner of the database that holds the records, always the same one,
	// or nil if there is none.
	Transactions() tx.Runner
}

// Claim has the arguments of Store.Claim.
type Claim struct {
	Fingerprint [32]byte
	Members     []byte    // stored with the fingerprint and returned by a Mismatch; may be empty
	Owner       [32]byte  // hash of the principal, for the quota
	Token       string    // identifies this attempt; printable ASCII, at most 64 bytes
	Now         time.Time // from the clock of the Guard; stores use no clock of their own
	Until       time.Time // the end of the lease
	Expires     time.Time // when the record may be purged
	// the maximum of live records and claims of the owner; 0 or less means no limit
	Quota    int
	TakeOver bool // treat an abandoned claim as Fresh and replace it
}

// ErrLost is returned by Finish and Release if the claim does not exist any more, because its lease
// has ended and another call has taken over.
var ErrLost = errors.New("idempotency: claim was lost")

// State is the state of an operation in a Store.
type State uint8

// The states.
const (
	Fresh    State = iota // it was not in the store, and is claimed now
	Finished              // Prior.Record has the outcome
	InFlight              // another call is running it
	// another call has started it, and its lease has ended: the outcome is unknown
	Abandoned
	Mismatch  // it is in the store, in any state, with another fingerprint
	OverQuota // it is not in the store, and the owner has reached the quota
)

// String returns the name of the state.
func (s State) String() string {
	names := [...]string{"Fresh", "Finished", "InFlight", "Abandoned", "Mismatch", "OverQuota"}
	if int(s) < len(names) {
		return names[s]
	}
	return "unknown state"
}

// Prior is the result of a claim.
type Prior struct {
	State  State
	Record Record // if State is Finished
	// Fingerprint and Members are those of the first Claim, if State is Mismatch.
	Fingerprint [32]byte
	Members     []byte
}
