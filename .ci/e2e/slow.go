package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// The scenario slow-clients opens connections that send a byte now and then, to a node with the default limits of middleware. All have to
// be disconnected, while other clients are served. The control is an http.Server without limits, at the same time: it must not
// disconnect any, or something else than the limits does.

// The default limits: of the header by middleware.Server, of the content by middleware.Timeout.
const (
	headerLimit  = 5 * time.Second
	contentLimit = 15 * time.Second
)

// attack is one kind of slow clients, and what became of them.
type attack struct {
	kind  string
	head  string // sent at once
	limit time.Duration
	n     int

	opened, closed, answered atomic.Int64
	longest                  atomic.Int64 // nanoseconds until a connection was closed
}

func attacks(n int) []*attack {
	request := "POST /notes HTTP/1.1\r\nHost: 127.0.0.1\r\n"
	return []*attack{
		{kind: "header", head: request + "X-Slow: ", limit: headerLimit, n: n},
		{kind: "content", head: request + "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"text\":\"",
			limit: contentLimit, n: n},
	}
}

func slowClients(ctx context.Context, e *env) error {
	limited := newSiege("middleware.Server with Limit and Timeout, default options", 5000, contentLimit+patience)
	control := newSiege("control: http.Server without limits", 500, contentLimit+time.Second, "-bare")
	control.control = []history.Kind{}
	both := []*siege{limited, control}
	for _, s := range both {
		if err := s.begin(ctx, e); err != nil {
			return err
		}
	}
	errs := make([]error, len(both))
	concurrently(len(both), func(i int) error {
		errs[i] = both[i].run(ctx)
		return nil
	})
	return errors.Join(limited.end(errs[0]), control.end(errs[1]))
}

// siege is the attacks on one node.
type siege struct {
	trial
	attacks  []*attack
	patience time.Duration // after which a connection counts as open

	quiet, busy        *probe // normal clients before and during the attacks
	before, after, max uint64 // bytes of the node
}

func newSiege(title string, n int, patience time.Duration, flags ...string) *siege {
	s := &siege{attacks: attacks(n), patience: patience}
	s.trial = trial{title: title, nodes: 1, command: append([]string{"notes"}, flags...)}
	return s
}

func (s *siege) run(ctx context.Context) (err error) {
	url := s.URL(0) + "/notes/1"
	kept, fresh := client.New(1), client.New(1)
	fresh.HTTP.Transport.(*http.Transport).DisableKeepAlives = true
	defer kept.HTTP.CloseIdleConnections()
	// Every second request opens a connection, which fails if slow clients hold all of them. On a busy machine this client may
	// be a slow one.
	probing := func(do func()) *probe {
		return probeDuring(ctx, 10*time.Millisecond, headerLimit, func(ctx context.Context, n int) client.Answer {
			return []*client.Client{kept, fresh}[n%2].Send(ctx, http.MethodGet, url, "")
		}, do)
	}
	s.quiet = probing(func() { client.Pause(ctx, 500*time.Millisecond) }) // to compare with
	if s.before, _, err = server.MemoryOf(s.PID(0)); err != nil {
		return err
	}
	s.busy = probing(func() { err = s.attack(ctx, strings.TrimPrefix(s.URL(0), "http://")) })
	if err == nil {
		s.after, s.max, err = server.MemoryOf(s.PID(0))
	}
	s.judge()
	return err
}

// attack opens all connections and waits until they are closed or patience ends.
func (s *siege) attack(ctx context.Context, address string) error {
	var wg sync.WaitGroup
	for _, a := range s.attacks {
		for range a.n {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				return fmt.Errorf("connection %d, slow %s: %w", a.opened.Load(), a.kind, err)
			}
			a.opened.Add(1)
			wg.Go(func() { a.hold(ctx, conn, s.patience) })
		}
	}
	wg.Wait()
	return ctx.Err()
}

// hold sends a byte every two seconds until the node closes the connection, or patience ends.
func (a *attack) hold(ctx context.Context, conn net.Conn, patience time.Duration) {
	began := time.Now()
	defer conn.Close()
	io.WriteString(conn, a.head) // an error is found by the read
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { trickle(ctx, conn, stop) })
	conn.SetReadDeadline(began.Add(patience))
	answer, err := io.ReadAll(conn)
	close(stop)
	wg.Wait()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return // still open
	}
	a.closed.Add(1)
	if strings.HasPrefix(string(answer), "HTTP/1.1 408 ") {
		a.answered.Add(1)
	}
	took := int64(time.Since(began))
	for old := a.longest.Load(); took > old && !a.longest.CompareAndSwap(old, took); old = a.longest.Load() {
	}
}

// trickle begins at a random time, so that not all connections send at once.
func trickle(ctx context.Context, conn net.Conn, stop chan struct{}) {
	const every = 2 * time.Second
	for wait := rand.N(every); ; wait = every {
		select {
		case <-ctx.Done():
			conn.Close()
			return
		case <-stop:
			return
		case <-time.After(wait):
		}
		if _, err := io.WriteString(conn, "x"); err != nil {
			return
		}
	}
}

// connectionBound is the memory of the node for each slow client, in KiB: two buffers, two stacks and a request.
const connectionBound = 64

// judge depends on numbers alone, because times depend on the machine.
func (s *siege) judge() {
	var rows [][]any
	var all int64
	for _, a := range s.attacks {
		opened, closed := a.opened.Load(), a.closed.Load()
		all += opened
		rows = append(rows, []any{opened, closed, a.answered.Load(), a.limit,
			time.Duration(a.longest.Load()).Round(100 * time.Millisecond), "slow " + a.kind})
		s.failIf(s.control != nil && (opened == 0 || closed > 0),
			"the control closed %d of %d connections, so this check cannot fail", closed, opened)
		s.failIf(s.control == nil && (opened != int64(a.n) || closed != opened),
			"of %d clients with a slow %s, %d were connected and %d disconnected", a.n, a.kind, opened, closed)
	}
	s.table("connections\tclosed\tanswered 408\tlimit\tlongest\t", rows...)
	for _, p := range []*probe{s.quiet, s.busy} {
		p.report(&s.trial, map[bool]string{true: "before", false: "during the attacks"}[p == s.quiet])
		s.failIf(s.control == nil && (p.failed > 0 || len(p.took) == p.slow),
			"%d of %d normal requests failed, the first with: %v", p.failed, len(p.took), p.first.Unexpected("GET /notes/1"))
	}
	each := (float64(s.max) - float64(s.before)) / 1024 / float64(max(all, 1))
	s.line("memory: %d MiB before, %d MiB at most, %.1f KiB for each connection", s.before>>20, s.max>>20, each)
	s.failIf(s.control == nil && each > connectionBound, "%.1f KiB for each connection, and the limit is %d", each, connectionBound)
}
