package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// told asks a server to go on from cursors that it cannot go on from, at all doors. Each has to be refused, and never
// be served as if nothing were missing; and those next to them, which are good, have to be served in full.
type told struct {
	settings
	other  string // another database
	client *client
	ears   map[string]ear
	base   string
	end    func()
	// patience is how long a cursor that is good may be silent.
	patience time.Duration

	mu   sync.Mutex
	rows []toldRow
}

// toldRow is one attempt.
type toldRow struct {
	what, door, outcome string
	good                bool
}

func toldOf(ctx context.Context, args []string, out io.Writer) error {
	t := &told{patience: 2 * time.Minute, client: newClient(4)}
	t.ears = map[string]ear{"REST": newSSE(nil), "WebSocket": newSocket(nil), "GraphQL SSE": newGraphQLSSE(nil)}
	flags := t.flags("told")
	flags.StringVar(&t.other, "other", "", "another `database`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if t.other == "" {
		return errors.New("told needs -other, a second database")
	}
	err := t.run(ctx)
	t.print(out)
	if err == nil {
		err = t.verdict()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	return nil
}

// print writes what was told, once where it is the same at all doors.
func (t *told) print(out io.Writer) {
	fmt.Fprintf(out, "%s, cursors that nothing can go on from, and some that are good\n", t.name)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for rest := t.rows; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].what == rest[0].what {
			n++
		}
		var text []string
		for _, r := range rest[:n] {
			told := r.outcome
			if !r.good {
				told += " WRONG"
			}
			text = append(text, r.door+": "+told)
			if n == len(t.ears) && r.good && !slices.ContainsFunc(rest[:n], func(o toldRow) bool { return o.outcome != r.outcome }) {
				text = []string{told}
				break
			}
		}
		fmt.Fprintf(w, "  %s\t%s\n", rest[0].what, strings.Join(text, "; "))
		rest = rest[n:]
	}
	w.Flush()
	fmt.Fprintln(out)
}

func (t *told) verdict() error {
	wrong := 0
	for _, r := range t.rows {
		if !r.good {
			wrong++
		}
	}
	if wrong > 0 || len(t.rows) == 0 {
		return fmt.Errorf("%d of %d cursors were not treated as they should", wrong, len(t.rows))
	}
	return nil
}

func (t *told) note(what, door, outcome string, good bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, toldRow{what, door, outcome, good})
}

// run goes through all cases, on one database after the other.
func (t *told) run(ctx context.Context) error {
	t.processes = 1
	db, err := storeOf(t.db)
	if err != nil {
		return err
	}
	foreign, err := t.foreign(ctx)
	if err != nil {
		return fmt.Errorf("the other database: %w", err)
	}
	cases := []func(context.Context, store, []string) error{t.forged, t.restored}
	if db.alone() {
		cases = append(cases, t.restoredBelow)
	}
	for _, do := range append(cases, t.purged, t.restarted) {
		if err := do(ctx, db, foreign); err != nil {
			return err
		}
		t.end()
	}
	return nil
}

// serve starts a server in place of the one there was.
func (t *told) serve(ctx context.Context, db string, more ...string) error {
	if t.end != nil {
		t.end()
	}
	f, stop, err := t.start(ctx, db, more...)
	if err != nil {
		return err
	}
	t.base, t.end = f.URL(0), stop
	return nil
}

// writeSome creates things, and returns their ids.
func (t *told) writeSome(ctx context.Context, n int) ([]string, error) {
	var ids []string
	for limit := time.Now().Add(5 * time.Minute); len(ids) < n; {
		v, a, err := t.client.create(ctx, t.base, thing{Name: "thing", Lane: 1, N: 1, Open: true})
		switch {
		case err == nil && a.ok():
			ids = append(ids, v.ID)
		case err != nil || !a.unknown() || time.Now().After(limit):
			return nil, fmt.Errorf("a write: status %d, %.200s: %w", a.status, a.body, errors.Join(err, ctx.Err()))
		default: // the database was just replaced
			pauseFor(ctx, 20*time.Millisecond)
		}
	}
	return ids, nil
}

// hear returns n frames behind a cursor.
func (t *told) hear(ctx context.Context, e ear, cursor string, n int) (frames []frame, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.patience)
	defer cancel()
	s, err := e.listen(ctx, t.base, cursor, view{})
	if err != nil {
		return nil, err
	}
	defer s.close()
	for len(frames) < n {
		f, err := s.next()
		if err != nil {
			return frames, err
		}
		frames = append(frames, f)
	}
	return frames, nil
}

