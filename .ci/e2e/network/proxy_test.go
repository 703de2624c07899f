package network_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/network"
)

// echo returns a Proxy to a server that echoes what it receives.
func echo(t *testing.T) *network.Proxy {
	t.Helper()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	go func() {
		for {
			conn, err := server.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				io.Copy(conn, conn)
			}()
		}
	}()
	w, err := network.New(1, func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", server.Addr().String())
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func dial(t *testing.T, w *network.Proxy) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", w.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.TCPConn)
}

// roundTrip sends a text and returns the response.
func roundTrip(t *testing.T, conn *net.TCPConn, text []byte) ([]byte, error) {
	t.Helper()
	go func() {
		conn.Write(text)
		conn.CloseWrite()
	}()
	return io.ReadAll(conn)
}

func TestFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		faults network.Faults
		least  time.Duration // from there and back
	}{
		{"fair", network.Faults{}, 0},
		{"late", network.Faults{Delay: 20 * time.Millisecond, Jitter: 5 * time.Millisecond}, 40 * time.Millisecond},
		{"slow", network.Faults{Rate: 1 << 20}, 180 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := echo(t)
			w.Set(tt.faults)
			text := bytes.Repeat([]byte("0123456789"), 20_000)
			began := time.Now()
			got, err := roundTrip(t, dial(t, w), text)
			if err != nil || !bytes.Equal(got, text) {
				t.Fatalf("%d bytes of %d came back: %v", len(got), len(text), err)
			}
			if took := time.Since(began); took < tt.least {
				t.Errorf("it took %v, want %v or more", took, tt.least)
			}
		})
	}
}

// TestCut: the bytes before a reset are right, and not all arrive.
func TestCut(t *testing.T) {
	t.Parallel()
	w := echo(t)
	w.Set(network.Faults{Cut: 10_000})
	text := bytes.Repeat([]byte("0123456789"), 10_000)
	got, err := roundTrip(t, dial(t, w), text)
	if err == nil || len(got) >= 10_000 || !bytes.HasPrefix(text, got) {
		t.Errorf("%d bytes came back: %v", len(got), err)
	}
	if w.Resets() != 1 {
		t.Errorf("%d cuts", w.Resets())
	}
}

// TestBlocked: nothing passes while the proxy is blocked, and everything that was sent does afterwards.
func TestBlocked(t *testing.T) {
	t.Parallel()
	w := echo(t)
	before := dial(t, w)
	ping(t, before)
	w.Set(network.Faults{Blocked: true})
	during := dial(t, w) // still accepted
	for _, conn := range []net.Conn{before, during} {
		if _, err := conn.Write([]byte("?")); err != nil {
			t.Fatal(err)
		}
		silent(t, conn)
	}
	w.Set(network.Faults{})
	for _, conn := range []net.Conn{before, during} {
		received(t, conn)
	}
}

// TestLose: a lost connection stays lost, and others are not.
func TestLose(t *testing.T) {
	t.Parallel()
	w := echo(t)
	old := dial(t, w)
	ping(t, old)
	w.Set(network.Faults{Blocked: true})
	w.Lose()
	w.Set(network.Faults{})
	if _, err := old.Write([]byte("?")); err != nil {
		t.Fatal(err)
	}
	ping(t, dial(t, w))
	silent(t, old)
}

// TestClose: Close ends all connections.
func TestClose(t *testing.T) {
	t.Parallel()
	w := echo(t)
	conn := dial(t, w)
	ping(t, conn)
	w.Set(network.Faults{Blocked: true, Delay: time.Hour})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is still there")
	}
}

// TestDialFails: if dial fails, the connection ends.
func TestDialFails(t *testing.T) {
	t.Parallel()
	w, err := network.New(1, func(context.Context) (net.Conn, error) { return nil, errors.New("refused") })
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := dial(t, w).Read(make([]byte, 1)); err == nil {
		t.Error("the connection stays open")
	}
}

func ping(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := conn.Write([]byte("?")); err != nil {
		t.Fatal(err)
	}
	received(t, conn)
}

func received(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
}

// silent fails if something arrives within 30ms: a Proxy that leaks is found most of the time, and a correct one never fails.
func silent(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(30 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%d bytes while blocked: %v", n, err)
	}
}
