package transportws

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

// ServeHTTP makes a WebSocket of the connection, and returns; the socket goes on by itself. What cannot be upgraded is
// answered with a problem: 403 what comes from a page of a foreign origin, 426 what asks for no WebSocket, 503 while the server
// is about to end.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.welcome(r) {
		problem.Write(w, r, problem.New(problem.Forbidden, "Pages of other sites may not connect here."))
		return
	}
	sock := newSocket(s, r)
	s.hear(sock.home)
	if !s.welcomes(sock.home) {
		unavailable(w, r)
		return
	}
	if !canHijack(w) {
		problem.Write(w, r, problem.New(problem.NotImplemented,
			"WebSockets are not served over this connection."))
		return
	}
	h := &handshake{ResponseWriter: w, sock: sock}
	conn, err := websocket.Accept(h, r, &websocket.AcceptOptions{
		Subprotocols:       []string{Protocol},
		InsecureSkipVerify: true, // of the origin, which is looked at above
	})
	if err != nil {
		h.refuse(r)
		return
	}
	conn.SetReadLimit(-1) // ours counts: see message
	sock.start(conn)
}

func unavailable(w http.ResponseWriter, r *http.Request) {
	d := problem.New(problem.Unavailable, "The server is about to end.")
	d.Header = http.Header{"Retry-After": {"5"}}
	problem.Write(w, r, d)
}

// welcome reports whether somebody from this origin may connect. Browsers send it with every WebSocket (RFC 6455 section
// 10.2), and the cookies of whoever sits in front of them too, so that everything depends on it.
func (s *Server) welcome(r *http.Request) bool {
	origin := r.Header["Origin"]
	if len(origin) == 0 {
		return true
	}
	if len(origin) > 1 {
		return false
	}
	said := strings.ToLower(origin[0])
	// The scheme is not compared: behind a proxy that speaks TLS for us we do not know our own.
	_, host, ok := strings.Cut(said, "://")
	return s.opts.Origins[said] || ok && host == strings.ToLower(r.Host)
}

// handshake stands between the library and the connection. It sees to it that what is refused is a problem, as it is
// everywhere else, and that a socket has no larger buffers than it needs: the library takes those that it is given.
type handshake struct {
	http.ResponseWriter
	sock   *socket
	status int // of what the library refuses; zero if it does not
	taken  bool
}

// The library's buffers. Control frames, of at most 127 bytes, fit in the one for writing; of longer ones it passes the
// first part on and then the rest as it is, which wire puts together. Reading payloads needs none.
const (
	readBuffer  = 512
	writeBuffer = 128
)

// WriteHeader passes on that protocols are switched, and nothing else.
func (h *handshake) WriteHeader(status int) {
	if status == http.StatusSwitchingProtocols {
		h.ResponseWriter.WriteHeader(status)
		return
	}
	h.status = status
}

// Write drops what the library says about a refusal.
func (h *handshake) Write(p []byte) (int, error) { return len(p), nil }

// Hijack takes the connection over.
func (h *handshake) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.taken = true
	w := &wire{Conn: conn, within: h.sock.server.opts.Write}
	if n := rw.Reader.Buffered(); n > 0 { // a client in a hurry
		w.early = make([]byte, n)
		_, err = rw.Reader.Read(w.early)
	}
	h.sock.wire = w
	return w, bufio.NewReadWriter(bufio.NewReaderSize(w, readBuffer), bufio.NewWriterSize(w, writeBuffer)),
		err
}

// canHijack reports whether Hijack can succeed, which the library has to know before it says that it switches protocols.
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

// refuse answers what the library did not upgrade.
func (h *handshake) refuse(r *http.Request) {
	if h.taken {
		_ = h.sock.wire.Close() // nobody else will
		return
	}
	kind, detail := problem.BadRequest, "This is no handshake of a WebSocket."
	switch h.status {
	case http.StatusUpgradeRequired:
		detail = "This is served over WebSocket only."
	case http.StatusMethodNotAllowed:
		kind, detail = problem.MethodNotAllowed, "A WebSocket is asked for with GET."
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

// values is the context of a request without its end, which is when ServeHTTP returns.
func values(r *http.Request) (context.Context, context.CancelCauseFunc) {
	return context.WithCancelCause(context.WithoutCancel(r.Context()))
}

// timedOut reports whether an error is that of a deadline.
func timedOut(err error) bool {
	if err == nil {
		return false
	}
	var late net.Error
	return errors.As(err, &late) && late.Timeout()
}
