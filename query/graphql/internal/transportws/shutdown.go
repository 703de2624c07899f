package transportws

import (
	"context"
	"net/http"
	"weak"
)

// httpServer identifies the HTTP server of a socket without keeping it in memory.
type httpServer = weak.Pointer[http.Server]

// httpServerOf returns the HTTP server of the context of a request. It is zero if there is none.
func httpServerOf(ctx context.Context) httpServer {
	server, _ := ctx.Value(http.ServerContextKey).(*http.Server)
	return weak.Make(server)
}

// term is the lifetime of an HTTP server or of a Server.
type term struct {
	ctx context.Context // canceled at the end of the lifetime
	end context.CancelCauseFunc
}

// newTerm returns a term that ends at the latest with within.
func newTerm(within context.Context) *term {
	t := &term{}
	t.ctx, t.end = context.WithCancelCause(within)
	return t
}

// over reports whether the term has ended.
func (t *term) over() bool { return t.ctx.Err() != nil }

// Ending returns a context that is canceled, with [ErrGoingAway] as cause, when the HTTP server of
// the context shuts down or Shutdown is called. It is for streams over HTTP. The result has no values.
func (s *Server) Ending(of context.Context) context.Context {
	at := httpServerOf(of)
	s.watchShutdown(at)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.termOf(at).ctx
}

// termOf returns the term of an HTTP server, or that of s if it is not registered. The caller holds
// s.mu.
func (s *Server) termOf(at httpServer) *term {
	if t := s.terms[at]; t != nil {
		return t
	}
	return s.all
}

// watchShutdown registers with an [http.Server] to close its sockets on shutdown. An http.Server does not
// track upgraded connections.
func (s *Server) watchShutdown(at httpServer) {
	server := at.Value()
	if server == nil {
		return
	}
	s.mu.Lock()
	t, known := s.terms[at]
	if !known {
		t = newTerm(s.all.ctx)
		s.terms[at] = t
	}
	s.mu.Unlock()
	if !known {
		server.RegisterOnShutdown(func() {
			t.end(ErrGoingAway) // for upgrades in progress
			s.closeSockets(func(sock *socket) bool { return sock.httpServer == at })
		})
	}
}

// closeSockets starts a graceful close of the sockets for which which returns true.
func (s *Server) closeSockets(which func(*socket) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for sock := range s.sockets {
		if which(sock) {
			go sock.closeGracefully(s.opts.Grace)
		}
	}
}

// accepting reports whether new sockets of an HTTP server are accepted, because neither it nor s is
// shutting down.
func (s *Server) accepting(at httpServer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.termOf(at).over()
}

// Shutdown closes all sockets with [GoingAway], rejects new ones, and waits until all are closed.
// If ctx is done first, Shutdown drops the remaining connections and returns the cause of ctx.
//
// A shutdown of the [http.Server] closes its sockets without a call of Shutdown, which is only
// needed to wait for them.
func (s *Server) Shutdown(ctx context.Context) error {
	empty := s.stop()
	s.closeSockets(func(*socket) bool { return true })
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for sock := range s.sockets {
		go sock.drop()
	}
	return context.Cause(ctx)
}

// stop rejects new sockets and returns a channel that is closed when there are none left.
func (s *Server) stop() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all.end(ErrGoingAway)
	if s.empty == nil {
		s.empty = make(chan struct{})
	}
	empty := s.empty
	if len(s.sockets) == 0 {
		close(s.empty)
		s.empty = nil
	}
	return empty
}
