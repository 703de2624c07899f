package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/database"
	"github.com/stoa-go/stoa/ci/e2e/fleet"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/network"
	"github.com/stoa-go/stoa/ci/e2e/server"
	"github.com/stoa-go/stoa/resource/feed"
)

// The scenarios feed: subscribers over three protocols disconnect at random and resume on any node, while writers write to all
// nodes and nodes are killed. Then each subscriber has to have received each event of its view once, in the order of each item. What
// they have to receive follows from the acknowledged writes and the table, without the log of events.
//
// The control publishes in memory after the commit, and ignores Last-Event-ID. It has to lose events.

// feedRun is one run.
type feedRun struct {
	title, engine, mode         string
	writes, kills               int // at least
	crash                       bool
	writerCount, subscribers    int
	lanes                       int           // of things
	everything                  int           // subscribers to all lanes, the others subscribe to one; 0 mixes all views
	drops                       int           // a subscriber disconnects after at most so many events; 0 is never
	ring                        int           // events in memory: few, so that a resumed stream reads the log
	pause                       time.Duration // of a writer after each write, at most
	drain                       time.Duration // until all subscribers have received everything
	limit                       time.Duration // of a read of the log and of an idle transaction; 0 are the defaults
	commit                      time.Duration // limit of a commit; 0 is the default
	proxied                     bool          // clients and databases are reached through proxies
	clientFaults, storageFaults network.Faults
	partitions                  int
	faultTime                   time.Duration // of a partition, and of an outage of the database
	outage                      bool
	patience                    time.Duration // of clients without a byte

	protocols []func(l *client.Link) client.Protocol
	net       *proxies // nil if clients connect directly
	source    string
	e         *env
	writers   *feedWriters
	all       []*subscriber
	missed    chan struct{} // closed when a subscriber of the control has missed something; nil otherwise
	deaths    int
	crashed   bool
	outages   []*outage
	took      time.Duration
	lives     map[string]history.Life
	late      *subscriber // reads everything after the end
	latency   [2]time.Duration
}

// newFeedRun returns a run with the usual load.
func newFeedRun(engine, mode string) *feedRun {
	return &feedRun{engine: engine, mode: mode, writerCount: 16, subscribers: 50, lanes: 4, drops: 500, ring: 64,
		pause: 20 * time.Millisecond, drain: 5 * time.Minute, faultTime: 3 * time.Second, patience: 4 * time.Second}
}

// feeds runs the scenario on one engine, and its control.
func feeds(engine string) func(ctx context.Context, e *env) error {
	return func(ctx context.Context, e *env) error {
		main, control := newFeedRun(engine, server.Outbox), newFeedRun(engine, server.NoResume)
		main.title, control.title = "a log in the database", "control: published in memory after the commit"
		main.writes, main.crash = size(e, 1200, 5000), engine == postgres
		control.writes = size(e, 500, 5000)
		main.kills, control.kills = size(e, 5, 50), size(e, 3, 50)
		if engine == sqlite {
			main.kills, control.kills = size(e, 5, 40), size(e, 3, 40)
		}
		runs := []*feedRun{main, control}
		if engine == postgres {
			locked := newFeedRun(engine, server.Locked)
			locked.title, locked.writes, locked.kills = "the same, with a lock for writers", size(e, 400, 5000), size(e, 2, 50)
			runs = append(runs, locked)
		}
		return e.runFeeds(ctx, runs...)
	}
}

// feedSlowNetwork delays, throttles and resets connections on both sides of the nodes.
func feedSlowNetwork(ctx context.Context, e *env) error {
	t := newFeedRun(postgres, server.Outbox)
	t.title, t.proxied, t.writes, t.kills = "a slow network with resets", true, size(e, 400, 5000), 1
	t.clientFaults = network.Faults{Delay: 5 * time.Millisecond, Jitter: 10 * time.Millisecond, Rate: 1_000_000, Cut: 300_000}
	t.storageFaults = network.Faults{Delay: time.Millisecond, Jitter: 2 * time.Millisecond, Cut: 2_000_000}
	return e.runFeeds(ctx, t)
}

