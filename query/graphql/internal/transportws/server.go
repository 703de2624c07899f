package transportws

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Protocol is the name of the subprotocol.
const Protocol = "graphql-transport-ws"

// Handler executes what clients ask for over sockets. Its methods are called by many goroutines.
type Handler interface {
	// Init decides on a connection_init message, whose payload is a JSON object, or nil if it has none. The context it is given
	// has the values of the request that was upgraded, and ends with the socket. The one it returns is that of all operations
	// and is derived from it; nil is the one given. At the time until, or when that context ends, what the connection was
	// allowed with expires, and the socket is closed with [Forbidden]; a zero time is never.
	//
	// A [Close] closes the socket, such as one with [Forbidden]. Any other error is the server's fault: it is logged, and the
	// socket closed with [InternalError].
	Init(ctx context.Context, payload []byte) (within context.Context, until time.Time, err error)
	// Operate executes a request: a JSON object with the members of a request over HTTP, of the right types. The bytes are the
	// Handler's. Operate is called in the goroutine in which the results are then asked for, so it may take its time.
	Operate(ctx context.Context, request []byte) Operation
}

// Operation is what becomes of a request.
type Operation struct {
	// Results yields execution results, each a JSON object, which is written as it stands and not kept. It is asked for the next when
	// the one before is written, and not any more when the client has completed the operation or is gone; its context ends then.
	//
	// An error is the last it yields: a [Refusal], which ends the operation; a [Close], which ends the socket; any other is the
	// server's fault: it is logged, and the socket closed with [InternalError].
	Results iter.Seq2[[]byte, error]
	// Stream says that the operation is a subscription: it ends when somebody ends it, and nobody waits for it.
	Stream bool
}

// Refusal is the error of an operation that is not executed, or not executed further. The operation ends with it.
type Refusal struct {
	// Errors is a JSON array of errors in the form that execution results have them. It is written after Results have ended, so
	// its memory is nobody else's.
	Errors []byte
}

// Error says that there is a refusal; what it says is for the client.
func (r *Refusal) Error() string { return "the operation is refused" }

// Options adjust a Server. The zero value is meaningful; nil is the zero value. What is below zero means the default, too.
type Options struct {
	// Origins are those from which pages of other sites may connect, such as "https://app.example.com", in lower case. Pages of the
	// own host always may, and what is no browser says no origin.
	Origins map[string]bool
	// Wait is how long a socket may be open without a connection_init; 3 seconds if zero.
	Wait time.Duration
	// Ping is how often the peer is asked whether it is there; 30 seconds if zero.
	Ping time.Duration
	// Write is how long the peer may take for a message; 10 seconds if zero.
	Write time.Duration
	// Read is how long a message may take from its first byte to its last, and a ping until it is answered; 10 seconds if zero.
	Read time.Duration
	// Grace is how long operations with one result may take when the server is about to end; 5 seconds if zero.
	Grace time.Duration
	// Message is the largest message that is read, in bytes; 1 MiB if zero.
	Message int
	// Operations is how many a socket may have at a time; 100 if zero.
	Operations int
	// Principal names who has a socket, by the context that Init returned; "" is nobody in particular. Sockets is how many one may
	// have at a time, 100 if zero. Without Principal there is no bound.
	Principal func(ctx context.Context) string
	Sockets   int
	// Rate is how many messages a second a client may send, and Burst how many at once; 100 and 300 if zero.
	Rate, Burst int
	// Logger is told of the server's faults. Nil means [slog.Default].
	Logger *slog.Logger
}

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

// Server has the sockets of a Handler. It is safe for concurrent use. Make one with [New].
type Server struct {
	handler Handler
	opts    Options

	mu      sync.Mutex
	sockets map[*socket]struct{}
	of      map[string]int // how many sockets principals have
	homes   map[home]*term // servers whose end is heard of
	all     *term          // of the sockets together
	empty   chan struct{}  // closed when there are no sockets any more; nil while nobody waits for that
}

// New returns a Server that has no sockets yet. opts may be nil. It panics if h is nil.
func New(h Handler, opts *Options) *Server {
	if h == nil {
		panic("socket: New needs a handler")
	}
	s := &Server{handler: h, sockets: map[*socket]struct{}{}, of: map[string]int{}, homes: map[home]*term{},
		all: newTerm(context.Background())}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.setDefaults()
	return s
}

// Asked reports whether a request asks for a WebSocket (RFC 6455 section 4.1), well or badly.
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

// Len returns how many sockets there are.
func (s *Server) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sockets)
}

// add makes a socket one of the server's, unless the server is about to end.
func (s *Server) add(sock *socket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.termOf(sock.home).over() {
		return false
	}
	s.sockets[sock] = struct{}{}
	return true
}

// admit counts a socket as one of its principal's, unless that one has as many as it may have.
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
	if s.of[name] >= s.opts.Sockets {
		return false
	}
	s.of[name]++
	sock.principal = name
	return true
}

func (s *Server) remove(sock *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sockets, sock)
	if name := sock.principal; name != "" {
		if s.of[name]--; s.of[name] == 0 {
			delete(s.of, name)
		}
	}
	if len(s.sockets) == 0 && s.empty != nil {
		close(s.empty)
		s.empty = nil
	}
}
