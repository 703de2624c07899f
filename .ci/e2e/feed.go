package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/database"
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

// feedLoad is a trial with writers and subscribers.
type feedLoad struct {
	trial
	mode                        string
	writes                      int // at least
	faults                      []fault
	writerCount, subscribers    int
	lanes                       int           // of things
	everything                  int           // subscribers to all lanes, the others subscribe to one; 0 mixes all views
	residents                   int           // subscribers that stay with a node, for each
	drops                       int           // a subscriber disconnects after at most so many events; 0 is never
	ring                        int           // events in memory: few, so that a resumed stream reads the log
	pause                       time.Duration // of a writer after each write, at most
	limit                       time.Duration // of a read of the log and of an idle transaction; 0 are the defaults
	commit                      time.Duration // limit of a commit; 0 is the default
	proxied                     bool          // clients and databases are reached through proxies
	clientFaults, storageFaults network.Faults
	faultTime                   time.Duration // of a partition, and of an outage of the database
	silence                     time.Duration // without a byte, after which a client gives up

	protocols []func(l *client.Link) client.Protocol
	net       *proxies // nil if clients connect directly
	writers   *feedWriters
	all       []*subscriber
	missed    chan struct{} // closed when a subscriber of the control has missed something; nil otherwise
	outages   []*outage
	lives     map[string]history.Life
	late      *subscriber // reads everything after the end
}

// newFeedLoad returns a trial with the usual load.
func newFeedLoad(engine, mode, title string) *feedLoad {
	t := &feedLoad{mode: mode, writerCount: 16, subscribers: 50, lanes: 4, drops: 500, ring: 64,
		pause: 20 * time.Millisecond, faultTime: 3 * time.Second, silence: 4 * time.Second}
	t.protocols = []func(l *client.Link) client.Protocol{client.REST, client.WebSocket, client.GraphQLSSE}
	t.trial = trial{title: engine + ", " + title, engine: engine, connections: 1, do: t.run}
	if mode == server.NoResume {
		t.control, t.protocols = []history.Kind{history.Lost}, t.protocols[:1]
	}
	return t
}

// feeds runs the scenario on one engine, and its control.
func feeds(engine string) func(ctx context.Context, e *env) error {
	return func(ctx context.Context, e *env) error {
		subject := newFeedLoad(engine, server.Outbox, "a log in the database")
		control := newFeedLoad(engine, server.NoResume, "control: published in memory after the commit")
		subject.writes, control.writes = size(e, 1200, 5000), size(e, 500, 5000)
		trials := []*trial{&subject.trial, &control.trial}
		if engine == sqlite {
			subject.faults = []fault{subject.killNodes(size(e, 5, 40))}
			control.faults = []fault{control.killNodes(size(e, 3, 40))}
			return e.try(ctx, trials...)
		}
		subject.faults = []fault{subject.killNodes(size(e, 5, 50)), subject.crashDatabase(1)}
		control.faults = []fault{control.killNodes(size(e, 3, 50))}
		locked := newFeedLoad(engine, server.Locked, "the same, with a lock for writers")
		locked.writes, locked.faults = size(e, 400, 5000), []fault{locked.killNodes(size(e, 2, 50))}
		return e.try(ctx, append(trials, &locked.trial)...)
	}
}

// proxiedFeed returns a trial on PostgreSQL through proxies with faults.
func proxiedFeed(title string, clients, storage network.Faults) *feedLoad {
	t := newFeedLoad(postgres, server.Outbox, title)
	t.proxied, t.clientFaults, t.storageFaults = true, clients, storage
	return t
}

// feedSlowNetwork delays, throttles and resets connections on both sides of the nodes.
func feedSlowNetwork(ctx context.Context, e *env) error {
	t := proxiedFeed("a slow network with resets",
		network.Faults{Delay: 5 * time.Millisecond, Jitter: 10 * time.Millisecond, Rate: 1_000_000, Cut: 300_000},
		network.Faults{Delay: time.Millisecond, Jitter: 2 * time.Millisecond, Cut: 2_000_000})
	t.writes, t.faults = size(e, 400, 5000), []fault{t.killNodes(1)}
	return e.try(ctx, &t.trial)
}

