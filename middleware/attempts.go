package middleware

// Limits of attempts to guess a secret. Applications call it where they verify a password.

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// AttemptsOptions configures [NewAttempts]. Nil means the zero value.
type AttemptsOptions struct {
	// Failures limits the failed attempts of an account: Quota in a row, and then one more every
	// Window/Quota. Default 10/5m.
	Failures Rate
	// Concurrent limits how many attempts are verified at a time. Default half of GOMAXPROCS, at
	// least 1, so that other requests have the other half. Values below 1 mean the default.
	Concurrent int
	// Queue limits the attempts that wait while Concurrent is reached. Default 4 times Concurrent;
	// negative means that no attempt waits.
	Queue int
	// Wait is the maximum time in the queue. Default 1s.
	Wait time.Duration
	// Accounts limits how many accounts are stored, whether they exist or not. Default 100,000. If
	// there are more within the Window, those that were idle longest may fail again too soon.
	Accounts int
}

// Attempts limits attempts to guess a secret, such as a password. A limit on failures for each
// account slows down guessing: attackers have many addresses, so limits on clients do not. A limit on
// concurrent attempts keeps the server responsive: a password hash is slow on purpose, and some
// dozen attempts at a time occupy all processors.
//
// The counts are in the memory of the process: n processes allow n times as many failures. Attempts
// is safe for concurrent use.
type Attempts struct {
	failures *buckets
	slots    *semaphore
	start    time.Time // times are measured from start on the monotonic clock
}

// NewAttempts returns limits without any attempt. opts may be nil. It panics if Failures is not valid
// for [ParseRate].
func NewAttempts(opts *AttemptsOptions) *Attempts {
	var o AttemptsOptions
	if opts != nil {
		o = *opts
	}
	if o.Failures == (Rate{}) {
		o.Failures = Rate{Quota: 10, Window: 5 * time.Minute}
	}
	if !o.Failures.valid() {
		panic(fmt.Sprintf("middleware: NewAttempts: invalid rate %+v", o.Failures))
	}
	if o.Concurrent <= 0 {
		o.Concurrent = max(1, runtime.GOMAXPROCS(0)/2)
	}
	o.Queue, o.Wait = orDefault(o.Queue, 4*o.Concurrent), orDefault(o.Wait, time.Second)
	return &Attempts{
		failures: newBuckets(o.Failures, orDefault(o.Accounts, 100_000)),
		slots:    newSemaphore(o.Concurrent, o.Queue, o.Wait),
		start:    time.Now(),
	}
}

// Do calls verify, which verifies the secret of an account, and returns its error. The attempt
// counts as failed unless verify returns nil, also if verify failed for another reason. Only a hash of
// account is stored. If verify hashes a secret but does not compare it, account is "", which limits
// the concurrency alone.
//
// Do returns a problem (429) with Retry-After, and does not call verify, if the account has failed
// too often or too many attempts wait. The first is the same for accounts that do not exist. If ctx
// is done before verify is called, Do returns its error.
func (a *Attempts) Do(ctx context.Context, account string, verify func(context.Context) error) error {
	key := a.failures.hash('p', account)
	if account != "" {
		// It counts before the outcome is known, so that concurrent attempts cannot exceed the limit.
		if l := a.failures.take(key, time.Since(a.start)); !l.allowed {
			return attemptsProblem("Too many attempts for this account have failed", l.seconds)
		}
	}
	failed := false
	defer func() {
		if !failed && account != "" {
			a.failures.restore(key)
		}
	}()
	if !a.slots.acquire(ctx) {
		if err := ctx.Err(); err != nil {
			return err
		}
		return attemptsProblem("The server is verifying too many attempts", 1)
	}
	defer a.slots.release()
	if err := ctx.Err(); err != nil {
		return err
	}
	failed = true // also if verify panics
	err := verify(ctx)
	failed = err != nil
	return err
}

func attemptsProblem(detail string, seconds int64) error {
	unit := "seconds"
	if seconds == 1 {
		unit = "second"
	}
	d := problem.New(problem.TooManyRequests, fmt.Sprintf("%s; retry after %d %s.", detail, seconds, unit))
	d.Header = http.Header{"Retry-After": {strconv.FormatInt(seconds, 10)}}
	return d
}
