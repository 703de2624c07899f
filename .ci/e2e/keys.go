package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/stoa-go/stoa/ci/e2e/client"
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
	about     string
	guarantee history.Guarantee
}

var keyModes = map[string]keyMode{
	server.Together:     {"exactly once: key, effect and response in one transaction", history.ExactlyOnce},
	server.Identity:     {"once by identity: keys elsewhere, ids follow from the keys", history.OnceByIdentity},
	server.Apart:        {"at most once: keys elsewhere", history.AtMostOnce},
	server.ThreeCommits: {"control: three commits, and a lease of 300 ms", history.AtMostOnce},
}

// keyedWrite is a write with a key.
type keyedWrite struct {
	history.Write
	request
}

// sharedItems is the number of lists and of accounts: few, so that writers meet.
const sharedItems = 16

// newKeyedWrite returns the nth write. The path of a Remove is set by createItems.
func newKeyedWrite(kind history.WriteKind, key string, n int) *keyedWrite {
	at := strconv.Itoa(n % sharedItems)
	q := request{method: http.MethodPost, media: client.JSON, key: key}
	switch kind {
	case history.Create:
		q.path, q.body = "/effects", fmt.Sprintf(`{"key":%q,"amount":%d}`, key, n)
	case history.Append:
		q.method, q.path, q.media = http.MethodPatch, "/lists/"+at, client.JSONPatch
		q.body = fmt.Sprintf(`[{"op":"add","path":"/keys/-","value":%q}]`, key)
	case history.Command:
		q.path, q.body = "/accounts/deposit", fmt.Sprintf(`{"account":%q,"key":%q,"amount":%d}`, at, key, n)
	case history.Remove:
		q.method, q.media = http.MethodDelete, ""
	}
	return &keyedWrite{history.Write{Kind: kind, Key: key}, q}
}

// keyed is a trial with writes that have keys.
type keyed struct {
	trial
	sent []*keyedWrite // the history
}

// newKeyed returns a trial on nodes of a mode. Its flags are those of the server.
func newKeyed(engine, mode string, connections int, flags ...string) *keyed {
	return &keyed{trial: trial{engine: engine, connections: connections,
		command: append([]string{"keyed", "-mode", mode}, flags...)}}
}

// newWrites adds n writes of all kinds except Remove to the history, and returns them.
func (k *keyed) newWrites(prefix string, n int) []*keyedWrite {
	for i := range n {
		kind := history.WriteKind(i % int(history.Remove))
		k.sent = append(k.sent, newKeyedWrite(kind, fmt.Sprintf("%s-%d", prefix, i), i))
	}
	return slices.Clip(k.sent[len(k.sent)-n:])
}

