//go:build !race

package exec_test

// raceDetector reports whether the race detector is on. Some measurements are then not meaningful.
const raceDetector = false
