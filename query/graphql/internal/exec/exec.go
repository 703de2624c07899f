// Package exec makes plans of GraphQL documents, keeps them, and executes them over a catalog.
//
// It is for query/graphql, whose doors (HTTP today, WebSocket and SSE later) call [Engine.Plan] and then [Engine.Run].
package exec

import (
	"context"
	"log/slog"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/fault"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/scan"
	"github.com/stoa-go/stoa/query/graphql/internal/types"
	"github.com/stoa-go/stoa/query/graphql/internal/validate"
	"github.com/stoa-go/stoa/resource"
)

// Config is what an Engine needs.
type Config struct {
	Schema  *model.Schema
	Types   *types.Schema // the same for graphql-go, which validation and coercion read
	Catalog *resource.Catalog
	Scan    scan.Limits
	Rules   validate.Limits
	// Cost is how many objects one operation may ask for at most, each list counted with all that it may hold; 0 means
	// 50,000.
	Cost int
	// PlanBytes bounds the memory of the plans that are kept; 0 means 16 MiB, and less than 0 none.
	PlanBytes int
	// Parallel is how many fields of one operation may be fetched at a time; 0 means 8.
	Parallel int
	// NoIntrospection refuses __schema and __type.
	NoIntrospection bool
	// Logger is told of what clients are not; nil means slog.Default.
	Logger *slog.Logger
}

// Engine executes operations. It is safe for concurrent use.
type Engine struct{ cfg Config }

// New returns an Engine.
func New(cfg *Config) *Engine { return &Engine{cfg: *cfg} }

// Plan is an operation that can be executed any number of times, at the same time too.
type Plan struct {
	// Kind is "query", "mutation" or "subscription".
	Kind string
}

// Plan returns what is to be done for an operation of a document, from the cache or made anew. The name may be empty if
// the document has one operation. The errors say why there is none.
func (e *Engine) Plan(document, operation string) (*Plan, []*fault.Error) { panic("not written yet") }

// Outcome says how an operation ended.
type Outcome uint8

// The outcomes.
const (
	Done    Outcome = iota // the answer has data
	NoData                 // it was executed, and a null has gone up to data itself
	Refused                // it was not executed, since a variable is wrong or it costs too much: there is no data member
)

// Run executes a plan and appends the answer, a JSON object, to dst. Variables are the members of the request's
// variables, nil for none.
func (e *Engine) Run(ctx context.Context, p *Plan, variables map[string]jsontext.Value, dst []byte) ([]byte, Outcome) {
	panic("not written yet")
}
