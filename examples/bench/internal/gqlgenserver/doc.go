// Package gqlgenserver serves the shop with gqlgen.
//
// gqlgen generates about 4,000 lines for the schema, which are not committed. The files that
// need them have the build tag gqlgen:
//
//	go generate ./internal/gqlgenserver      writes generated.go and models_gen.go
//	go test -tags gqlgen ./...               compares with gqlgen, too
//
// Without the tag [Available] is false, and the benchmarks report that gqlgen is left out.
package gqlgenserver

//go:generate go tool gqlgen generate

// LeftOut is what benchmarks print if [Available] is false.
const LeftOut = "gqlgen is left out; " +
	"to compare with it, run: go generate ./internal/gqlgenserver, and add -tags gqlgen"
