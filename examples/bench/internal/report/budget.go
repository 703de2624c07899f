package report

import "fmt"

// Budget is the limit of a [Ratio].
type Budget struct {
	Table, Job, Peer, Beside string
	// Most is the largest ratio that is good enough.
	Most float64
	// Gate is the ratio that the gate enforces. It equals Most if the budget is met, and is larger
	// until then, so that the job does not become slower in the meantime.
	Gate float64
}

// Names of peers that several tables have.
const (
	ByHand     = "by hand"
	Stoa       = "Stoa"
	StoaMemory = "Stoa on memory"
)

// Names of jobs that rest measures in process and over sockets.
const (
	GetItem    = "GET item"
	GetList    = "GET list of 100"
	Post       = "POST with validation"
	Get304     = "GET, answered 304"
	PatchMerge = "PATCH merge"
	Put        = "PUT"
)

// RowsBoth is the job of rows with the processor time of client and database, and RowsDatabase that of
// the database alone.
const (
	RowsBoth     = "list of 100 from PostgreSQL"
	RowsDatabase = "list of 100 from PostgreSQL, database alone"
)

// GraphQLList is the job of graphql that has budgets beside other servers.
const GraphQLList = "list of 100, two relations"

// Budgets are the limits of all tables. A ratio of Stoa to gqlgen of 0.025 means that gqlgen takes
// 40 times as long.
var Budgets = []Budget{
	{"rest", GetItem, Stoa, ByHand, 0.6, 0.6},
	{"rest", GetList, Stoa, ByHand, 0.35, 0.35},
	{"rest", GetList, StoaMemory, ByHand, 0.25, 0.3},
	{"rest", Post, Stoa, ByHand, 0.85, 0.85},
	{"rest", Get304, Stoa, ByHand, 0.7, 0.8},
	{"rest", PatchMerge, Stoa, ByHand, 1.5, 1.5},
	{"rest", Put, Stoa, ByHand, 1.5, 1.5},

	{"sockets", GetItem, Stoa, ByHand, 1.05, 1.05},
	{"sockets", GetItem, Stoa, "gin", 1.05, 1.05},
	{"sockets", GetItem, Stoa, "huma", 0.85, 0.85},
	{"sockets", GetList, Stoa, ByHand, 0.6, 0.7},
	{"sockets", GetList, Stoa, "gin", 0.6, 0.7},
	{"sockets", GetList, Stoa, "huma", 0.6, 0.7},

	{"rows", RowsBoth, "Stoa, pgxrows", "binary rows by hand", 1.2, 1.2},
	{"rows", RowsBoth, "Stoa, database/sql", "binary rows by hand", 1.6, 1.6},
	{"rows", RowsBoth, "GET of Stoa from its cache, pgxrows", "binary rows by hand", 0.7, 0.7},
	{"rows", RowsBoth, "Stoa, pgxrows", "json_agg in the database", 0.55, 0.55},
	{"rows", RowsDatabase, "Stoa, pgxrows", "json_agg in the database", 0.35, 0.35},

	{"graphql", GraphQLList, Stoa, ByHand, 0.6, 0.8},
	{"graphql", GraphQLList, Stoa, "gqlgen", 0.025, 0.025},
	{"graphql", GraphQLList, Stoa, "graphql-go", 0.025, 0.03},
}

// BudgetOf returns the budget of a ratio.
func BudgetOf(x Ratio) (Budget, bool) {
	for _, b := range Budgets {
		if b.Table == x.Table && b.Job == x.Job && b.Peer == x.Peer && b.Beside == x.Beside {
			return b, true
		}
	}
	return Budget{}, false
}

// Status returns the cells of a ratio in a table: budget, and whether it is met.
func (x Ratio) Status() (budget, met string) {
	b, ok := BudgetOf(x)
	switch {
	case !ok:
		return "", ""
	case x.Median <= b.Most:
		return Factor(b.Most), "yes"
	case b.Gate > b.Most:
		return Factor(b.Most), "NO, gate " + Factor(b.Gate)
	}
	return Factor(b.Most), "NO"
}

// Met reports whether all budgets of the ratios in r are met.
func (r *Results) Met() bool {
	for _, x := range r.Ratios {
		if b, ok := BudgetOf(x); ok && x.Median > b.Most {
			return false
		}
	}
	return true
}

// Factor returns a ratio as text, with three decimals if it is small.
func Factor(f float64) string {
	if f < 0.1 {
		return fmt.Sprintf("%.3fx", f)
	}
	return fmt.Sprintf("%.2fx", f)
}
