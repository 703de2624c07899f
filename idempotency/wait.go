package idempotency

import (
	"context"
	"sync"
	"time"
)

// flights are the operations that this process is at. A copy that comes meanwhile waits here, where it holds no connection,
// instead of in the database, where a few impatient clients would take all there are.
type flights struct {
	mu  sync.Mutex
	now map[[32]byte]*flight
}

// flight is one of them.
type flight struct {
	fingerprint [32]byte
	waiting     int           // guarded by flights.mu
	over        chan struct{} // closed once it is over
	// record is what all get who have waited. Nil if there is none to share: the next one asks the store. It is set before
	// over is closed.
	record *Record
}

// patience is how a copy waits.
type patience struct {
	until time.Duration // for how long, at most
	most  int           // copies of one key at a time
}

// begin makes the caller the one who is at an operation, and returns its flight, to be ended; or waits for who is at it,
// and returns the record; or an error.
func (f *flights) begin(ctx context.Context, id, fingerprint [32]byte, p patience) (*flight, *Record, error) {
	var timer *time.Timer
	for {
		own, other, err := f.join(id, fingerprint, p.most)
		if own != nil || err != nil {
			return own, nil, err
		}
		if timer == nil {
			timer = time.NewTimer(p.until)
			defer timer.Stop()
		}
		select {
		case <-other.over:
			f.leave(other)
			if other.record != nil {
				return nil, other.record, nil
			}
		case <-timer.C:
			f.leave(other)
			return nil, nil, inFlight()
		case <-ctx.Done():
			f.leave(other)
			return nil, nil, inFlight() // nobody is there to hear it
		}
	}
}

// join returns a flight of the caller's own, or one of another to wait for.
func (f *flights) join(id, fingerprint [32]byte, most int) (own, other *flight, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	other = f.now[id]
	switch {
	case other == nil:
		own = &flight{fingerprint: fingerprint, over: make(chan struct{})}
		f.now[id] = own
		return own, nil, nil
	case other.fingerprint != fingerprint:
		return nil, nil, reused()
	case other.waiting >= most:
		return nil, nil, inFlight()
	}
	other.waiting++
	return nil, other, nil
}

func (f *flights) leave(other *flight) {
	f.mu.Lock()
	other.waiting--
	f.mu.Unlock()
}

// end lets go those who wait.
func (f *flights) end(id [32]byte, own *flight, record *Record) {
	f.mu.Lock()
	delete(f.now, id)
	f.mu.Unlock()
	own.record = record
	close(own.over)
}
