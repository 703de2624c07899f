module github.com/stoa-go/stoa/query/graphql/internal/reference

go 1.26

ignore ./node_modules

require (
	github.com/google/go-cmp v0.7.0
	github.com/graphql-go/graphql v0.8.1
	github.com/stoa-go/stoa v0.0.0
)

replace github.com/stoa-go/stoa => ../..
