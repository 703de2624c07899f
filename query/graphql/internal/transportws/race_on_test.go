//go:build race

package transportws_test

const raceDetector = true
