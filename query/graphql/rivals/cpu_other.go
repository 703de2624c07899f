//go:build !unix

package main

import "time"

var start = time.Now()

// processor returns the time of the clock, where that of the processor is not to be had so easily.
func processor() time.Duration { return time.Since(start) }
