package idempotency

// Waiting for copies of the same operation within one process, without asking the store. do.go
// calls it before it claims.

import (
	"context"
	"sync"
	"time"
)

// flights are the operations that run in this process. A concurrent request with the same key waits
// here and not in the database, because waiting there would occupy connections.
type flights struct {
	mu      sync.Mutex
	running map[[32]byte]*flight
}

// flight is one running operation.
type flight struct {
	op      *Operation
	waiting int           // guarded by flights.mu
	over    chan struct{} // closed when it has ended
	// record is the result for all waiting requests. Nil makes the next one ask the store. It is
	// set before over is closed.
	record *Record
}

// waitLimit limits how a repeated request waits.
type waitLimit struct {
	timeout time.Duration // the maximum duration
	waiters int           // the maximum of waiting requests per key
}

// begin registers the caller as the one that runs the operation, and returns its flight, which the
// caller must end. If another call runs it, begin waits and returns its record, or an error.
func (f *flights) begin(ctx context.Context, id [32]byte, op *Operation,
	p waitLimit) (*flight, *Record, error) {
	var timer *time.Timer
	for {
		own, other, err := f.join(id, op, p.waiters)
		if own != nil || err != nil {
			return own, nil, err
		}
		if timer == nil {
			timer = time.NewTimer(p.timeout)
			defer timer.Stop()
		}
		select {
		case <-other.over:
			f.leave(other)
			if other.record != nil && other.op.Fingerprint == op.Fingerprint {
				return nil, other.record, nil
			}
		case <-timer.C:
			f.leave(other)
			return nil, nil, inFlight()
		case <-ctx.Done():
			f.leave(other)
			return nil, nil, inFlight() // the client does not receive this error
		}
	}
}

// join returns a new flight of the caller, or a flight to wait for. A request in another contract
// waits too: the store has what it is compared by.
func (f *flights) join(id [32]byte, op *Operation, most int) (own, other *flight, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	other = f.running[id]
	switch {
	case other == nil:
		own = &flight{op: op, over: make(chan struct{})}
		f.running[id] = own
		return own, nil, nil
	case other.op.Fingerprint != op.Fingerprint && !other.op.comparable(op):
		return nil, nil, reused()
	case other.waiting >= most:
		return nil, nil, inFlight()
	}
	other.waiting++
	return nil, other, nil
}

// leave ends the wait for another copy.
func (f *flights) leave(other *flight) {
	f.mu.Lock()
	other.waiting--
	f.mu.Unlock()
}

// end removes a flight and wakes the waiting requests.
func (f *flights) end(id [32]byte, own *flight, record *Record) {
	f.mu.Lock()
	delete(f.running, id)
	f.mu.Unlock()
	own.record = record
	close(own.over)
}
