package transportws

// The HTTP handshake of a WebSocket.

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"github.com/stoa-go/stoa/resource/problem"
)

// ServeHTTP upgrades the connection to a WebSocket and returns; the socket continues in its own
// goroutines. A request that cannot be upgraded receives a problem: 403 for a foreign origin, 426
// if it does not ask for a WebSocket, and 503 during a shutdown.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.checkOrigin(r) {
		problem.Write(w, r, problem.New(problem.Forbidden, "The Origin of this request is not allowed."))
		return
	}
	sock := newSocket(s, r)
	s.watchShutdown(sock.httpServer)
	if !s.accepting(sock.httpServer) {
		unavailable(w, r)
		return
	}
	if !canHijack(w) {
		problem.Write(w, r, problem.New(problem.NotImplemented,
			"The connection does not support WebSocket."))
		return
	}
	h := &handshake{ResponseWriter: w, sock: sock}
	conn, err := websocket.Accept(h, r, &websocket.AcceptOptions{
		Subprotocols:       []string{Protocol},
		InsecureSkipVerify: true, // checkOrigin has checked the origin
	})
	if err != nil {
		h.refuse(r)
		return
	}
	conn.SetReadLimit(-1) // readMessage has a limit
	sock.start(conn)
}

// unavailable writes the response for a request during a shutdown.
func unavailable(w http.ResponseWriter, r *http.Request) {
	d := problem.New(problem.Unavailable, "The server is shutting down. Try again later.")
	d.Header = http.Header{"Retry-After": {"5"}}
	problem.Write(w, r, d)
}

// checkOrigin checks the header Origin, which browsers send with each WebSocket handshake (RFC 6455
// section 10.2). Without this check, any page could open a socket with the cookies of the user.
func (s *Server) checkOrigin(r *http.Request) bool {
	origin := r.Header["Origin"]
	if len(origin) == 0 {
		return true
	}
	if len(origin) > 1 {
		return false
	}
	value := strings.ToLower(origin[0])
	// The scheme is not compared, because it is not known if a proxy terminates TLS.
	_, host, ok := strings.Cut(value, "://")
	return s.opts.Origins[value] || ok && host == strings.ToLower(r.Host)
}

// handshake is the ResponseWriter that is passed to the WebSocket library. It replaces the
// library's error responses by problems, and limits the buffers of the connection.
type handshake struct {
	http.ResponseWriter
	sock   *socket
	status int // status of the library's error response; zero if there is none
	taken  bool
}

// Sizes of the library's buffers. Control frames of at most 127 bytes fit into the write buffer.
// The library writes longer frames in two parts, which wire joins. It reads payloads without the
// read buffer.
const (
	readBuffer  = 512
	writeBuffer = 128
)

// WriteHeader passes on status 101 and records any other. Flush follows, because the ResponseWriter of
// gin and those of compressing middleware keep the status until the first bytes of a body, which a
// hijacked connection does not have.
func (h *handshake) WriteHeader(status int) {
	if status != http.StatusSwitchingProtocols {
		h.status = status
		return
	}
	h.ResponseWriter.WriteHeader(status)
	_ = http.NewResponseController(h.ResponseWriter).Flush() // Hijack reports a broken connection
}

// Write discards the body of the library's error response.
func (h *handshake) Write(p []byte) (int, error) { return len(p), nil }

// Hijack implements [http.Hijacker]. It wraps the connection in a wire.
func (h *handshake) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.taken = true
	w := &wire{Conn: conn, within: h.sock.server.opts.Write}
	if n := rw.Reader.Buffered(); n > 0 { // messages that arrived with the request
		w.early = make([]byte, n)
		_, err = rw.Reader.Read(w.early)
	}
	h.sock.wire = w
	return w, bufio.NewReadWriter(bufio.NewReaderSize(w, readBuffer), bufio.NewWriterSize(w, writeBuffer)),
		err
}

// canHijack reports whether Hijack can succeed. The library would otherwise detect this after it
// has written status 101.
func canHijack(w http.ResponseWriter) bool {
	for {
		switch t := w.(type) {
		case http.Hijacker:
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			w = t.Unwrap()
		default:
			return false
		}
	}
}

// refuse writes the response for a failed handshake.
func (h *handshake) refuse(r *http.Request) {
	if h.taken {
		_ = h.sock.wire.Close() // the library has not closed it
		return
	}
	kind, detail := problem.BadRequest, "The request is not a valid WebSocket handshake."
	switch h.status {
	case http.StatusUpgradeRequired:
		detail = "The path is served over WebSocket only."
	case http.StatusMethodNotAllowed:
		kind, detail = problem.MethodNotAllowed, "A WebSocket handshake must be a GET request."
		h.Header().Set("Allow", "GET")
	}
	h.Header().Del("Sec-Websocket-Accept")
	if h.status != http.StatusUpgradeRequired {
		h.Header().Del("Upgrade")
		h.Header().Del("Connection")
	}
	d := problem.New(kind, detail)
	d.Status = h.status
	problem.Write(h.ResponseWriter, r, d)
}

// values returns a context with the values of a request, which is not canceled when ServeHTTP
// returns.
func values(r *http.Request) (context.Context, context.CancelCauseFunc) {
	return context.WithCancelCause(context.WithoutCancel(r.Context()))
}

// timedOut reports whether err is a timeout.
func timedOut(err error) bool {
	if err == nil {
		return false
	}
	var late net.Error
	return errors.As(err, &late) && late.Timeout()
}
