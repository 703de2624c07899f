package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stoa-go/stoa/middleware"
)

func TestServer(t *testing.T) {
	t.Parallel()
	type limits struct {
		ReadHeader, Read, Write, Idle time.Duration
		Header, Streams               int
		H2C                           bool
	}
	tests := []struct {
		name string
		opts *middleware.ServerOptions
		want limits
	}{
		{"defaults", nil, limits{5 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 32 << 10,
			100, false}},
		{"options", &middleware.ServerOptions{ReadHeaderTimeout: 1, ReadTimeout: 2, WriteTimeout: -1,
			IdleTimeout: 4, MaxHeaderBytes: 5,
			MaxStreams: 6, UnencryptedHTTP2: true}, limits{1, 2, -1, 4, 5, 6, true}},
	}
	for _, tt := range tests {
		s := middleware.Server(http.NotFoundHandler(), tt.opts)
		got := limits{s.ReadHeaderTimeout, s.ReadTimeout, s.WriteTimeout, s.IdleTimeout, s.MaxHeaderBytes,
			s.HTTP2.MaxConcurrentStreams, s.Protocols.UnencryptedHTTP2()}
		if diff := cmp.Diff(tt.want, got); diff != "" || !s.Protocols.HTTP1() || !s.Protocols.HTTP2() {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, s.Protocols, diff)
		}
	}
	defer func() {
		if diff := cmp.Diff(any("middleware: Server: handler is nil; pass the handler to serve"), recover()); diff != "" {
			t.Errorf("panic (-want +got):\n%s", diff)
		}
	}()
	middleware.Server(nil, nil)
}

// TestSlowClientsAreCutOff: how long a client may hold a connection, by what it does.
func TestSlowClientsAreCutOff(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, sends string
		drip        string // sent every second after that
		within      time.Duration
	}{
		{"says nothing", "", "", 5 * time.Second},
		{"never ends its header", "GET / HTTP/1.1\r\nHost: x\r\n", "", 5 * time.Second},
		{"drips its header", "GET / HTTP/1.1\r\nHost: x\r\nX: ", "x", 5 * time.Second},
		{"never sends its content", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n", "",
			30 * time.Second},
		{"drips its content", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n", "x",
			30 * time.Second},
		{"drips chunks", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n",
			30 * time.Second},
		{"idles", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "", 2 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body)
				})
				p := serving(t, middleware.Server(h,
					&middleware.ServerOptions{Logger: slog.New(slog.DiscardHandler)}))
				conn, start := p.dial(), time.Now()
				go func() {
					io.WriteString(conn, tt.sends)
					for tt.drip != "" {
						time.Sleep(time.Second)
						if _, err := io.WriteString(conn, tt.drip); err != nil {
							return
						}
					}
				}()
				io.Copy(io.Discard, conn) // until the server closes it
				if took := time.Since(start); took < tt.within || took > tt.within+time.Second {
					t.Errorf("closed after %v, want %v", took, tt.within)
				}
				conn.Close()
				time.Sleep(2 * time.Second) // so that the slow client reads the error
			})
		})
	}
}

// TestServe shuts a server down while it serves a request.
func TestServe(t *testing.T) {
	t.Parallel()
	broken := errors.New("a job did not end")
	tests := []struct {
		name  string
		needs time.Duration // of the handler
		then  error
		took  time.Duration
		err   error
		whole bool // the answer
	}{
		{"idle", 0, nil, 0, nil, true},
		{"in flight", 4 * time.Second, nil, 4 * time.Second, nil, true},
		{"too long", time.Minute, nil, 5 * time.Second, context.DeadlineExceeded, false},
		{"then", time.Second, broken, time.Second, broken, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancel(t.Context())
				drained := false
				p, done := newPipes(), make(chan error)
				server := middleware.Server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					select {
					case <-time.After(tt.needs):
						io.WriteString(w, "done")
					case <-r.Context().Done(): // cut off
					}
				}), nil)
				go func() {
					done <- middleware.Serve(ctx, server, p, &middleware.ServeOptions{Drain: 5 * time.Second,
						Then: func(context.Context) error { drained = true; return tt.then }})
				}()
				conn := p.dial()
				defer conn.Close()
				send(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
				answer := make(chan string)
				go func() {
					_, body, _ := receive(t, conn)
					answer <- body
				}()
				synctest.Wait()
				start := time.Now()
				end()
				if body := <-answer; (body == "done") != tt.whole {
					t.Errorf("the answer is %q", body)
				}
				err := <-done
				// Shutdown looks every half second
				if took := time.Since(start); took < tt.took || took > tt.took+time.Second {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
				if !errors.Is(err, tt.err) || !drained {
					t.Errorf("error %v, want %v; then: %t", err, tt.err, drained)
				}
			})
		})
	}
}

