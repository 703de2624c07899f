//go:build race

package oracle_test

// allDocuments is smaller with the race detector, which makes graphql-go ten times slower and has
// another purpose.
const allDocuments = 400
