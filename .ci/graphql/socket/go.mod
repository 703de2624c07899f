module github.com/stoa-go/stoa/query/graphql/internal/transportws/counter

go 1.26

ignore ./node_modules

require (
	github.com/graphql-go/graphql v0.8.1
	github.com/stoa-go/stoa v0.0.0
)

require (
	github.com/coder/websocket v1.8.15 // indirect
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
)

replace github.com/stoa-go/stoa => ../../..
