package main

// The client half of a WebSocket, as far as this measurement needs it (RFC 6455, section 5). A
// thousand complete clients in this process would use more processor time than the server.

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
	in   *bufio.Reader // small, because there are thousands of clients
	buf  []byte        // of the current message, reused
}

// subscribe opens a socket and subscribes. It reads until the connection is acknowledged.
func subscribe(addr string) (*client, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &client{conn: conn, in: bufio.NewReaderSize(conn, 1024)}
	// The key is a constant: a client verifies with it that the server speaks the protocol, which
	// the peers are known to do. No extension is offered, so frames are not compressed.
	_, err = fmt.Fprintf(conn,
		"GET /graphql HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\n"+
			"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
			"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"+
			"Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n",
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
	// Messages before connection_ack, such as a ping, are skipped.
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
	// 0x81 is a final text frame. Clients must set the mask bit 0x80 (section 5.3), and a key of
	// zeros leaves the text as it is.
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
		// FIN is set and RSV1 to RSV3 are not: neither peer fragments a message or compresses it
		// here.
		if head[0]&0xf0 != 0x80 {
			return nil, errors.New("a frame that is compressed, or a part of a message")
		}
		// Frames of servers are not masked. 126 means that two bytes with the length follow. No
		// message of this measurement has the 64 KiB that 127 announces.
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
		// 1 is text and 8 is close. Pings and pongs fall through to the next frame.
		switch head[0] & 0xf {
		case 1:
			return c.buf, nil
		case 8:
			return nil, fmt.Errorf("closed: %q", strings.ToValidUTF8(string(c.buf), "?"))
		}
	}
}
