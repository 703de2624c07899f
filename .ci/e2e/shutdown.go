package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
)

// The scenario shutdown sends requests through nginx to two servers of the recipe deploy, and ends one of them with SIGTERM. nginx
// repeats no request. As a load balancer does, the scenario reads /ready of the server, removes it from nginx at the first 503, and
// then waits for the end of the server. Each request has to succeed.
//
// The control is the recipe with -notice 0. Its /ready cannot be read after SIGTERM, and requests that nginx sends there are lost.

// shutdownNotice is the time in which the steps between SIGTERM and the end of the server happen. They need less than a second.
const shutdownNotice = 20 * time.Second

// shutdownSteps is the number of responses that the clients wait for between two steps.
const shutdownSteps = 200

// balanced is a trial with two servers, nginx before them, and clients.
type balanced struct {
	trial
	notice    time.Duration
	dir       string
	addresses []string // of nginx and of the servers
	servers   []*process
	nginx     *process

	requests, lost atomic.Int64
}

func shutdown(ctx context.Context, e *env) error {
	if err := installProxies(ctx); err != nil {
		return err
	}
	program, err := e.build(ctx, "deploy")
	if err != nil {
		return err
	}
	subject := newBalanced("SIGTERM of one of two servers", program, shutdownNotice)
	control := newBalanced("control: the same without notice", program, 0)
	control.control = []history.Kind{history.Lost, history.Unexpected}
	return e.try(ctx, &subject.trial, &control.trial)
}

func newBalanced(title, program string, notice time.Duration) *balanced {
	b := &balanced{notice: notice}
	b.trial = trial{title: title, engine: sqlite, do: func(ctx context.Context) error {
		// A worker of nginx that ends closes idle connections of clients.
		b.HTTP.Transport.(*http.Transport).DisableKeepAlives = true
		err := b.open(ctx, program)
		if err == nil {
			err = b.run(ctx)
		}
		b.line("requests %d, lost %d", b.requests.Load(), b.lost.Load())
		return err
	}}
	return b
}

// open starts the servers, and nginx with both.
func (b *balanced) open(ctx context.Context, program string) (err error) {
	if b.addresses, err = freePorts(3); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp(b.env.dir, "nginx"); err != nil {
		return err
	}
	for _, address := range b.addresses[1:] {
		p, err := b.startProcess(program, "-addr", address, "-dsn", b.source, "-notice", b.notice.String())
		if err != nil {
			return err
		}
		b.servers = append(b.servers, p)
		if a := waitForProxy(ctx, b.Client, "http://"+address+"/ready"); a.Status != http.StatusOK {
			return a.Unexpected("GET /ready")
		}
	}
	if err := b.configure(b.addresses[1:]...); err != nil {
		return err
	}
	if b.nginx, err = b.startProcess("nginx", "-e", "stderr", "-p", b.dir, "-c", filepath.Join(b.dir, "conf")); err != nil {
		return err
	}
	if a := waitForProxy(ctx, b.Client, "http://"+b.addresses[0]+"/notes"); a.Status != http.StatusOK {
		return a.Unexpected("GET /notes")
	}
	return nil
}

// configure writes the configuration of nginx with these servers.
func (b *balanced) configure(servers ...string) error {
	var lines strings.Builder
	for _, address := range servers {
		fmt.Fprintf(&lines, "server %s max_fails=0; ", address)
	}
	config := strings.NewReplacer("DIR", b.dir, "ADDRESS", b.addresses[0], "SERVERS", lines.String()).Replace(balancedConfig)
	return os.WriteFile(filepath.Join(b.dir, "conf"), []byte(config), 0o644)
}

// run ends the first server while clients send requests.
func (b *balanced) run(ctx context.Context) error {
	load, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { b.load(load) })
	}
	defer wg.Wait()
	defer stop()
	b.await(ctx)
	ended := b.servers[0]
	if err := ended.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if b.notice == 0 {
		<-ended.ended
	}
	b.await(ctx)
	if a := b.Send(ctx, http.MethodGet, "http://"+b.addresses[1]+"/ready", ""); a.Status != http.StatusServiceUnavailable {
		b.Add(history.Unexpected, 1, "/ready after SIGTERM: status %d %v", a.Status, a.Err)
	}
	if err := b.remove(ctx); err != nil {
		return err
	}
	select {
	case <-ended.ended:
		if ended.err != nil && b.notice > 0 {
			b.Add(history.Unexpected, 1, "server: %v", ended.err)
		}
	case <-ctx.Done():
	}
	b.await(ctx)
	return ctx.Err()
}

// remove reloads nginx without the first server, and waits until no request is sent to it: the old worker has ended then.
func (b *balanced) remove(ctx context.Context) error {
	old, err := b.workers()
	if err != nil {
		return err
	}
	if err := b.configure(b.addresses[2]); err != nil {
		return err
	}
	if err := b.nginx.Signal(syscall.SIGHUP); err != nil {
		return err
	}
	awaited := client.Await(ctx, "the old worker of nginx ends", 10*time.Millisecond, func() bool {
		var now string
		now, err = b.workers()
		return err != nil || now != old && !strings.Contains(now, " ")
	})
	return errors.Join(awaited, err)
}

// workers returns the process ids of the workers of nginx, separated by spaces.
func (b *balanced) workers() (string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", b.nginx.Pid))
	return strings.TrimSpace(string(text)), err
}

// await waits for a number of responses.
func (b *balanced) await(ctx context.Context) {
	for limit := b.requests.Load() + shutdownSteps; b.requests.Load() < limit && ctx.Err() == nil; {
		client.Pause(ctx, 10*time.Millisecond)
	}
}

// load sends requests until ctx is done: each second one creates a note.
func (b *balanced) load(ctx context.Context) {
	for i := 0; ctx.Err() == nil; client.Pause(ctx, 20*time.Millisecond) {
		i++
		method, path, body, want := http.MethodGet, "/notes?limit=1", "", http.StatusOK
		if i%2 == 0 {
			method, path, body, want = http.MethodPost, "/notes", `{"text":"x"}`, http.StatusCreated
		}
		// Not with ctx, so that the last request ends, too.
		a := b.Send(context.WithoutCancel(ctx), method, "http://"+b.addresses[0]+path, body, client.JSON)
		b.requests.Add(1)
		if a.Status != want {
			b.lost.Add(1)
			b.Add(history.Lost, 1, "%v", a.Unexpected(method))
		}
	}
}

const balancedConfig = nginxBegin + `	upstream notes {
		SERVERS
		keepalive 16;
	}
	server {
		listen ADDRESS;
		location / {
			proxy_pass http://notes;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_next_upstream off;
		}
	}
}
`