// written writes, hears it, and returns the cursors behind each, and what was written.
func (t *told) written(ctx context.Context, n int) (cursors, ids []string, err error) {
	from, err := t.client.place(ctx, t.base)
	if err != nil {
		return nil, nil, err
	}
	if ids, err = t.writeSome(ctx, n); err != nil {
		return nil, nil, err
	}
	frames, err := t.hear(ctx, t.ears["REST"], from, n)
	for _, f := range frames {
		cursors = append(cursors, f.cursor)
	}
	return cursors, ids, err
}

// refused asks to go on from a cursor at each door, which has to be refused thus. If it is not, there is something to hear,
// and hearing it is a silent skip.
func (t *told) refused(ctx context.Context, what, cursor string, want error) error {
	if _, err := t.writeSome(ctx, 1); err != nil {
		return err
	}
	for _, door := range t.doors() {
		went := make(chan error, 1)
		go func() {
			_, err := t.hear(ctx, t.ears[door], cursor, 1)
			went <- err
		}()
		err, heard := t.outcome(ctx, went)
		switch {
		case heard:
			t.note(what, door, "skipped in silence", false)
		case errors.Is(err, want):
			t.note(what, door, "told: "+err.Error(), true)
		default:
			t.note(what, door, fmt.Sprintf("%.200v", err), false)
		}
	}
	return nil
}

// outcome writes until somebody who listens has heard something, or was refused.
func (t *told) outcome(ctx context.Context, went <-chan error) (err error, heard bool) {
	for {
		select {
		case err := <-went:
			return err, err == nil
		case <-time.After(100 * time.Millisecond):
			if _, err := t.writeSome(ctx, 1); err != nil {
				return err, false
			}
		}
	}
}

func (t *told) doors() []string { return slices.Sorted(maps.Keys(t.ears)) }

// served asks to go on from a cursor at each door, behind which there has to be exactly this, and then what is written next.
func (t *told) served(ctx context.Context, what, cursor string, ids ...string) error {
	next, err := t.writeSome(ctx, 1)
	if err != nil {
		return err
	}
	want := append(slices.Clone(ids), next...)
	for _, door := range t.doors() {
		frames, err := t.hear(ctx, t.ears[door], cursor, len(want))
		var got []string
		for _, f := range frames {
			got = append(got, f.id)
		}
		if err != nil || !slices.Equal(want[:len(want)-1], got[:min(len(got), len(want)-1)]) || len(got) < len(want) {
			t.note(what, door, fmt.Sprintf("heard %d of %d: %v", len(got), len(want), err), false)
			continue
		}
		t.note(what, door, fmt.Sprintf("all %d heard", len(want)), true)
	}
	return nil
}

// foreign returns cursors of the other database: a place, and one behind an event.
func (t *told) foreign(ctx context.Context) ([]string, error) {
	if err := t.serve(ctx, t.other); err != nil {
		return nil, err
	}
	place, err := t.client.place(ctx, t.base)
	if err != nil {
		return nil, err
	}
	cursors, _, err := t.written(ctx, 3)
	if err != nil {
		return nil, err
	}
	return []string{place, cursors[2]}, nil
}

// forged is what was never given out, or by somebody else.
func (t *told) forged(ctx context.Context, db store, foreign []string) error {
	if err := t.serve(ctx, db.source()); err != nil {
		return err
	}
	cursors, ids, err := t.written(ctx, 5)
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
		{"no cursor at all", "tea", errMalformed},
		{"cut off", cursors[4][:len(cursors[4])-1], errMalformed},
		{"too long", cursors[4] + "A", errMalformed},
		{"another mark", forge(func(c *feed.Cursor) { c.Mark ^= 1 }), errExpired},
		{"another epoch", forge(func(c *feed.Cursor) { c.Epoch++ }), errExpired},
		{"ahead by one", forge(func(c *feed.Cursor) { c.Seq += 2 }), errExpired}, // the next is written by the attempt
		{"ahead by far", forge(func(c *feed.Cursor) { c.Seq += 1000 }), errExpired},
		{"ahead of all", forge(func(c *feed.Cursor) { c.Seq = 1 << 63 }), errExpired},
		{"one before, with its mark", forge(func(c *feed.Cursor) { c.Seq-- }), errExpired},
		{"the beginning, with its mark", forge(func(c *feed.Cursor) { c.Seq = 0 }), errExpired},
		{"a place of another database", foreign[0], errExpired},
		{"an event of another database", foreign[1], errExpired},
	}
	if err := t.served(ctx, "good: the second of five", cursors[1], ids[2:]...); err != nil {
		return err
	}
	for _, a := range attempts {
		if err := t.refused(ctx, "forged: "+a.what, a.cursor, a.want); err != nil {
			return err
		}
	}
	return nil
}

