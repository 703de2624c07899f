package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/database"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
	"github.com/stoa-go/stoa/resource/feed"
)

// The scenario cursors resumes streams over all protocols from cursors that cannot be resumed: purged, forged, of another database, and
// of a database that was restored from a backup. Each has to be refused. A stream that is served instead has skipped events in
// silence. Valid cursors next to them have to be served in full.

// staleCursors is a trial with cursors that cannot be resumed.
type staleCursors struct {
	trial
	mode      string
	protocols map[string]client.Protocol
	patience  time.Duration // for the events after a valid cursor
	foreign   []string      // cursors of another database
	rows      []cursorRow
}

// cursorRow is the outcome of one attempt.
type cursorRow struct {
	what, protocol, outcome string
	good                    bool
}

func newStaleCursors(engine string) *staleCursors {
	t := &staleCursors{mode: server.Outbox, patience: 2 * time.Minute, protocols: map[string]client.Protocol{
		"REST": client.REST(nil), "WebSocket": client.WebSocket(nil), "GraphQL SSE": client.GraphQLSSE(nil)}}
	t.trial = trial{title: engine + ": cursors that cannot be resumed, and valid ones", engine: engine, nodes: 1, connections: 4}
	return t
}

func cursors(engine string) func(ctx context.Context, e *env) error {
	return func(ctx context.Context, e *env) error {
		t := newStaleCursors(engine)
		t.do = func(ctx context.Context) error {
			err := t.run(ctx)
			t.judge()
			return err
		}
		return e.try(ctx, &t.trial)
	}
}

// run tries all cases. Each starts nodes of its own.
func (t *staleCursors) run(ctx context.Context) error {
	steps := []step{{"another database", t.foreignCursors}, {"forged", t.forged}, {"restored", t.restored},
		{"restored while served", t.restoredWhileServed}, {"purged", t.purged}, {"restarted", t.restarted}}
	if t.engine == sqlite { // a file cannot be replaced while a node uses it
		steps = slices.Delete(steps, 3, 4)
	}
	return inOrder(steps...)(ctx)
}

// judge prints one outcome if it is the same for all protocols.
func (t *staleCursors) judge() {
	for rest := t.rows; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].what == rest[0].what {
			n++
		}
		var text []string
		for _, row := range rest[:n] {
			text = append(text, row.protocol+": "+row.outcome)
		}
		same := func(row cursorRow) bool { return row.outcome == rest[0].outcome && row.good }
		if n == len(t.protocols) && !slices.ContainsFunc(rest[:n], func(row cursorRow) bool { return !same(row) }) {
			text = []string{rest[0].outcome}
		}
		t.line("%-45s %s", rest[0].what, strings.Join(text, "; "))
		rest = rest[n:]
	}
	t.failIf(len(t.rows) == 0, "no cursor was tried")
}

func (t *staleCursors) note(what, protocol, outcome string, good bool) {
	t.rows = append(t.rows, cursorRow{what, protocol, outcome, good})
	if !good {
		t.Add(history.Lost, 1, "%s, %s: %s", what, protocol, outcome)
	}
}

// things starts a node in place of the present one.
func (t *staleCursors) things(ctx context.Context, flags ...string) error {
	return t.serve(ctx, append([]string{"things", "-mode", t.mode}, flags...)...)
}

// create creates things and returns their ids.
func (t *staleCursors) create(ctx context.Context, n int) ([]string, error) {
	var ids []string
	for limit := time.Now().Add(5 * time.Minute); len(ids) < n; {
		v, a, err := createThing(ctx, t.Client, t.URL(0), server.Thing{Name: "thing", Lane: 1, N: 1, Open: true})
		switch {
		case err == nil && a.OK():
			ids = append(ids, v.ID)
		case err != nil || !a.Unknown() || time.Now().After(limit):
			return nil, errors.Join(a.Unexpected("POST "+server.ThingsPath), err, ctx.Err())
		default: // the database was just replaced
			client.Pause(ctx, 20*time.Millisecond)
		}
	}
	return ids, nil
}

