package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// client is a subscriber over WebSocket. It implements only the part of the protocol that counting
// messages needs, to use little processor time.
type client struct {
	conn net.Conn
	in   *bufio.Reader
	buf  []byte
}

// subscribe opens a socket and subscribes. It reads until the connection is acknowledged.
func subscribe(addr string) (*client, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &client{conn: conn, in: bufio.NewReaderSize(conn, 1024)}
	_, err = fmt.Fprintf(conn,
		"GET /graphql HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
			"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n",
		addr)
	if err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		return nil, fmt.Errorf("upgrade: status %s", resp.Status)
	}
	if err := c.send(`{"type":"connection_init"}`); err != nil {
		return nil, err
	}
	for {
		text, err := c.next()
		if err != nil {
			return nil, err
		}
		if bytes.Contains(text, []byte(`"connection_ack"`)) {
			break
		}
	}
	return c, c.send(`{"id":"1","type":"subscribe","payload":{"query":"` + subscription + `"}}`)
}

// send sends a text message. The masking key is zero.
func (c *client) send(text string) error {
	frame := []byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}
	if len(text) > 125 {
		frame = []byte{0x81, 0x80 | 126, byte(len(text) >> 8), byte(len(text)), 0, 0, 0, 0}
	}
	_, err := c.conn.Write(append(frame, text...))
	return err
}

// next returns the next text message, which is valid until the next call. Control frames are
// ignored, because no measurement takes as long as the timeout of a pong.
func (c *client) next() ([]byte, error) {
	for {
		var head [2]byte
		if _, err := io.ReadFull(c.in, head[:]); err != nil {
			return nil, err
		}
		if head[0]&0xf0 != 0x80 {
			return nil, errors.New("a frame that is compressed, or a part of a message")
		}
		n := int(head[1])
		if n == 126 {
			var size [2]byte
			if _, err := io.ReadFull(c.in, size[:]); err != nil {
				return nil, err
			}
			n = int(binary.BigEndian.Uint16(size[:]))
		}
		if n > cap(c.buf) {
			c.buf = make([]byte, n)
		}
		c.buf = c.buf[:n]
		if _, err := io.ReadFull(c.in, c.buf); err != nil {
			return nil, err
		}
		switch head[0] & 0xf {
		case 1:
			return c.buf, nil
		case 8:
			return nil, fmt.Errorf("closed: %q", strings.ToValidUTF8(string(c.buf), "?"))
		}
	}
}
