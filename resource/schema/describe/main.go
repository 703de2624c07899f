// Describe copies the doc comments of a Go package into descriptions for clients, which OpenAPI and
// GraphQL show. Write a line in any file of the package, and run go generate:
//
//	//go:generate go run github.com/stoa-go/stoa/resource/schema/describe
//
// Usage:
//
//	describe [-check] [-types names] [folder ...]
//
// Describe writes descriptions_gen.go in each folder, by default the current one. The file has a
// method SchemaDescription for each described type; see schema.Describer. Commit it.
//
// -check writes nothing. The command prints a message and exits with code 1 if a file is out of date
// or missing, so a step of CI or a test can run it:
//
//	go run github.com/stoa-go/stoa/resource/schema/describe -check ./api ./internal/orders
//
// # What is described
//
// Structs with struct tags are described, exported or not, and the types of the same package that
// they refer to: embedded and generic types, types of enum values, and unnamed structs as part of the
// type around them. -types names further structs, separated by commas. The types of another package
// are described by the file of that package.
//
// Left out are tests, files with a build constraint, types within functions, and types that have the
// method already. Imports are not loaded, so a package that does not compile is described, too.
//
// # Comments
//
// A comment of a field or a constant is above it or, if there is none, at the end of its line. A
// comment of a constant describes the enum value, if the field has the type of the constant and a tag
// enum. The struct tags doc and deprecated have precedence over the comment of the field.
//
// The whole doc comment is copied. A remark for readers of the code can be in a comment of its own,
// with an empty line after it.
//
// A description begins after the Go name, because clients see it next to the name that they know:
//
//	// Status is the state of the order.      The state of the order.
//	// A Line is one item of an order.        One item of an order.
//	// Active reports whether it is in use.   Whether it is in use.
//	// Paid means that the bank agreed.       The bank agreed.
//	// Paid: the bank agreed                  The bank agreed.
//	// Rank decides the order.                Rank decides the order.
//
// The name is removed with an article before it, and with the word after it: is, are, was, were,
// means, means that, reports (before whether) or a colon. Before any other word the name stays. A
// text begins with an upper-case letter, and each paragraph ends with a period.
//
// The syntax is that of [Go doc comments], printed as CommonMark. Text in backticks is code. A doc
// link to a field or a string constant of the package, such as [Order.Status], becomes the JSON name
// or the value; other doc links become plain text. A paragraph that begins with "Deprecated: " is the
// reason of a deprecation. Directives such as //go:generate are dropped.
//
// [Go doc comments]: https://go.dev/doc/comment
package main

import (
	"os"

	"github.com/stoa-go/stoa/resource/schema/internal/godoc"
)

func main() { os.Exit(godoc.Main(os.Args[1:], os.Stderr)) }
