//go:build !race

package resource

// spoil is for tests with the race detector.
func spoil([]byte) {}
