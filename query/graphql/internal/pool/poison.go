//go:build !race

package pool

// poison is for tests with the race detector.
func poison([]byte) {}
