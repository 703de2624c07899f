package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// The limits of a server of package middleware, as they are without options: of the header by Server, and of the content
// by Timeout.
const (
	headerLimit  = 5 * time.Second
	contentLimit = 15 * time.Second
)

// attack is what slow clients do, and what became of them.
type attack struct {
	kind  string
	head  string // sent at once
	limit time.Duration
	n     int

	opened, closed, answered atomic.Int64
	longest                  atomic.Int64 // nanoseconds until the server had enough
}

func attacks(headers, contents int) []*attack {
	request := "POST /notes HTTP/1.1\r\nHost: 127.0.0.1\r\n"
	return []*attack{
		{kind: "header", head: request + "X-Slow: ", limit: headerLimit, n: headers},
		{kind: "content", head: request + "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"text\":\"",
			limit: contentLimit, n: contents},
	}
}

// slow drips into a server with limits, and beside it into one without: there all connections have to be open still, or
// what closed them was not the limits.
func slow(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("slow", flag.ContinueOnError)
	n := flags.Int("n", 5000, "`clients` that drip headers, and as many that drip content")
	control := flags.Int("control", 500, "of each against a server without limits")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var limited, unlimited result
	var errs [2]error
	var wg sync.WaitGroup
	wg.Go(func() { limited, errs[0] = siege(ctx, attacks(*n, *n), contentLimit+5*time.Minute) })
	wg.Go(func() {
		unlimited, errs[1] = siege(ctx, attacks(*control, *control), contentLimit+time.Second, "-bare")
	})
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	limited.print(out, "middleware.Server, with Limit and Timeout as they are without options")
	unlimited.print(out, "control: http.Server as it is")
	return errors.Join(limited.verdict(), unlimited.controlVerdict())
}

// siege drips into a server for as long as somebody is connected, and at most for a time.
func siege(ctx context.Context, attacks []*attack, patience time.Duration, args ...string) (result, error) {
	r := result{attacks: attacks}
	f := fleet.New(1, os.Stderr, append([]string{os.Args[0], "server"}, args...)...)
	defer f.KillAll()
	if err := f.Start(ctx); err != nil {
		return r, err
	}
	address := strings.TrimPrefix(f.URL(0), "http://")
	var err error
	r.quiet, err = during(ctx, f.URL(0)+"/notes/1", func() error { return sleep(ctx, 2*time.Second) })
	if err != nil {
		return r, err
	}
	if r.before, _, err = memoryOf(f.PID(0)); err != nil {
		return r, err
	}
	r.meanwhile, err = during(ctx, f.URL(0)+"/notes/1", func() error { return drip(ctx, address, attacks, patience) })
	if err != nil {
		return r, err
	}
	r.after, r.peak, err = memoryOf(f.PID(0))
	return r, err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// drip opens all connections, a few at a time, and waits until they are closed or patience ends.
func drip(ctx context.Context, address string, attacks []*attack, patience time.Duration) error {
	var wg sync.WaitGroup
	for _, a := range attacks {
		for range a.n {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				return fmt.Errorf("connection %d of those that drip %s: %w", a.opened.Load(), a.kind, err)
			}
			a.opened.Add(1)
			wg.Go(func() { a.hold(ctx, conn, patience) })
		}
	}
	wg.Wait()
	return ctx.Err()
}

// hold sends a byte every two seconds until the server has closed the connection, or patience ends.
func (a *attack) hold(ctx context.Context, conn net.Conn, patience time.Duration) {
	began := time.Now()
	defer conn.Close()
	io.WriteString(conn, a.head) // if it cannot be sent, the server has had enough already, which reading tells
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { trickle(ctx, conn, stop) })
	conn.SetReadDeadline(began.Add(patience))
	answer, err := io.ReadAll(conn)
	close(stop)
	wg.Wait()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return // it is open still
	}
	a.closed.Add(1)
	if strings.HasPrefix(string(answer), "HTTP/1.1 408 ") {
		a.answered.Add(1)
	}
	took := int64(time.Since(began))
	for old := a.longest.Load(); took > old && !a.longest.CompareAndSwap(old, took); old = a.longest.Load() {
	}
}

// trickle does not begin for all at once.
func trickle(ctx context.Context, conn net.Conn, stop chan struct{}) {
	const every = 2 * time.Second
	wait := rand.N(every)
	for {
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
		wait = every
	}
}
