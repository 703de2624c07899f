//go:build !race

package pool

// spoil is for tests with the race detector.
func spoil([]byte) {}
