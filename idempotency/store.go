package idempotency

import (
	"context"
	"errors"
	"time"

	"github.com/stoa-go/stoa/resource/tx"
)

// Store keeps records. Package idempotencytest has the tests that every Store has to pass. It is safe for concurrent use.
//
// Errors are for the log: the client is told that the store is not available, and nothing is done. One that a runner has to
// see, such as a conflict of transactions, is found in what is returned (errors.Is).
type Store interface {
	// Claim notes that an operation is begun, unless it is known: then Prior says as what. id is the hash of whose it is,
	// what for, and the key. Of several claims at once one is Fresh. Claim does not wait for others who hold the id: that is
	// InFlight. What has expired by c.Now is not known any more.
	//
	// In a transaction of the store's runner it is rolled back with everything else.
	Claim(ctx context.Context, id [32]byte, c Claim) (Prior, error)
	// Finish puts the record in place of the claim with this token, also after its lease. ErrLost if that is not there any
	// more.
	Finish(ctx context.Context, id [32]byte, token string, r Record, expires time.Time) error
	// Release takes the claim back, as nothing was done. ErrLost if it is not there any more.
	Release(ctx context.Context, id [32]byte, token string) error
	// Purge removes at most max records that expired by now, and never a claim whose lease lasts.
	Purge(ctx context.Context, now time.Time, max int) (int, error)
}

// Transactor is a Store that takes part in transactions: what it does with a context that carries one of its Runner is
// committed or rolled back with it. That makes effects in the same transactions ExactlyOnce.
type Transactor interface {
	// Transactions returns the Runner of the database that holds the records, the same each time.
	Transactions() tx.Runner
}

// Claim is an operation that is begun.
type Claim struct {
	Fingerprint [32]byte
	Owner       [32]byte  // hash of the principal, for the quota
	Token       string    // of this attempt, so that a late one cannot finish for another; visible ASCII, at most 64 bytes
	Now         time.Time // by the clock of the Guard: stores have none of their own
	Until       time.Time // when the lease ends
	Expires     time.Time // when what is left of it may be purged
	Quota       int       // live records that the owner may have, claims among them; 0 or below is any number
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
	Mismatch               // it is known, in whatever state, with another fingerprint
	OverQuota              // it is not known, and the owner has too many others
)

// String returns the name of the state.
func (s State) String() string {
	names := [...]string{"Fresh", "Finished", "InFlight", "Abandoned", "Mismatch", "OverQuota"}
	if int(s) < len(names) {
		return names[s]
	}
	return "no state"
}

// Prior is what a Store says to a Claim.
type Prior struct {
	State  State
	Record Record // if it is Finished
}
