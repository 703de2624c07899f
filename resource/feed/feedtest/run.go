package feedtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/tx"
)

// Options adjust [Run]. The zero value is for logs of one process.
type Options struct {
	// Another returns a second Log over the events of the one it is given, as another process has it. Nil if the log is for
	// one process; the cases for several are skipped then.
	Another func(t *testing.T, log feed.Log) feed.Log
	// Backup copies the events. restore puts them back, with nothing of what came later, and returns a Log over them. Nil if
	// events do not outlive the process; the cases are skipped then.
	Backup func(t *testing.T, log feed.Log) (restore func(t *testing.T) feed.Log)
	// Writers is how many goroutines write at a time, 8 if zero, and Transactions how many transactions each of them makes; 50
	// if zero.
	Writers, Transactions int
	// Patience is how long an event may take that has to come; 10 seconds if zero.
	Patience time.Duration
}

// Run tests a log. newLog is called for each case and returns a log without events, for this case alone. opts may be nil.
// Logs that are a [feed.Transactor] with a runner are tested with its transactions, too.
func Run(t *testing.T, newLog func(t *testing.T) feed.Log, opts *Options) {
	t.Helper()
	o := opts.orDefault()
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			log := newLog(t)
			if log == nil {
				t.Fatal("newLog returned no log")
			}
			if why := c.skip(log, o); why != "" {
				t.Skip(why)
			}
			if failures := try(t, c, log, o); len(failures) > 0 {
				t.Errorf("%s\n    The contract: %s", strings.Join(failures, "\n"), c.contract)
			}
		})
	}
}

func (o *Options) orDefault() Options {
	out := Options{}
	if o != nil {
		out = *o
	}
	out.Writers = cmp.Or(out.Writers, 8)
	out.Transactions = cmp.Or(out.Transactions, 50)
	out.Patience = cmp.Or(out.Patience, 10*time.Second)
	return out
}

// testCase is one thing that a log has to do.
type testCase struct {
	name     string
	contract string // for those who have broken it
	needs    need
	try      func(k *kit)
}

// need is what a case needs beside a log.
type need int

const (
	aLog need = iota
	transactions
	another
	backup
)

// skip says why a case is not for a log, or "".
func (c testCase) skip(log feed.Log, o Options) string {
	switch {
	case c.needs == transactions && runnerOf(log) == nil:
		return "the log has no transactions"
	case c.needs == another && o.Another == nil:
		return "the log is for one process: Options.Another is nil"
	case c.needs == backup && o.Backup == nil:
		return "the log has no backups: Options.Backup is nil"
	}
	return ""
}

func cases() []testCase {
	var all []testCase
	for _, group := range [][]testCase{appendCases(), placeCases(), readCases(), purgeCases(), txCases(), raceCases(), processCases()} {
		all = append(all, group...)
	}
	return all
}

// try runs a case in a goroutine of its own, which it may end early, and returns what went wrong.
func try(t *testing.T, c testCase, log feed.Log, o Options) []string {
	k := &kit{Options: o, t: t, ctx: t.Context(), log: log, now: time.Now().Truncate(time.Second).UTC()}
	over := make(chan struct{})
	go func() {
		defer close(over)
		c.try(k)
	}()
	<-over
	return k.failures
}

// runnerOf returns the runner of a log, or nil.
func runnerOf(log feed.Log) tx.Runner {
	if shares, ok := log.(feed.Transactor); ok {
		return shares.Transactions()
	}
	return nil
}

// kit is what a case works with.
type kit struct {
	Options
	t   *testing.T
	ctx context.Context
	log feed.Log
	now time.Time // of the events, in whole seconds

	mu       sync.Mutex
	failures []string
}

func (k *kit) errorf(format string, args ...any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failures = append(k.failures, fmt.Sprintf(format, args...))
}

// must ends the case if a call that has to succeed did not.
func (k *kit) must(err error, what string) {
	if err != nil {
		k.errorf("%s failed: %v", what, err)
		runtime.Goexit()
	}
}

// event is one about an item.
func (k *kit) event(id, rev string) *feed.Event {
	return &feed.Event{Kind: feed.Updated, Collection: "orders", ID: id, Rev: rev, Before: []byte(`{"old":1}`), After: []byte(`{"new":1}`), Time: k.now}
}

// append appends events about items with these ids, each by itself.
func (k *kit) append(ids ...string) {
	for _, id := range ids {
		k.must(k.log.Append(k.ctx, k.event(id, "1")), "Append")
	}
}

func (k *kit) head() feed.Cursor {
	head, err := k.log.Head(k.ctx)
	k.must(err, "Head")
	if head.Epoch == 0 {
		k.errorf("Head returned %+v, which is of no epoch", head)
	}
	return head
}

// tail calls Tail, which may hold back events of transactions that have ended only now, until it has that many.
func (k *kit) tail(log feed.Log, after feed.Cursor, want int) []*feed.Event {
	return k.tailUntil(log, after, func(events []*feed.Event) bool { return len(events) >= want })
}

// tailUntil is tail for who knows what comes last, and not how much comes before.
func (k *kit) tailUntil(log feed.Log, after feed.Cursor, enough func(events []*feed.Event) bool) (events []*feed.Event) {
	for end := time.Now().Add(k.Patience); ; {
		got, next, err := log.Tail(k.ctx, after, 100)
		k.must(err, "Tail")
		k.continues(after, got, next)
		events, after = append(events, got...), next
		if enough(events) || time.Now().After(end) {
			return events
		}
		if len(got) == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}

// about reports whether one of the events is about an item.
func about(id string) func(events []*feed.Event) bool {
	return func(events []*feed.Event) bool {
		return slices.ContainsFunc(events, func(e *feed.Event) bool { return e.ID == id })
	}
}

// continues records a failure unless events go on from a place and lead to the next.
func (k *kit) continues(after feed.Cursor, events []*feed.Event, next feed.Cursor) {
	last := after
	for _, e := range events {
		if e.Cursor.Epoch != after.Epoch || e.Cursor.Seq <= last.Seq {
			k.errorf("%+v is the place of the event behind %+v", e.Cursor, last)
		}
		last = e.Cursor
	}
	if next != last {
		k.errorf("Tail returned the place %+v, want that of the last event, %+v", next, last)
	}
}

// items are the ids of events.
func items(events []*feed.Event) string {
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	return strings.Join(ids, " ")
}

// wantItems ends the case unless the events are about these items.
func (k *kit) wantItems(want string, got []*feed.Event, what string) {
	if items(got) != want {
		k.errorf("%s: events about [%s], want [%s]", what, items(got), want)
		runtime.Goexit()
	}
}

// expired records a failure unless Tail and Read say that they cannot go on from a place.
func (k *kit) expired(log feed.Log, at feed.Cursor, what string) {
	events, _, err := log.Tail(k.ctx, at, 10)
	if !errors.Is(err, feed.ErrExpired) {
		k.errorf("Tail from %s: events about [%s], %v, want ErrExpired", what, items(events), err)
	}
	head, err := log.Head(k.ctx)
	k.must(err, "Head")
	for _, until := range []feed.Cursor{head, at} {
		if events, err = log.Read(k.ctx, at, until, 10); !errors.Is(err, feed.ErrExpired) {
			k.errorf("Read from %s up to %+v: events about [%s], %v, want ErrExpired", what, until, items(events), err)
		}
	}
}
