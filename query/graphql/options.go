package graphql

import (
	"io/fs"
	"log/slog"
	"time"
)

// Options adjust [New]. The zero value is fine.
type Options struct {
	// Description says what the schema is about, in CommonMark; it is what the page and tools show first.
	Description string
	// Names are the GraphQL names of the types of items, by the names of their resources: {"people": "Person"}. A resource
	// that is not among them is called like its Go type if that fits, and else like its items in media types.
	Names map[string]string
	// Fields are root fields and computed fields in Go code, beside those that the catalog gives: see [Query], [Mutation]
	// and [Computed].
	Fields []Field

	// Limits bound what a request may ask for.
	Limits Limits
	// Timeout is how long the execution of one request may take; 30 seconds if zero, and forever if negative. What is not
	// there by then is an error. It reaches the stores with the context, and should be shorter than the WriteTimeout of the
	// server, which cuts the answer off.
	Timeout time.Duration
	// PlanBytes bounds the memory in which plans of documents are kept for the next time; 16 MiB if zero, and none if
	// negative.
	PlanBytes int

	// NoIntrospection refuses __schema and __type, and does not serve the SDL. What can be asked is then known to those who
	// were told; it is no protection of anything else, which Authorize is.
	NoIntrospection bool
	// Trusted are the only documents that are answered, if it is not nil: see [Documents].
	Trusted Documents
	// Persisted bounds the memory in which documents are kept whose hash a client wants to send instead of the text
	// (automatic persisted queries), in bytes; 4 MiB if zero, and none if negative. Trusted documents need none of it.
	Persisted int
	// Batch is the largest number of requests that one POST may bring in an array; zero, the default, refuses arrays. Each
	// is executed after the one before, and has the Limits and the Timeout to itself.
	Batch int

	// Origins are those from which pages of other sites may ask, such as "https://app.example.com", beside the door's own.
	// They are let through here; that browsers send their requests and show them the answers is for a middleware to say
	// (CORS).
	Origins []string
	// PreflightHeaders are header fields of your own by which a GET from another site shows that a browser has asked for
	// permission before sending it; X-Requested-With, Apollo-Require-Preflight, GraphQL-Require-Preflight and
	// X-Apollo-Operation-Name always do. Name none that a proxy adds.
	PreflightHeaders []string
	// Cache is the Cache-Control of answers without errors to GET; "private, no-cache" if empty: whoever keeps one asks
	// again each time, and is told 304 if it still holds. All else is no-store. What says public lets caches that are shared
	// give an answer to everybody: then Vary must say what it depends on, such as Authorization, which a middleware adds.
	Cache string
	// Socket adjusts WebSockets, and says who may connect.
	Socket Socket
	// Challenge is the WWW-Authenticate value of answers with an error UNAUTHENTICATED, "Bearer" if empty.
	Challenge string

	// NoPage serves no page to browsers.
	NoPage bool
	// Title is the heading of the page; "GraphQL" if empty.
	Title string
	// Page is a page of your own in place of ours: a folder with an index.html, the other files of which are served below
	// the path of the door.
	Page fs.FS
	// PagePolicy is the Content-Security-Policy of Page; if empty, one that admits these files and nothing else.
	PagePolicy string
	// GraphiQL serves GraphiQL in place of our page, unless Page is there. It is loaded from cdn.jsdelivr.net, pinned by
	// hashes.
	GraphiQL bool

	// Logger is told of what clients are not: internal errors, with the id that the answer carried. Nil means
	// [slog.Default].
	Logger *slog.Logger
}

// Limits bound a request. A field that is zero or negative means its default, which is the number given here.
type Limits struct {
	// Body is the largest content in bytes, before and after decompression; 1 MiB. Variables that a document uses several
	// times may have four times as much, each counted as often.
	Body int64
	// URL is the largest request target in bytes; 8192.
	URL int
	// Tokens is how many a document may have, comments apart; 10,000.
	Tokens int
	// Nesting is how deep braces, brackets and parentheses of a document, and the JSON of variables, stand in each other; 60.
	Nesting int
	// Directives is how many a document may use; 50.
	Directives int
	// Depth is how many levels of fields stand in each other; 16. Introspection may go twice as deep.
	Depth int
	// RootFields is how many fields an operation selects at its root; 100.
	RootFields int
	// Fields is how many fields an operation selects in all, each as often as fragments bring it; 10,000.
	Fields int
	// Cost is how many objects one operation may ask for, each list counted with all that it may hold; 50,000.
	Cost int
	// Answer is how many bytes an answer may have, before it is compressed, give or take a field; 32 MiB. What is longer is
	// an error without data.
	Answer int
	// Errors is how many errors of validation an answer tells; 20. Nobody looks for more.
	Errors int
	// Parallel is how many fields of one operation are fetched at a time; 8.
	Parallel int
}

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
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
}

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
