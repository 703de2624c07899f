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

// Options configures [Run]. The zero value is for a log that serves one process and does not
// outlive it.
type Options struct {
	// Another returns a second Log over the same events, as another process would open it. If it is
	// nil, the tests of several processes are skipped.
	Another func(t *testing.T, log feed.Log) feed.Log
	// Backup copies the events. restore replaces the events by that copy and returns a Log over
	// them. If Backup is nil, the tests of backups are skipped.
	Backup func(t *testing.T, log feed.Log) (restore func(t *testing.T) feed.Log)
	// Writers is the number of concurrent writers. Default 8. Transactions is the number of
	// transactions of each. Default 50.
	Writers, Transactions int
	// Patience limits how long an event may take to become visible. Default 10s.
	Patience time.Duration
}

// Run tests a log. It calls newLog for each test case; newLog returns a new, empty log. A nil opts
// selects the defaults. If the log is a [feed.Transactor] with a Runner, its transactions are
// tested as well. The cases are subtests, which run one after the other. The largest
// appends about 800 events with the default options.
func Run(t *testing.T, newLog func(t *testing.T) feed.Log, opts *Options) {
	t.Helper()
	o := opts.orDefault()
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			log := newLog(t)
			if log == nil {
				t.Fatal("newLog returned nil")
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

// orDefault returns o with defaults for zero values.
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

// testCase is one requirement of the contract.
type testCase struct {
	name     string
	contract string // printed with each failure
	needs    need
	try      func(k *kit)
}

// need is what a test case requires of the log or of Options. A case with an unmet requirement is
// skipped, because the capability is optional.
type need int

const (
	aLog need = iota
	transactions
	another
	backup
)

// skip returns why a test case does not apply to a log, or "".
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

// cases returns all test cases.
func cases() []testCase {
	var all []testCase
	groups := [][]testCase{
		appendCases(), tailCases(), readCases(), purgeCases(), txCases(), raceCases(), processCases(),
	}
	for _, group := range groups {
		all = append(all, group...)
	}
	return all
}

// try runs a test case in a goroutine, which the case may end early with runtime.Goexit, and
// returns the failures.
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

// runnerOf returns the Runner of a log, or nil.
func runnerOf(log feed.Log) tx.Runner {
	if shares, ok := log.(feed.Transactor); ok {
		return shares.Transactions()
	}
	return nil
}

// kit is the environment of one test case. Its methods may be called from several goroutines of the
// case.
type kit struct {
	Options
	t   *testing.T
	ctx context.Context
	log feed.Log
	now time.Time // the time of the events, in whole seconds

	mu       sync.Mutex
	failures []string
}

// errorf records a failure. It is safe for concurrent use.
func (k *kit) errorf(format string, args ...any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failures = append(k.failures, fmt.Sprintf(format, args...))
}

// must ends the test case if err is not nil.
func (k *kit) must(err error, what string) {
	if err != nil {
		k.errorf("%s failed: %v", what, err)
		runtime.Goexit()
	}
}

// event returns an event of an item.
func (k *kit) event(id, rev string) *feed.Event {
	return &feed.Event{
		Kind:       feed.Updated,
		Collection: "orders",
		ID:         id,
		Rev:        rev,
		Before:     []byte(`{"old":1}`),
		After:      []byte(`{"new":1}`),
		Time:       k.now,
	}
}

// append appends an event for each id, in a call of its own.
func (k *kit) append(ids ...string) {
	for _, id := range ids {
		k.must(k.log.Append(k.ctx, k.event(id, "1")), "Append")
	}
}

// head returns the head of the log.
func (k *kit) head() feed.Cursor {
	head, err := k.log.Head(k.ctx)
	k.must(err, "Head")
	if head.Epoch == 0 {
		k.errorf("Head returned %+v with epoch 0", head)
	}
	return head
}

// tail calls Tail until it has returned want events. A log may return events of a transaction some
// time after its end.
func (k *kit) tail(log feed.Log, after feed.Cursor, want int) []*feed.Event {
	return k.tailUntil(log, after, func(events []*feed.Event) bool { return len(events) >= want })
}

// tailUntil calls Tail until enough returns true or Patience has passed.
func (k *kit) tailUntil(log feed.Log, after feed.Cursor,
	enough func(events []*feed.Event) bool) (events []*feed.Event) {
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

// about returns a function that reports whether an event of the given item is among events.
func about(id string) func(events []*feed.Event) bool {
	return func(events []*feed.Event) bool {
		return slices.ContainsFunc(events, func(e *feed.Event) bool { return e.ID == id })
	}
}

// continues records a failure unless events follow after and end at next. A position after the last
// returned event could skip an event that another transaction has not committed yet.
func (k *kit) continues(after feed.Cursor, events []*feed.Event, next feed.Cursor) {
	last := after
	for _, e := range events {
		if e.Cursor.Epoch != after.Epoch || e.Cursor.Seq <= last.Seq {
			k.errorf("event with cursor %+v follows %+v", e.Cursor, last)
		}
		last = e.Cursor
	}
	if next != last {
		k.errorf("Tail returned the position %+v, want the cursor of the last event, %+v", next, last)
	}
}

// items returns the ids of events, separated by spaces.
func items(events []*feed.Event) string {
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	return strings.Join(ids, " ")
}

// wantItems ends the test case unless the events are of the given items. It does not continue,
// because the steps that follow a wrong result would only repeat the failure.
func (k *kit) wantItems(want string, got []*feed.Event, what string) {
	if items(got) != want {
		k.errorf("%s: events [%s], want [%s]", what, items(got), want)
		runtime.Goexit()
	}
}

// expired records a failure unless Tail and Read from at return ErrExpired. Read is called with an
// empty range as well, because a feed checks a cursor that way before it serves the events of its
// buffer.
func (k *kit) expired(log feed.Log, at feed.Cursor, what string) {
	events, _, err := log.Tail(k.ctx, at, 10)
	if !errors.Is(err, feed.ErrExpired) {
		k.errorf("Tail from %s: events [%s], %v, want ErrExpired", what, items(events), err)
	}
	head, err := log.Head(k.ctx)
	k.must(err, "Head")
	for _, until := range []feed.Cursor{head, at} {
		if events, err = log.Read(k.ctx, at, until, 10); !errors.Is(err, feed.ErrExpired) {
			k.errorf("Read from %s up to %+v: events [%s], %v, want ErrExpired", what, until, items(events),
				err)
		}
	}
}
