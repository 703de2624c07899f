package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/database"
	"github.com/stoa-go/stoa/ci/e2e/fleet"
	"github.com/stoa-go/stoa/ci/e2e/network"
	"github.com/stoa-go/stoa/resource/feed"
)

// proxies is one proxy before each node, and one between each node and its database. A file of SQLite has none. Nil is a direct
// connection.
type proxies struct {
	nodes, databases []*network.Proxy
	addresses        []atomic.Pointer[string] // of the nodes, without their proxies
	sources          []string                 // the database as each node reaches it
}

func newProxies(seed uint64, n int, source string) (*proxies, error) {
	p := &proxies{addresses: make([]atomic.Pointer[string], n), sources: make([]string, n)}
	for i := range n {
		p.sources[i] = source
		node, err := network.New(seed+uint64(i)<<8, p.dialNode(i))
		if err != nil {
			p.close()
			return nil, err
		}
		p.nodes = append(p.nodes, node)
		if !database.IsPostgres(source) {
			continue
		}
		if err := p.addDatabase(seed+uint64(i)<<16, i, source); err != nil {
			p.close()
			return nil, err
		}
	}
	return p, nil
}

// dialNode dials a node at its present address.
func (p *proxies) dialNode(i int) func(ctx context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		address := p.addresses[i].Load()
		if address == nil {
			return nil, fmt.Errorf("node %d was never started", i)
		}
		var d net.Dialer
		return d.DialContext(ctx, "tcp", *address)
	}
}

// addDatabase adds the proxy between a node and PostgreSQL.
func (p *proxies) addDatabase(seed uint64, i int, source string) error {
	u, err := url.Parse(source)
	if err != nil {
		return err
	}
	q := u.Query()
	kind, address := "tcp", u.Host
	if folder := q.Get("host"); folder != "" {
		kind, address = "unix", filepath.Join(folder, ".s.PGSQL.5432")
	}
	db, err := network.New(seed, func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, kind, address)
	})
	if err != nil {
		return err
	}
	p.databases = append(p.databases, db)
	q.Del("host")
	q.Set("sslmode", "disable")
	// Without it, database/sql waits forever for a connection that is accepted and passes nothing, and then opens no other.
	q.Set("connect_timeout", "2")
	u.Host, u.RawQuery = db.Addr(), q.Encode()
	p.sources[i] = u.String()
	return nil
}

// attach makes a fleet use the proxies.
func (p *proxies) attach(f *fleet.Fleet) {
	if p == nil {
		return
	}
	f.Args = func(i int) []string { return []string{"-db", p.sources[i]} }
	f.Address = func(i int, url string) string {
		address := strings.TrimPrefix(url, "http://")
		p.addresses[i].Store(&address)
		return "http://" + p.nodes[i].Addr()
	}
}

// direct returns the address of a node without its proxy.
func (p *proxies) direct(base string) string {
	if p == nil {
		return base
	}
	for i, proxy := range p.nodes {
		if base == "http://"+proxy.Addr() {
			return "http://" + *p.addresses[i].Load()
		}
	}
	return base
}

func (p *proxies) close() {
	for _, proxy := range slices.Concat(p.nodes, p.databases) {
		proxy.Close()
	}
}

// set sets the faults of all proxies.
func (p *proxies) set(node, db network.Faults) {
	for _, proxy := range p.nodes {
		proxy.Set(node)
	}
	for _, proxy := range p.databases {
		proxy.Set(db)
	}
}

// attempts are the responses to writes, to find those during an outage. It is safe for concurrent use. Nil keeps none.
type attempts struct {
	mu  sync.Mutex
	all []attempt
}

type attempt struct {
	base         string
	began, ended time.Time
	status       int // 0 if there was no complete response
	retryAfter   bool
}

func (a *attempts) add(base string, got client.Answer) {
	if a == nil {
		return
	}
	status := got.Status
	if got.Err != nil {
		status = 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, attempt{base, got.Began, got.Ended, status, got.RetryAfter()})
}

// outage is a time in which nodes were cut off. It is judged by the requests and sessions that began and ended within.
type outage struct {
	what           string
	bases          []string      // addresses of the nodes
	residents      []*subscriber // that stay with these nodes
	from, half, to time.Time
	bytes          int64  // that residents received in the first half
	storage, down  bool   // the nodes were cut off from the database, or it was shut down
	newest         uint64 // the newest event that a node without the database can know
}

