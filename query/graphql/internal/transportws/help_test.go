package transportws_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/query/graphql/internal/transportws"
)

// site is a server with sockets over pipes, in a synctest bubble, so that no test depends on the
// speed of the machine.
type site struct {
	*transportws.Server
	HTTP   *http.Server
	Log    *strings.Builder // to read when no goroutine runs
	Script *script
	pipes  pipes
}

func newSite(t *testing.T, opts *transportws.Options) *site {
	t.Helper()
	s := &site{Log: &strings.Builder{}, Script: &script{}}
	var o transportws.Options
	if opts != nil {
		o = *opts
	}
	o.Logger = slog.New(slog.NewTextHandler(s.Log, nil))
	s.Server = transportws.New(s.Script, &o)
	s.listen(t)
	return s
}

// listen serves HTTP until the test ends.
func (s *site) listen(t *testing.T) {
	t.Helper()
	s.pipes = pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	server, listener := &http.Server{Handler: s.Server}, s.pipes
	s.HTTP = server
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		server.Close()
		<-done
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error("sockets are left:", err)
		}
	})
}

// pipes is a listener without a network.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (s pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-s.conns:
		return conn, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

func (s pipes) Close() error {
	close(s.closed)
	return nil
}

func (s pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// probe is a client that sends only what a test requests.
type probe struct {
	t      *testing.T
	conn   net.Conn
	r      *bufio.Reader
	frames chan frame // all frames except pings
	pings  atomic.Int32
	deaf   atomic.Bool // do not respond to pings
	writes *atomic.Int32
	began  time.Time
	Answer *http.Response
}

// counted counts calls of Write.
type counted struct {
	net.Conn
	writes *atomic.Int32
}

func (c counted) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

type frame struct {
	head    byte // first byte of the frame
	payload []byte
}

const (
	continuation = 0x0
	text         = 0x1
	binaryData   = 0x2
	closing      = 0x8
	ping         = 0x9
	pong         = 0xa
	fin          = 0x80
)

// upgrade returns a handshake request.
func upgrade(lines ...string) string {
	return "GET /graphql HTTP/1.1\r\nHost: api.example.com\r\nConnection: keep-alive, " +
		"Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
		strings.Join(lines, "\r\n")
}

const speaks = "Sec-WebSocket-Protocol: graphql-transport-ws"

// ask sends the head of a request, or other bytes, and reads the response.
func (s *site) ask(t *testing.T, head string) *probe {
	t.Helper()
	client, server := net.Pipe()
	writes := new(atomic.Int32)
	select {
	case s.pipes.conns <- counted{server, writes}:
	case <-s.pipes.closed:
		t.Fatal("the server listens no more")
	}
	p := &probe{t: t, conn: client, r: bufio.NewReader(client), frames: make(chan frame, 10_000),
		writes: writes, began: time.Now()}
	t.Cleanup(func() { client.Close() })
	if !strings.Contains(head, "\r\n\r\n") {
		head += "\r\n\r\n"
	}
	go io.WriteString(client, head)
	var err error
	if p.Answer, err = http.ReadResponse(p.r, nil); err != nil {
		t.Fatal(err)
	}
	return p
}

// dial opens a WebSocket and reads frames.
func (s *site) dial(t *testing.T) *probe {
	t.Helper()
	p := s.ask(t, upgrade(speaks))
	if p.Answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the upgrade is answered with %s", p.Answer.Status)
	}
	go p.read()
	return p
}

// connect is dial with an acknowledged connection.
func (s *site) connect(t *testing.T) *probe {
	t.Helper()
	p := s.dial(t)
	p.talk(`> {"type":"connection_init"}`, `< {"type":"connection_ack"}`)
	return p
}

// read reads frames until the connection ends. It responds to pings.
func (p *probe) read() {
	defer close(p.frames)
	for {
		f, err := p.next()
		if err != nil {
			return
		}
		if f.head&0xf != ping {
			p.frames <- f
			continue
		}
		p.pings.Add(1)
		if !p.deaf.Load() {
			go p.write(fin|pong, f.payload)
		}
	}
}

// next reads a frame. Frames of a server are not masked (RFC 6455 section 5.1).
func (p *probe) next() (frame, error) {
	var head [8]byte
	if _, err := io.ReadFull(p.r, head[:2]); err != nil {
		return frame{}, err
	}
	f, n, more := frame{head: head[0]}, uint64(head[1]), 0
	switch n {
	case 126:
		more = 2
	case 127:
		more = 8
	}
	if more > 0 {
		if _, err := io.ReadFull(p.r, head[8-more:]); err != nil {
			return frame{}, err
		}
		clear(head[:8-more])
		n = binary.BigEndian.Uint64(head[:])
	}
	f.payload = make([]byte, n)
	_, err := io.ReadFull(p.r, f.payload)
	return f, err
}

// write sends a masked frame.
func (p *probe) write(head byte, payload []byte) error {
	mask := [4]byte{1, 2, 3, 4}
	out := append(frameHead(head, 0x80, len(payload)), mask[:]...)
	for i, b := range payload {
		out = append(out, b^mask[i%4])
	}
	_, err := p.conn.Write(out)
	return err
}

