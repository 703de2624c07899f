package client_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
)

// TestLink: a connection without a byte times out after Patience, and never without Patience.
func TestLink(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	l := &client.Link{Patience: 20 * time.Millisecond}
	conn := dialLink(t, l, server.Listener.Addr())
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || l.Timeouts.Load() != 1 {
		t.Errorf("%v, %d timeouts", err, l.Timeouts.Load())
	}
	for _, l := range []*client.Link{nil, {}} {
		conn := dialLink(t, l, server.Listener.Addr())
		if _, err := conn.Write([]byte("GET / HTTP/1.0\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		n, err := conn.Read(make([]byte, 1))
		if n != 1 || err != nil || l != nil && l.Bytes.Load() != 1 {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func dialLink(t *testing.T, l *client.Link, to net.Addr) net.Conn {
	t.Helper()
	conn, err := l.Dial(context.WithoutCancel(t.Context()), to.Network(), to.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}