// Kinds of partitions, in their order.
const (
	databaseBlocked = iota // nothing passes to the database for a while
	databaseLost           // the same, and the connections never pass anything again
	clientsBlocked         // nothing passes to the clients for a while
	partitionKinds
)

// partitions cuts nodes off, each time in the next kind. Their order is random.
func (t *feedLoad) partitions(n int, rng *rand.Rand) fault {
	kinds, i := rng.Perm(partitionKinds), 0
	return fault{"partitions", n, func(ctx context.Context, rng *rand.Rand) error {
		i++
		return t.partition(ctx, rng, kinds[i%partitionKinds])
	}}
}

// partition cuts a node off and connects it again.
func (t *feedLoad) partition(ctx context.Context, rng *rand.Rand, kind int) error {
	i := rng.IntN(t.Len())
	proxy, faults := t.net.nodes[i], t.clientFaults
	o := &outage{bases: []string{t.URL(i)}, residents: t.residentsOf(i), storage: kind != clientsBlocked}
	o.what = fmt.Sprintf("node %d and its clients are parted", i)
	if o.storage {
		proxy, faults = t.net.databases[i], t.storageFaults
		o.what = fmt.Sprintf("node %d and the database are parted", i)
	}
	blocked := faults
	blocked.Blocked = true
	proxy.Set(blocked)
	if o.storage {
		// Read after the partition, so that the node knows nothing newer
		err := database.Ask(ctx, t.source, "SELECT coalesce(max(seq), 0) FROM events", &o.newest)
		if err != nil {
			return err
		}
	}
	if kind == databaseLost {
		o.what += ", and all connections are lost"
		proxy.Lose()
	}
	t.during(ctx, o, rng, func() {
		if half := o.residents[:len(o.residents)/2]; o.storage {
			for _, s := range half { // they resume on another node from the cursors of this one
				s.moveTo((i + 1) % t.Len())
			}
		}
	})
	proxy.Set(faults)
	for _, s := range o.residents {
		s.moveTo(i)
	}
	return ctx.Err()
}

// residentsOf returns the subscribers that stay with a node.
func (t *feedLoad) residentsOf(node int) (all []*subscriber) {
	for _, s := range t.all {
		if s.native == node+1 {
			all = append(all, s)
		}
	}
	return all
}

// during lets an outage last, and writes to its nodes. halfway is called in the middle.
func (t *feedLoad) during(ctx context.Context, o *outage, rng *rand.Rand, halfway func()) {
	o.from = time.Now()
	before := receivedBytes(o.residents)
	var probes sync.WaitGroup
	limited, cancel := context.WithTimeout(ctx, t.faultTime*9/10)
	defer cancel()
	for _, base := range o.bases {
		seed := rng.Uint64()
		probes.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 0))
			for range 3 {
				t.writers.create(limited, rng, base)
			}
		})
	}
	client.Pause(ctx, t.faultTime/2)
	o.half, o.bytes = time.Now(), receivedBytes(o.residents)-before
	halfway()
	client.Pause(ctx, t.faultTime/2)
	probes.Wait()
	o.to = time.Now()
	t.outages = append(t.outages, o)
}

func receivedBytes(of []*subscriber) (n int64) {
	for _, s := range of {
		n += s.link.Bytes.Load()
	}
	return n
}

// databaseOutage shuts the database down and starts it again.
func (t *feedLoad) databaseOutage(ctx context.Context, rng *rand.Rand) error {
	o := &outage{what: "the database is down", down: true}
	for i := range t.Len() {
		o.bases = append(o.bases, t.URL(i))
		o.residents = append(o.residents, t.residentsOf(i)...)
	}
	if err := t.postgres.Down(ctx); err != nil {
		return err
	}
	t.during(ctx, o, rng, func() {})
	return t.postgres.Up(ctx)
}

// outageCounts is what happened during an outage.
type outageCounts struct {
	done, busy, failed, silent, refused int           // writes there: 2xx, 503 with Retry-After, other 5xx, no response, 4xx
	elsewhere                           int           // writes acknowledged by other nodes
	stayed                              int           // sessions of residents that continued
	dropped                             int           // streams that the nodes ended
	received                            int           // events that residents received in the first half
	others                              int           // events that others received
	impossible                          int           // cursors that the node cannot have known
	recovery                            time.Duration // until all residents had received an event again
}

