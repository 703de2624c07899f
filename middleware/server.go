package middleware

// A server with timeouts, and its graceful shutdown.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
)

// ServerOptions configures [Server]. Nil means the zero value. Negative times and numbers mean no
// limit.
type ServerOptions struct {
	ReadHeaderTimeout time.Duration // for the header of a request; default 5s
	ReadTimeout       time.Duration // for a whole request; default 30s
	// from the header of a request to the end of its response; default 1m
	WriteTimeout   time.Duration
	IdleTimeout    time.Duration // between two requests; default 2m
	MaxHeaderBytes int           // of the header of a request; default 32 KiB, and net/http adds 4 KiB
	MaxStreams     int           // concurrent requests per HTTP/2 connection; default 100
	// UnencryptedHTTP2 also serves HTTP/2 without TLS to clients with prior knowledge (RFC 9113
	// section 3.3). Default false.
	UnencryptedHTTP2 bool
	// Logger receives connection errors. Default [slog.Default].
	Logger *slog.Logger
}

// Server returns a server for h with limits on time and size, which the zero [http.Server] does not
// have. Without them a slow client can occupy a connection forever. [Timeout] changes the limits
// for single requests, for example for streams and large uploads.
//
// The server supports HTTP/1 and, over TLS, HTTP/2. Its fields may be changed before it serves.
// [Serve] runs it with a graceful shutdown, which handlers can observe with [Draining]. opts may be
// nil. Server panics if h is nil.
func Server(h http.Handler, opts *ServerOptions) *http.Server {
	if h == nil {
		panic("middleware: Server: handler is nil; pass the handler to serve")
	}
	if v := reflect.ValueOf(h); v.Kind() == reflect.Pointer && v.IsNil() {
		panic(fmt.Sprintf("middleware: Server: handler is a nil %T; pass an initialized one", h))
	}
	var o ServerOptions
	if opts != nil {
		o = *opts
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(o.UnencryptedHTTP2)
	d := &drain{begun: make(chan struct{})}
	d.begin = sync.OnceFunc(func() { close(d.begun) })
	server := &http.Server{
		Handler:           h,
		Protocols:         &protocols,
		ReadHeaderTimeout: orDefault(o.ReadHeaderTimeout, 5*time.Second),
		ReadTimeout:       orDefault(o.ReadTimeout, 30*time.Second),
		WriteTimeout:      orDefault(o.WriteTimeout, time.Minute),
		IdleTimeout:       orDefault(o.IdleTimeout, 2*time.Minute),
		MaxHeaderBytes:    orDefault(o.MaxHeaderBytes, 32<<10),
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: orDefault(o.MaxStreams, 100)},
		ErrorLog:          slog.NewLogLogger(loggerOrDefault(o.Logger).Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context {
			return context.WithValue(context.Background(), drainKey{}, d)
		},
	}
	server.RegisterOnShutdown(d.begin)
	return server
}

// orDefault returns value, or otherwise if value is zero.
func orDefault[T int | int64 | time.Duration](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}

type drainKey struct{}

// drain is the beginning of the shutdown of a server.
type drain struct {
	begun chan struct{}
	begin func() // closes begun; may be called several times
}

// Draining returns a channel that is closed when the [Server] that handles the request of ctx
// begins to shut down, at the beginning of [ServeOptions].Notice. Handlers of long-lived responses,
// such as event streams, should then end them. Draining returns nil for other servers.
func Draining(ctx context.Context) <-chan struct{} {
	if d, ok := ctx.Value(drainKey{}).(*drain); ok {
		return d.begun
	}
	return nil
}

// ServeOptions configures [Serve]. Nil means the zero value.
type ServeOptions struct {
	// Notice is how long a shutdown still accepts connections, so that load balancers can read from
	// [Health] that the server is about to close. Set it to more than the interval of their checks
	// times the number of failures that they need. Default 0, for servers without a load balancer.
	Notice time.Duration
	// Drain is how long a shutdown waits for requests in flight, after Notice. Default 10s.
	Drain time.Duration
	// Then is called after the requests have ended or been canceled, with a context that has the
	// rest of Drain. It stops work that requests have started, such as jobs. Nil means nothing.
	Then func(ctx context.Context) error
}

// Serve serves connections of the listener until ctx is done, and then shuts down:
//
//  1. The channel of [Draining] is closed, and [Health] reports 503. For the time of Notice, Serve
//     responds to requests, with Connection: close, and accepts connections.
//  2. The listener is closed. Serve waits for the requests in flight, and closes connections that
//     exceed the Drain time.
//
// The error is nil if all requests were completed.
//
// To end the process immediately on a second signal:
//
//	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
//	context.AfterFunc(ctx, stop)
//	err := middleware.Serve(ctx, middleware.Server(h, nil), listener, nil)
//
// A server with certificates in its TLSConfig serves TLS. opts may be nil.
func Serve(ctx context.Context, server *http.Server, listener net.Listener, opts *ServeOptions) error {
	var o ServeOptions
	if opts != nil {
		o = *opts
	}
	var closing atomic.Bool
	server.Handler = closeConnections(server.Handler, &closing)
	failed := make(chan error, 1)
	go func() { failed <- serve(server, listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	closing.Store(true)
	if server.BaseContext != nil {
		if d, ok := server.BaseContext(listener).Value(drainKey{}).(*drain); ok {
			d.begin()
		}
	}
	select {
	case err := <-failed:
		return err
	case <-time.After(o.Notice):
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), orDefault(o.Drain, 10*time.Second))
	defer cancel()
	err := server.Shutdown(drain)
	if err != nil {
		err = errors.Join(err, server.Close()) // close the remaining connections
	}
	if o.Then != nil {
		err = errors.Join(err, o.Then(drain))
	}
	return err
}

// closeConnections ends the connection of each request after its response while closing is true. Idle
// connections stay open: a client may send a request at the moment at which the server closes one.
func closeConnections(h http.Handler, closing *atomic.Bool) http.Handler {
	if h == nil {
		h = http.DefaultServeMux
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if closing.Load() && r.Header["Upgrade"] == nil {
			w.Header().Set("Connection", "close") // also ends connections of HTTP/2
		}
		h.ServeHTTP(w, r)
	})
}

// serve serves TLS if the server has a certificate.
func serve(server *http.Server, listener net.Listener) error {
	if c := server.TLSConfig; c != nil && (len(c.Certificates) > 0 || c.GetCertificate != nil) {
		return server.ServeTLS(listener, "", "")
	}
	return server.Serve(listener)
}