// feedPartition cuts a node off from its clients or from the database.
func feedPartition(ctx context.Context, e *env) error {
	t := proxiedFeed("partitions", network.Faults{Delay: 2 * time.Millisecond}, network.Faults{})
	t.writes, t.ring, t.residents = size(e, 200, 5000), 0, residentsPerNode
	t.faults = []fault{t.partitions(size(e, 3, 9), e.random(faultPart))}
	t.faultTime = size(e, 2*time.Second, 15*time.Second)
	t.limit, t.silence = size(e, time.Second, 10*time.Second), 2*time.Second
	// closeWrites waits for a commit over a lost connection. A commit over a blocked one ends before this.
	t.commit = size(e, 5*t.faultTime, 0)
	return e.try(ctx, &t.trial)
}

// feedOutage shuts the database down for a while.
func feedOutage(ctx context.Context, e *env) error {
	t := proxiedFeed("an outage of the database", network.Faults{Delay: 2 * time.Millisecond}, network.Faults{})
	t.writes, t.ring, t.residents = size(e, 400, 5000), 0, residentsPerNode
	t.faults = []fault{{"outages of the database", 1, t.databaseOutage}}
	t.faultTime, t.silence = size(e, 2500*time.Millisecond, 30*time.Second), 2*time.Minute
	return e.try(ctx, &t.trial)
}

// feedScale has many subscribers, most of them to one of many lanes.
func feedScale(ctx context.Context, e *env) error {
	t := proxiedFeed("many subscribers", network.Faults{Delay: 5 * time.Millisecond, Jitter: 10 * time.Millisecond},
		network.Faults{Delay: time.Millisecond, Jitter: 2 * time.Millisecond})
	t.silence, t.pause, t.ring, t.drops = 10*time.Second, 0, 0, 2000
	t.writes, t.writerCount, t.faults = size(e, 1000, e.scale), size(e, 16, 32), []fault{t.killNodes(size(e, 2, 20))}
	t.subscribers, t.everything, t.lanes = size(e, 100, 1000), size(e, 10, 50), size(e, 20, 100)
	return e.try(ctx, &t.trial)
}

// run starts the nodes, with proxies if needed, and makes the trial with them.
func (t *feedLoad) run(ctx context.Context) (err error) {
	if t.proxied {
		if t.net, err = newProxies(t.seed, 3, t.source); err != nil {
			return err
		}
		defer t.net.close()
		t.net.set(t.clientFaults, t.storageFaults)
		t.prepare = t.net.attach
	}
	err = t.serve(ctx, "things", "-mode", t.mode, "-ring", fmt.Sprint(t.ring), "-bookmark", "1s", "-ping", "1s",
		"-limit", t.limit.String(), "-idle", t.limit.String(), "-commit", t.commit.String())
	if err == nil {
		err = t.runOnNodes(ctx)
	}
	if err != nil || t.control != nil {
		return err
	}
	inserted, err := insertTimes(ctx, t.source)
	t.measure(inserted)
	return err
}

// runOnNodes is run on nodes that are up.
func (t *feedLoad) runOnNodes(ctx context.Context) error {
	var from string // the cursor before all writes
	return inOrder(
		step{"the present", func(ctx context.Context) (err error) {
			from, err = cursorNow(ctx, t.Client, t.net.direct(t.URL(0)))
			return err
		}},
		step{"writes and streams", func(ctx context.Context) error { return t.writeAndReceive(ctx, from) }},
		step{"streams end", t.streamsEnded},
		step{"what is left", t.settle},
		step{"the late subscriber", func(ctx context.Context) error { return t.readLate(ctx, from) }},
		step{"events", func(context.Context) error { return t.judge() }},
	)(ctx)
}

// settle reads what is left in the table.
func (t *feedLoad) settle(ctx context.Context) error {
	a := t.Read(ctx, t.net.direct(t.URL(0))+server.ThingsPath, client.NDJSON)
	left, err := client.Lines[server.Thing]("GET "+server.ThingsPath, a)
	if err == nil {
		t.lives, err = t.writers.settle(left)
	}
	return err
}

