// Package exec makes plans of GraphQL documents, keeps them, and executes them over a catalog.
//
// It is for query/graphql, whose doors (HTTP, WebSocket, SSE) call [Engine.Plan] and then [Engine.Run], or
// [Engine.Subscribe].
//
// # Inside
//
// A plan is what an operation asks for with everything decided that can be without the data: fragments are spread and
// fields with one key are one (plan_compile.go, plan_collect.go), since there are no types that an object might or might not
// be of. To run it takes two steps. The first fetches, level by level: each relation of a level is one call for all items
// of the level, however many there are (run_fetch.go). Nothing is made of what comes but what the collections gave. The second
// walks over the plan and what was loaded, and appends the answer (write*.go; plan_join.go and write_shared.go
// do the same for what is there most, faster). Errors are found in the first step and told in the second, which knows
// where in the answer they belong (run_errors.go).
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

// Config is what an Engine needs.
type Config struct {
	Schema  *model.Schema
	Catalog *resource.Catalog
	Scan    lexer.Limits
	Rules   validate.Limits
	// Cost is how many objects one operation may ask for at most, each list counted with all that it may hold; 0 means
	// 50,000.
	Cost int
	// Answer is how many bytes an answer may have, give or take a field; 0 means 32 MiB. What has more is not given, since
	// the same long text can be asked for in thousands of fields.
	Answer int
	// PlanBytes bounds the memory of the plans that are kept; 0 means 16 MiB, and less than 0 none.
	PlanBytes int
	// Parallel is how many fields of one operation may be fetched at a time; 0 means 8.
	Parallel int
	// Timeout is how long it may take to tell a subscription of one change; 0 means forever. That of everything else is in
	// the context.
	Timeout time.Duration
	// Shared is how many bytes of messages to subscriptions are kept for others who have asked for the same; 0 means 16 MiB.
	Shared int
	// NoIntrospection refuses __schema and __type.
	NoIntrospection bool
	// Logger is told of what clients are not; nil means slog.Default.
	Logger *slog.Logger
}

// Engine executes operations. It is safe for concurrent use.
type Engine struct {
	cfg      Config
	fetch    *fetch.Fetcher
	plans    cache
	runs     sync.Pool // of *run
	messages shared
	ids      atomic.Uint64 // of plans
	// described is how many objects of introspection an answer may have.
	described int
}

// New returns an Engine.
func New(cfg *Config) *Engine {
	e := &Engine{cfg: *cfg, fetch: fetch.New(cfg.Catalog)}
	e.cfg.Cost = cmp.Or(cfg.Cost, 50_000)
	e.cfg.Answer = cmp.Or(cfg.Answer, 32<<20)
	e.cfg.Parallel = max(cmp.Or(cfg.Parallel, 8), 1)
	e.messages.most = cmp.Or(cfg.Shared, 16<<20)
	e.plans.most = cmp.Or(cfg.PlanBytes, 16<<20)
	e.described = max(e.cfg.Cost, 16*describable(cfg.Schema))
	return e
}

// Plan returns what is to be done for an operation of a document, from the cache or made anew. The name may be empty if
// the document has one operation. The errors say why there is none.
func (e *Engine) Plan(document, operation string) (*Plan, []*gqlerror.Error) {
	key := planKey{document, operation}
	if p := e.plans.get(key); p != nil {
		return p, nil
	}
	// Many may do this for one text at the same time. To let them wait for the first would let them wait for each other's
	// bad luck, too, and a plan is made in less time than most are run.
	p, errs := e.compile(document, operation)
	if errs != nil {
		return nil, errs
	}
	return e.plans.put(key, p), nil
}

// Cached returns how many plans are kept, and what they count for against Config.PlanBytes.
func (e *Engine) Cached() (plans, bytes int) { return e.plans.counts() }

// Outcome says how an operation ended.
type Outcome uint8

// The outcomes.
const (
	Done   Outcome = iota // the answer has data
	NoData                // it was executed, and a null has gone up to data itself
	// it was not executed, since a variable is wrong or it costs too much: there is no data member
	Refused
)

// log tells what clients are not told. A logger that panics has nobody to tell, and may do so in a goroutine where that
// would be the end of the process.
func (e *Engine) log(ctx context.Context, message string, args ...any) {
	defer func() { _ = recover() }()
	logger := e.cfg.Logger
	if logger == nil {
		logger = slog.Default()
	}
	logger.ErrorContext(ctx, message, append([]any{"door", "graphql"}, args...)...)
}
