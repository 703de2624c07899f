package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/fleet"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// The scenarios keys: writers repeat each write with its Idempotency-Key until it is answered, while nodes die at random and at
// any step of a write, and PostgreSQL crashes. Then each key has to have one effect and one response.
//
// The control stores keys as many servers do: it commits the claim, then the effect, then the response, and takes over a claim
// whose lease has ended. It has to do something twice.

// keyMode is a way to store keys, and what it guarantees.
type keyMode struct {
	mode, about string
	guarantee   history.Guarantee
}

var keyModes = map[string]keyMode{
	server.Together:     {server.Together, "exactly once: key, effect and response in one transaction", history.ExactlyOnce},
	server.Identity:     {server.Identity, "once by identity: keys elsewhere, ids follow from the keys", history.OnceByIdentity},
	server.Apart:        {server.Apart, "at most once: keys elsewhere", history.AtMostOnce},
	server.ThreeCommits: {server.ThreeCommits, "control: three commits, and a lease of 300 ms", history.AtMostOnce},
}

// keyedWrite is a write with a key.
type keyedWrite struct {
	history.Write
	method, path, media, body string
}

// sharedItems is the number of lists and of accounts: few, so that writers meet.
const sharedItems = 16

// newKeyedWrite returns the nth write. The path of a Remove is set by prepare.
func newKeyedWrite(kind history.WriteKind, key string, n int) *keyedWrite {
	w := &keyedWrite{Write: history.Write{Kind: kind, Key: key}, media: client.JSON}
	at := strconv.Itoa(n % sharedItems)
	switch kind {
	case history.Create:
		w.method, w.path, w.body = http.MethodPost, "/effects", fmt.Sprintf(`{"key":%q,"amount":%d}`, key, n)
	case history.Append:
		w.method, w.path, w.media = http.MethodPatch, "/lists/"+at, client.JSONPatch
		w.body = fmt.Sprintf(`[{"op":"add","path":"/keys/-","value":%q}]`, key)
	case history.Command:
		w.method, w.path = http.MethodPost, "/accounts/deposit"
		w.body = fmt.Sprintf(`{"account":%q,"key":%q,"amount":%d}`, at, key, n)
	case history.Remove:
		w.method = http.MethodDelete
	}
	return w
}

// keyNodes is the nodes of a run, and the client that writes to them.
type keyNodes struct {
	*client.Client
	*fleet.Fleet
}

// startKeyed starts nodes on a new database and creates the lists and accounts.
func (e *env) startKeyed(ctx context.Context, engine string, n int, mode string, connections int) (keyNodes, error) {
	k := keyNodes{Client: client.New(connections)}
	db, err := e.newDatabase(ctx, engine)
	if err != nil {
		return k, err
	}
	if k.Fleet, err = e.startServer(ctx, n, nil, "keyed", "-db", db, "-mode", mode); err != nil {
		return k, err
	}
	return k, k.createShared(ctx)
}

// createShared creates the lists and accounts.
func (k keyNodes) createShared(ctx context.Context) error {
	for i := range sharedItems {
		for path, body := range map[string]string{
			fmt.Sprintf("/lists/%d", i):    fmt.Sprintf(`{"id":"%d","keys":[]}`, i),
			fmt.Sprintf("/accounts/%d", i): fmt.Sprintf(`{"id":"%d","balance":0}`, i),
		} {
			if a := k.Client.Send(ctx, http.MethodPut, k.URL(0)+path, body, client.JSON); !a.OK() {
				return a.Unexpected("PUT " + path)
			}
		}
	}
	return nil
}

// prepare creates the items that the Removes among the writes will remove.
func (k keyNodes) prepare(ctx context.Context, writes []*keyedWrite) error {
	for _, w := range writes {
		if w.Kind != history.Remove {
			continue
		}
		item := newKeyedWrite(history.Create, "item-of-"+w.Key, 0)
		a := k.sendKeyed(ctx, k.URL(0), item, "")
		if item.ID() == "" {
			return a.Unexpected("POST /effects")
		}
		w.path = "/effects/" + item.ID()
	}
	return nil
}

// sendKeyed sends a write once and records the response. step, if not empty, is the step at which the node kills itself.
func (k keyNodes) sendKeyed(ctx context.Context, base string, w *keyedWrite, step string) client.Answer {
	header := []string{"Idempotency-Key: " + w.Key}
	if w.body != "" {
		header = append(header, w.media)
	}
	if step != "" {
		header = append(header, server.DieField+": "+step)
	}
	a := k.Client.Send(ctx, w.method, base+w.path, w.body, header...)
	w.Record(w.method+" "+w.path, a)
	return a
}

