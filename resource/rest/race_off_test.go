//go:build !race

package rest_test

// raceDetector says whether the tests run with it, which makes some measurements meaningless.
const raceDetector = false