// TestServeNotice: for the time of Notice the server still accepts connections, reports that it is not
// ready, and ends each connection after a response.
func TestServeNotice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		p, done := newPipes(), make(chan error)
		mux := http.NewServeMux()
		mux.Handle("/ready", middleware.Health(nil, nil))
		mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "done") })
		go func() {
			done <- middleware.Serve(ctx, middleware.Server(mux, nil), p,
				&middleware.ServeOptions{Notice: 20 * time.Second})
		}()
		open := func() net.Conn {
			conn := p.dial()
			t.Cleanup(func() { conn.Close() })
			return conn
		}
		request := func(conn net.Conn, path string) string {
			t.Helper()
			send(conn, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
			res, _, err := receive(t, conn)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(res.StatusCode, " close=", res.Close)
		}
		kept, idle := open(), open()
		got := []string{request(kept, "/"), request(idle, "/"), request(open(), "/ready")}
		end()
		synctest.Wait()
		start := time.Now()
		got = append(got, request(kept, "/"), request(open(), "/ready"))
		time.Sleep(19 * time.Second)
		got = append(got, request(open(), "/"), request(idle, "/"))
		want := []string{"200 close=false", "200 close=false", "200 close=false",
			"200 close=true", "503 close=true", "200 close=true", "200 close=true"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("responses (-want +got):\n%s", diff)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took < 20*time.Second || took > 21*time.Second {
			t.Errorf("it took %v, want the time of Notice", took)
		}
	})
}

// TestServeFails when the listener does.
func TestServeFails(t *testing.T) {
	t.Parallel()
	p := newPipes()
	p.Close()
	if err := middleware.Serve(t.Context(), middleware.Server(http.NotFoundHandler(), nil), p,
		nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("error %v, want %v", err, net.ErrClosed)
	}
}

// TestDraining: a stream without an end ends at shutdown.
func TestDraining(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		p, done := newPipes(), make(chan error)
		server := middleware.Server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.NewResponseController(w).Flush()
			<-middleware.Draining(r.Context())
			io.WriteString(w, "bye")
		}), nil)
		go func() { done <- middleware.Serve(ctx, server, p, nil) }()
		conn := p.dial()
		defer conn.Close()
		send(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		time.AfterFunc(10*time.Second, end)
		if _, body, err := receive(t, conn); err != nil || body != "bye" {
			t.Errorf("%q %v", body, err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := server.Shutdown(t.Context()); err != nil { // a second time does no harm
			t.Error(err)
		}
	})
	if middleware.Draining(t.Context()) != nil {
		t.Error("without a server there is nothing that drains")
	}
}

// TestServeTLS speaks HTTP/2 where there is a certificate.
func TestServeTLS(t *testing.T) {
	t.Parallel()
	other := httptest.NewUnstartedServer(nil)
	other.EnableHTTP2 = true
	other.StartTLS() // for its certificate, and a client that trusts it
	defer other.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := middleware.Server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Proto)
	}),
		// the handshake's, too
		&middleware.ServerOptions{ReadHeaderTimeout: time.Hour, ReadTimeout: time.Hour,
			WriteTimeout: time.Hour})
	server.TLSConfig = other.TLS.Clone()
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- middleware.Serve(ctx, server, l, &middleware.ServeOptions{Drain: time.Hour}) }()
	res, err := other.Client().Get("https://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if string(body) != "HTTP/2.0" {
		t.Errorf("%s, want HTTP/2.0", body)
	}
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestSecondSignal: the first lets a request in flight finish, and the second does not wait for it.
func TestSecondSignal(t *testing.T) {
	if os.Getenv("STOA_TEST_SIGNALS") != "" {
		serveUntilSignalled()
		return
	}
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSecondSignal$")
	cmd.Env = append(os.Environ(), "STOA_TEST_SIGNALS=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait := func(word string) {
		t.Helper()
		buf := make([]byte, len(word))
		if _, err := io.ReadFull(out, buf); err != nil || string(buf) != word {
			t.Fatalf("%q %v, want %s", buf, err, word)
		}
	}
	wait("serving")
	cmd.Process.Signal(syscall.SIGTERM)
	wait("draining")
	cmd.Process.Signal(syscall.SIGTERM)
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) ||
		exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v, want to see it killed by the signal", err)
	}
}

// serveUntilSignalled is the process of TestSecondSignal: it has a request that takes an hour.
func serveUntilSignalled() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop()
		fmt.Print("draining")
	})
	p := newPipes()
	server := middleware.Server(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		fmt.Print("serving")
		time.Sleep(time.Hour)
	}), nil)
	go func() { io.WriteString(p.dial(), "GET / HTTP/1.1\r\nHost: x\r\n\r\n") }()
	middleware.Serve(ctx, server, p, &middleware.ServeOptions{Drain: time.Hour})
}

// A server with limits that lets requests in flight finish.
func ExampleServe() {
	ctx, end := context.WithCancel(context.Background())
	defer end()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		end() // as a signal would
		fmt.Fprint(w, "still answered")
	})
	done := make(chan error)
	go func() { done <- middleware.Serve(ctx, middleware.Server(h, nil), listener, nil) }()

	res, err := http.Get("http://" + listener.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	var body strings.Builder
	io.Copy(&body, res.Body)
	fmt.Println(body.String(), <-done)
	// Output: still answered <nil>
}
