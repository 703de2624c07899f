package natsfeed_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/natsfeed"
)

// cluster is three servers in this process.
type cluster struct {
	servers []*server.Server
	opts    []*server.Options
	dir     string
}

// shared is the cluster of tests that stop no server. Each test has its own stream.
var shared struct {
	once sync.Once
	c    *cluster
	err  error

	starting sync.Mutex // serializes the choice of ports
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.c != nil {
		shared.c.stop()
	}
	os.Exit(code)
}

func theCluster(t testing.TB) *cluster {
	t.Helper()
	shared.once.Do(func() { shared.c, shared.err = startCluster() })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.c
}

// patience allows for elections on a busy machine. Working tests do not wait that long.
const patience = 3 * time.Minute

// freePorts returns unused ports of 127.0.0.1 below the ephemeral range, so that no connection
// takes the port of a stopped server. The unused port of ExampleNew is below them all.
func freePorts(n int) (ports []int, err error) {
	first := 15_000 + rand.N(10_000)
	for port := first; len(ports) < n && port < first+5000; port++ {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		defer l.Close() // after the loop, so that the ports are distinct
		ports = append(ports, port)
	}
	if len(ports) < n {
		return nil, errors.New("too few free ports")
	}
	return ports, nil
}

// startCluster starts three servers and waits until they have elected a leader.
func startCluster() (*cluster, error) {
	shared.starting.Lock()
	defer shared.starting.Unlock()
	dir, err := os.MkdirTemp("", "natsfeed")
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir}
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	var routes []string
	for _, port := range ports {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	for i, port := range ports {
		opts := &server.Options{
			ServerName: fmt.Sprintf("s%d", i),
			Host:       "127.0.0.1",
			Port:       -1,
			NoLog:      true,
			NoSigs:     true,
			JetStream:  true,
			StoreDir:   fmt.Sprintf("%s/%d", dir, i),
			// Each stream reserves Options.Bytes, 1 GiB by default. The limits of the servers do not
			// depend on the free disk space and memory of the machine.
			JetStreamMaxStore:  1 << 40,
			JetStreamMaxMemory: 1 << 40,
			Cluster:            server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: port},
			Routes:             server.RoutesFromStr(strings.Join(routes, ",")),
		}
		c.opts = append(c.opts, opts.Clone())
		s, err := server.NewServer(opts)
		if err != nil {
			return nil, err
		}
		s.Start()
		c.servers = append(c.servers, s)
	}
	for i, s := range c.servers {
		if !s.ReadyForConnections(patience) {
			return nil, fmt.Errorf("server %d does not listen", i)
		}
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if c.isReady() {
			return c, c.probe()
		}
	}
	return nil, errors.New("no server leads")
}

// isReady reports whether the servers have a leader that knows all of them, and are current.
func (c *cluster) isReady() bool {
	led := false
	for _, s := range c.servers {
		if !s.JetStreamIsCurrent() {
			return false
		}
		led = led || s.JetStreamIsLeader() && len(s.JetStreamClusterPeers()) == len(c.servers)
	}
	return led
}

// probe waits until the servers store a message in a new stream with replicas. A stream that is
// created during the first election may never have a leader, so each attempt has a stream of its
// own.
func (c *cluster) probe() (err error) {
	nc, err := nats.Connect(c.servers[0].ClientURL())
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for n := 0; ctx.Err() == nil; n++ {
		name := fmt.Sprintf("probe%d", n)
		if err = tryStream(ctx, js, name); err == nil {
			return js.DeleteStream(ctx, name)
		}
	}
	return fmt.Errorf("no stream can be created: %w", err)
}

// tryStream creates a stream and publishes a message, in at most 10 seconds.
func tryStream(ctx context.Context, js jetstream.JetStream, name string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: name, Subjects: []string{name}, Replicas: 3})
	if err != nil {
		return err
	}
	_, err = js.Publish(ctx, name, nil)
	return err
}

func (c *cluster) stop() {
	for _, s := range c.servers {
		s.Shutdown()
		s.WaitForShutdown()
	}
	os.RemoveAll(c.dir)
}

// stopLeader stops the server that leads a stream, and returns its index.
func (c *cluster) stopLeader(t *testing.T, js jetstream.JetStream, name string) int {
	t.Helper()
	leader, err := again(func() (int, error) {
		stream, err := js.Stream(t.Context(), name)
		if err != nil {
			return 0, err
		}
		info := stream.CachedInfo()
		for i, s := range c.servers {
			if info.Cluster != nil && s.Name() == info.Cluster.Leader {
				return i, nil
			}
		}
		return 0, errors.New("no server leads the stream")
	})
	if err != nil {
		t.Error(err)
	}
	c.servers[leader].Shutdown()
	c.servers[leader].WaitForShutdown()
	return leader
}

// restart starts a stopped server with its data directory.
func (c *cluster) restart(i int) (err error) {
	c.servers[i], err = server.NewServer(c.opts[i])
	if err == nil {
		c.servers[i].Start()
	}
	return err
}

// connect returns a connection that fails over between the servers.
func (c *cluster) connect(t testing.TB) jetstream.JetStream {
	t.Helper()
	urls := ""
	for _, s := range c.servers {
		urls += "," + s.ClientURL()
	}
	nc, err := nats.Connect(urls[1:], nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond),
		// the default handler prints to standard error
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// run returns a Log that runs until stop is called or the test ends.
func run(t testing.TB, c *cluster, source feed.Log, opts natsfeed.Options) (log *natsfeed.Log, stop func()) {
	t.Helper()
	opts.Replicas = cmp.Or(opts.Replicas, 3)
	opts.Logger = slog.New(slog.NewTextHandler(t.Output(), nil)) // printed if the test fails
	opts.Check = cmp.Or(opts.Check, 200*time.Millisecond)
	log = natsfeed.New(source, c.connect(t), &opts)
	ctx, cancel := context.WithCancel(context.Background())
	var works sync.WaitGroup
	works.Go(func() { log.Run(ctx) })
	stop = func() {
		cancel()
		works.Wait()
	}
	t.Cleanup(stop)
	return log, stop
}

// streams counts the streams of tests.
var streams atomic.Int64

// streamName returns an unused name.
func streamName() string { return fmt.Sprintf("s%d", streams.Add(1)) }
