package socket

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

// hear has the sockets of an [http.Server] told when it is shut down, since it does not know them any more.
func (s *Server) hear(at home) {
	server := at.Value()
	if server == nil {
		return
	}
	s.mu.Lock()
	_, known := s.homes[at]
	if !known {
		s.homes[at] = true
	}
	s.mu.Unlock()
	if !known {
		server.RegisterOnShutdown(func() {
			s.mu.Lock()
			s.homes[at] = false // for those that are being upgraded just now
			s.mu.Unlock()
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
	open, known := s.homes[at]
	return !s.ending && (open || !known)
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
	s.ending = true
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
