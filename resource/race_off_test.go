//go:build !race

package resource_test

// raceDetector reports whether the race detector is enabled, which makes some measurements
// meaningless.
const raceDetector = false
