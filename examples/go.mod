module github.com/stoa-go/stoa/examples

go 1.26

require (
	github.com/dunglas/httpsfv v1.1.2
	github.com/go-chi/chi/v5 v5.5.0
	github.com/google/go-cmp v0.7.0
	github.com/stoa-go/stoa v0.0.0
	github.com/swaggest/swgui v1.8.5
)

require (
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/vearutop/statigz v1.4.0 // indirect
)

replace github.com/stoa-go/stoa => ../
