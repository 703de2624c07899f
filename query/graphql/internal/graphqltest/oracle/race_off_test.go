//go:build !race

package oracle_test

// allDocuments is how many documents TestOracle has with STOA_TEST=full.
const allDocuments = 2000
