//go:build unix

// Package cputime says how much processor time this process has had.
package cputime

import (
	"syscall"
	"time"
)

// Now returns how much processor time this process has had. What other programs do while a job is measured is not
// in it, and what the collector of garbage does is.
func Now() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
