package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// The client of WebSockets is our own (RFC 6455), so that ten thousand of it are small, and so that what is tested is not
// tested by itself. It keeps to what graphql-transport-ws says.

// socket listens to the collection in GraphQL, over a WebSocket.
type socket struct{ line *line }

func newSocket(l *line) ear { return socket{l} }

// subscription is what it asks for.
const subscription = `subscription($after: String, $filter: ThingFilter) { thingChanged(after: $after, filter: $filter) ` +
	`{ kind id cursor thing { name n } } }`

func (e socket) listen(ctx context.Context, base, cursor string, v view) (stream, error) {
	c, err := dial(ctx, base, e.line.dial)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, c.close)
	s := &socketStream{conn: c, stop: stop}
	if err := s.begin(cursor, v); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

type socketStream struct {
	conn *wsConn
	stop func() bool
}

func (s *socketStream) close() {
	s.stop()
	s.conn.close()
}

// message is one of graphql-transport-ws.
type message struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

func (s *socketStream) begin(cursor string, v view) error {
	if err := s.conn.init(); err != nil {
		return err
	}
	return s.conn.subscribe(cursor, v)
}

// init waits for the server to take the connection.
func (c *wsConn) init() error {
	if err := c.send(opText, []byte(`{"type":"connection_init"}`)); err != nil {
		return err
	}
	m, err := c.message()
	if err == nil && m.Type != "connection_ack" {
		err = fmt.Errorf("%s and not connection_ack", m.Type)
	}
	return err
}

// subscribe asks for what happens behind a cursor.
func (c *wsConn) subscribe(cursor string, v view) error {
	return c.operate("1", subscription, v.variables(cursor))
}

// operate begins an operation.
func (c *wsConn) operate(id, document string, variables map[string]any) error {
	payload, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		return err
	}
	text, err := json.Marshal(message{ID: id, Type: "subscribe", Payload: payload})
	if err != nil {
		return err
	}
	return c.send(opText, text)
}

// next answers pings of the protocol, and waits for a frame.
func (s *socketStream) next() (frame, error) {
	for {
		m, err := s.conn.message()
		if err != nil {
			return frame{}, err
		}
		switch m.Type {
		case "next":
			return frameOf(m.Payload)
		case "error":
			return frame{}, refusal(m.Payload)
		case "ping":
			if err := s.conn.send(opText, []byte(`{"type":"pong"}`)); err != nil {
				return frame{}, err
			}
		case "complete":
			return frame{}, io.EOF
		}
	}
}

// gqlError is one of an answer.
type gqlError struct {
	Message    string `json:"message"`
	Extensions struct {
		Code string `json:"code"`
	} `json:"extensions"`
}

func frameOf(payload []byte) (frame, error) {
	var answer struct {
		Data struct {
			ThingChanged struct {
				Kind, ID, Cursor string
				Thing            *struct {
					Name string
					N    int
				}
			} `json:"thingChanged"`
		} `json:"data"`
		Errors []gqlError `json:"errors"`
	}
	if err := json.Unmarshal(payload, &answer); err != nil {
		return frame{}, fmt.Errorf("next: %w", err)
	}
	if len(answer.Errors) > 0 {
		return frame{}, refusalOf(answer.Errors)
	}
	change := answer.Data.ThingChanged
	f := frame{cursor: change.Cursor, kind: strings.ToLower(change.Kind), id: change.ID, at: time.Now()}
	if change.Thing != nil && f.kind != deleted {
		f.n, f.name = change.Thing.N, change.Thing.Name
	}
	return f, missing(f)
}

func refusal(payload []byte) error {
	var errs []gqlError
	if err := json.Unmarshal(payload, &errs); err != nil {
		return fmt.Errorf("error: %w", err)
	}
	return refusalOf(errs)
}

