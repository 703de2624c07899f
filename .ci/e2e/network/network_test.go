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

// echo returns a Wire to one who says back what it hears, until it hears no more.
func echo(t *testing.T) *network.Wire {
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

func dial(t *testing.T, w *network.Wire) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", w.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.TCPConn)
}

// said is what comes back of a text that is all that is sent.
func said(t *testing.T, conn *net.TCPConn, text []byte) ([]byte, error) {
	t.Helper()
	go func() {
		conn.Write(text)
		conn.CloseWrite()
	}()
	return io.ReadAll(conn)
}

func TestWeather(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		weather network.Weather
		least   time.Duration // from there and back
	}{
		{"fair", network.Weather{}, 0},
		{"late", network.Weather{Delay: 20 * time.Millisecond, Jitter: 5 * time.Millisecond}, 40 * time.Millisecond},
		{"slow", network.Weather{Rate: 1 << 20}, 180 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := echo(t)
			w.Set(tt.weather)
			text := bytes.Repeat([]byte("0123456789"), 20_000)
			began := time.Now()
			got, err := said(t, dial(t, w), text)
			if err != nil || !bytes.Equal(got, text) {
				t.Fatalf("%d bytes of %d came back: %v", len(got), len(text), err)
			}
			if took := time.Since(began); took < tt.least {
				t.Errorf("it took %v, want %v or more", took, tt.least)
			}
		})
	}
}

// TestCut: what comes before a cut is right, and it is not all.
func TestCut(t *testing.T) {
	t.Parallel()
	w := echo(t)
	w.Set(network.Weather{Cut: 10_000})
	text := bytes.Repeat([]byte("0123456789"), 10_000)
	got, err := said(t, dial(t, w), text)
	if err == nil || len(got) >= 10_000 || !bytes.HasPrefix(text, got) {
		t.Errorf("%d bytes came back: %v", len(got), err)
	}
	if w.Cuts() != 1 {
		t.Errorf("%d cuts", w.Cuts())
	}
}

// TestHole: nothing passes in a hole, and all that was sent does behind it.
func TestHole(t *testing.T) {
	t.Parallel()
	w := echo(t)
	before := dial(t, w)
	round(t, before)
	w.Set(network.Weather{Hole: true})
	during := dial(t, w) // it is taken, all the same
	for _, conn := range []net.Conn{before, during} {
		if _, err := conn.Write([]byte("?")); err != nil {
			t.Fatal(err)
		}
		silent(t, conn)
	}
	w.Set(network.Weather{})
	for _, conn := range []net.Conn{before, during} {
		heard(t, conn)
	}
}

// TestForget: what is forgotten stays so, and others are not.
func TestForget(t *testing.T) {
	t.Parallel()
	w := echo(t)
	old := dial(t, w)
	round(t, old)
	w.Set(network.Weather{Hole: true})
	w.Forget()
	w.Set(network.Weather{})
	if _, err := old.Write([]byte("?")); err != nil {
		t.Fatal(err)
	}
	round(t, dial(t, w))
	silent(t, old)
}

// TestClose: a Wire ends with all that hangs on it.
func TestClose(t *testing.T) {
	t.Parallel()
	w := echo(t)
	conn := dial(t, w)
	round(t, conn)
	w.Set(network.Weather{Hole: true, Delay: time.Hour})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is still there")
	}
}

// TestNobodyThere: where there is no other end, the connection ends.
func TestNobodyThere(t *testing.T) {
	t.Parallel()
	w, err := network.New(1, func(context.Context) (net.Conn, error) { return nil, errors.New("nobody") })
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := dial(t, w).Read(make([]byte, 1)); err == nil {
		t.Error("somebody answers")
	}
}

func round(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := conn.Write([]byte("?")); err != nil {
		t.Fatal(err)
	}
	heard(t, conn)
}

func heard(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
}

// silent reports what comes, for a moment: a Wire that leaks is found out most of the time, and one that does not, never.
func silent(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(30 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%d bytes in a hole: %v", n, err)
	}
}