// receive returns n events after a cursor.
func (t *staleCursors) receive(ctx context.Context, p client.Protocol, cursor string, n int) (events []client.Event, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.patience)
	defer cancel()
	s, err := p.Subscribe(ctx, t.URL(0), cursor, client.View{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for len(events) < n {
		e, err := s.Next()
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

// createAndReceive creates things, and returns the cursors of their events, and their ids.
func (t *staleCursors) createAndReceive(ctx context.Context, n int) (cursors, ids []string, err error) {
	from, err := cursorNow(ctx, t.Client, t.URL(0))
	if err != nil {
		return nil, nil, err
	}
	if ids, err = t.create(ctx, n); err != nil {
		return nil, nil, err
	}
	events, err := t.receive(ctx, t.protocols["REST"], from, n)
	for _, e := range events {
		cursors = append(cursors, e.Cursor)
	}
	return cursors, ids, err
}

// serveAndReceive is createAndReceive on a new node.
func (t *staleCursors) serveAndReceive(ctx context.Context, n int) (cursors, ids []string, err error) {
	if err := t.things(ctx); err != nil {
		return nil, nil, err
	}
	return t.createAndReceive(ctx, n)
}

// refused resumes from a cursor over each protocol, which has to be refused with an error. If it is not, there is an event to
// receive, and receiving it is a silent skip.
func (t *staleCursors) refused(ctx context.Context, what, cursor string, want error) {
	if _, err := t.create(ctx, 1); err != nil {
		t.fail(err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(t.protocols)) {
		err, received := t.outcome(ctx, func() error {
			_, err := t.receive(ctx, t.protocols[name], cursor, 1)
			return err
		})
		switch {
		case received:
			t.note(what, name, "skipped in silence", false)
		case errors.Is(err, want):
			t.note(what, name, "refused: "+err.Error(), true)
		default:
			t.note(what, name, fmt.Sprintf("%.200v", err), false)
		}
	}
}

// outcome creates things until receive returns.
func (t *staleCursors) outcome(ctx context.Context, receive func() error) (err error, received bool) {
	done := make(chan error, 1)
	go func() { done <- receive() }()
	for {
		select {
		case err := <-done:
			return err, err == nil
		case <-time.After(100 * time.Millisecond):
			if _, err := t.create(ctx, 1); err != nil {
				return err, false
			}
		}
	}
}

// served resumes from a valid cursor over each protocol, which has to send exactly these items, and then the next one.
func (t *staleCursors) served(ctx context.Context, what, cursor string, ids ...string) {
	next, err := t.create(ctx, 1)
	if err != nil {
		t.fail(err)
		return
	}
	want := append(slices.Clone(ids), next...)
	for _, name := range slices.Sorted(maps.Keys(t.protocols)) {
		events, err := t.receive(ctx, t.protocols[name], cursor, len(want))
		var got []string
		for _, e := range events {
			got = append(got, e.ID)
		}
		if err != nil || len(got) < len(want) || !slices.Equal(want[:len(ids)], got[:len(ids)]) {
			t.note(what, name, fmt.Sprintf("received %d of %d: %v", len(got), len(want), err), false)
			continue
		}
		t.note(what, name, fmt.Sprintf("all %d received", len(want)), true)
	}
}

// foreignCursors gets two cursors of another database: the present position, and that of an event.
func (t *staleCursors) foreignCursors(ctx context.Context) (err error) {
	own := t.source
	defer func() { t.stop(); t.source = own }()
	if t.source, err = t.newDatabase(ctx, t.engine); err != nil {
		return err
	}
	if err := t.things(ctx); err != nil {
		return err
	}
	position, err := cursorNow(ctx, t.Client, t.URL(0))
	if err != nil {
		return err
	}
	cursors, _, err := t.createAndReceive(ctx, 3)
	if err == nil {
		t.foreign = []string{position, cursors[2]}
	}
	return err
}

// forged tries cursors that this log has never sent.
func (t *staleCursors) forged(ctx context.Context) error {
	cursors, ids, err := t.serveAndReceive(ctx, 5)
	if err != nil {
		return err
	}
	last, err := feed.ParseCursor(cursors[4])
	if err != nil {
		return err
	}
	forge := func(change func(c *feed.Cursor)) string {
		c := last
		change(&c)
		return c.String()
	}
	attempts := []struct {
		what, cursor string
		want         error
	}{
		{"no cursor", "tea", client.ErrMalformed},
		{"truncated", cursors[4][:len(cursors[4])-1], client.ErrMalformed},
		{"too long", cursors[4] + "A", client.ErrMalformed},
		{"another mark", forge(func(c *feed.Cursor) { c.Mark ^= 1 }), client.ErrExpired},
		{"another epoch", forge(func(c *feed.Cursor) { c.Epoch++ }), client.ErrExpired},
		{"ahead by one", forge(func(c *feed.Cursor) { c.Seq += 2 }), client.ErrExpired}, // refused creates the next event
		{"far ahead", forge(func(c *feed.Cursor) { c.Seq += 1000 }), client.ErrExpired},
		{"ahead of all", forge(func(c *feed.Cursor) { c.Seq = 1 << 63 }), client.ErrExpired},
		{"one before, with the same mark", forge(func(c *feed.Cursor) { c.Seq-- }), client.ErrExpired},
		{"the beginning, with the same mark", forge(func(c *feed.Cursor) { c.Seq = 0 }), client.ErrExpired},
		{"a position of another database", t.foreign[0], client.ErrExpired},
		{"an event of another database", t.foreign[1], client.ErrExpired},
	}
	t.served(ctx, "valid: the second of five", cursors[1], ids[2:]...)
	for _, a := range attempts {
		t.refused(ctx, "forged: "+a.what, a.cursor, a.want)
	}
	return nil
}

// restored replaces the database by a backup while no node serves it.
func (t *staleCursors) restored(ctx context.Context) error {
	kept, ids, err := t.serveAndReceive(ctx, 3)
	if err != nil {
		return err
	}
	t.KillAll()
	if err := database.Backup(ctx, t.source); err != nil {
		return err
	}
	lost, _, err := t.serveAndReceive(ctx, 5)
	if err != nil {
		return err
	}
	t.KillAll()
	if err := database.Restore(ctx, t.source); err != nil {
		return err
	}
	if err := t.things(ctx); err != nil {
		return err
	}
	t.refused(ctx, "restored: the last of the lost events", lost[4], client.ErrExpired)
	if _, err := t.create(ctx, 10); err != nil { // now all numbers exist again
		return err
	}
	for i, what := range []string{"the first of the lost events", "the second of the lost events"} {
		t.refused(ctx, "restored, later: "+what, lost[i], client.ErrExpired)
	}
	t.served(ctx, "valid: an event of the backup", kept[0], ids[1:]...)
	return nil
}

// restoredWhileServed replaces the database under a node with subscribers.
func (t *staleCursors) restoredWhileServed(ctx context.Context) error {
	t.KillAll()
	if err := database.Backup(ctx, t.source); err != nil {
		return err
	}
	if err := t.things(ctx); err != nil {
		return err
	}
	from, err := cursorNow(ctx, t.Client, t.URL(0))
	if err != nil {
		return err
	}
	if _, err := t.create(ctx, 3); err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(t.protocols))
	streams, last := map[string]client.Stream{}, map[string]string{}
	for _, name := range names {
		s, err := t.protocols[name].Subscribe(ctx, t.URL(0), from, client.View{})
		if err != nil {
			return err
		}
		defer s.Close()
		for range 3 {
			e, err := s.Next()
			if err != nil {
				return err
			}
			last[name] = e.Cursor
		}
		streams[name] = s
	}
	if err := database.Restore(ctx, t.source); err != nil {
		return err
	}
	for _, name := range names {
		err, received := t.outcome(ctx, func() error {
			_, err := streams[name].Next()
			return err
		})
		t.note("restored while served", name, fmt.Sprint("the stream ends: ", err), !received)
		t.refused(ctx, "and resumed", last[name], client.ErrExpired)
	}
	return nil
}

// purged resumes from an event that the log has purged.
func (t *staleCursors) purged(ctx context.Context) error {
	cursors, ids, err := t.serveAndReceive(ctx, 5) // by a node that purges nothing
	if err != nil {
		return err
	}
	// With one event in memory, a resumed stream has to read the log.
	if err := t.things(ctx, "-keep", "300ms", "-ring", "1"); err != nil {
		return err
	}
	// As long as it is served, it is complete. It may be purged while it is read.
	var wrong string
	err = client.Await(ctx, "the first event is purged", 50*time.Millisecond, func() bool {
		events, err := t.receive(ctx, t.protocols["REST"], cursors[0], 4)
		for i, e := range events {
			if e.ID != ids[1+i] {
				wrong = fmt.Sprintf("event %d of %d is another: %v", i, len(events), err)
			}
		}
		return wrong != "" || errors.Is(err, client.ErrExpired)
	})
	if wrong != "" {
		t.note("purged, or not", "REST", wrong, false)
	}
	if err != nil {
		return err
	}
	if err := t.things(ctx); err != nil { // purges nothing more
		return err
	}
	t.refused(ctx, "purged", cursors[0], client.ErrExpired)
	position, err := cursorNow(ctx, t.Client, t.URL(0))
	if err != nil {
		return err
	}
	t.served(ctx, "valid: the position of a purged log", position)
	return nil
}

// restarted uses a log in memory, whose cursors end with the process.
func (t *staleCursors) restarted(ctx context.Context) error {
	t.mode = server.Memory
	cursors, _, err := t.serveAndReceive(ctx, 3)
	if err != nil {
		return err
	}
	if err := t.things(ctx); err != nil {
		return err
	}
	t.refused(ctx, "a log in memory, of a process that ended", cursors[1], client.ErrExpired)
	return nil
}