func refusalOf(errs []gqlError) error {
	for _, e := range errs {
		switch e.Extensions.Code {
		case "CURSOR_EXPIRED":
			return errExpired
		case "BAD_USER_INPUT":
			return errMalformed
		}
	}
	return fmt.Errorf("errors: %v", errs)
}

// The opcodes of frames.
const (
	opText  = 1
	opClose = 8
	opPing  = 9
	opPong  = 10
)

// wsConn is a WebSocket. It may be read by one goroutine, and written by others.
type wsConn struct {
	net    net.Conn
	reader *bufio.Reader
	mu     sync.Mutex // of writing
	// closed is the close code of the server, once it has sent one.
	closed int
	data   []byte // of the message that was read last
}

// dial opens one over a connection that it is given.
func dial(ctx context.Context, base string, connect func(ctx context.Context, network, address string) (net.Conn, error)) (*wsConn,
	error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	conn, err := connect(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	c := &wsConn{net: conn, reader: bufio.NewReaderSize(conn, 1024)}
	conn.SetDeadline(time.Now().Add(5 * time.Minute))
	if err := c.shake(u); err != nil {
		conn.Close()
		return nil, err
	}
	return c, conn.SetDeadline(time.Time{})
}

// shake is the opening handshake. What the server answers to the key is not looked at: other clients do.
func (c *wsConn) shake(u *url.URL) error {
	_, err := fmt.Fprintf(c.net, "GET /graphql HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"+
		"Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n", u.Host)
	if err != nil {
		return err
	}
	res, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusSwitchingProtocols {
		res.Body.Close()
		return statusError(res.StatusCode)
	}
	return nil
}

func (c *wsConn) close() { c.net.Close() }

// send sends a message in one frame. The mask is zero, as it need not protect any proxy here.
func (c *wsConn) send(opcode byte, data []byte) error {
	header := []byte{0x80 | opcode, 0x80}
	switch n := len(data); {
	case n < 126:
		header[1] |= byte(n)
	case n < 1<<16:
		header[1] |= 126
		header = binary.BigEndian.AppendUint16(header, uint16(n))
	default:
		return errors.New("a message that is too long for this client")
	}
	header = append(header, 0, 0, 0, 0)
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.net.Write(append(header, data...))
	return err
}

// message reads the next message of the protocol.
func (c *wsConn) message() (m message, err error) {
	if err := c.read(); err != nil {
		return m, err
	}
	return m, json.Unmarshal(c.data, &m)
}

// read reads the next message to data, and answers what WebSockets ask of each other.
func (c *wsConn) read() error {
	c.data = c.data[:0]
	for {
		final, opcode, n, err := c.header()
		if err != nil {
			return err
		}
		from := len(c.data)
		c.data = slices.Grow(c.data, n)[:from+n]
		if _, err := io.ReadFull(c.reader, c.data[from:]); err != nil {
			return err
		}
		switch opcode {
		case opPing:
			if err := c.send(opPong, c.data[from:]); err != nil {
				return err
			}
		case opPong:
		case opClose:
			if n >= 2 {
				c.closed = int(binary.BigEndian.Uint16(c.data[from:]))
			}
			c.send(opClose, c.data[from:])
			return io.EOF
		default:
			if final {
				return nil
			}
			continue
		}
		c.data = c.data[:from]
	}
}

// header reads what is in front of the content of a frame. Servers do not mask.
func (c *wsConn) header() (final bool, opcode byte, n int, err error) {
	var b [8]byte
	if _, err = io.ReadFull(c.reader, b[:2]); err != nil {
		return
	}
	final, opcode, n = b[0]&0x80 != 0, b[0]&0x0f, int(b[1]&0x7f)
	switch n {
	case 126:
		_, err = io.ReadFull(c.reader, b[:2])
		n = int(binary.BigEndian.Uint16(b[:]))
	case 127:
		_, err = io.ReadFull(c.reader, b[:8])
		n = int(min(binary.BigEndian.Uint64(b[:]), 1<<24))
	}
	return
}
