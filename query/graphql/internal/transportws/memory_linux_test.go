package transportws_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query/graphql/internal/transportws"
)

// TestMain also runs the clients of TestMemory, in a separate process, so that only the server is
// measured.
func TestMain(m *testing.M) {
	if address := os.Getenv("SOCKET_TEST_CLIENTS"); address != "" {
		if err := beClients(address); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// beClients connects the given number of clients, each with one subscription, reports this, and
// exits when its input ends.
func beClients(address string) error {
	n, err := strconv.Atoi(os.Getenv("SOCKET_TEST_COUNT"))
	if err != nil {
		return err
	}
	conns := make([]net.Conn, n)
	for i := range conns {
		if conns[i], err = subscriber(address); err != nil {
			return fmt.Errorf("client %d: %w", i, err)
		}
	}
	stalled, err := strconv.Atoi(os.Getenv("SOCKET_TEST_STALLED"))
	if err != nil {
		return err
	}
	return read(conns, stalled, os.Stdin)
}

// subscriber returns a client with a subscription that has received its first result. It reads no
// further results.
func subscriber(address string) (net.Conn, error) {
	conn, err := net.Dial("unix", address)
	if err != nil {
		return nil, err
	}
	r := bufio.NewReaderSize(conn, 256)
	if _, err := io.WriteString(conn, upgrade(speaks)+"\r\n\r\n"); err != nil {
		return nil, err
	}
	answer, err := http.ReadResponse(r, nil)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		return nil, fmt.Errorf("upgrade: %v, %v", answer, err)
	}
	p := &probe{conn: conn, r: r}
	for _, message := range []string{`{"type":"connection_init"}`,
		`{"id":"1","type":"subscribe","payload":{"query":"` + strings.Repeat(" ", 300) + `"}}`} {
		if err := p.write(fin|text, []byte(message)); err != nil {
			return nil, err
		}
		if f, err := p.next(); err != nil || f.head != fin|text {
			return nil, fmt.Errorf("got %s: %v", f, err)
		}
	}
	return conn, nil
}

// crowd is a handler with operations that yield one result, and more with each call of publish.
type crowd struct {
	mu    sync.Mutex
	wake  chan struct{} // closed at the next result
	next  []byte
	ready int           // operations that have written it and wait
	all   chan struct{} // receives a value when many operations have
	many  int
}

func newCrowd() *crowd {
	return &crowd{wake: make(chan struct{}), next: []byte(`{"data":0}`), all: make(chan struct{}, 1)}
}

func (c *crowd) Init(ctx context.Context, _ []byte) (context.Context, time.Time, error) {
	return ctx, time.Time{}, nil
}

func (c *crowd) Operate(ctx context.Context, _ []byte) transportws.Operation {
	return transportws.Operation{Stream: true, Results: c.results(ctx)}
}

func (c *crowd) results(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for {
			c.mu.Lock()
			next, wake := c.next, c.wake
			c.mu.Unlock()
			if !yield(next, nil) {
				return
			}
			c.written(wake)
			select {
			case <-wake:
			case <-ctx.Done():
				return
			}
		}
	}
}

// written counts an operation that has written the result that the close of wake announced.
func (c *crowd) written(wake chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if wake != c.wake {
		return // there is a newer result
	}
	if c.ready++; c.ready == c.many {
		c.all <- struct{}{}
	}
}

// publish yields result to all operations.
func (c *crowd) publish(result []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ready = 0
	close(c.wake)
	c.next, c.wake = result, make(chan struct{})
}

// await sends to c.all when many operations have written the next result.
func (c *crowd) await(many int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ready, c.many = -1<<30, many // results being written do not count
}

// listen serves sockets on a Unix socket.
func listen(t testing.TB, s *transportws.Server) (address string, server *http.Server) {
	t.Helper()
	return listenTo(t, s, func(l net.Listener) net.Listener { return l })
}

// listenTo is listen with a function that wraps the listener.
func listenTo(t testing.TB, s *transportws.Server,
	first func(net.Listener) net.Listener) (address string, server *http.Server) {
	t.Helper()
	address = filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	server = &http.Server{Handler: s}
	go server.Serve(first(l))
	t.Cleanup(func() { server.Close() })
	return address, server
}

// clients starts a process with n clients and returns when all of them have subscribed. end stops
// it.
func clients(t testing.TB, address string, n int) (end func()) {
	t.Helper()
	_, end = someStalled(t, address, n, 0)
	return end
}

// someStalled is clients with the first ones not reading. said is the output of the process.
func someStalled(t testing.TB, address string, n, stalled int) (said *bytes.Buffer, end func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "SOCKET_TEST_CLIENTS="+address, fmt.Sprint("SOCKET_TEST_COUNT=", n),
		fmt.Sprint("SOCKET_TEST_STALLED=", stalled))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, said := bufio.NewReader(out), new(bytes.Buffer)
	if line, err := lines.ReadString('\n'); line != "ready\n" {
		t.Fatalf("clients: %q, %v", line, err)
	}
	return said, func() {
		in.Close()
		if _, err := said.ReadFrom(lines); err != nil {
			t.Error("clients:", err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error("clients:", err)
		}
	}
}

