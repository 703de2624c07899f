package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// A message is bytes on a connection that no HTTP client would send. HEAD stands for the request line with Host and
// Content-Type.
type message struct{ name, text string }

func messages() []message {
	const chunked = "HEADTransfer-Encoding: chunked\r\n\r\n"
	repeat := strings.Repeat
	return []message{
		{"a chunk without a size", chunked + "\r\n{}\r\n0\r\n\r\n"},
		{"a chunk of a negative size", chunked + "-1\r\n{}\r\n0\r\n\r\n"},
		{"a chunk larger than any number", chunked + "FFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n"},
		{"a chunk shorter than its size", chunked + "FFFFFFF\r\n{}\r\n"},
		{"a size that is no number", chunked + "xyz\r\n{}\r\n0\r\n\r\n"},
		{"a chunk longer than its size", chunked + "1\r\n{}\r\n0\r\n\r\n"},
		{"no line feed after a chunk", chunked + "2\r\n{}0\r\n\r\n"},
		{"an extension of 64 KiB", chunked + "2;a=" + repeat("x", 64<<10) + "\r\n{}\r\n0\r\n\r\n"},
		{"10,000 extensions", chunked + repeat("1;a="+repeat("x", 100)+"\r\n \r\n", 10_000) + "0\r\n\r\n"},
		{"100,000 chunks of a byte", chunked + repeat("1\r\n \r\n", 100_000) + "0\r\n\r\n"},
		{"chunks without end", chunked + repeat("400\r\n"+repeat(" ", 1024)+"\r\n", 2_000)},
		{"trailers without end", chunked + "2\r\n{}\r\n0\r\n" + repeat("X-A: "+repeat("x", 1000)+"\r\n", 2_000) + "\r\n"},
		{"a trailer that is a length", chunked + "2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n"},
		{"chunks that stop", chunked + "2\r\n{}\r\n"},
		{"length and chunks", "HEADContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"},
		{"chunked twice", "HEADTransfer-Encoding: chunked, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"},
		{"two transfer codings", "HEADTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"},
		{"an unknown transfer coding", "HEADTransfer-Encoding: x\r\n\r\n{}"},
		{"a transfer coding after a tab", "HEADTransfer-Encoding:\tchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"},
		{"two lengths", "HEADContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x"},
		{"a list of lengths", "HEADContent-Length: 2, 3\r\n\r\n{}x"},
		{"a negative length", "HEADContent-Length: -1\r\n\r\n{}"},
		{"a length with a sign", "HEADContent-Length: +2\r\n\r\n{}"},
		{"a length larger than any integer", "HEADContent-Length: 99999999999999999999\r\n\r\n{}"},
		{"less content than the length", "HEADContent-Length: 100\r\n\r\n{}"},
		{"a request after the content", "HEADContent-Length: 2\r\n\r\n{}GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"},
		{"a name with a blank", "HEADContent-Length : 2\r\n\r\n{}"},
		{"a folded line", "HEADX-A: a\r\n b\r\nContent-Length: 2\r\n\r\n{}"},
		{"line feeds alone", "HEADX-A: a\nContent-Length: 2\n\n{}"},
		{"NUL in a field", "HEADX-A: a\x00b\r\nContent-Length: 2\r\n\r\n{}"},
		{"a field of 100 KiB", "HEADX-A: " + repeat("x", 100<<10) + "\r\nContent-Length: 2\r\n\r\n{}"},
		{"2,000 fields", "HEAD" + repeat("X-A: a\r\n", 2_000) + "Content-Length: 2\r\n\r\n{}"},
		{"an unknown expectation", "HEADExpect: much\r\nContent-Length: 2\r\n\r\n{}"},
		{"content before it is asked for", "HEADExpect: 100-continue\r\nContent-Length: 10000000\r\n\r\n" + repeat("x", 100_000)},
		{"gzip that is not valid", "HEADContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}"},
		{"1,000 codings of content", "HEADContent-Encoding: " + repeat("gzip,", 1_000) + "gzip\r\nContent-Length: 2\r\n\r\n{}"},
		{"two keys", "HEADIdempotency-Key: a\r\nIdempotency-Key: b\r\nContent-Length: 2\r\n\r\n{}"},
		{"a key of 10 kB", "HEADIdempotency-Key: " + repeat("k", 10_000) + "\r\nContent-Length: 2\r\n\r\n{}"},
		{"a key that is no text", "HEADIdempotency-Key: \xff\xfe\x80\r\nContent-Length: 2\r\n\r\n{}"},
		{"a key that does not end", "HEADIdempotency-Key: \"a\r\nContent-Length: 2\r\n\r\n{}"},
		{"an empty key", "HEADIdempotency-Key:\r\nContent-Length: 2\r\n\r\n{}"},
		{"conditions without end", "HEADIf-Match: " + repeat(`"a",`, 5_000) + "\"a\"\r\nContent-Length: 2\r\n\r\n{}"},
		{"everything acceptable", "HEADAccept: " + repeat("a/b;q=0.1,", 3_000) + "*/*\r\nContent-Length: 2\r\n\r\n{}"},
		{"nothing at all", ""},
		{"no HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"},
	}
}

// expected are the responses of 5xx that net/http sends itself, as HTTP requires for an unknown transfer coding
// (RFC 9112 section 6.1).
var expected = map[string]int{"chunked twice": 501, "two transfer codings": 501, "an unknown transfer coding": 501}

// send writes a message and returns the statuses of the responses until the connection is closed.
func (m message) send(address string, r writeRoute) ([]int, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Minute))
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\n", r.method, r.path, address, r.media)
	go func() {
		io.WriteString(conn, strings.Replace(m.text, "HEAD", head, 1)) // the server may close before it has all of it
		conn.(*net.TCPConn).CloseWrite()
	}()
	var statuses []int
	in := bufio.NewReader(conn)
	for {
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return statuses, unless(err)
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
		statuses = append(statuses, res.StatusCode)
	}
}

// unless returns an error only if the server did not close the connection: however it does, that is an answer.
func unless(err error) error {
	if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
		return fmt.Errorf("the connection is still open: %w", err)
	}
	return nil
}
