package main

// The measurement over WebSocket: a server process (server.go) and n clients in this process.

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
)

// burst is the number of changes that are made before their delivery is awaited. gqlgen has the
// same number of buffers per subscriber, so it does not wait for any of them.
const burst = 16

// subscribers are the clients of a server process.
type subscribers struct {
	tally
	addr    string // of the server process
	clients []*client
	failed  chan error     // one for each client, so that none blocks
	reading sync.WaitGroup // the goroutines of the clients
}

// overWebSockets measures a peer in a process of its own, with subscribers over WebSocket.
func overWebSockets(p peer, n int, each time.Duration) (result, error) {
	addr, stop, err := startServer(p)
	if err != nil {
		return result{}, err
	}
	defer stop()
	c := &subscribers{addr: addr, failed: make(chan error, n)}
	defer c.leave()
	// The growth from here to idle is the memory of the subscriptions, with all buffers and
	// goroutines.
	before, err := c.stats(true)
	if err != nil {
		return result{}, err
	}
	if err := c.join(n); err != nil {
		return result{}, err
	}
	idle, err := c.stats(true)
	if err != nil {
		return result{}, err
	}
	r := result{
		held:     perUnit(idle.Held, before.Held, n),
		resident: perUnit(idle.Resident, before.Resident, n),
	}
	r.size = len(*c.sample.Load())
	return r, c.measure(&r, n, each)
}

// startServer starts this program as the server of a peer.
func startServer(p peer) (addr string, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.Command(self, "-serve", p.name)
	cmd.Env = append(os.Environ(), "FANOUT_SERVE="+p.name) // for a test binary, which has other flags
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		in.Close()
		_ = cmd.Wait() // the process ends at the end of its input
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
	}
	return strings.TrimSpace(line), stop, err
}

// join subscribes n clients and waits until each receives changes.
func (c *subscribers) join(n int) error {
	// Clients connect one by one. A thousand handshakes at once would measure the queue of the
	// listener.
	for range n {
		client, err := subscribe(c.addr)
		if err != nil {
			return err
		}
		c.clients = append(c.clients, client)
		c.reading.Go(func() { c.read(client) })
	}
	return c.tally.join(n, c.make, c.failed)
}

// make makes changes in the server process.
func (c *subscribers) make(times int) error { return c.post(fmt.Sprintf("/change?n=%d", times), nil) }

// read reads until the socket is closed.
func (c *subscribers) read(client *client) {
	for {
		text, err := client.next()
		if err != nil {
			c.failed <- err
			return
		}
		c.receive(text)
	}
}

// change makes changes and waits until all clients have received them.
func (c *subscribers) change(times int) (time.Duration, error) {
	r := c.begin(times, len(c.clients))
	began := time.Now()
	if err := c.make(times); err != nil {
		return 0, err
	}
	select {
	case <-r.all:
		return time.Since(began), nil
	case err := <-c.failed:
		return 0, err
	case <-time.After(5 * time.Minute):
		return 0, fmt.Errorf("%d of %d subscribers have not received all of %d changes", r.left.Load(),
			len(c.clients), times)
	}
}

// measure makes changes: first as fast as they are received, and then one by one.
func (c *subscribers) measure(r *result, n int, each time.Duration) error {
	before, err := c.stats(false)
	if err != nil {
		return err
	}
	events := 0
	began := time.Now()
	for events == 0 || time.Since(began) < each {
		if _, err := c.change(burst); err != nil {
			return err
		}
		events += burst
	}
	took := time.Since(began)
	after, err := c.stats(false)
	if err != nil {
		return err
	}
	r.fill(before, after, events, n, took)
	var single []time.Duration
	// One change at a time gives the latency to the last subscriber, without the queue of a burst.
	for began = time.Now(); time.Since(began) < each/2 || len(single) < 10; {
		took, err := c.change(1)
		if err != nil {
			return err
		}
		single = append(single, took)
	}
	r.last = measure.Median(single, cmp.Compare)
	return nil
}

// stats returns the resources used by the server process, after collecting garbage if settle is
// set.
func (c *subscribers) stats(settle bool) (s stats, err error) {
	path := "/stats"
	if settle {
		path += "?settle=1"
	}
	return s, c.post(path, &s)
}

// post sends a request to the server process and decodes the response into out.
func (c *subscribers) post(path string, out any) error {
	resp, err := http.Post("http://"+c.addr+path, "text/plain", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %s", resp.Status, text)
	case out == nil:
		return nil
	}
	return json.Unmarshal(text, out)
}

// leave disconnects all clients and waits until their goroutines have ended.
func (c *subscribers) leave() {
	for _, client := range c.clients {
		client.conn.Close()
	}
	c.reading.Wait()
}
