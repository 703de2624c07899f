package main

import "context"

// scenario is one check. run returns an error if the promise in about does not hold.
type scenario struct {
	name, about string
	run         func(ctx context.Context, e *env) error
}

// scenarios are all scenarios, in the order of the gate.
var scenarios = []scenario{
	{"writes-postgres", "acknowledged writes to three nodes survive kill -9 and a crash of PostgreSQL", writes(postgres)},
	{"writes-sqlite", "acknowledged writes to a node on SQLite survive kill -9", writes(sqlite)},
}
