package client

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

// The WebSocket client (RFC 6455) is written here, so that 10,000 of them use little memory, and so that the server is not
// tested with its own implementation. It speaks graphql-transport-ws.

// WebSocket subscribes by GraphQL over WebSocket.
func WebSocket(l *Link) Protocol { return webSocket{l} }

type webSocket struct{ link *Link }

// subscription is the document of a GraphQL subscription to things.
const subscription = `subscription($after: String, $filter: ThingFilter) { thingChanged(after: $after, filter: $filter) ` +
	`{ kind id cursor thing { name n } } }`

func (p webSocket) Subscribe(ctx context.Context, base, cursor string, v View) (Stream, error) {
	c, err := DialSocket(ctx, base, p.link)
	if err != nil {
		return nil, err
	}
	s := &socketStream{conn: c, stop: context.AfterFunc(ctx, c.Close)}
	if err := c.Subscribe(cursor, v); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

type socketStream struct {
	conn *Socket
	stop func() bool
}

func (s *socketStream) Close() {
	s.stop()
	s.conn.Close()
}

// message is one of graphql-transport-ws.
type message struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// Next answers pings of the protocol while it waits for an event.
func (s *socketStream) Next() (Event, error) {
	for {
		m, err := s.conn.message()
		if err != nil {
			return Event{}, err
		}
		switch m.Type {
		case "next":
			return graphqlEvent(m.Payload)
		case "error":
			var errs []graphqlError
			if err := json.Unmarshal(m.Payload, &errs); err != nil {
				return Event{}, fmt.Errorf("error: %w", err)
			}
			return Event{}, graphqlErr(errs)
		case "ping":
			if err := s.conn.Pong(); err != nil {
				return Event{}, err
			}
		case "complete":
			return Event{}, io.EOF
		}
	}
}

type graphqlError struct {
	Message    string `json:"message"`
	Extensions struct {
		Code string `json:"code"`
	} `json:"extensions"`
}

// graphqlEvent decodes the result of the subscription.
func graphqlEvent(payload []byte) (Event, error) {
	var result struct {
		Data struct {
			ThingChanged struct {
				Kind, ID, Cursor string
				Thing            *struct {
					Name string
					N    int
				}
			} `json:"thingChanged"`
		} `json:"data"`
		Errors []graphqlError `json:"errors"`
	}
	if err := json.Unmarshal(payload, &result); err != nil {
		return Event{}, fmt.Errorf("next: %w", err)
	}
	if len(result.Errors) > 0 {
		return Event{}, graphqlErr(result.Errors)
	}
	change := result.Data.ThingChanged
	e := Event{Cursor: change.Cursor, Kind: strings.ToLower(change.Kind), ID: change.ID, At: time.Now()}
	if change.Thing != nil && e.Kind != Deleted {
		e.N, e.Name = change.Thing.N, change.Thing.Name
	}
	return e, e.check()
}

func graphqlErr(errs []graphqlError) error {
	for _, e := range errs {
		switch e.Extensions.Code {
		case "CURSOR_EXPIRED":
			return ErrExpired
		case "BAD_USER_INPUT":
			return ErrMalformed
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

// Socket is a WebSocket connection. One goroutine may read, and any number may write.
type Socket struct {
	conn   net.Conn
	reader *bufio.Reader
	mu     sync.Mutex // held while writing
	data   []byte     // of the last message
}

// DialSocket opens a WebSocket and waits for connection_ack.
func DialSocket(ctx context.Context, base string, l *Link) (*Socket, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	conn, err := l.Dial(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	c := &Socket{conn: conn, reader: bufio.NewReaderSize(conn, 1024)}
	conn.SetDeadline(time.Now().Add(5 * time.Minute))
	if err := errors.Join(c.handshake(u), conn.SetDeadline(time.Time{})); err != nil {
		conn.Close()
		return nil, err
	}
	if err := c.init(); err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

func (c *Socket) init() error {
	if err := c.send(opText, []byte(`{"type":"connection_init"}`)); err != nil {
		return err
	}
	m, err := c.message()
	if err == nil && m.Type != "connection_ack" {
		err = fmt.Errorf("%s and not connection_ack", m.Type)
	}
	return err
}

// Subscribe asks for the events after a cursor, with the id 1.
func (c *Socket) Subscribe(cursor string, v View) error {
	return c.Operate("1", subscription, v.variables(cursor))
}

// Operate begins an operation.
func (c *Socket) Operate(id, document string, variables map[string]any) error {
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

// Pong answers a ping of graphql-transport-ws.
func (c *Socket) Pong() error { return c.send(opText, []byte(`{"type":"pong"}`)) }

// handshake is the opening handshake. It does not check Sec-WebSocket-Accept.
func (c *Socket) handshake(u *url.URL) error {
	_, err := fmt.Fprintf(c.conn, "GET /graphql HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
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
		return StatusError(res.StatusCode)
	}
	return nil
}

// Close closes the connection without a close frame.
func (c *Socket) Close() { c.conn.Close() }

// Leave closes the connection with a close frame, or abruptly with RST.
func (c *Socket) Leave(abruptly bool) {
	if conn, ok := c.conn.(interface{ SetLinger(int) error }); ok && abruptly {
		conn.SetLinger(0)
	} else {
		c.send(opClose, []byte{0x03, 0xe8})
	}
	c.conn.Close()
}

// send sends a message in one frame, with a mask of zero.
func (c *Socket) send(opcode byte, data []byte) error {
	header := []byte{0x80 | opcode, 0x80}
	switch n := len(data); {
	case n < 126:
		header[1] |= byte(n)
	case n < 1<<16:
		header[1] |= 126
		header = binary.BigEndian.AppendUint16(header, uint16(n))
	default:
		return errors.New("message too long for this client")
	}
	header = append(header, 0, 0, 0, 0)
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.conn.Write(append(header, data...))
	return err
}

// message reads the next message of the protocol.
func (c *Socket) message() (m message, err error) {
	if _, err := c.Read(); err != nil {
		return m, err
	}
	return m, json.Unmarshal(c.data, &m)
}

// Read reads the next message, and answers pings of WebSocket. The message is valid until the next call.
func (c *Socket) Read() ([]byte, error) {
	c.data = c.data[:0]
	for {
		final, opcode, n, err := c.header()
		if err != nil {
			return nil, err
		}
		from := len(c.data)
		c.data = slices.Grow(c.data, n)[:from+n]
		if _, err := io.ReadFull(c.reader, c.data[from:]); err != nil {
			return nil, err
		}
		switch opcode {
		case opPing:
			if err := c.send(opPong, c.data[from:]); err != nil {
				return nil, err
			}
		case opPong:
		case opClose:
			c.send(opClose, c.data[from:])
			return nil, io.EOF
		default:
			if final {
				return c.data, nil
			}
			continue
		}
		c.data = c.data[:from]
	}
}

// header reads the header of a frame. Servers do not mask.
func (c *Socket) header() (final bool, opcode byte, n int, err error) {
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