// frameHead returns the header of a frame up to the length.
func frameHead(head, masked byte, n int) []byte {
	switch {
	case n < 126:
		return []byte{head, masked | byte(n)}
	case n < 1<<16:
		return binary.BigEndian.AppendUint16([]byte{head, masked | 126}, uint16(n))
	}
	return binary.BigEndian.AppendUint64([]byte{head, masked | 127}, uint64(n))
}

// talk runs a conversation. Each line begins with a character: ">" sends a message, "<" expects a
// message, "x" expects a close frame with code and reason, "=" expects that no frame arrives, "."
// lets time pass, and "@" expects that this much time has passed since the upgrade.
func (p *probe) talk(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		what, rest, _ := strings.Cut(line, " ")
		switch what {
		case ">":
			if err := p.write(fin|text, []byte(rest)); err != nil {
				p.t.Fatalf("%s: %v", line, err)
			}
		case ".":
			d, err := time.ParseDuration(rest)
			if err != nil {
				p.t.Fatal(err)
			}
			time.Sleep(d)
		case "@":
			if got := time.Since(p.began).String(); got != rest {
				p.t.Fatalf("%s has passed, want %s", got, rest)
			}
		case "=":
			synctest.Wait()
			select {
			case f := <-p.frames:
				p.t.Fatalf("nothing was to come, and then: %s", f)
			default:
			}
		default:
			if got := p.receive(); got != line {
				p.t.Fatalf("got  %s\nwant %s", got, line)
			}
		}
	}
}

// receive returns the next frame in the format of talk.
func (p *probe) receive() string {
	if f, ok := <-p.frames; ok {
		return f.String()
	}
	return "nothing: the connection has ended"
}

func (f frame) String() string {
	switch {
	case f.head == fin|text:
		return "< " + string(f.payload)
	case f.head == fin|closing && len(f.payload) >= 2:
		return fmt.Sprintf("x %d %s", binary.BigEndian.Uint16(f.payload), f.payload[2:])
	}
	return fmt.Sprintf("frame %#x %q", f.head, f.payload)
}

// ended fails if the connection is still open.
func (p *probe) ended() {
	p.t.Helper()
	if f, ok := <-p.frames; ok {
		p.t.Fatalf("this came, and not the end: %s", f)
	}
}

// startMessage returns a subscribe message in the format of talk.
func startMessage(id, query string) string {
	payload, _ := json.Marshal(map[string]string{"query": query})
	return fmt.Sprintf(`> {"id":%q,"type":"subscribe","payload":%s}`, id, payload)
}

// script is a handler that executes the steps of a query, such as "next 1; wait; refuse no". It
// records its calls.
type script struct {
	mu sync.Mutex
	// called by Init; nil accepts all connections
	Begin    func(ctx context.Context, payload []byte) (context.Context, time.Time, error)
	Recorded []string // causes of canceled contexts
}

func (s *script) record(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Recorded = append(s.Recorded, fmt.Sprintf(format, args...))
}

func (s *script) recorded() []string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Recorded
}

type userKey struct{}

// Init calls Begin.
func (s *script) Init(ctx context.Context, payload []byte) (context.Context, time.Time, error) {
	if s.Begin == nil {
		return ctx, time.Time{}, nil
	}
	return s.Begin(ctx, payload)
}

// Operate executes the query.
func (s *script) Operate(ctx context.Context, request []byte) transportws.Operation {
	var q struct{ Query string }
	if err := json.Unmarshal(request, &q); err != nil {
		panic(err)
	}
	if plan, rest, ok := strings.Cut(q.Query, " plan "); ok { // delay before the first result
		d, _ := time.ParseDuration(plan)
		time.Sleep(d)
		q.Query = rest
	}
	query, stream := strings.CutPrefix(q.Query, "stream ")
	return transportws.Operation{Results: s.play(ctx, query), Stream: stream}
}

func (s *script) play(ctx context.Context, query string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for step := range strings.SplitSeq(query, "; ") {
			what, rest, _ := strings.Cut(step, " ")
			result, err := s.step(ctx, what, rest)
			if (result != nil || err != nil) && !yield(result, err) {
				if err == nil {
					s.record("%s: not wanted", step)
				}
				return
			}
			if err != nil {
				return
			}
		}
	}
}

func (s *script) step(ctx context.Context, what, rest string) ([]byte, error) {
	switch what {
	case "next":
		return []byte(`{"data":` + rest + `}`), nil
	case "large":
		n, _ := strconv.Atoi(rest)
		return []byte(`{"data":"` + strings.Repeat("x", n) + `"}`), nil
	case "user":
		return fmt.Appendf(nil, `{"data":%q}`, ctx.Value(userKey{})), nil
	case "sleep":
		d, _ := time.ParseDuration(rest)
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	case "deaf": // ignores the context
		d, _ := time.ParseDuration(rest)
		time.Sleep(d)
	case "wait":
		<-ctx.Done()
		s.record("wait: %v", context.Cause(ctx))
	case "wait!":
		<-ctx.Done()
		return nil, ctx.Err()
	case "refuse":
		return nil, &transportws.Refusal{Errors: []byte(`[{"message":"` + rest + `"}]`)}
	case "close":
		code, _ := strconv.Atoi(rest)
		return nil, &transportws.Close{Code: code, Reason: "as asked"}
	case "fault":
		return nil, errors.New("secret of the server")
	case "panic":
		panic("secret of the server")
	}
	return nil, nil
}
