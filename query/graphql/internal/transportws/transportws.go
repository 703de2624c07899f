package transportws

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// socket is one client, from the upgrade to the end. It is in use until nobody holds it any more: the goroutine that reads,
// those of its operations, and what a timer has begun.
type socket struct {
	server *Server
	home   home // the server that it came over
	// principal is who has it, once that is known and counted; the server's mutex is for it.
	principal string
	conn      *websocket.Conn
	wire      *wire
	rate      bucket
	// out is full while somebody writes a message. It is no mutex, so that whoever waits for it sees the socket end.
	out chan struct{}

	life   context.Context // ends with the socket
	cancel context.CancelCauseFunc

	mu    sync.Mutex      // for what follows; held for moments, never while something is waited for
	ctx   context.Context // of operations: life, or what the handler made of it
	state state
	until time.Time // when what the client was allowed expires; zero is never
	ping  time.Time // when the peer is asked next whether it is there
	timer *time.Timer
	live  map[string]*operation
	busy  int           // operations that run, those too that the client has completed
	quiet chan struct{} // closed when no operation runs; nil while nobody waits for that
	holds int
	leave bool // the server is about to end
	ended bool // it is being closed
}

// state is how far the connection within the socket is.
type state uint8

const (
	opened       state = iota // the upgrade is done
	initiated                 // connection_init has come
	acknowledged              // operations may come
)

func newSocket(s *Server, r *http.Request) *socket {
	sock := &socket{server: s, home: homeOf(r), out: make(chan struct{}, 1)}
	sock.life, sock.cancel = values(r)
	sock.ctx = sock.life
	sock.rate = bucket{rate: s.opts.Rate, burst: s.opts.Burst}
	return sock
}

// start begins to read.
func (s *socket) start(conn *websocket.Conn) {
	s.mu.Lock()
	s.conn, s.holds = conn, 1
	s.ping = time.Now().Add(s.server.opts.Ping)
	s.timer = time.AfterFunc(s.server.opts.Wait, s.tick)
	s.mu.Unlock()
	switch {
	case !s.server.add(s):
		go s.endAndRelease(GoingAway, "Going away")
	case conn.Subprotocol() != Protocol:
		go s.endAndRelease(BadProtocol, "Subprotocol not acceptable")
	default:
		go s.readLoop()
	}
}

func (s *socket) endAndRelease(code int, reason string) {
	defer s.release()
	s.end(code, reason)
}

// hold keeps the socket in use. It fails if nobody uses it any more.
func (s *socket) hold() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holds == 0 {
		return false
	}
	s.holds++
	return true
}

func (s *socket) release() {
	s.mu.Lock()
	s.holds--
	last := s.holds == 0
	s.mu.Unlock()
	if last {
		s.server.remove(s)
	}
}

// readLoop reads until the socket ends.
func (s *socket) readLoop() {
	defer s.release()
	for {
		kind, r, err := s.conn.Reader(context.Background())
		if err != nil {
			s.drop()
			return
		}
		if err := s.take(kind, r); err != nil {
			s.fail(err)
			return
		}
		if s.isEnded() {
			return // whoever ends it reads the answer to the close frame
		}
	}
}

// take reads a message and does what it says. The buffer is borrowed as long as that takes, and not while the client says
// nothing.
func (s *socket) take(kind websocket.MessageType, r io.Reader) error {
	if !s.rate.take(time.Now()) {
		return &Close{PolicyViolation, "Too many messages"}
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	s.wire.readWithin(s.server.opts.Read)
	err := s.handleMessage(r, buf)
	s.wire.readWithin(0)
	if err != nil {
		return err
	}
	if kind != websocket.MessageText {
		return &Close{BadRequest, string(notText)}
	}
	m, wrong := parse(*buf)
	if wrong != "" {
		return &Close{BadRequest, string(wrong)}
	}
	return s.act(&m)
}

// handleMessage reads a message as large as it may be. Memory is taken for what has come and not for what is announced.
func (s *socket) handleMessage(r io.Reader, buf *[]byte) error {
	most := s.server.opts.Message
	for {
		if len(*buf) == cap(*buf) {
			*buf = append(*buf, 0)[:len(*buf)]
		}
		n, err := r.Read((*buf)[len(*buf):cap(*buf)])
		*buf = (*buf)[:len(*buf)+n]
		switch {
		case len(*buf) > most:
			return &Close{TooBig, "Message too large"}
		case err == io.EOF:
			return nil
		case err != nil:
			return errGone
		}
	}
}

// act does what a message says.
func (s *socket) act(m *message) error {
	switch m.kind {
	case "ping":
		return s.pong(m.payload)
	case "connection_init":
		return s.init(m.payload)
	case "subscribe":
		return s.subscribe(m)
	case "complete":
		return s.complete(m.id)
	}
	return nil // a pong, which says enough by having come
}

func (s *socket) pong(payload []byte) error {
	return s.send(nil, func(dst []byte) []byte { return appendPong(dst, payload) })
}

// init begins the connection within the socket. Other messages are read meanwhile, since those that must not come before its
// end are refused.
func (s *socket) init(payload []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != opened {
		return &Close{TooManyInits, "Too many initialisation requests"}
	}
	s.state = initiated
	s.holds++
	if payload != nil && payload[0] != '{' {
		payload = nil
	}
	go s.acknowledge(append([]byte(nil), payload...))
	return nil
}

func (s *socket) acknowledge(payload []byte) {
	defer s.release()
	err := s.safely(func() error {
		within, until, err := s.server.handler.Init(s.life, payload)
		if err != nil {
			return err
		}
		if within == nil {
			within = s.life
		}
		if !s.server.admit(within, s) {
			return &Close{PolicyViolation, "Too many connections"}
		}
		s.allow(within, until)
		return s.send(nil, func(dst []byte) []byte { return append(dst, `{"type":"connection_ack"}`...) })
	})
	if err != nil {
		s.fail(err)
	}
}

// allow lets operations come, until within ends or the time has come.
func (s *socket) allow(within context.Context, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx, s.state, s.until = within, acknowledged, until
	s.arm()
	if within != s.life {
		context.AfterFunc(within, s.forbid)
	}
}

// forbid ends a socket that may not go on, if it has not ended before.
func (s *socket) forbid() {
	if s.hold() {
		defer s.release()
		s.end(Forbidden, "Forbidden: the authorization has expired")
	}
}

// send writes a message: of an operation only while it is live. What fill appends is gone when send returns.
func (s *socket) send(op *operation, fill func(dst []byte) []byte) error {
	if !s.lock() {
		return errGone
	}
	defer s.unlock()
	if op != nil && !s.isLive(op) {
		return errGone
	}
	return s.writeMessage(fill)
}

// writeMessage writes a message. The caller has locked.
func (s *socket) writeMessage(fill func(dst []byte) []byte) error {
	buf := buffers.Get()
	defer buffers.Put(buf)
	*buf = fill(*buf)
	if err := s.conn.Write(context.Background(), websocket.MessageText, *buf); err != nil {
		return errGone
	}
	if s.wire.late.Load() {
		return &Close{TryAgainLater, "Too slow: messages were not read in time"}
	}
	return nil
}

// lock waits until nobody writes. It fails if the socket ends.
func (s *socket) lock() bool {
	select {
	case s.out <- struct{}{}:
	case <-s.life.Done():
		return false
	}
	if s.isEnded() {
		s.unlock()
		return false
	}
	return true
}

func (s *socket) unlock() { <-s.out }
