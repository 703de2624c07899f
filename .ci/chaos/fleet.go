package main

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

// A fleet is the processes of the shop. Its members come and go, and whoever wants one takes any.
type fleet struct {
	mu      sync.Mutex
	members []*member
	log     io.Writer // of what they print to stderr
	command []string
}

// member is one process; while it is down it has no url.
type member struct {
	url   string
	cmd   *exec.Cmd
	ended chan struct{}
}

func newFleet(n int, log io.Writer, command ...string) *fleet {
	f := &fleet{members: make([]*member, n), log: log, command: command}
	for i := range f.members {
		f.members[i] = &member{}
	}
	return f
}

// start starts all at once, as a service would that is rolled out anew.
func (f *fleet) start(ctx context.Context) error {
	errs := make([]error, len(f.members))
	var wg sync.WaitGroup
	for i := range f.members {
		wg.Go(func() { errs[i] = f.startOne(ctx, i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// startLimit is how long a process may take until it listens. The database may be recovering meanwhile.
const startLimit = time.Minute

// startOne starts a process and waits until it listens. One that ends before is started again: a service that is
// supervised would be, too, and while a database recovers it is to be expected.
func (f *fleet) startOne(ctx context.Context, i int) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		cmd := exec.Command(f.command[0], f.command[1:]...)
		cmd.Stderr = f.log
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		url, ended, err := listening(ctx, cmd)
		if err == nil {
			f.mu.Lock()
			*f.members[i] = member{url, cmd, ended}
			f.mu.Unlock()
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("process %d does not start: %w", i, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// listening starts a process and returns the URL that it prints. The channel is closed when it has ended. It is started
// by a thread that lives as long: for Pdeathsig, Linux takes the end of the thread for that of the parent.
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

// findURL reads all that a process prints, so that it never waits for a reader.
func findURL(stdout io.Reader, urls chan<- string) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "shop: listening on "); ok {
			urls <- url
		}
	}
	io.Copy(io.Discard, stdout)
}

// pick returns the URL of any process that is up, and waits while there is none.
func (f *fleet) pick(ctx context.Context, rng *rand.Rand) (string, error) {
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

func (f *fleet) pickNow(rng *rand.Rand) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := rng.IntN(len(f.members))
	for i := range f.members {
		if m := f.members[(first+i)%len(f.members)]; m.url != "" {
			return m.url
		}
	}
	return ""
}

// killOne ends a process without warning, and waits until it is gone.
func (f *fleet) killOne(i int) {
	f.mu.Lock()
	m := *f.members[i]
	f.mu.Unlock()
	if m.cmd == nil {
		return
	}
	m.cmd.Process.Kill() // while it is still taken for one that is up, as it would be in earnest
	<-m.ended
	f.mu.Lock()
	*f.members[i] = member{}
	f.mu.Unlock()
}

func (f *fleet) kill() {
	for i := range f.members {
		f.killOne(i)
	}
}