// feedPartition cuts a node off from its clients or from the database.
func feedPartition(ctx context.Context, e *env) error {
	t := newFeedRun(postgres, server.Outbox)
	t.title, t.proxied, t.writes, t.ring = "partitions", true, size(e, 200, 5000), 0
	t.clientFaults = network.Faults{Delay: 2 * time.Millisecond}
	t.partitions, t.faultTime = size(e, 3, 9), size(e, 2*time.Second, 15*time.Second)
	t.limit, t.patience = size(e, time.Second, 10*time.Second), 2*time.Second
	// closeWrites waits for a commit over a lost connection. A commit over a blocked one ends before this.
	t.commit = size(e, 5*t.faultTime, 0)
	return e.runFeeds(ctx, t)
}

// feedOutage shuts the database down for a while.
func feedOutage(ctx context.Context, e *env) error {
	t := newFeedRun(postgres, server.Outbox)
	t.title, t.proxied, t.writes, t.ring, t.outage = "an outage of the database", true, size(e, 400, 5000), 0, true
	t.clientFaults = network.Faults{Delay: 2 * time.Millisecond}
	t.faultTime, t.patience = size(e, 2500*time.Millisecond, 30*time.Second), 2*time.Minute
	return e.runFeeds(ctx, t)
}

// feedScale has many subscribers, most of them to one of many lanes.
func feedScale(ctx context.Context, e *env) error {
	t := newFeedRun(postgres, server.Outbox)
	t.title, t.proxied, t.patience, t.pause, t.ring, t.drops = "many subscribers", true, 10*time.Second, 0, 0, 2000
	t.clientFaults = network.Faults{Delay: 5 * time.Millisecond, Jitter: 10 * time.Millisecond}
	t.storageFaults = network.Faults{Delay: time.Millisecond, Jitter: 2 * time.Millisecond}
	t.writes, t.writerCount, t.kills = size(e, 1000, e.scale), size(e, 16, 32), size(e, 2, 20)
	t.subscribers, t.everything, t.lanes = size(e, 100, 1000), size(e, 10, 50), size(e, 20, 100)
	return e.runFeeds(ctx, t)
}

func (e *env) runFeeds(ctx context.Context, runs ...*feedRun) error {
	for _, t := range runs {
		r, err := t.run(ctx, e)
		if err != nil {
			return fmt.Errorf("%s: %w", t.title, err)
		}
		if err := e.finish(r); err != nil {
			return err
		}
	}
	return nil
}

// resumes reports whether a stream can be resumed after the death of a node.
func (t *feedRun) resumes() bool { return t.mode != server.NoResume }

// run starts the nodes, the writers and the subscribers, and checks what was received.
func (t *feedRun) run(ctx context.Context, e *env) (r *result, err error) {
	n := nodes(t.engine)
	if t.source, err = e.newDatabase(ctx, t.engine); err != nil {
		return nil, err
	}
	if t.proxied {
		if t.net, err = newProxies(e.seed, n, t.source); err != nil {
			return nil, err
		}
		defer t.net.close()
		t.net.set(t.clientFaults, t.storageFaults)
	}
	f, err := e.startServer(ctx, n, t.net.attach, "things", "-db", t.source, "-mode", t.mode, "-ring", fmt.Sprint(t.ring),
		"-bookmark", "1s", "-ping", "1s", "-limit", t.limit.String(), "-idle", t.limit.String(), "-commit", t.commit.String())
	if err != nil {
		return nil, err
	}
	defer f.KillAll()
	t.protocols = []func(l *client.Link) client.Protocol{client.REST}
	if t.resumes() {
		t.protocols = append(t.protocols, client.WebSocket, client.GraphQLSSE)
	}
	d, err := t.runOn(ctx, e, f)
	if err != nil {
		return nil, err
	}
	if t.resumes() {
		inserted, err := insertTimes(ctx, t.source)
		if err != nil {
			return nil, err
		}
		t.measure(inserted)
	}
	return t.result(f.Len(), d), nil
}