// patient returns options for clients that may wait for a processor.
func patient() *transportws.Options {
	return &transportws.Options{Wait: time.Minute, Ping: time.Hour, Write: time.Minute, Read: time.Minute}
}

// usage is the current resource usage of the process.
type usage struct{ heap, stacks, resident, goroutines, files int64 }

func measure(t testing.TB) usage {
	t.Helper()
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := usage{heap: int64(m.HeapAlloc), stacks: int64(m.StackInuse),
		goroutines: int64(runtime.NumGoroutine())}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.files = int64(len(files))
	}
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		fields := strings.Fields(string(text))
		u.resident, _ = strconv.ParseInt(fields[1], 10, 64)
		u.resident *= int64(os.Getpagesize())
	}
	return u
}

// TestMemory checks that an idle socket with one subscription uses at most 40 KiB.
func TestMemory(t *testing.T) {
	n := 2000
	if os.Getenv("SOCKET_TEST_FULL") != "" {
		n = 10_000
	}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err == nil {
		n = min(n, int(min(files.Cur, 1<<20))-200) // the limit of open files
	}
	s := transportws.New(newCrowd(), patient())
	address, _ := listen(t, s)
	clients(t, address, 10)()
	settle(t, s)
	before := measure(t)
	end := clients(t, address, n)
	after := measure(t)
	each := (after.heap + after.stacks - before.heap - before.stacks) / int64(n)
	t.Logf("%d sockets with a subscription: each %d bytes of heap, %d of stacks, together %.1f KiB; %.1f "+
		"KiB resident; %.1f goroutines",
		n, (after.heap-before.heap)/int64(n), (after.stacks-before.stacks)/int64(n), float64(each)/1024,
		float64(after.resident-before.resident)/float64(n)/1024,
		float64(after.goroutines-before.goroutines)/float64(n))
	if s.Len() != n {
		t.Errorf("%d sockets, want %d", s.Len(), n)
	}
	if each > 40<<10 && !raceDetector {
		t.Errorf("a socket costs %d bytes, more than 40 KiB", each)
	}
	end()
}

// TestConnectionLeaks checks for leaks after 10,000 clients have connected, subscribed and disconnected,
// half of them without a close frame. It does not run in parallel, because it counts goroutines and
// files.
func TestConnectionLeaks(t *testing.T) {
	const n, at = 10_000, 4
	s := transportws.New(newCrowd(), patient())
	address, _ := listen(t, s)
	comeAndGo(t, address, 100)
	settle(t, s)
	before := measure(t)
	var all sync.WaitGroup
	for range at {
		all.Go(func() { comeAndGo(t, address, n/at) })
	}
	all.Wait()
	settle(t, s)
	after := measure(t)
	// Other processes may delay the last steps.
	for late := time.Now().Add(5 * time.Minute); time.Now().Before(late); after = measure(t) {
		if after.goroutines <= before.goroutines && after.files <= before.files {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("after %d sockets: %+d goroutines, %+d files, %+d bytes of heap", n,
		after.goroutines-before.goroutines,
		after.files-before.files, after.heap-before.heap)
	if after.goroutines > before.goroutines {
		t.Errorf("%d goroutines, and %d before", after.goroutines, before.goroutines)
	}
	if after.files > before.files {
		t.Errorf("%d files are open, and %d before", after.files, before.files)
	}
	if grown := after.heap - before.heap; grown > 1<<20 && !raceDetector {
		t.Errorf("%d bytes are left, 100 for each socket", grown)
	}
}

func comeAndGo(t *testing.T, address string, n int) {
	for i := range n {
		conn, err := subscriber(address)
		if err != nil {
			t.Error(err)
			return
		}
		if i%2 == 0 {
			p := &probe{conn: conn}
			if err := p.write(fin|closing, []byte{3, 232}); err != nil {
				t.Error(err)
			}
			io.Copy(io.Discard, conn) // until the end
		}
		conn.Close()
	}
}

// settle waits until no socket and no closing connection is left.
func settle(t *testing.T, s *transportws.Server) {
	t.Helper()
	for last := -1; s.Len() > 0 || runtime.NumGoroutine() != last; time.Sleep(50 * time.Millisecond) {
		last = runtime.NumGoroutine()
		if t.Context().Err() != nil {
			t.Fatal("they do not end")
		}
	}
}

// BenchmarkFanOut measures one result for a thousand sockets, until all operations have written it.
func BenchmarkFanOut(b *testing.B) {
	for _, size := range []int{200, 2000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			const n = 1000
			c := newCrowd()
			c.many = n
			address, _ := listen(b, transportws.New(c, nil))
			end := clients(b, address, n)
			<-c.all
			result := []byte(`{"data":"` + strings.Repeat("x", size) + `"}`)
			b.ReportAllocs()
			before := processor()
			for b.Loop() {
				c.publish(result)
				<-c.all
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/socket")
			// not affected by other processes
			b.ReportMetric(float64(processor()-before)/float64(b.N)/n, "cpu-ns/socket")
			b.StopTimer()
			end()
		})
	}
}

// processor returns the processor time of the process.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
