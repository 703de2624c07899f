package transportws

import (
	"context"
	"net/http"
	"weak"
)

// home is the server that a socket came over. It does not keep it.
type home = weak.Pointer[http.Server]

func homeOf(r *http.Request) home {
	server, _ := r.Context().Value(http.ServerContextKey).(*http.Server)
	return weak.Make(server)
}

// term is the time in which something may begin and go on.
type term struct {
	ctx context.Context // ends with it
	end context.CancelCauseFunc
}

func newTerm(within context.Context) *term {
	t := &term{}
	t.ctx, t.end = context.WithCancelCause(within)
	return t
}

func (t *term) over() bool { return t.ctx.Err() != nil }

// Ending returns a context that ends, with [ErrGoingAway] for its cause, when the server of a request is shut down, or
// Shutdown is called: for streams that are no sockets. It has no values.
func (s *Server) Ending(r *http.Request) context.Context {
	at := homeOf(r)
	s.hear(at)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.termOf(at).ctx
}

// termOf returns the term of a server, or of all if it is not known. The caller has locked.
func (s *Server) termOf(at home) *term {
	if t := s.homes[at]; t != nil {
		return t
	}
	return s.all
}

// hear has the sockets of an [http.Server] told when it is shut down, since it does not know them any more.
func (s *Server) hear(at home) {
	server := at.Value()
	if server == nil {
		return
	}
	s.mu.Lock()
	t, known := s.homes[at]
	if !known {
		t = newTerm(s.all.ctx)
		s.homes[at] = t
	}
	s.mu.Unlock()
	if !known {
		server.RegisterOnShutdown(func() {
			t.end(ErrGoingAway) // for those that are being upgraded just now
			s.leave(func(sock *socket) bool { return sock.home == at })
		})
	}
}

// leave ends the sockets in question, in order, and does not wait for that.
func (s *Server) leave(which func(*socket) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for sock := range s.sockets {
		if which(sock) {
			go sock.leaveNow(s.opts.Grace)
		}
	}
}

// welcomes reports whether the sockets of a server may begin: it does not end, nor do all.
func (s *Server) welcomes(at home) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.termOf(at).over()
}

// Shutdown tells all who are connected that the server is about to end, lets nobody else in, and returns when no socket is
// left. If ctx ends before, it cuts those off that are, and returns its error.
//
// When an [http.Server] is shut down, its sockets are told without that: Shutdown is for waiting.
func (s *Server) Shutdown(ctx context.Context) error {
	empty := s.stop()
	s.leave(func(*socket) bool { return true })
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

// stop lets no more sockets in, and returns what is closed when there are none.
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
