// Package fleet starts the processes of a service, kills them without warning and starts them again.
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

// Fleet is the processes of a service. Its members come and go, and whoever wants one takes any.
type Fleet struct {
	// Args are what is added to the command of each process, and Door is where it is found, which knows where it says it
	// is. Nil is nothing, and there. They are set before Start.
	Args func(i int) []string
	Door func(i int, url string) string

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

// New returns n processes of a command, none of which runs yet. Each says in one line of its output where it is to be
// found, as in "shop: listening on http://127.0.0.1:8080".
func New(n int, log io.Writer, command ...string) *Fleet {
	f := &Fleet{members: make([]*member, n), log: log, command: command}
	for i := range f.members {
		f.members[i] = &member{}
	}
	return f
}

// Of returns what is there already, and cannot be killed.
func Of(urls ...string) *Fleet {
	f := &Fleet{}
	for _, url := range urls {
		f.members = append(f.members, &member{url: url})
	}
	return f
}

// Len is how many processes there are, up or down.
func (f *Fleet) Len() int { return len(f.members) }

// URL is where a process is, and "" while it is down.
func (f *Fleet) URL(i int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.members[i].url
}

// PID is that of a process which was started, and 0 for one that is down.
func (f *Fleet) PID(i int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.members[i].cmd == nil {
		return 0
	}
	return f.members[i].cmd.Process.Pid
}

// Wait waits until a process has ended by itself.
func (f *Fleet) Wait(ctx context.Context, i int) error {
	f.mu.Lock()
	ended := f.members[i].ended
	f.mu.Unlock()
	select {
	case <-ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	*f.members[i] = member{}
	return nil
}

// Shoot kills a process, if it is up, and does not wait for its end.
func (f *Fleet) Shoot(i int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.members[i].cmd != nil {
		f.members[i].cmd.Process.Kill()
	}
}

// Supervise starts every process again that has ended, until ctx ends, and tells of each.
func (f *Fleet) Supervise(ctx context.Context, died func(i int)) error {
	errs := make([]error, f.Len())
	var wg sync.WaitGroup
	for i := range f.members {
		wg.Go(func() {
			for f.Wait(ctx, i) == nil && errs[i] == nil {
				died(i)
				if errs[i] = f.StartOne(ctx, i); ctx.Err() != nil {
					errs[i] = nil
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Start starts all at once, as a service would that is rolled out anew.
func (f *Fleet) Start(ctx context.Context) error {
	errs := make([]error, len(f.members))
	var wg sync.WaitGroup
	for i := range f.members {
		wg.Go(func() { errs[i] = f.StartOne(ctx, i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// startLimit is how long a process may take until it listens. The database may be recovering meanwhile.
const startLimit = 5 * time.Minute

// StartOne starts a process and waits until it listens. One that ends before is started again: a service that is
// supervised would be, too, and while a database recovers it is to be expected.
func (f *Fleet) StartOne(ctx context.Context, i int) error {
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
			if f.Door != nil {
				url = f.Door(i, url)
			}
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
		if _, url, ok := strings.Cut(lines.Text(), ": listening on "); ok {
			urls <- url
		}
	}
	io.Copy(io.Discard, stdout)
}

// Pick returns the URL of any process that is up, and waits while there is none.
func (f *Fleet) Pick(ctx context.Context, rng *rand.Rand) (string, error) {
	for {
		if url := f.PickNow(rng); url != "" {
			return url, nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// PickNow returns "" while there is none.
func (f *Fleet) PickNow(rng *rand.Rand) string {
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

// KillOne ends a process without warning, and waits until it is gone.
func (f *Fleet) KillOne(i int) {
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

// Kill ends all.
func (f *Fleet) Kill() {
	for i := range f.members {
		f.KillOne(i)
	}
}
