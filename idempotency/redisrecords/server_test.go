package redisrecords_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// shared is the server of most tests: the one in the environment variable TEST_REDIS, a URL as
// printed by .ci/redis, or one started by this process. Each test has its own prefix.
var shared struct {
	once sync.Once
	own  *server
	opts *redis.Options
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.own != nil {
		shared.own.stop()
	}
	os.Exit(code)
}

var errNoRedis = errors.New("there is no Redis: install the package redis-server, or run .ci/redis install")

// unless ends a test if no server is available: it is skipped locally and fails if CI is set.
func unless(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, errNoRedis) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// options returns the options of the shared server.
func options(t testing.TB) *redis.Options {
	t.Helper()
	shared.once.Do(func() {
		if url := os.Getenv("TEST_REDIS"); url != "" {
			shared.opts, shared.err = redis.ParseURL(url)
			return
		}
		if shared.own, shared.err = start(); shared.err == nil {
			shared.opts = shared.own.options()
		}
	})
	unless(t, shared.err)
	own := *shared.opts // clients modify it
	return patient(&own)
}

// patient disables timeouts, because the client repeats a call that has timed out.
func patient(opts *redis.Options) *redis.Options {
	opts.DialTimeout, opts.ReadTimeout, opts.WriteTimeout, opts.PoolTimeout = time.Minute, time.Minute, time.Minute, time.Minute
	return opts
}

// client returns a client of the shared server, with an unused prefix.
func client(t testing.TB) (c *redis.Client, prefix string) {
	t.Helper()
	c = redis.NewClient(options(t))
	t.Cleanup(func() { c.Close() })
	return c, "test:" + rand.Text() + ":"
}

// server is a Redis that persists each write.
type server struct {
	dir   string
	cmd   *exec.Cmd
	ended chan struct{}
}

// start starts a server in a new folder. Its name is short because the path of a socket is limited.
func start() (*server, error) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		return nil, errNoRedis
	}
	dir, err := os.MkdirTemp("/tmp", "stoa-redis-")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir}
	if err := s.run(); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return s, nil
}

func (s *server) options() *redis.Options {
	return patient(&redis.Options{Network: "unix", Addr: filepath.Join(s.dir, "socket")})
}

// run starts the process and waits until it has loaded its file. It ends with this process, even if
// that is killed.
func (s *server) run() error {
	s.cmd = exec.Command("redis-server", "--port", "0", "--unixsocket", filepath.Join(s.dir, "socket"),
		"--dir", s.dir, "--save", "", "--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy",
		"noeviction")
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	s.ended = make(chan struct{})
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // Linux sends Pdeathsig when the thread that started the process ends
		defer runtime.UnlockOSThread()
		err := s.cmd.Start()
		started <- err
		if err == nil {
			s.cmd.Wait()
			close(s.ended)
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	c := redis.NewClient(s.options())
	defer c.Close()
	err := errors.New("redis-server does not answer")
	for range 3000 { // one minute, as in .ci/redis
		if err = c.Ping(context.Background()).Err(); err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return errors.New("redis-server has ended")
		case <-time.After(20 * time.Millisecond):
		}
	}
	return err
}

// kill ends the server with SIGKILL and waits for it.
func (s *server) kill() {
	s.cmd.Process.Kill()
	<-s.ended
}

// stop ends the server and removes its folder.
func (s *server) stop() {
	s.kill()
	os.RemoveAll(s.dir)
}

// wire drops responses of the server.
type wire struct {
	mu   sync.Mutex
	lose int // how many of the next responses
}

func (w *wire) loseNext(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lose = n
}

func (w *wire) lost() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lose == 0 {
		return false
	}
	w.lose--
	return true
}

type lossy struct {
	net.Conn
	w *wire
}

func (l lossy) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if n > 0 && l.w.lost() {
		l.Conn.Close()
		return 0, net.ErrClosed
	}
	return n, err
}

// lossyClient returns a client on a connection that drops responses on demand, and repeats the
// calls.
func lossyClient(t *testing.T) (c *redis.Client, w *wire, prefix string) {
	t.Helper()
	opts := options(t)
	w = &wire{}
	var d net.Dialer
	opts.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := d.DialContext(ctx, network, address)
		return lossy{conn, w}, err
	}
	c = redis.NewClient(opts)
	t.Cleanup(func() { c.Close() })
	// connect now, so that the next response is the intended one
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	return c, w, "test:" + rand.Text() + ":"
}