// restored replaces the database by an older copy of it, while nobody serves it.
func (t *told) restored(ctx context.Context, db store, _ []string) error {
	if err := t.serve(ctx, db.source()); err != nil {
		return err
	}
	kept, ids, err := t.written(ctx, 3)
	if err != nil {
		return err
	}
	t.end()
	if err := db.backup(ctx); err != nil {
		return err
	}
	if err := t.serve(ctx, db.source()); err != nil {
		return err
	}
	lost, _, err := t.written(ctx, 5)
	if err != nil {
		return err
	}
	t.end()
	if err := db.restore(ctx); err != nil {
		return err
	}
	if err := t.serve(ctx, db.source()); err != nil {
		return err
	}
	if err := t.refused(ctx, "restored: the last of the lost", lost[4], errExpired); err != nil {
		return err
	}
	if _, err := t.writeSome(ctx, 10); err != nil { // now all numbers are there again
		return err
	}
	for i, what := range []string{"the first of the lost", "the second of the lost"} {
		if err := t.refused(ctx, "restored, and gone on: "+what, lost[i], errExpired); err != nil {
			return err
		}
	}
	return t.served(ctx, "good: what the copy has", kept[0], ids[1:]...)
}

// restoredBelow replaces the database below a server that runs, and that others listen to.
func (t *told) restoredBelow(ctx context.Context, db store, _ []string) error {
	if err := db.backup(ctx); err != nil {
		return err
	}
	if err := t.serve(ctx, db.source()); err != nil {
		return err
	}
	from, err := t.client.place(ctx, t.base)
	if err != nil {
		return err
	}
	if _, err := t.writeSome(ctx, 3); err != nil {
		return err
	}
	streams := map[string]stream{}
	last := map[string]string{}
	for _, door := range t.doors() {
		s, err := t.ears[door].listen(ctx, t.base, from, view{})
		if err != nil {
			return err
		}
		defer s.close()
		for range 3 {
			f, err := s.next()
			if err != nil {
				return err
			}
			last[door] = f.cursor
		}
		streams[door] = s
	}
	if err := db.restore(ctx); err != nil {
		return err
	}
	for _, door := range t.doors() {
		went := make(chan error, 1)
		go func() {
			_, err := streams[door].next()
			went <- err
		}()
		err, heard := t.outcome(ctx, went)
		t.note("restored below who listens", door, fmt.Sprint("the stream ends: ", err), !heard)
		if err := t.refused(ctx, "and comes back", last[door], errExpired); err != nil {
			return err
		}
	}
	return nil
}

// purged has the log forget.
func (t *told) purged(ctx context.Context, db store, _ []string) error {
	if err := t.serve(ctx, db.source()); err != nil {
		return err
	}
	cursors, ids, err := t.written(ctx, 5) // by one that forgets nothing, as it may take a while
	if err != nil {
		return err
	}
	// With a ring of one, who comes back has to read the log.
	if err := t.serve(ctx, db.source(), "-keep", "300ms", "-ring", "1"); err != nil {
		return err
	}
	for limit := time.Now().Add(5 * time.Minute); time.Now().Before(limit); pauseFor(ctx, 50*time.Millisecond) {
		// As long as it is served, it is in full; it may be forgotten while it is read.
		frames, err := t.hear(ctx, t.ears["REST"], cursors[0], 4)
		if errors.Is(err, errExpired) {
			break
		}
		for i, f := range frames {
			if f.id != ids[1+i] {
				t.note("purged, or not yet", "REST", fmt.Sprintf("event %d of %d heard is another: %v", i, len(frames), err), false)
				return nil
			}
		}
	}
	if err := t.serve(ctx, db.source()); err != nil { // one that forgets nothing more
		return err
	}
	if err := t.refused(ctx, "purged", cursors[0], errExpired); err != nil {
		return err
	}
	place, err := t.client.place(ctx, t.base)
	if err != nil {
		return err
	}
	return t.served(ctx, "good: where a purged log is", place)
}

// restarted is a log in memory, whose cursors end with the process.
func (t *told) restarted(ctx context.Context, db store, _ []string) error {
	t.mode = memory
	if err := t.serve(ctx, db.source()); err != nil {
		return err
	}
	cursors, _, err := t.written(ctx, 3)
	if err != nil {
		return err
	}
	if err := t.serve(ctx, db.source()); err != nil {
		return err
	}
	return t.refused(ctx, "a log in memory, of a process that ended", cursors[1], errExpired)
}
