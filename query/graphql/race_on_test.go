//go:build race

package graphql_test

const raceDetector = true