// persist sends a write until it is answered. The first time it sends several copies at once to random nodes, which die at step.
func (k keyNodes) persist(ctx context.Context, rng *rand.Rand, w *keyedWrite, copies int, step string) error {
	for {
		bases := make([]string, copies)
		for i := range bases {
			var err error
			if bases[i], err = k.Pick(ctx, rng); err != nil {
				return err
			}
		}
		var settled atomic.Bool
		var wg sync.WaitGroup
		for _, base := range bases {
			wg.Go(func() {
				if a := k.sendKeyed(ctx, base, w, step); !a.Retry() {
					settled.Store(true)
				}
			})
		}
		wg.Wait()
		if settled.Load() {
			return ctx.Err()
		}
		copies, step = 1, ""
		if err := pauseBeforeRetry(ctx, rng); err != nil {
			return err
		}
	}
}

func pauseBeforeRetry(ctx context.Context, rng *rand.Rand) error {
	client.Pause(ctx, 5*time.Millisecond+time.Duration(rng.Int64N(int64(25*time.Millisecond))))
	return ctx.Err()
}

// replay sends an answered write once more.
func (k keyNodes) replay(ctx context.Context, rng *rand.Rand, w *keyedWrite) error {
	base, err := k.Pick(ctx, rng)
	if err == nil {
		k.sendKeyed(ctx, base, w, "")
	}
	return err
}

// checkEffects reads all effects and compares them with the responses.
func (k keyNodes) checkEffects(ctx context.Context, writes []*keyedWrite) (*history.Effects, error) {
	left, err := k.effects(ctx)
	if err != nil {
		return nil, err
	}
	var all []*history.Write
	for _, w := range writes {
		all = append(all, &w.Write)
	}
	return history.CheckEffects(all, left), nil
}

// effects returns the items that writes have left, by key.
func (k keyNodes) effects(ctx context.Context) (map[string][]string, error) {
	effects, err := readAll[server.Effect](ctx, k, "/effects")
	if err != nil {
		return nil, err
	}
	deposits, err := readAll[server.Effect](ctx, k, "/deposits")
	if err != nil {
		return nil, err
	}
	lists, err := readAll[server.List](ctx, k, "/lists")
	if err != nil {
		return nil, err
	}
	accounts, err := readAll[server.Account](ctx, k, "/accounts")
	if err != nil {
		return nil, err
	}
	left := map[string][]string{}
	for _, e := range append(effects, deposits...) {
		left[e.Key] = append(left[e.Key], e.ID)
	}
	for _, l := range lists {
		for _, key := range l.Keys {
			left[key] = append(left[key], "in list "+l.ID)
		}
	}
	var deposited, held int64
	for _, d := range deposits {
		deposited += d.Amount
	}
	for _, a := range accounts {
		held += a.Balance
	}
	if deposited != held {
		return nil, fmt.Errorf("the accounts hold %d, and %d were deposited: half of a deposit was done", held, deposited)
	}
	return left, nil
}

// readAll reads a collection.
func readAll[T any](ctx context.Context, k keyNodes, path string) ([]T, error) {
	return client.Lines[T]("GET "+path, k.Client.Send(ctx, http.MethodGet, k.URL(0)+path, "", client.NDJSON))
}

// keyRun is a run in one mode.
type keyRun struct {
	engine                   string
	mode                     keyMode
	requests, kills, crashes int
	deadly, double           float64 // shares of the writes that kill a node, and that are sent as two copies

	keyNodes
	writes          []*keyedWrite
	next            atomic.Int64 // index of the next write
	settled         atomic.Int64
	deaths          atomic.Int64
	killed, crashed int
}

const keyWriters = 16

// keys runs all modes on one engine.
func keys(engine string) func(ctx context.Context, e *env) error {
	return func(ctx context.Context, e *env) error {
		requests, kills, crashes := size(e, 1000, 10_000), size(e, 6, 40), size(e, 1, 8)
		weaker := size(e, 300, 2000)
		if engine == sqlite {
			crashes = 0
		}
		for _, k := range []*keyRun{
			{mode: keyModes[server.Together], requests: requests, kills: kills, crashes: crashes, deadly: 0.01},
			{mode: keyModes[server.Identity], requests: weaker, kills: size(e, 3, 10), deadly: 0.01},
			{mode: keyModes[server.Apart], requests: weaker, kills: size(e, 3, 10), deadly: 0.01},
			{mode: keyModes[server.ThreeCommits], requests: requests / 2, kills: kills, crashes: crashes, deadly: 0.02},
		} {
			k.engine, k.double = engine, 0.1
			r, err := k.run(ctx, e)
			if err != nil {
				return fmt.Errorf("%s: %w", k.mode.about, err)
			}
			if err := e.finish(r); err != nil {
				return err
			}
		}
		return nil
	}
}

