//go:build race

package oracle_test

// allDocuments is fewer here: the race detector makes graphql-go ten times slower, and looks for something else.
const allDocuments = 400