// runOn is run on nodes that are up.
func (t *feedRun) runOn(ctx context.Context, e *env, f *fleet.Fleet) (*history.Deliveries, error) {
	t.e = e
	t.writers = newFeedWriters(f, t.writerCount, t.pause, t.lanes)
	if t.proxied {
		t.writers.attempts = &attempts{}
		t.writers.client.HTTP.Timeout = t.patience
	}
	admin := client.New(1)
	from, err := cursorNow(ctx, admin, t.net.direct(f.URL(0)))
	if err != nil {
		return nil, err
	}
	t.addSubscribers(from, f)
	began := time.Now()
	if err := t.writeAndReceive(ctx, f); err != nil {
		return nil, err
	}
	t.took = time.Since(began)
	if err := t.streamsEnded(ctx, admin, f); err != nil {
		return nil, err
	}
	left, err := allThings(ctx, admin, t.net.direct(f.URL(0)))
	if err != nil {
		return nil, err
	}
	if t.lives, err = t.writers.settle(left); err != nil {
		return nil, err
	}
	if t.resumes() {
		t.late = &subscriber{name: "the late subscriber", protocol: client.REST(nil), cursor: from}
		limited, cancel := context.WithTimeout(ctx, t.drain)
		defer cancel()
		t.late.run(limited, f, e.random(checkPart), func() {})
		t.settleDeletions()
	}
	return t.check()
}

// residentsPerNode is the number of subscribers that stay with each node in a run with partitions or an outage.
const residentsPerNode = 6

// addSubscribers adds subscribers to everything, to a lane and to open things. In the control all subscribe to everything.
func (t *feedRun) addSubscribers(from string, f *fleet.Fleet) {
	residents := 0
	if t.partitions > 0 || t.outage {
		residents = residentsPerNode * nodes(t.engine)
	}
	for i := range t.subscribers {
		s := &subscriber{name: fmt.Sprint("subscriber ", i), link: &client.Link{}, drops: t.drops, cursor: from}
		s.protocol = t.protocols[i%len(t.protocols)](s.link)
		if t.proxied {
			s.link.Patience = t.patience
		}
		switch {
		case !t.resumes():
			s.cursor = ""
			if i == 0 && t.drops > 0 {
				t.missed = make(chan struct{})
				s.beforeResume = func(ctx context.Context) { t.miss(ctx, f) }
			}
		case i < residents: // one of each protocol for each node
			s.native, s.home, s.drops = 1+i/residentsPerNode, 1+i/residentsPerNode, 0
		case t.everything > 0:
			if i >= t.everything {
				s.view.Lane = 1 + i%t.lanes
			}
		case i%5 == 3:
			s.view.Lane = 1 + i%t.lanes
		case i%5 == 4:
			s.view.Open = true
		}
		t.all = append(t.all, s)
	}
}

// miss waits until a stream that began after the disconnect of a subscriber has received an event. The
// subscriber has not received it, and resumes after it, because it starts at the present. So a
// subscriber of the control misses an event for certain.
func (t *feedRun) miss(ctx context.Context, f *fleet.Fleet) {
	defer close(t.missed)
	ctx, cancel := context.WithTimeout(ctx, t.drain)
	defer cancel()
	for received := false; !received && ctx.Err() == nil; client.Pause(ctx, time.Millisecond) {
		stream, err := client.REST(nil).Subscribe(ctx, f.URL(0), "", client.View{})
		if err != nil {
			continue // the node is down
		}
		for err == nil && !received {
			var e client.Event
			e, err = stream.Next()
			received = err == nil && e.Kind != ""
		}
		stream.Close()
	}
}

// missing reports whether the writers have to go on until a subscriber of the control has missed something.
func (t *feedRun) missing() bool {
	select {
	case <-t.missed:
		return false
	default:
		return t.missed != nil
	}
}

// writeAndReceive runs the writers and faults, and waits until all subscribers have received the final event.
func (t *feedRun) writeAndReceive(ctx context.Context, f *fleet.Fleet) error {
	subscribing, cancel := context.WithCancel(ctx)
	defer cancel()
	var ready, running sync.WaitGroup
	ready.Add(len(t.all))
	for i, s := range t.all {
		running.Go(func() { s.run(subscribing, f, t.e.random(subscriberPart+1+uint64(i)), ready.Done) })
	}
	ended, subscribed := make(chan struct{}), make(chan struct{})
	go func() { running.Wait(); close(ended) }()
	go func() { ready.Wait(); close(subscribed) }()
	select {
	case <-subscribed:
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(5 * time.Minute):
		return errors.Join(errors.New("not all subscribers are connected after five minutes"), t.subscriberErr())
	}
	l := &load{
		writers:  t.writerCount,
		step:     t.writers.step,
		progress: func() float64 { return float64(t.writers.acknowledged.Load()) / float64(t.writes) },
		more:     t.missing,
		faults:   t.faults(f),
	}
	if err := l.run(ctx, t.e); err != nil {
		return err
	}
	if err := t.closeWrites(ctx, f); err != nil {
		return err
	}
	limit := time.AfterFunc(t.drain, cancel)
	defer limit.Stop()
	err := t.writers.finish(subscribing, t.resumes(), ended)
	if subscribing.Err() != nil {
		err = ctx.Err() // what was not received by now is lost
	}
	cancel()
	running.Wait()
	return errors.Join(err, t.subscriberErr())
}

