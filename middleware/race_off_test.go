//go:build !race

package middleware_test

const raceDetector = false
