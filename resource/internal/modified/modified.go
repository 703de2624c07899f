// Package modified computes times of modification that do not decrease if the clock is set back.
// Stores call it when they replace an item.
package modified

import "time"

// Next returns the time of modification of an item that is written at now and was modified at
// previous. That is now, or previous rounded up to a whole second if it is in the future.
//
// Clients have the date of the item in whole seconds, rounded down (RFC 9110 section 8.8.2). They
// must not receive the same date for the new version, because If-Modified-Since would then be 304.
// A time that was rounded up has not been sent yet, because Last-Modified is never in the future.
// It is therefore kept by further writes, so that times do not run ahead of the clock with each of
// them.
func Next(now, previous time.Time) time.Time {
	if !now.Before(previous) {
		return now
	}
	if whole := previous.Truncate(time.Second); whole.Before(previous) {
		return whole.Add(time.Second)
	}
	return previous
}
