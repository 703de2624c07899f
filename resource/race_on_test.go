//go:build race

package resource_test

const raceDetector = true
