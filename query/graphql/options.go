package graphql

import (
	"io/fs"
	"log/slog"
	"time"
)

// Options configures [New]. The zero value is a working default.
type Options struct {
	// Description is the description of the schema, in CommonMark.
	Description string
	// Names maps names of resources to the GraphQL names of their item types, such as {"people":
	// "Person"}, and nested Go types, as %T prints them, to theirs: {"billing.Line": "Charge"}. Default
	// is the name of the Go type, for a resource that of the stored items. If another type has the
	// name, that of the package precedes it: BillingLine. The type Box[*int32] is BoxOfNullableInt32.
	Names map[string]string
	// GlobalIDs gives items the field id of Relay's global object identification, and the query root
	// node(id:) and nodes(ids:). Default is the stored id. See the section Global ids.
	GlobalIDs bool
	// Fields are custom fields. See [Query], [Mutation] and [Computed].
	Fields []Field

	// Limits bounds requests and responses.
	Limits Limits
	// Timeout limits the execution of a request, and of each message of a subscription. Default
	// 30s; negative means no limit. Fields that are not resolved in time are errors. It should be
	// shorter than the WriteTimeout of the server.
	Timeout time.Duration
	// PlanBytes limits the memory of cached query plans, in bytes. Default 16 MiB; negative
	// disables the cache.
	PlanBytes int

	// NoIntrospection rejects __schema and __type, and does not serve the SDL. It does not protect
	// data; Authorize does.
	NoIntrospection bool
	// Trusted restricts the handler to these documents. Nil accepts all documents. See [Documents].
	Trusted Documents
	// Persisted limits the memory of automatic persisted queries, in bytes. Default 4 MiB; negative
	// disables them. Trusted documents do not need it.
	Persisted int
	// Batch is the maximum number of requests in a batch, an array in a POST. Zero, the default,
	// rejects batches. The requests are executed serially, each with its own Limits and Timeout.
	Batch int

	// Origins are other origins, such as "https://app.example.com". Pages of these origins may send
	// requests. The handler does not send CORS headers; use a middleware for them.
	Origins []string
	// PreflightHeaders are additional headers that prove a CORS preflight request for a cross-site
	// GET. X-Requested-With, Apollo-Require-Preflight, GraphQL-Require-Preflight and
	// X-Apollo-Operation-Name are built in. Do not use a header that a proxy adds.
	PreflightHeaders []string
	// Cache is the Cache-Control of responses to GET without errors. Default "private, no-cache",
	// which requires revalidation with If-None-Match. Other responses have no-store. With "public",
	// shared caches serve a response to all users; a middleware must then set Vary to the headers
	// that responses depend on, such as Authorization.
	Cache string
	// Socket configures WebSockets.
	Socket Socket
	// Challenge is the value of WWW-Authenticate in responses with the error UNAUTHENTICATED.
	// Default "Bearer".
	Challenge string

	// NoPage disables the page for browsers.
	NoPage bool
	// Title is the heading of the page. Default "GraphQL".
	Title string
	// Page replaces the page by static files, such as a build of GraphiQL: a folder with index.html.
	// The other files are served below the path of the handler.
	Page fs.FS
	// PagePolicy is the Content-Security-Policy of Page. The default allows files of Page only.
	PagePolicy string

	// Logger receives internal errors, with the id that the response contains. Nil means that of the
	// catalog.
	Logger *slog.Logger
}

// Limits bounds a request. A field that is zero or negative has its default.
type Limits struct {
	// Body is the maximum size of a request body in bytes, before and after decompression. Default
	// 1 MiB. Variables that a document uses several times count for each use, up to four times this
	// size.
	Body int64
	// URL is the maximum size of the request target in bytes. Default 8192.
	URL int
	// Tokens is the maximum number of tokens of a document, without comments. Default 10,000.
	Tokens int
	// Nesting is the maximum depth of nested braces, brackets and parentheses of a document, and of
	// the JSON of variables. Default 60.
	Nesting int
	// Directives is the maximum number of directives in a document. Default 50.
	Directives int
	// Depth is the maximum number of levels of fields. Default 16. Introspection may have twice as
	// many.
	Depth int
	// RootFields is the maximum number of root fields of an operation. Default 100.
	RootFields int
	// Fields is the maximum number of fields of an operation, with fragments expanded. Default
	// 10,000.
	Fields int
	// Cost is the maximum number of objects that an operation may fetch, assuming full lists. A search
	// counts as 5,000 objects, but at most as a tenth of Cost, and as many again for its totalCount.
	// Default 50,000.
	Cost int
	// Answer is the maximum size of a response in bytes before compression, exceeded by at most one
	// field. Default 32 MiB. A larger response becomes an error without data.
	Answer int
	// Errors is the maximum number of validation errors in a response. Default 20.
	Errors int
	// Parallel is the maximum number of fields of an operation that are fetched concurrently.
	// Default 8.
	Parallel int
}

// setDefaults replaces values that are not set by defaults.
func (o *Options) setDefaults() {
	o.Limits.setDefaults()
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Persisted == 0 {
		o.Persisted = 4 << 20
	}
	if o.Cache == "" {
		o.Cache = "private, no-cache"
	}
	if o.Challenge == "" {
		o.Challenge = "Bearer"
	}
	if o.Title == "" {
		o.Title = "GraphQL"
	}
}

// setDefaults replaces values that are not positive by defaults.
func (l *Limits) setDefaults() {
	or := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	if l.Body <= 0 {
		l.Body = 1 << 20
	}
	or(&l.URL, 8192)
	or(&l.Tokens, 10_000)
	or(&l.Nesting, 60)
	or(&l.Directives, 50)
	or(&l.Depth, 16)
	or(&l.RootFields, 100)
	or(&l.Fields, 10_000)
	or(&l.Cost, 50_000)
	or(&l.Answer, 32<<20)
	or(&l.Errors, 20)
	or(&l.Parallel, 8)
}
