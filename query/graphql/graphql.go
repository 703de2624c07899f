package graphql

import (
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

// Handler serves a catalog in GraphQL over HTTP, its schema, and the page on which people try it. Make one with [New].
//
// It does not change once it is made and is safe for concurrent use. Of several contracts of one API each has a catalog,
// and each catalog a Handler.
type Handler struct {
	opts     Options
	catalog  *resource.Catalog
	once     *idempotency.Guard // nil if keys mean nothing
	origins  map[string]bool
	schema   *model.Schema
	engine   *exec.Engine
	sdl      string
	sdlDoc   *httpbody.Document // sdl, for schema.graphql
	page     http.Handler       // nil if there is none
	trusted  *trusted           // nil if all documents are answered
	learned  *learned           // nil if none are kept
	cache    []string           // Cache-Control of what is asked with GET
	insisted []string           // headers that force a preflight
	sockets  *transportws.Server
}

// New returns the GraphQL door of a catalog. opts may be nil.
//
// It panics if there can be no such door, with all that is wrong: names of types or fields that collide or that GraphQL does
// not accept, custom fields that do not fit, trusted documents that are not valid, origins that are none.
func New(c *resource.Catalog, opts *Options) *Handler {
	h := &Handler{catalog: c, once: c.Idempotency()}
	if opts != nil {
		h.opts = *opts
	}
	h.opts.setDefaults()
	h.reflect(c)
	h.setOrigins()
	h.setDocuments()
	h.cache = []string{h.opts.Cache}
	h.insisted = append([]string{"Apollo-Require-Preflight", "Graphql-Require-Preflight",
		"X-Apollo-Operation-Name",
		"X-Requested-With"}, h.opts.PreflightHeaders...)
	if !h.opts.NoPage {
		h.page = newPage(&h.opts)
	}
	h.sockets = newSockets(h)
	return h
}

// reflect makes the schema, its SDL and the engine.
func (h *Handler) reflect(c *resource.Catalog) {
	o := &h.opts
	mo := &model.Options{Doc: o.Description, Names: o.Names}
	for i, f := range o.Fields {
		if f.custom == nil {
			panic(fmt.Sprintf("graphql: Options.Fields[%d] is the zero Field, which is none", i))
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

func (l *Limits) scan() lexer.Limits {
	return lexer.Limits{Bytes: int(l.Body), Tokens: l.Tokens, Nesting: l.Nesting, Directives: l.Directives}
}

func (l *Limits) rules() validate.Limits {
	return validate.Limits{Depth: l.Depth, RootFields: l.RootFields, Fields: l.Fields, Errors: l.Errors}
}

// SDL returns the schema in the language of GraphQL (section 3), as it is served at schema.graphql: always the same text for
// the same catalog and options.
func (h *Handler) SDL() string { return h.sdl }

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := exchange{work: work{h: h, header: r.Header, method: r.Method, path: r.URL.Path}, w: w, r: r}
	defer x.survive()
	switch rest := below(r); {
	case rest == "" && r.Method == http.MethodGet && transportws.Asked(r) && !h.opts.Socket.None:
		x.upgrade()
	case rest == "":
		if err := x.serve(); err != nil {
			x.fail(err)
		}
	case rest == schemaName:
		x.serveSDL()
	case h.ofPage(rest):
		x.servePage()
	default:
		problem.Write(w, r, problem.New(problem.NotFound, "Nothing is served here."))
	}
}

// schemaName is the last segment of the path of the SDL.
const schemaName = "schema.graphql"

// below returns what stands behind the path of the door itself, "" for the door. A Handler is told nowhere where it is
// mounted: the pattern of the innermost mux says it, unless that is the root of everything or a StripPrefix stands between;
// then it is the first segment that is called graphql, or nothing.
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