// run sends all writes, kills all nodes once more, restarts them and counts the effects.
func (k *keyRun) run(ctx context.Context, e *env) (*result, error) {
	var err error
	if k.keyNodes, err = e.startKeyed(ctx, k.engine, nodes(k.engine), k.mode.mode, keyWriters); err != nil {
		return nil, err
	}
	defer k.KillAll()
	rng := e.random(checkPart)
	for n := range k.requests {
		w := newKeyedWrite(history.WriteKind(rng.IntN(int(history.WriteKinds))), fmt.Sprintf("key-%d-%d", e.seed, n), n)
		k.writes = append(k.writes, w)
	}
	if err := k.prepare(ctx, k.writes); err != nil {
		return nil, err
	}
	began := time.Now()
	if k.mode.mode == server.ThreeCommits {
		if err := k.doTwice(ctx, e); err != nil {
			return nil, err
		}
	}
	if err := k.write(ctx, e); err != nil {
		return nil, err
	}
	took := time.Since(began)
	k.KillAll()
	if err := k.Start(ctx); err != nil {
		return nil, err
	}
	effects, err := k.checkEffects(ctx, k.writes)
	if err != nil {
		return nil, err
	}
	return k.result(effects, took), nil
}

// doTwice makes the control do a write twice for certain: a node dies between an effect and its record. By chance that is only
// likely.
func (k *keyRun) doTwice(ctx context.Context, e *env) error {
	w := newKeyedWrite(history.Create, fmt.Sprint("twice-", e.seed), 0)
	k.writes = append(k.writes, w)
	k.next.Add(1)
	k.settled.Add(1)
	k.writes[0], k.writes[len(k.writes)-1] = w, k.writes[0]
	survived, err := k.killAt(ctx, 0, e.random(subscriberPart), w, server.AfterEffect)
	if survived != "" {
		return fmt.Errorf("a node did not die %s", survived)
	}
	k.deaths.Add(1)
	return err
}

// write runs the writers. A supervisor restarts nodes, because some die by requests and not by a fault of the load.
func (k *keyRun) write(ctx context.Context, e *env) error {
	supervised, stop := context.WithCancel(ctx)
	defer stop()
	died := make(chan error, 1)
	go func() { died <- k.Supervise(supervised, func(int) { k.deaths.Add(1) }) }()
	l := &load{
		writers:  keyWriters,
		step:     k.step,
		progress: func() float64 { return float64(k.settled.Load()) / float64(len(k.writes)) },
		faults: spread(repeat(k.kills, func(_ context.Context, rng *rand.Rand) error {
			k.killed++
			k.Signal(rng.IntN(k.Len()))
			return nil
		}), repeat(k.crashes, func(ctx context.Context, rng *rand.Rand) error {
			k.crashed++
			return e.crash(ctx, rng)
		})...),
	}
	err := l.run(ctx, e)
	stop()
	if supervisorErr := <-died; err == nil {
		err = supervisorErr
	}
	return err
}

// step persists the next write. Some are sent as two copies, kill the node, or are replayed.
func (k *keyRun) step(ctx context.Context, _ int, rng *rand.Rand) error {
	i := int(k.next.Add(1)) - 1
	if i >= len(k.writes) {
		return errDone
	}
	copies, die := 1, ""
	if rng.Float64() < k.double {
		copies = 2
	}
	if rng.Float64() < k.deadly {
		die = server.Steps[rng.IntN(len(server.Steps))]
	}
	if err := k.persist(ctx, rng, k.writes[i], copies, die); err != nil {
		return err
	}
	if rng.IntN(10) == 0 {
		if err := k.replay(ctx, rng, k.writes[i]); err != nil {
			return err
		}
	}
	k.settled.Add(1)
	return nil
}

func (k *keyRun) result(effects *history.Effects, took time.Duration) *result {
	r := &result{Violations: &effects.Violations, title: k.engine + ", " + k.mode.about}
	r.line("%d writers, %d nodes, %d deaths, %d crashes of the database, %.1f s", keyWriters, k.Len(), k.deaths.Load(), k.crashed,
		took.Seconds())
	c := k.Client
	r.line("%d requests: %d without response, 500 %d, other 5xx %d, 409 %d", c.Requests(), c.Writes(0, 0), c.Internal(),
		c.Writes(501, 599), c.Writes(409, 409))
	r.line("%v", effects)
	if k.killed < k.kills || k.crashed < k.crashes {
		r.fail(fmt.Errorf("%d kills and %d crashes, want %d and %d", k.killed, k.crashed, k.kills, k.crashes))
	}
	if k.mode.mode == server.ThreeCommits {
		r.control = []history.Kind{history.Duplicate}
		return r
	}
	r.fail(effects.Check(k.mode.guarantee))
	r.fail(c.Check())
	return r
}
