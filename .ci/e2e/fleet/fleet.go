// Package fleet starts the nodes of a service, kills them without warning and restarts them.
package fleet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Fleet is the nodes of a service: processes of one command. It is safe for concurrent use.
type Fleet struct {
	// Args returns arguments that are appended to the command of one node. Nil appends none.
	Args func(i int) []string
	// Address returns the URL that clients use for a node, from the one that the node prints. Nil is the same URL. Args and
	// Address are set before Start.
	Address func(i int, url string) string

	mu      sync.Mutex
	nodes   []*node
	log     io.Writer // stderr of the nodes
	command []string
}

// node is one process. While it is down it has no URL.
type node struct {
	url   string
	cmd   *exec.Cmd
	ended chan struct{}
}

// New returns a fleet of n nodes, none of them started. Each node prints its address in a line of its standard output, such
// as "shop: listening on http://127.0.0.1:8080".
func New(n int, log io.Writer, command ...string) *Fleet {
	f := &Fleet{nodes: make([]*node, n), log: log, command: command}
	for i := range f.nodes {
		f.nodes[i] = &node{}
	}
	return f
}

// Of returns a fleet of servers that run already and cannot be killed.
func Of(urls ...string) *Fleet {
	f := &Fleet{}
	for _, url := range urls {
		f.nodes = append(f.nodes, &node{url: url})
	}
	return f
}

// Len returns the number of nodes, up or down.
func (f *Fleet) Len() int { return len(f.nodes) }

// URL returns the address of a node, or "" while it is down.
func (f *Fleet) URL(i int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.nodes[i].url
}

// PID returns the process id of a node, or 0 while it is down.
func (f *Fleet) PID(i int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.nodes[i].cmd == nil {
		return 0
	}
	return f.nodes[i].cmd.Process.Pid
}

// Pick returns the URL of a random node that is up. It waits while there is none.
func (f *Fleet) Pick(ctx context.Context, rng *rand.Rand) (string, error) {
	for {
		if url := f.pickNow(rng); url != "" {
			return url, nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func (f *Fleet) pickNow(rng *rand.Rand) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := rng.IntN(len(f.nodes))
	for i := range f.nodes {
		if n := f.nodes[(first+i)%len(f.nodes)]; n.url != "" {
			return n.url
		}
	}
	return ""
}

// Start starts all nodes at once.
func (f *Fleet) Start(ctx context.Context) error {
	errs := make([]error, len(f.nodes))
	var wg sync.WaitGroup
	for i := range f.nodes {
		wg.Go(func() { errs[i] = f.StartNode(ctx, i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// startLimit is the time that a node may take until it listens. Its database may be in recovery.
const startLimit = 5 * time.Minute

// StartNode starts a node and waits until it listens. A process that ends before that is started again, as a supervisor would
// do: it is expected while a database recovers.
func (f *Fleet) StartNode(ctx context.Context, i int) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		cmd := exec.Command(f.command[0], f.command[1:]...)
		if f.Args != nil {
			cmd.Args = append(cmd.Args, f.Args(i)...)
		}
		cmd.Stderr = f.log
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		url, ended, err := listening(ctx, cmd)
		if err == nil {
			if f.Address != nil {
				url = f.Address(i, url)
			}
			f.mu.Lock()
			*f.nodes[i] = node{url, cmd, ended}
			f.mu.Unlock()
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("node %d does not start: %w", i, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// listening starts a process and returns the URL that it prints. The channel is closed when the process has ended. The
// goroutine keeps its thread until then: with Pdeathsig, Linux kills the child when the thread that started it ends.
func listening(ctx context.Context, cmd *exec.Cmd) (string, chan struct{}, error) {
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	started, ended := make(chan error, 1), make(chan struct{})
	urls := make(chan string, 1)
	go func() {
		runtime.LockOSThread()
		defer close(ended)
		err := cmd.Start()
		started <- err
		if err == nil {
			findURL(stdout, urls)
			cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return "", nil, err
	}
	select {
	case url := <-urls:
		return url, ended, nil
	case <-ended:
		return "", nil, errors.New("it ended without listening")
	case <-ctx.Done():
		cmd.Process.Kill()
		<-ended
		return "", nil, ctx.Err()
	}
}

// findURL reads all output of a process, so that the process never blocks on a full pipe.
func findURL(stdout io.Reader, urls chan<- string) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), ": listening on "); ok {
			urls <- url
		}
	}
	io.Copy(io.Discard, stdout)
}

// Kill sends SIGKILL to a node and waits until it has ended.
func (f *Fleet) Kill(i int) {
	f.mu.Lock()
	n := *f.nodes[i]
	f.mu.Unlock()
	if n.cmd == nil {
		return
	}
	n.cmd.Process.Kill() // clients are still directed to it, as in production
	<-n.ended
	f.mu.Lock()
	*f.nodes[i] = node{}
	f.mu.Unlock()
}

// KillAll kills all nodes.
func (f *Fleet) KillAll() {
	for i := range f.nodes {
		f.Kill(i)
	}
}

// Restart kills a node and starts it again.
func (f *Fleet) Restart(ctx context.Context, i int) error {
	f.Kill(i)
	return f.StartNode(ctx, i)
}

// Signal sends SIGKILL to a node, if it is up, and does not wait for its end.
func (f *Fleet) Signal(i int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.nodes[i].cmd != nil {
		f.nodes[i].cmd.Process.Kill()
	}
}

// Wait waits until a node has ended by itself.
func (f *Fleet) Wait(ctx context.Context, i int) error {
	f.mu.Lock()
	ended := f.nodes[i].ended
	f.mu.Unlock()
	select {
	case <-ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	*f.nodes[i] = node{}
	return nil
}

// Supervise restarts each node that ends, until ctx is done. It calls died for each.
func (f *Fleet) Supervise(ctx context.Context, died func(i int)) error {
	errs := make([]error, f.Len())
	var wg sync.WaitGroup
	for i := range f.nodes {
		wg.Go(func() {
			for f.Wait(ctx, i) == nil && errs[i] == nil {
				died(i)
				if errs[i] = f.StartNode(ctx, i); ctx.Err() != nil {
					errs[i] = nil
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
