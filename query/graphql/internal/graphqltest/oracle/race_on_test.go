//go:build race

package oracle_test

// defaultDocuments is fewer here: the race detector makes graphql-go ten times slower, and looks for something else.
const defaultDocuments = 400
