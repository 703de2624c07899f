package transportws

// Server, its options, and the interface of its handler.

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Protocol is the name of the WebSocket subprotocol.
const Protocol = "graphql-transport-ws"

// Handler executes the operations of sockets. Its methods are called concurrently.
type Handler interface {
	// Init handles a connection_init message. payload is a JSON object, or nil if absent. ctx has
	// the values of the upgrade request and is canceled when the socket closes.
	//
	// The result within is the context for all operations. It must be derived from ctx; nil means
	// ctx. The socket is closed with [Forbidden] when within is canceled or at the time until. A
	// zero until means no expiry.
	//
	// If err is a [*Close], the socket is closed with its code. Any other error is logged, and the
	// socket is closed with [InternalError].
	Init(ctx context.Context, payload []byte) (within context.Context, until time.Time, err error)
	// Operate executes a request: a JSON object with the members of a GraphQL request over HTTP,
	// which have the right types. The Handler may keep request. Operate is called in the goroutine
	// of the operation, so it may block.
	Operate(ctx context.Context, request []byte) Operation
}

// Operation is the execution of a request.
type Operation struct {
	// Results yields execution results, each a JSON object. The socket writes the bytes and does
	// not keep them. The next result is requested when the previous one is written. If the client
	// completes the operation or disconnects, ctx is canceled and no further result is requested.
	//
	// An error ends the iteration. A [*Refusal] ends the operation with an error message. A
	// [*Close] closes the socket. Any other error is logged, and the socket is closed with
	// [InternalError].
	Results iter.Seq2[[]byte, error]
	// Stream reports that the operation is a subscription, which does not end by itself. A shutdown
	// cancels it; it waits for other operations.
	Stream bool
}

// Refusal is an error that ends an operation with an error message.
type Refusal struct {
	// Errors is a JSON array of GraphQL errors. It is written after the iteration has ended.
	Errors []byte
}

// Error returns a constant text. Errors is for the client.
func (r *Refusal) Error() string { return "the operation is rejected" }

// Options configures a [Server]. Nil means the zero value. Values that are zero or negative mean
// the default.
type Options struct {
	// Origins are the allowed origins of cross-origin pages, such as "https://app.example.com", in
	// lower case. Pages of the same host are always allowed, and clients that are not browsers send
	// no origin.
	Origins map[string]bool
	// Wait is the maximum time until connection_init arrives. Default 3s.
	Wait time.Duration
	// Ping is the interval between pings. Default 30s.
	Ping time.Duration
	// Write is the maximum time in which a client must read a message. Default 10s.
	Write time.Duration
	// Read is the maximum time from the first to the last byte of a message, and until a ping is
	// answered. Default 10s.
	Read time.Duration
	// Grace is the time that a shutdown waits for operations with a single result. Default 5s.
	Grace time.Duration
	// Message is the maximum size of a message in bytes. Default 1 MiB.
	Message int
	// Operations is the maximum number of concurrent operations of a socket. Default 100.
	Operations int
	// Principal returns the principal of a socket from the context that Init returned, or "" if
	// there is none. Sockets is the maximum number of sockets of a principal. Default 100. If
	// Principal is nil, or for "", the number is not limited.
	Principal func(ctx context.Context) string
	Sockets   int
	// Rate is the maximum number of messages per second of a client, and Burst the maximum number
	// at once. Defaults 100 and 300.
	Rate, Burst int
	// Logger receives internal errors. Nil means [slog.Default].
	Logger *slog.Logger
}

// setDefaults replaces values that are not set by defaults.
func (o *Options) setDefaults() {
	span := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	number := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	span(&o.Wait, 3*time.Second)
	span(&o.Ping, 30*time.Second)
	span(&o.Write, 10*time.Second)
	span(&o.Read, 10*time.Second)
	span(&o.Grace, 5*time.Second)
	number(&o.Message, 1<<20)
	number(&o.Operations, 100)
	number(&o.Sockets, 100)
	number(&o.Rate, 100)
	number(&o.Burst, 300)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
}

// Server serves WebSockets. It is safe for concurrent use. Create it with [New].
type Server struct {
	handler Handler
	opts    Options

	mu           sync.Mutex
	sockets      map[*socket]struct{}
	perPrincipal map[string]int       // number of sockets by principal
	terms        map[httpServer]*term // lifetimes of the HTTP servers that this Server has registered with
	all          *term                // lifetime of the Server
	// closed when the last socket is removed; nil while Shutdown does not wait
	empty chan struct{}
}

// New returns a Server without sockets. opts may be nil. New panics if h is nil.
func New(h Handler, opts *Options) *Server {
	if h == nil {
		panic("transportws: New: handler is nil")
	}
	s := &Server{handler: h, sockets: map[*socket]struct{}{}, perPrincipal: map[string]int{},
		terms: map[httpServer]*term{},
		all:   newTerm(context.Background())}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.setDefaults()
	return s
}

// Asked reports whether a request asks for a WebSocket upgrade (RFC 6455 section 4.1). The request
// may still be invalid.
func Asked(r *http.Request) bool {
	for _, line := range r.Header["Upgrade"] {
		for token := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(token), "websocket") {
				return true
			}
		}
	}
	return false
}

// Len returns the number of sockets.
func (s *Server) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets)
}

// add registers a socket. It returns false if the server is shutting down.
func (s *Server) add(sock *socket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.termOf(sock.httpServer).over() {
		return false
	}
	s.sockets[sock] = struct{}{}
	return true
}

// admit counts a socket for its principal. It returns false if the limit is reached.
func (s *Server) admit(ctx context.Context, sock *socket) bool {
	if s.opts.Principal == nil {
		return true
	}
	name := s.opts.Principal(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if name == "" {
		return true
	}
	if s.perPrincipal[name] >= s.opts.Sockets {
		return false
	}
	s.perPrincipal[name]++
	sock.principal = name
	return true
}

// remove unregisters a socket.
func (s *Server) remove(sock *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sockets, sock)
	if name := sock.principal; name != "" {
		if s.perPrincipal[name]--; s.perPrincipal[name] == 0 {
			delete(s.perPrincipal, name)
		}
	}
	if len(s.sockets) == 0 && s.empty != nil {
		close(s.empty)
		s.empty = nil
	}
}
