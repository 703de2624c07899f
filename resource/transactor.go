package resource

import "github.com/stoa-go/stoa/resource/tx"

// Transactor is a collection that takes part in transactions: whatever its methods do with a context that carries a
// transaction of its Runner is committed or rolled back with it.
//
// Where items can be created, POST then also takes batches: content of the type application/vnd.stoa.batch+json is a list
// of operations that stand or fall together. See [Resource.Batches].
type Transactor interface {
	// Transactions returns the Runner of the database that holds the collection. Two collections whose Runners are
	// equal share a database. It returns the same Runner each time.
	Transactions() tx.Runner
}