// readLate reads the log from its beginning. In the control there is none.
func (t *feedLoad) readLate(ctx context.Context, from string) error {
	if t.control != nil {
		return nil
	}
	t.late = &subscriber{name: "the late subscriber", protocol: client.REST(nil), cursor: from}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	t.late.run(limited, t.Fleet, t.random(checkPart), func() {})
	t.settleDeletions()
	return nil
}

// residentsPerNode is the number of subscribers that stay with each node in a trial with partitions or an outage.
const residentsPerNode = 6

// addSubscribers adds subscribers to everything, to a lane and to open things. In the control all subscribe to everything.
func (t *feedLoad) addSubscribers(from string) {
	for i := range t.subscribers {
		s := &subscriber{name: fmt.Sprint("subscriber ", i), link: &client.Link{}, drops: t.drops, cursor: from}
		s.protocol = t.protocols[i%len(t.protocols)](s.link)
		if t.proxied {
			s.link.Patience = t.silence
		}
		switch {
		case t.control != nil:
			s.cursor = ""
			if i == 0 && t.drops > 0 {
				t.missed = make(chan struct{})
				s.beforeResume = func(ctx context.Context) { t.miss(ctx) }
			}
		case i < t.residents*t.Len(): // one of each protocol for each node
			s.native, s.home, s.drops = 1+i/t.residents, 1+i/t.residents, 0
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
func (t *feedLoad) miss(ctx context.Context) {
	defer close(t.missed)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for received := false; !received && ctx.Err() == nil; client.Pause(ctx, time.Millisecond) {
		stream, err := client.REST(nil).Subscribe(ctx, t.URL(0), "", client.View{})
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
func (t *feedLoad) missing() bool {
	select {
	case <-t.missed:
		return false
	default:
		return t.missed != nil
	}
}

// writeAndReceive runs the writers and faults, and waits until all subscribers have received the final event.
func (t *feedLoad) writeAndReceive(ctx context.Context, from string) error {
	t.writers = newFeedWriters(t.Fleet, t.writerCount, t.pause, t.lanes)
	if t.proxied {
		t.writers.attempts = &attempts{}
		t.writers.client.HTTP.Timeout = t.silence
	}
	t.addSubscribers(from)
	subscribing, cancel := context.WithCancel(ctx)
	defer cancel()
	var ready, running sync.WaitGroup
	ready.Add(len(t.all))
	for i, s := range t.all {
		running.Go(func() { s.run(subscribing, t.Fleet, t.random(subscriberPart+1+uint64(i)), ready.Done) })
	}
	ended, subscribed := make(chan struct{}), make(chan struct{})
	go func() { running.Wait(); close(ended) }()
	go func() { ready.Wait(); close(subscribed) }()
	select {
	case <-subscribed:
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(patience):
		return errors.Join(errors.New("not all subscribers are connected after five minutes"), t.subscriberErr())
	}
	err := t.write(ctx, load{writers: t.writerCount, step: t.writers.step, done: t.writers.acknowledged.Load, total: t.writes,
		faults: t.faults, more: t.missing})
	if err == nil {
		err = t.closeWrites(ctx)
	}
	if err != nil {
		return err
	}
	limit := time.AfterFunc(patience, cancel)
	defer limit.Stop()
	err = t.writers.finish(subscribing, t.control == nil, ended)
	if subscribing.Err() != nil {
		err = ctx.Err() // what was not received by now is lost
	}
	cancel()
	running.Wait()
	return errors.Join(err, t.subscriberErr())
}

// closeWrites waits for writes that their clients have given up. One that is committed after the final event would be in the table,
// and in no stream.
func (t *feedLoad) closeWrites(ctx context.Context) error {
	if t.net == nil {
		return nil // no client gives up
	}
	for i := range t.Len() {
		if a := t.Send(ctx, http.MethodPost, t.net.direct(t.URL(i))+"/process/close", ""); !a.OK() {
			return a.Unexpected("POST /process/close")
		}
	}
	return nil
}

// streamsEnded waits until no node serves a stream any more.
func (t *feedLoad) streamsEnded(ctx context.Context) error {
	if t.net == nil {
		return nil
	}
	for i := range t.Len() {
		err := client.Await(ctx, fmt.Sprintf("node %d serves no stream", i), 10*time.Millisecond, func() bool {
			var p server.Process
			a := t.Send(ctx, http.MethodGet, t.net.direct(t.URL(i))+"/process/", "")
			return a.Decode("GET /process/", &p) == nil && p.Streams == 0
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// subscriberErr returns the first response that a subscriber must not get.
func (t *feedLoad) subscriberErr() error {
	for _, s := range t.all {
		if s.err != nil {
			return s.err
		}
	}
	return nil
}

// settleDeletions takes, for items whose last version is unknown because the outcomes of deletions are, the last version that the
// late subscriber has received. They are few, and all others are checked without the log.
func (t *feedLoad) settleDeletions() {
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

// judge compares what all subscribers have received with what happened. A resumed stream must not be refused: the log has
// everything.
func (t *feedLoad) judge() error {
	d := &history.Deliveries{}
	var reconnects, expired int
	for _, s := range t.all {
		d.AddAll(history.CheckDeliveries(s.name, s.view, t.lives, s.received))
		reconnects += s.reconnects
		expired += s.expired
	}
	t.Merge(&d.Violations)
	t.line("%d writes acknowledged, %d unknown", t.writers.acknowledged.Load(), t.writers.unknown.Load())
	t.line("%d subscribers, %d reconnects, %d expired cursors", len(t.all), reconnects, expired)
	t.line("delivered %d of %d: %v", d.Delivered, d.Expected, &d.Violations)
	t.reportNetwork()
	t.failIf(d.Expected == 0, "no event was expected")
	t.failIf(t.drops > 0 && reconnects == 0, "no subscriber reconnected")
	t.failIf(t.control == nil && expired > 0, "%d cursors expired in a log that has everything", expired)
	if t.late == nil {
		return nil
	}
	late := history.CheckDeliveries(t.late.name, client.View{}, t.lives, t.late.received)
	if late.Count() > 0 || !t.late.ended {
		return fmt.Errorf("the log differs from what happened: %v", &late.Violations)
	}
	return nil
}

// measure reports the time from the insert of each event to its receipt.
func (t *feedLoad) measure(inserted map[uint64]time.Time) {
	var times []time.Duration
	for _, s := range t.all {
		for _, ev := range s.received {
			if c, err := feed.ParseCursor(ev.Cursor); err == nil {
				times = append(times, ev.At.Sub(inserted[c.Seq]))
			}
		}
	}
	t.line("from the insert of an event to its receipt, deaths included: p50 %v, p99 %v", rounded(percentile(times, 0.5)),
		rounded(percentile(times, 0.99)))
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

// changingThing is a thing that one client changes.
type changingThing struct {
	client *client.Client
	url    string
	n      int
	tag    string
}

func newChangingThing(ctx context.Context, c *client.Client, base string, v server.Thing) (*changingThing, error) {
	v, a, err := createThing(ctx, c, base, v)
	if err != nil || !a.OK() {
		return nil, errors.Join(a.Unexpected("create"), err)
	}
	return &changingThing{c, base + server.ThingsPath + "/" + v.ID, v.N, a.Tag()}, nil
}

// change writes the next version.
func (v *changingThing) change(ctx context.Context) error {
	body := fmt.Sprintf(`{"n":%d,"open":%t}`, v.n+1, v.n%2 == 0)
	a := v.client.Send(ctx, http.MethodPatch, v.url, body, client.MergePatch, "If-Match: "+v.tag)
	if !a.OK() {
		return a.Unexpected("change")
	}
	v.n, v.tag = v.n+1, a.Tag()
	return nil
}

// cursorNow returns the present cursor. A list does not wait for a slow log, as at first, and has no cursor then.
func cursorNow(ctx context.Context, c *client.Client, base string) (cursor string, err error) {
	var a client.Answer
	err = client.Await(ctx, "a list with Event-Cursor", 20*time.Millisecond, func() bool {
		a = c.Send(ctx, http.MethodGet, base+server.ThingsPath+"?limit=1", "")
		cursor = a.Header.Get("Event-Cursor")
		return a.OK() && cursor != "" || !a.OK() && !a.Unknown()
	})
	if cursor == "" {
		err = errors.Join(a.Unexpected("a list without Event-Cursor"), err)
	}
	return cursor, err
}