// faults are the kills and partitions in random order, with the outage and the crash halfway.
func (t *feedRun) faults(f *fleet.Fleet) []fault {
	all := repeat(t.kills, func(ctx context.Context, rng *rand.Rand) error {
		t.deaths++
		return f.Restart(ctx, rng.IntN(f.Len()))
	})
	for i := range t.partitions {
		all = append(all, func(ctx context.Context, rng *rand.Rand) error { return t.partition(ctx, f, rng, i%partitionKinds) })
	}
	t.e.random(faultPart).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if t.outage {
		all = spread(all, func(ctx context.Context, rng *rand.Rand) error { return t.databaseOutage(ctx, f, rng) })
	}
	if t.crash {
		all = spread(all, func(ctx context.Context, rng *rand.Rand) error {
			t.crashed = true
			return t.e.crash(ctx, rng)
		})
	}
	return all
}

// closeWrites waits for writes that their clients have given up. One that is committed after the final event would be in the table,
// and in no stream.
func (t *feedRun) closeWrites(ctx context.Context, f *fleet.Fleet) error {
	if t.net == nil {
		return nil // no client gives up
	}
	for i := range f.Len() {
		if a := client.New(1).Send(ctx, http.MethodPost, t.net.direct(f.URL(i))+"/process/close", ""); !a.OK() {
			return a.Unexpected("POST /process/close")
		}
	}
	return nil
}

// streamsEnded waits until no node serves a stream any more.
func (t *feedRun) streamsEnded(ctx context.Context, admin *client.Client, f *fleet.Fleet) error {
	if t.net == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, t.drain)
	defer cancel()
	for i := range f.Len() {
		for left := int64(-1); left != 0; client.Pause(ctx, 10*time.Millisecond) {
			var p server.Process
			if a := admin.Send(ctx, http.MethodGet, t.net.direct(f.URL(i))+"/process/", ""); a.Decode("GET /process/", &p) == nil {
				left = p.Streams
			}
			if ctx.Err() != nil {
				return fmt.Errorf("node %d serves %d streams without subscribers: %w", i, left, ctx.Err())
			}
		}
	}
	return nil
}

// subscriberErr returns the first response that a subscriber must not get.
func (t *feedRun) subscriberErr() error {
	for _, s := range t.all {
		if s.err != nil {
			return s.err
		}
	}
	return nil
}

// settleDeletions takes, for items whose last version is unknown because the outcomes of deletions are, the last version that the
// late subscriber has received. They are few, and all others are checked without the log.
func (t *feedRun) settleDeletions() {
	received := map[string]int{}
	for _, ev := range t.late.received {
		received[ev.ID] = max(received[ev.ID], ev.N)
	}
	for id, l := range t.lives {
		for _, n := range l.Others {
			if n == received[id] {
				l.N = n
				t.lives[id] = l
			}
		}
	}
}

// check compares what all subscribers have received with what happened.
func (t *feedRun) check() (*history.Deliveries, error) {
	d := &history.Deliveries{}
	for _, s := range t.all {
		d.AddAll(history.CheckDeliveries(s.name, s.view, t.lives, s.received))
	}
	if t.late == nil {
		return d, nil
	}
	late := history.CheckDeliveries(t.late.name, client.View{}, t.lives, t.late.received)
	if late.Count() > 0 || !t.late.ended {
		return d, fmt.Errorf("the log differs from what happened: %v", &late.Violations)
	}
	return d, nil
}

