//go:build race

package measure

// RaceDetector reports whether the program is built with the race detector, which changes what a
// request allocates.
const RaceDetector = true
