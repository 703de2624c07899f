//go:build !race

package oracle_test

// defaultDocuments is how many documents TestOracle has.
const defaultDocuments = 2000