// result reports a run. A resumed stream must not be refused: the log has everything.
func (t *feedRun) result(nodes int, d *history.Deliveries) *result {
	var reconnects, expired int
	for _, s := range t.all {
		reconnects += s.reconnects
		expired += s.expired
	}
	r := &result{Violations: &d.Violations, title: t.engine + ", " + t.title}
	r.line("%d nodes, %d deaths, crashed %t; %d writers, %d writes acknowledged, %d unknown; %.1f s", nodes, t.deaths, t.crashed,
		t.writerCount, t.writers.acknowledged.Load(), t.writers.unknown.Load(), t.took.Seconds())
	r.line("%d subscribers, %d reconnects, %d expired cursors", len(t.all), reconnects, expired)
	r.line("delivered %d of %d: %v", d.Delivered, d.Expected, &d.Violations)
	if t.latency[1] > 0 {
		r.line("from the insert of an event to its receipt, deaths included: p50 %v, p99 %v", rounded(t.latency[0]), rounded(t.latency[1]))
	}
	t.reportNetwork(r)
	switch {
	case d.Expected == 0 || t.deaths < t.kills || len(t.outages) < t.partitions || t.crash != t.crashed:
		r.fail(fmt.Errorf("%d events, %d deaths, crashed %t: not all faults were injected", d.Expected, t.deaths, t.crashed))
	case t.drops > 0 && reconnects == 0:
		r.fail(errors.New("no subscriber reconnected"))
	case !t.resumes():
		r.control = []history.Kind{history.Lost}
	case expired > 0:
		r.fail(fmt.Errorf("%d cursors expired in a log that has everything", expired))
	}
	return r
}

// measure compares when each event was inserted with when it was received.
func (t *feedRun) measure(inserted map[uint64]time.Time) {
	var times []time.Duration
	for _, s := range t.all {
		for _, ev := range s.received {
			if c, err := feed.ParseCursor(ev.Cursor); err == nil {
				times = append(times, ev.At.Sub(inserted[c.Seq]))
			}
		}
	}
	t.latency = [2]time.Duration{percentile(times, 0.5), percentile(times, 0.99)}
}

// insertTimes returns when the events of a log were inserted, by number.
func insertTimes(ctx context.Context, source string) (map[uint64]time.Time, error) {
	db, err := database.Pool(source, 1)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT seq, at FROM events")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	inserted := map[uint64]time.Time{}
	for rows.Next() {
		var seq, at int64
		if err := rows.Scan(&seq, &at); err != nil {
			return nil, err
		}
		inserted[uint64(seq)] = time.UnixMicro(at)
	}
	return inserted, rows.Err()
}

// createThing creates a thing and returns it as it is then.
func createThing(ctx context.Context, c *client.Client, base string, v server.Thing) (server.Thing, client.Answer, error) {
	content := map[string]any{"name": v.Name, "lane": v.Lane, "n": v.N, "open": v.Open, "note": v.Note}
	header := []string{client.JSON}
	if v.Name == finalName {
		header = append(header, server.FinalField+": true")
	}
	a := c.Send(ctx, http.MethodPost, base+server.ThingsPath, encode(content), header...)
	if a.OK() {
		return v, a, json.Unmarshal(a.Body, &v)
	}
	return v, a, nil
}

// cursorNow returns the present cursor. A list does not wait for a slow log, as at first, and has no cursor then.
func cursorNow(ctx context.Context, c *client.Client, base string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for {
		a := c.Send(ctx, http.MethodGet, base+server.ThingsPath+"?limit=1", "")
		if cursor := a.Header.Get("Event-Cursor"); a.OK() && cursor != "" {
			return cursor, nil
		}
		if client.Pause(ctx, 20*time.Millisecond); ctx.Err() != nil || !a.OK() && !a.Unknown() {
			return "", errors.Join(a.Unexpected("a list without Event-Cursor"), ctx.Err())
		}
	}
}

// allThings returns the whole collection.
func allThings(ctx context.Context, c *client.Client, base string) ([]server.Thing, error) {
	var things []server.Thing
	for after := ""; ; {
		var page struct {
			Items []server.Thing `json:"items"`
			Next  string         `json:"next"`
		}
		a := c.Read(ctx, base+server.ThingsPath+"?limit=200"+after)
		if err := a.Decode("GET "+server.ThingsPath, &page); err != nil {
			return nil, err
		}
		things = append(things, page.Items...)
		if page.Next == "" {
			return things, nil
		}
		after = "&after=" + page.Next
	}
}
