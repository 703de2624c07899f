// Package exec compiles GraphQL documents to plans, caches the plans, and executes them against a
// catalog.
//
// Package graphql calls [Engine.Plan] and then [Engine.Run] or [Engine.Subscribe], for requests
// over HTTP, WebSocket and SSE.
//
// # Implementation
//
// A plan contains every decision that does not depend on data. Fragments are expanded and fields
// with the same response key are merged (plan_compile.go, plan_collect.go). This is possible
// because each selection set applies to a single object type.
//
// A run has two phases. The first fetches data level by level: each relation of a level is one call
// for all items of the level (run_fetch.go). It keeps the values that the collections returned,
// without conversion. The second traverses the plan and the fetched values and appends the response
// (write*.go). plan_join.go and write_shared.go make the most frequent cases faster. Errors of the
// first phase are reported by the second, which knows their response paths (run_errors.go).
package exec

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/query/graphql/internal/fetch"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/validate"
	"github.com/stoa-go/stoa/resource"
)

// Config configures an Engine. Schema and Catalog are required.
type Config struct {
	Schema  *model.Schema
	Catalog *resource.Catalog
	Scan    lexer.Limits    // limits of the text
	Rules   validate.Limits // limits of operations
	// Cost is the maximum number of objects that an operation may fetch, assuming that each list is
	// full. A search counts as several; see searchCost. Default 50,000.
	Cost int
	// Answer is the maximum size of a response in bytes, exceeded by at most one field. Default 32
	// MiB. It is needed because an operation may select the same long text in thousands of fields.
	Answer int
	// PlanBytes limits the memory of cached plans. Default 16 MiB; negative disables the cache.
	PlanBytes int
	// Parallel is the maximum number of fields of an operation that are fetched concurrently.
	// Default 8.
	Parallel int
	// Timeout limits the time for a message about one change to a subscription. Default is no
	// limit. Other operations use the deadline of their context.
	Timeout time.Duration
	// Shared limits the memory, in bytes, of subscription messages that are kept to be shared.
	// Default 16 MiB.
	Shared int
	// NoIntrospection rejects operations that select __schema or __type.
	NoIntrospection bool
	// Logger receives internal errors. Nil means [slog.Default].
	Logger *slog.Logger
}

// Engine executes operations. It is safe for concurrent use. An Engine belongs to one schema, and
// so do its plans and messages.
type Engine struct {
	cfg      Config
	fetch    *fetch.Fetcher
	plans    cache
	runs     sync.Pool // of *run
	messages shared
	ids      atomic.Uint64 // of plans
	// introspected is the maximum number of introspection objects in a response. It grows with the
	// schema, because a query of the whole schema must always be possible.
	introspected int
}

// New returns an Engine. It copies cfg.
func New(cfg *Config) *Engine {
	e := &Engine{cfg: *cfg, fetch: fetch.New(cfg.Catalog)}
	e.cfg.Cost = cmp.Or(cfg.Cost, 50_000)
	e.cfg.Answer = cmp.Or(cfg.Answer, 32<<20)
	e.cfg.Parallel = max(cmp.Or(cfg.Parallel, 8), 1)
	e.messages.most = cmp.Or(cfg.Shared, 16<<20)
	e.plans.most = cmp.Or(cfg.PlanBytes, 16<<20)
	e.introspected = max(e.cfg.Cost, 16*introspectionSize(cfg.Schema))
	return e
}

// Plan returns the plan for an operation of a document, from the cache or compiled. operation may
// be empty if the document has only one. The errors are request errors for the client.
func (e *Engine) Plan(document, operation string) (*Plan, []*gqlerror.Error) {
	key := planKey{document, operation}
	if p := e.plans.get(key); p != nil {
		return p, nil
	}
	// Concurrent requests for a new document may compile it several times. Waiting for the first
	// one would take longer if its goroutine is slow, and compiling is faster than running most
	// plans.
	p, errs := e.compile(document, operation)
	if errs != nil {
		return nil, errs
	}
	return e.plans.put(key, p), nil
}

// Cached returns the number of cached plans and their size as counted against Config.PlanBytes.
func (e *Engine) Cached() (plans, bytes int) { return e.plans.counts() }

// Outcome is the kind of result of an operation.
type Outcome uint8

// The outcomes.
const (
	Done   Outcome = iota // the response has data
	NoData                // executed, but a field error made data null
	// Refused means that the operation was not executed, because a variable is invalid or the cost
	// is too high. The response has no member data.
	Refused
)

// log logs an internal error. It recovers from a panic of the logger, which in a goroutine would
// end the process.
func (e *Engine) log(ctx context.Context, message string, args ...any) {
	defer func() { _ = recover() }()
	logger := e.cfg.Logger
	if logger == nil {
		logger = slog.Default()
	}
	logger.ErrorContext(ctx, message, append([]any{"protocol", "graphql"}, args...)...)
}
