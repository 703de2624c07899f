package graphql

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/introspect"
	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/sdl"
	"github.com/stoa-go/stoa/query/graphql/internal/transportws"
	"github.com/stoa-go/stoa/query/graphql/internal/validate"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/problem"
)

// Handler serves a catalog over GraphQL: operations over HTTP and WebSocket, the schema, and an
// interactive page. Create it with [New]. It is safe for concurrent use.
//
// An API with several versions has a catalog and a Handler for each version.
type Handler struct {
	opts             Options
	catalog          *resource.Catalog
	once             *idempotency.Guard // nil if the catalog has no idempotency keys
	origins          map[string]bool
	schema           *model.Schema
	engine           *exec.Engine
	sdl              string
	sdlDoc           *httpbody.Document // sdl, for schema.graphql
	page             http.Handler       // nil if disabled
	trusted          *trusted           // nil if all documents are accepted
	persisted        *persistedCache    // nil if automatic persisted queries are disabled
	cache            []string           // Cache-Control of responses to GET
	preflightHeaders []string           // headers that require a CORS preflight request
	sockets          *transportws.Server
}

// New returns a Handler for a catalog. opts may be nil.
//
// New panics if the configuration is invalid, and lists all problems: names of types or fields that
// collide or are not valid in GraphQL, custom fields that do not match the catalog, invalid trusted
// documents, and invalid origins.
func New(c *resource.Catalog, opts *Options) *Handler {
	if c == nil {
		panic("graphql: New: catalog is nil; pass the catalog to serve")
	}
	h := &Handler{catalog: c, once: c.Idempotency()}
	if opts != nil {
		h.opts = *opts
	}
	h.opts.Logger = cmp.Or(h.opts.Logger, c.Logger())
	h.opts.setDefaults()
	h.reflect(c)
	h.setOrigins()
	h.setDocuments()
	h.cache = []string{h.opts.Cache}
	h.preflightHeaders = append([]string{"Apollo-Require-Preflight", "Graphql-Require-Preflight",
		"X-Apollo-Operation-Name",
		"X-Requested-With"}, h.opts.PreflightHeaders...)
	if !h.opts.NoPage {
		h.page = newPage(&h.opts)
	}
	h.sockets = newSockets(h)
	return h
}

// reflect sets the schema, the SDL and the engine.
func (h *Handler) reflect(c *resource.Catalog) {
	o := &h.opts
	mo := &model.Options{Doc: o.Description, Names: o.Names, GlobalIDs: o.GlobalIDs}
	for i, f := range o.Fields {
		if f.custom == nil {
			panic(fmt.Sprintf("graphql: Options.Fields[%d] is the zero Field; use Query, Mutation or "+
				"Computed", i))
		}
		mo.Fields = append(mo.Fields, f.custom)
	}
	s, err := model.Reflect(c, mo)
	if err != nil {
		panic(fmt.Sprintf("graphql: %v", err))
	}
	introspect.Extend(s)
	h.schema, h.sdl = s, sdl.Print(s)
	h.sdlDoc = httpbody.NewDocument([]byte(h.sdl))
	h.engine = exec.New(&exec.Config{
		Schema: s, Catalog: c, Scan: o.Limits.scan(), Rules: o.Limits.rules(),
		Cost: o.Limits.Cost, Answer: o.Limits.Answer, Parallel: o.Limits.Parallel, PlanBytes: o.PlanBytes,
		Timeout:         max(o.Timeout, 0),
		NoIntrospection: o.NoIntrospection,
		Logger:          o.Logger,
	})
}

// scan returns the limits of package lexer.
func (l *Limits) scan() lexer.Limits {
	return lexer.Limits{Bytes: int(l.Body), Tokens: l.Tokens, Nesting: l.Nesting, Directives: l.Directives}
}

// rules returns the limits of package validate.
func (l *Limits) rules() validate.Limits {
	return validate.Limits{Depth: l.Depth, RootFields: l.RootFields, Fields: l.Fields, Errors: l.Errors}
}

// SDL returns the schema in the schema definition language (section 3), as served at
// schema.graphql. It is deterministic for a catalog and options.
func (h *Handler) SDL() string { return h.sdl }

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := exchange{w: w, r: r,
		work: work{h: h, header: r.Header, method: r.Method, path: r.URL.Path, request: r}}
	defer x.recoverPanic()
	switch rest := below(r); {
	case rest == "" && r.Method == http.MethodGet && transportws.Asked(r) && !h.opts.Socket.None:
		x.upgrade()
	case rest == "":
		if err := x.serve(); err != nil {
			x.fail(err)
		}
	case rest == schemaName:
		x.serveSDL()
	case h.isPageFile(rest):
		x.servePage()
	default:
		problem.Write(w, r, problem.New(problem.NotFound, "There is nothing at this path."))
	}
}

// schemaName is the last path segment of the schema.
const schemaName = "schema.graphql"

// below returns the path after that of the handler, which is "" for the handler itself. The path of
// the handler follows from the pattern of the innermost mux. If the pattern does not determine it,
// because it is the root or http.StripPrefix removed a prefix, the first segment named graphql is
// the path of the handler.
func below(r *http.Request) string {
	path := r.URL.Path
	if strings.HasSuffix(path, "/"+schemaName) || path == schemaName {
		return schemaName
	}
	pattern := r.Pattern[strings.IndexByte(r.Pattern, '/')+1:] // without method and host
	trimmed := strings.TrimPrefix(path, "/")
	if trimmed == "" || trimmed == strings.TrimSuffix(pattern, "{$}") {
		return ""
	}
	if rest, ok := strings.CutPrefix(trimmed, pattern); ok && strings.HasSuffix(pattern, "/") {
		return rest
	}
	for rest, more := trimmed, true; more; {
		var segment string
		if segment, rest, more = strings.Cut(rest, "/"); segment == "graphql" {
			return rest
		}
	}
	return trimmed
}
