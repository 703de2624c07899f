//go:build !race

package oracle_test

// allDocuments is the number of documents of TestOracle with STOA_TEST=full.
const allDocuments = 2000
