package pgnotify_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
)

// A child process follows the log and reports each event. Its parent sets these variables.
const (
	childURL    = "PGNOTIFY_CHILD_URL"
	childNotify = "PGNOTIFY_CHILD_NOTIFY"
)

// child is the testing.TB of a process that is no test.
type child struct {
	testing.TB
	ctx context.Context
}

func (c child) Helper()                  {}
func (c child) Cleanup(func())           {}
func (c child) Context() context.Context { return c.ctx }
func (c child) Fatal(args ...any)        { panic(fmt.Sprint(args...)) }

// listenForParent prints the id of each event, and when it came, until the parent closes its end.
func listenForParent(url string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tb := child{ctx: ctx}
	p := open(tb, url, "bench", nil)
	var log feed.Log = p.log.Log
	if os.Getenv(childNotify) != "" {
		p.run(tb)
		log = p.log
	}
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1)) // which ends with the parent
		os.Exit(0)
	}()
	changes := feed.New(log, nil)
	for e, err := range changes.Watch(ctx, feed.Cursor{}, "orders") {
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s %d\n", e.ID, time.Now().UnixNano())
	}
}

// follower is a child process, and what it has said.
type follower struct {
	lines *bufio.Scanner
}

func follow(b *testing.B, url string, notify bool) *follower {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childURL+"="+url)
	if notify {
		cmd.Env = append(cmd.Env, childNotify+"=yes")
	}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // it was killed
	})
	f := &follower{bufio.NewScanner(out)}
	f.next(b) // the first bookmark
	return f
}

// next returns the next event and when it came.
func (f *follower) next(b *testing.B) (id string, at time.Time) {
	if !f.lines.Scan() {
		b.Error("the child has ended")
	}
	id, when, _ := strings.Cut(f.lines.Text(), " ")
	nanos, err := strconv.ParseInt(when, 10, 64)
	if err != nil {
		b.Error(err)
	}
	return id, time.Unix(0, nanos)
}

// BenchmarkNotify is the time from a commit until a listener in another process is given the event, with notifications and with polling
// alone, one write after the other; and how many writes there are per second where eight write as fast as they can.
func BenchmarkNotify(b *testing.B) {
	url := sqltest.PostgreSQL(b)
	for _, notify := range []bool{false, true} {
		name := map[bool]string{false: "polling", true: "notified"}[notify]
		p := open(b, url, "bench", nil)
		var log feed.Log = p.log.Log
		if notify {
			p.run(b)
			log = p.log
		}
		f := follow(b, url, notify)
		b.Run("latency/"+name, func(b *testing.B) { benchmarkLatency(b, log, f) })
		b.Run("throughput/"+name, func(b *testing.B) { benchmarkThroughput(b, p, log, f) })
	}
}

func benchmarkLatency(b *testing.B, log feed.Log, f *follower) {
	var took []time.Duration
	for b.Loop() {
		if err := log.Append(b.Context(), created("1")); err != nil {
			b.Fatal(err)
		}
		committed := time.Now()
		_, at := f.next(b)
		took = append(took, at.Sub(committed))
		time.Sleep(time.Duration(len(took)%7) * 5 * time.Millisecond) // not in step with the polls
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
}

func benchmarkThroughput(b *testing.B, p *process, log feed.Log, f *follower) {
	const writers = 8
	var over sync.WaitGroup
	over.Go(func() {
		for range b.N {
			f.next(b)
		}
	})
	began := time.Now()
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := w; i < b.N; i += writers {
				err := p.db.InTx(b.Context(), func(ctx context.Context) error { return log.Append(ctx, created(fmt.Sprint(i))) })
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	writing.Wait()
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "commits/s")
	over.Wait()
}
