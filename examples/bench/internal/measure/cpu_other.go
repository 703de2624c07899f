//go:build !unix

package measure

import "time"

var start = time.Now()

// ProcessorTime returns the time of the clock on systems without getrusage.
func ProcessorTime() time.Duration { return time.Since(start) }
