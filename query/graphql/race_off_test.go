//go:build !race

package graphql_test

// raceDetector reports whether the race detector is on, which makes some measurements meaningless.
const raceDetector = false
