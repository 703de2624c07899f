// Package modified computes times of modification that differ in whole seconds. Stores call it when they
// replace an item.
package modified

import "time"

// Next returns the time of modification of an item that is written at now and was modified at
// previous. That is now, or the second after previous if now is not in a later second.
//
// Clients have the date of the item in whole seconds, rounded down (RFC 9110 section 8.8.2). They
// must not receive the same date for the new version: If-Modified-Since would be 304, and If-Range
// would join parts of both. A time that was rounded up has not been sent yet, because Last-Modified
// is never in the future. Further writes therefore stay in its second, so that times do not run ahead
// of the clock with each of them. They add a microsecond, because a revision may be a hash with the time;
// after 1,000 of them the next second follows.
func Next(now, previous time.Time) time.Time {
	second := previous.Truncate(time.Second)
	fraction := previous.Sub(second)
	switch {
	case now.Sub(second) >= time.Second:
		return now
	case !now.Before(second) || fraction >= time.Millisecond:
		return second.Add(time.Second)
	case previous.Sub(now) > time.Second+time.Millisecond:
		return previous // the clock was set back
	case fraction >= time.Millisecond-time.Microsecond:
		return second.Add(time.Second)
	}
	return previous.Add(time.Microsecond)
}
