//go:build unix

package measure

import (
	"syscall"
	"time"
)

// ProcessorTime returns the processor time that this process has used, garbage collection included.
// Unlike the clock it does not count the time in which other programs ran.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