func (o *outage) count(attempts []attempt, all []*subscriber) (n outageCounts) {
	for _, a := range attempts {
		if a.began.Before(o.from) || a.ended.After(o.to) {
			continue
		}
		if !slices.Contains(o.bases, a.base) {
			if a.status/100 == 2 {
				n.elsewhere++
			}
			continue
		}
		switch {
		case a.status/100 == 2:
			n.done++
		case a.status == http.StatusServiceUnavailable && a.retryAfter:
			n.busy++
		case a.status >= 500:
			n.failed++
		case a.status == 0:
			n.silent++
		default:
			n.refused++
		}
	}
	for _, s := range all {
		o.countSubscriber(&n, s)
	}
	return n
}

func (o *outage) countSubscriber(n *outageCounts, s *subscriber) {
	resident := slices.Contains(o.residents, s)
	waiting, events := resident, 0
	for _, e := range s.received {
		switch {
		case e.At.Before(o.from):
		case e.At.Before(o.half):
			events++
		case waiting && e.At.After(o.to):
			n.recovery = max(n.recovery, e.At.Sub(o.to))
			waiting = false
		}
	}
	if resident {
		n.received += events
	} else {
		n.others += events
	}
	for _, v := range s.sessions {
		if !slices.Contains(o.bases, v.base) {
			continue
		}
		endedWithin := v.ended.After(o.from) && v.ended.Before(o.to)
		if resident && v.began.Before(o.from) && v.ended.After(o.half) {
			n.stayed++
		}
		if v.dropped && endedWithin {
			n.dropped++
		}
		if o.storage && endedWithin && v.to != v.from {
			if at, err := feed.ParseCursor(v.to); err != nil || at.Seq > o.newest {
				n.impossible++
			}
		}
	}
}

// check returns an error if something happened that cannot be right, whatever the timing: a write was acknowledged without the
// database, or a cursor was sent that the node cannot have known. While the database is down, writes are answered with 503.
func (n outageCounts) check(o *outage) error {
	switch {
	case n.done > 0:
		return fmt.Errorf("%s: %d writes were acknowledged there", o.what, n.done)
	case n.impossible > 0:
		return fmt.Errorf("%s: %d cursors that the node cannot have known", o.what, n.impossible)
	case o.down && n.busy+n.failed+n.refused+n.silent == 0:
		return fmt.Errorf("%s: no write was sent", o.what)
	case o.down && n.failed+n.refused > 0:
		return fmt.Errorf("%s: %d writes were answered, and not with 503 and Retry-After", o.what, n.failed+n.refused)
	case o.down && n.dropped > 0 && n.stayed == 0: // a stream that reads the log at that time cannot continue
		return fmt.Errorf("%s: all streams were ended", o.what)
	}
	return nil
}

// reportNetwork reports what the network did, and each outage.
func (t *feedLoad) reportNetwork() {
	if t.net == nil {
		return
	}
	var resets, timeouts int
	for _, proxy := range slices.Concat(t.net.nodes, t.net.databases) {
		resets += proxy.Resets()
	}
	for _, s := range t.all {
		timeouts += int(s.link.Timeouts.Load())
	}
	t.line("latency: %s to clients, %s to the database; %d connections were reset, %d timed out at the client",
		latencyRange(t.clientFaults), latencyRange(t.storageFaults), resets, timeouts)
	var errs []error
	for _, o := range t.outages {
		n := o.count(t.writers.attempts.all, t.all)
		t.line("%s for %.1f s", o.what, o.to.Sub(o.from).Seconds())
		t.line("  writes there: %d done, %d answered 503 with Retry-After, %d another 5xx, %d 4xx, %d no response; %d done elsewhere",
			n.done, n.busy, n.failed, n.refused, n.silent, n.elsewhere)
		t.line("  %d of %d residents stayed, %d were disconnected; in the first half they received %d events and %d bytes, others %d events",
			n.stayed, len(o.residents), n.dropped, n.received, o.bytes, n.others)
		t.line("  all residents received an event again after %.1f s", n.recovery.Seconds())
		errs = append(errs, n.check(o))
	}
	t.fail(errors.Join(errs...))
}

func latencyRange(f network.Faults) string { return fmt.Sprintf("%v to %v", f.Delay, f.Delay+f.Jitter) }