// createShared creates the lists and accounts that writes change.
func (k *keyed) createShared(ctx context.Context) error {
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

// createItems creates the items that the Removes among the writes will remove.
func (k *keyed) createItems(ctx context.Context, writes []*keyedWrite) error {
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
func (k *keyed) sendKeyed(ctx context.Context, base string, w *keyedWrite, step string) client.Answer {
	var header []string
	if step != "" {
		header = append(header, server.DieField+": "+step)
	}
	a := k.sendRequest(ctx, base, w.request, header...)
	w.Record(w.String(), a)
	return a
}

// persist sends a write until it is answered. The first time it sends several copies at once to random nodes, which die at step.
func (k *keyed) persist(ctx context.Context, rng *rand.Rand, w *keyedWrite, copies int, step string) error {
	for {
		bases := make([]string, copies)
		for i := range bases {
			var err error
			if bases[i], err = k.Pick(ctx, rng); err != nil {
				return err
			}
		}
		var settled atomic.Bool
		concurrently(copies, func(i int) error {
			if a := k.sendKeyed(ctx, bases[i], w, step); !a.Retry() {
				settled.Store(true)
			}
			return nil
		})
		if settled.Load() {
			return ctx.Err()
		}
		copies, step = 1, ""
		if err := pauseBeforeRetry(ctx, rng); err != nil {
			return err
		}
	}
}

// replay sends an answered write once more.
func (k *keyed) replay(ctx context.Context, rng *rand.Rand, w *keyedWrite) error {
	base, err := k.Pick(ctx, rng)
	if err == nil {
		k.sendKeyed(ctx, base, w, "")
	}
	return err
}

// checkEffects reads all effects of writes, and compares them with the responses.
func (k *keyed) checkEffects(ctx context.Context, writes []*keyedWrite) (*history.Effects, error) {
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

// checkAll adds what is wrong with the effects of all writes, and with the responses unless this is a control.
func (k *keyed) checkAll(effects *history.Effects, g history.Guarantee) {
	k.line("%v", effects)
	k.Merge(&effects.Violations)
	if k.control == nil {
		k.fail(errors.Join(effects.Check(g), k.Check()))
	}
}

// effects returns the items that writes have left, by key.
func (k *keyed) effects(ctx context.Context) (map[string][]string, error) {
	effects, err := readAll[server.Effect](ctx, &k.trial, "/effects")
	if err != nil {
		return nil, err
	}
	deposits, err := readAll[server.Effect](ctx, &k.trial, "/deposits")
	if err != nil {
		return nil, err
	}
	lists, err := readAll[server.List](ctx, &k.trial, "/lists")
	if err != nil {
		return nil, err
	}
	accounts, err := readAll[server.Account](ctx, &k.trial, "/accounts")
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
func readAll[T any](ctx context.Context, t *trial, path string) ([]T, error) {
	return client.Lines[T]("GET "+path, t.Client.Send(ctx, http.MethodGet, t.URL(0)+path, "", client.NDJSON))
}

const keyWriters = 16

// keyLoad is a trial in one mode.
type keyLoad struct {
	*keyed
	mode                     keyMode
	requests, kills, crashes int
	deadly                   float64 // the share of the writes that kill a node; a tenth is sent as two copies

	next, settled, deaths atomic.Int64
}

// keys runs all modes on one engine.
func keys(engine string) func(ctx context.Context, e *env) error {
	return func(ctx context.Context, e *env) error {
		requests, kills, crashes := size(e, 1000, 10_000), size(e, 6, 40), size(e, 1, 8)
		weaker, fewKills := size(e, 300, 2000), size(e, 3, 10)
		if engine == sqlite {
			crashes = 0
		}
		return e.try(ctx,
			newKeyLoad(engine, server.Together, requests, kills, crashes, 0.01),
			newKeyLoad(engine, server.Identity, weaker, fewKills, 0, 0.01),
			newKeyLoad(engine, server.Apart, weaker, fewKills, 0, 0.01),
			newKeyLoad(engine, server.ThreeCommits, requests/2, kills, crashes, 0.02))
	}
}

func newKeyLoad(engine, mode string, requests, kills, crashes int, deadly float64) *trial {
	k := &keyLoad{mode: keyModes[mode], requests: requests, kills: kills, crashes: crashes, deadly: deadly}
	k.keyed = newKeyed(engine, mode, keyWriters)
	k.title, k.do = engine+", "+k.mode.about, k.run
	if mode == server.ThreeCommits {
		k.control = []history.Kind{history.Duplicate}
	}
	return &k.trial
}

// run sends all writes, kills all nodes once more, restarts them and counts the effects.
func (k *keyLoad) run(ctx context.Context) error {
	rng := k.random(checkPart)
	for n := range k.requests {
		kind := history.WriteKind(rng.IntN(int(history.WriteKinds)))
		k.sent = append(k.sent, newKeyedWrite(kind, fmt.Sprintf("key-%d-%d", k.seed, n), n))
	}
	return inOrder(
		step{"lists and accounts are created", k.createShared},
		step{"items are created", func(ctx context.Context) error { return k.createItems(ctx, k.sent) }},
		step{"the control does a write twice", k.doTwice},
		step{"writes and faults", k.writeAll},
		step{"all nodes are killed", func(ctx context.Context) error { k.KillAll(); return k.Start(ctx) }},
		step{"effects are counted", k.judge},
	)(ctx)
}

func (k *keyLoad) judge(ctx context.Context) error {
	effects, err := k.checkEffects(ctx, k.sent)
	if err != nil {
		return err
	}
	k.line("%d deaths of nodes; %d requests: %d without response, 500 %d, other 5xx %d, 409 %d",
		k.deaths.Load(), k.Requests(), k.Writes(0, 0), k.Internal(), k.Writes(501, 599), k.Writes(409, 409))
	k.checkAll(effects, k.mode.guarantee)
	return nil
}

// doTwice makes the control do a write twice for certain: a node dies between an effect and its record. By chance that is only
// likely.
func (k *keyLoad) doTwice(ctx context.Context) error {
	if k.control == nil {
		return nil
	}
	w := newKeyedWrite(history.Create, fmt.Sprint("twice-", k.seed), 0)
	k.sent = append(k.sent, w)
	k.next.Add(1)
	k.settled.Add(1)
	k.sent[0], k.sent[len(k.sent)-1] = w, k.sent[0]
	survived, err := k.killAt(ctx, 0, k.random(subscriberPart), w, server.AfterEffect)
	if survived != "" {
		return fmt.Errorf("a node did not die %s", survived)
	}
	k.deaths.Add(1)
	return err
}

// writeAll runs the writers. A supervisor restarts nodes, because some die by requests and not by a fault of the load.
func (k *keyLoad) writeAll(ctx context.Context) error {
	supervised, stop := context.WithCancel(ctx)
	defer stop()
	died := make(chan error, 1)
	go func() { died <- k.Supervise(supervised, func(int) { k.deaths.Add(1) }) }()
	kills := fault{"kills", k.kills, func(_ context.Context, rng *rand.Rand) error {
		k.Signal(rng.IntN(k.Len()))
		return nil
	}}
	err := k.write(ctx, load{writers: keyWriters, step: k.step, done: k.settled.Load, total: len(k.sent),
		faults: []fault{kills, k.crashDatabase(k.crashes)}})
	stop()
	if supervisorErr := <-died; err == nil {
		err = supervisorErr
	}
	return err
}

// step persists the next write. Some are sent as two copies, kill the node, or are replayed.
func (k *keyLoad) step(ctx context.Context, _ int, rng *rand.Rand) error {
	i := int(k.next.Add(1)) - 1
	if i >= len(k.sent) {
		return errDone
	}
	copies, die := 1, ""
	if rng.Float64() < 0.1 {
		copies = 2
	}
	if rng.Float64() < k.deadly {
		die = server.Steps[rng.IntN(len(server.Steps))]
	}
	if err := k.persist(ctx, rng, k.sent[i], copies, die); err != nil {
		return err
	}
	if rng.IntN(10) == 0 {
		if err := k.replay(ctx, rng, k.sent[i]); err != nil {
			return err
		}
	}
	k.settled.Add(1)
	return nil
}
