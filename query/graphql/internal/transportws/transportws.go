package transportws

// socket: its state, the loop that reads messages, and the lock for writing. operation.go runs
// operations, timer.go handles timeouts, close.go ends the socket.

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// socket is a connection of a client, from the upgrade to the end. It is registered with the server
// while holds is positive: for the goroutine that reads, for operations, and for timers.
type socket struct {
	server     *Server
	httpServer httpServer // the HTTP server
	// principal is set by Server.admit and guarded by the server's mutex.
	principal string
	conn      *websocket.Conn
	wire      *wire
	rate      bucket
	// out is a semaphore for writing, with capacity 1. It is not a mutex, so that waiting can end
	// with the socket.
	out chan struct{}

	life   context.Context // canceled when the socket ends
	cancel context.CancelCauseFunc

	mu      sync.Mutex      // guards the fields below; never held while waiting
	ctx     context.Context // parent context of operations: life, or the result of Handler.Init
	state   state
	until   time.Time // expiry of the authorization; zero means never
	ping    time.Time // time of the next ping
	timer   *time.Timer
	live    map[string]*operation
	busy    int           // goroutines of operations, including completed ones
	idle    chan struct{} // closed when busy is 0; nil if no shutdown waits
	holds   int
	closing bool // the server is shutting down
	ended   bool // the socket is closing or closed
}

// state is the progress of the connection initialisation.
type state uint8

const (
	opened       state = iota // upgraded
	initiated                 // connection_init has arrived
	acknowledged              // operations are accepted
)

// newSocket returns a socket for the request. start connects it.
func newSocket(s *Server, r *http.Request) *socket {
	sock := &socket{server: s, httpServer: httpServerOf(r.Context()), out: make(chan struct{}, 1)}
	sock.life, sock.cancel = values(r)
	sock.ctx = sock.life
	sock.rate = bucket{rate: s.opts.Rate, burst: s.opts.Burst}
	return sock
}

// start begins to read, or closes the socket if the server is shutting down or the subprotocol is
// not supported.
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

// endAndRelease ends a socket that does not read.
func (s *socket) endAndRelease(code int, reason string) {
	defer s.release()
	s.end(code, reason)
}

// hold keeps the socket registered. It returns false if it is not registered any more.
func (s *socket) hold() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holds == 0 {
		return false
	}
	s.holds++
	return true
}

// release ends a successful call of hold. The last call unregisters the socket.
func (s *socket) release() {
	s.mu.Lock()
	s.holds--
	last := s.holds == 0
	s.mu.Unlock()
	if last {
		s.server.remove(s)
	}
}

// readLoop reads messages until the socket ends.
func (s *socket) readLoop() {
	defer s.release()
	for {
		kind, r, err := s.conn.Reader(context.Background())
		if err != nil {
			s.drop()
			return
		}
		if err := s.receive(kind, r); err != nil {
			s.fail(err)
			return
		}
		if s.isEnded() {
			return // the goroutine that closes reads the close frame
		}
	}
}

// receive reads and handles a message. It has a buffer only while a message arrives and is handled.
func (s *socket) receive(kind websocket.MessageType, r io.Reader) error {
	if !s.rate.take(time.Now()) {
		return &Close{PolicyViolation, "Too many messages"}
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	s.wire.readWithin(s.server.opts.Read)
	err := s.readMessage(r, buf)
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
	return s.handle(&m)
}

// readMessage reads a message into buf, up to the limit. The buffer grows with the bytes
// received, not with the announced size.
func (s *socket) readMessage(r io.Reader, buf *[]byte) error {
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

// handle handles a message.
func (s *socket) handle(m *message) error {
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
	return nil // pong
}

// pong answers a ping.
func (s *socket) pong(payload []byte) error {
	return s.send(nil, func(dst []byte) []byte { return appendPong(dst, payload) })
}

// init handles connection_init in a new goroutine. Reading continues, so that messages before the
// acknowledgement are rejected.
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

// acknowledge calls Handler.Init and acknowledges the connection.
func (s *socket) acknowledge(payload []byte) {
	defer s.release()
	err := s.recovered(func() error {
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

// allow accepts operations until within is canceled, and at most until the given time.
func (s *socket) allow(within context.Context, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx, s.state, s.until = within, acknowledged, until
	s.arm()
	if within != s.life {
		context.AfterFunc(within, s.expire)
	}
}

// expire closes a socket after its authorization has expired.
func (s *socket) expire() {
	if s.hold() {
		defer s.release()
		s.end(Forbidden, "Forbidden: the authorization has expired")
	}
}

// send writes a message. If op is not nil, it returns errGone unless the operation is live. The
// buffer of fill is not used after send returns.
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

// writeMessage writes a message. The caller has called lock.
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

// lock acquires the right to write. It returns false if the socket ends.
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
