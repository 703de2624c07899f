package feed

// Figures for metrics.

import "time"

// Stats describes the state of a [Feed] at one time.
type Stats struct {
	// Subscribers is the number of subscribers that follow the buffer of recent events. Those that read
	// older events from the log are not included.
	Subscribers int
	// BufferEvents and BufferBytes are the size of the buffer of recent events.
	BufferEvents int
	BufferBytes  int64
	// LastRead is when the log was last read successfully. New events may be delivered late by the time
	// since then. It is zero before the first subscriber.
	LastRead time.Time
	// Failures is the number of failed reads of the log after LastRead.
	Failures int
}

// Stats returns the current state of the Feed, without its branches. It is safe for concurrent use and
// does not read the log.
func (f *Feed) Stats() Stats {
	s := Stats{Failures: int(f.failures.Load())}
	if at := f.lastRead.Load(); at != 0 {
		s.LastRead = time.Unix(0, at)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s.BufferEvents, s.BufferBytes = len(f.ring.events), f.ring.bytes
	for _, list := range f.ring.lists {
		s.Subscribers += int(list.subscribers.Load())
	}
	return s
}
