package resource

import "github.com/stoa-go/stoa/resource/tx"

// Transactor is a collection that takes part in transactions: whatever its methods do with a context that carries a
// transaction of its Runner is committed or rolled back with it.
type Transactor interface {
	// Transactions returns the Runner of the database that holds the collection. Two collections whose Runners are
	// equal share a database. It returns the same Runner each time.
	Transactions() tx.Runner
}
