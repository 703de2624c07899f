package middleware

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// ServerOptions adjust [Server]. The zero value is meaningful; nil is the zero value. A time or number below zero is no
// limit.
type ServerOptions struct {
	ReadHeaderTimeout time.Duration // for the header of a request; 5 seconds if zero
	ReadTimeout       time.Duration // for the whole of a request; 30 seconds if zero
	// from the header of a request to the end of its response; 1 minute if zero
	WriteTimeout   time.Duration
	IdleTimeout    time.Duration // between two requests; 2 minutes if zero
	MaxHeaderBytes int           // of the header of a request; 32 KiB if zero, to which net/http adds 4
	MaxStreams     int           // requests at once on one HTTP/2 connection; 100 if zero
	// UnencryptedHTTP2 serves HTTP/2 without TLS as well, to clients that know beforehand (RFC 9113 section 3.3).
	UnencryptedHTTP2 bool
	// Logger is told what goes wrong with connections. Nil means [slog.Default].
	Logger *slog.Logger
}

// Server returns a server of h that a slow or greedy client cannot hold for ever. An http.Server without limits waits for
// every client without end, and handlers cannot change that. [Timeout] moves the limits for single requests, in both
// directions: for streams, and for uploads over slow lines.
//
// It serves HTTP/1 and, over TLS, HTTP/2. Its fields may be set further before it serves. [Serve] ends it in order, and
// [Draining] tells handlers. opts may be nil. Server panics if h is nil.
func Server(h http.Handler, opts *ServerOptions) *http.Server {
	if h == nil {
		panic("middleware: Server needs a handler")
	}
	var o ServerOptions
	if opts != nil {
		o = *opts
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(o.UnencryptedHTTP2)
	draining := make(chan struct{})
	server := &http.Server{
		Handler:           h,
		Protocols:         &protocols,
		ReadHeaderTimeout: either(o.ReadHeaderTimeout, 5*time.Second),
		ReadTimeout:       either(o.ReadTimeout, 30*time.Second),
		WriteTimeout:      either(o.WriteTimeout, time.Minute),
		IdleTimeout:       either(o.IdleTimeout, 2*time.Minute),
		MaxHeaderBytes:    either(o.MaxHeaderBytes, 32<<10),
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: either(o.MaxStreams, 100)},
		ErrorLog:          slog.NewLogLogger(loggerOr(o.Logger).Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context {
			return context.WithValue(context.Background(), drainingKey{}, (<-chan struct{})(draining))
		},
	}
	server.RegisterOnShutdown(sync.OnceFunc(func() { close(draining) }))
	return server
}

// either is the value, or the default if it is zero.
func either[T int | int64 | time.Duration](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}

type drainingKey struct{}

// Draining returns a channel that is closed when the [Server] that serves the request of ctx is told to end: what would go on
// without end, such as a stream of events, ends then, and [Health] says that no new requests are wanted. For other servers
// it is nil.
func Draining(ctx context.Context) <-chan struct{} {
	c, _ := ctx.Value(drainingKey{}).(<-chan struct{})
	return c
}

// ServeOptions adjust [Serve]. The zero value is meaningful; nil is the zero value.
type ServeOptions struct {
	// Drain is how long requests in flight may take once the server is told to end; 10 seconds if zero.
	Drain time.Duration
	// Then is done when no request is in flight any more, or none may be, with what is left of Drain: it ends what requests
	// have begun, such as jobs. Nil is nothing.
	Then func(ctx context.Context) error
}

// Serve serves what comes to the listener until ctx ends, and then drains: it takes no new connections, waits until the
// requests in flight are answered, cuts off those that are not within the time, and returns. The error is nil if all were
// answered.
//
// A second signal need not wait. This ends the process at once on it:
//
//	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
//	context.AfterFunc(ctx, stop)
//	err := middleware.Serve(ctx, middleware.Server(h, nil), listener, nil)
//
// A server with a TLSConfig that has certificates serves TLS. opts may be nil.
func Serve(ctx context.Context, server *http.Server, listener net.Listener, opts *ServeOptions) error {
	var o ServeOptions
	if opts != nil {
		o = *opts
	}
	failed := make(chan error, 1)
	go func() { failed <- serve(server, listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), either(o.Drain, 10*time.Second))
	defer cancel()
	err := server.Shutdown(drain)
	if err != nil {
		err = errors.Join(err, server.Close()) // whoever is not done now will never be
	}
	if o.Then != nil {
		err = errors.Join(err, o.Then(drain))
	}
	return err
}

func serve(server *http.Server, listener net.Listener) error {
	if c := server.TLSConfig; c != nil && (len(c.Certificates) > 0 || c.GetCertificate != nil) {
		return server.ServeTLS(listener, "", "")
	}
	return server.Serve(listener)
}
