// Package names declares the names that the generated file imports.
package names

var schema, reflect string

// Thing is a thing.
type Thing struct {
	A string `json:"a"`
}
