package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/fleet"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// The scenario rolling: nodes of an old and a new release of a program share a database, a log of
// events and the records of keys, as during a rolling deployment. The new release has a field that
// the old one does not have. Writers write to both, subscribers of both have filters, and the nodes
// of a release are killed and started again, one after the other. In the end each subscriber has to
// have what a list with its filter returns at its release. A write that is repeated with its key at
// the other release has to be replayed.
//
// A node of the new release has a policy that reads the new field, and hides items by it. A deletion
// by the old release ends its streams, and its subscribers list again. Others must never have to.
//
// The control is events that do not name the schema of their writer. There the views have to differ.

// releases are the releases of the nodes.
var releases = []string{
	server.OldRelease, server.OldRelease, server.NewRelease, server.NewRelease, server.PolicyRelease,
}

// rollingUpdate is a trial on nodes of all releases.
type rollingUpdate struct {
	trial
	writes, rolls, copies       int          // copies of each subscriber
	streams                     *http.Client // of subscribers
	subscribers                 []*taskSubscriber
	sent, acknowledged, unknown atomic.Int64
	keyed, replayed             atomic.Int64
	created                     sync.Map // keys of the items that were created with one
	rolled, differ              int
}

// taskView is a filter of subscribers.
type taskView struct {
	release, filter string
	match           string // a document that the filter selects
}

// path is that of a list with the filter.
func (v taskView) path() string { return server.TasksPath + "?" + v.filter }

// taskViews are the filters of subscribers. The old release can filter by text only.
func taskViews() []taskView {
	const (
		a, b            = `{"text":"a"}`, `{"text":"b"}`
		friday, aFriday = `{"text":"b","due":"friday"}`, `{"text":"a","due":"friday"}`
	)
	filter := func(tree string) string { return "filter=" + url.QueryEscape(tree) }
	notA := filter(`{"not":{"text":{"eq":"a"}}}`)
	return []taskView{
		{server.OldRelease, "", b},
		{server.OldRelease, "text=a", a},
		{server.OldRelease, notA, b},
		{server.NewRelease, "", b},
		{server.NewRelease, "text=a", a},
		{server.NewRelease, notA, b},
		{server.NewRelease, "due=friday", friday},
		{server.NewRelease, filter(`{"not":{"due":{"eq":"friday"}}}`), b},
		{server.NewRelease, "due.isNull=true", b},
		{server.NewRelease, filter(`{"or":[{"due":{"eq":"monday"}},{"text":{"eq":"b"}}]}`), b},
		{server.NewRelease, filter(`{"not":{"or":[{"due":{"eq":"monday"}},{"text":{"eq":"b"}}]}}`), aFriday},
		{server.PolicyRelease, "", b},
		{server.PolicyRelease, "text=a", a},
	}
}

func rolling(ctx context.Context, e *env) error {
	var trials []*trial
	for _, control := range []bool{false, true} {
		s := &rollingUpdate{writes: size(e, 500, 10_000), rolls: size(e, 3, 12), copies: size(e, 1, 3),
			streams: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
		s.trial = trial{title: "two releases, one of them with and without a policy", engine: postgres, nodes: len(releases),
			prepare:     func(f *fleet.Fleet) { f.Args = func(i int) []string { return []string{"-release", releases[i]} } },
			command:     []string{"tasks", "-ring", "64", fmt.Sprintf("-noschema=%t", control)},
			connections: rollingWriters, do: s.run}
		if control {
			s.title, s.control = "control: events do not name the schema of their writer", []history.Kind{history.Torn}
		}
		trials = append(trials, &s.trial)
	}
	return e.try(ctx, trials...)
}

const rollingWriters = 8

func (s *rollingUpdate) run(ctx context.Context) error {
	if err := errors.Join(s.writeAndReceive(ctx), s.countCreated(ctx)); err != nil {
		return err
	}
	for _, sub := range s.subscribers {
		if err := s.compare(ctx, sub); err != nil {
			return err
		}
	}
	s.judge()
	return nil
}

// writeAndReceive runs the writers, the subscribers and the faults. In the end it writes an item for
// each subscriber, and waits until the subscriber has received it.
func (s *rollingUpdate) writeAndReceive(ctx context.Context) error {
	subscribing, stop := context.WithCancel(ctx)
	defer stop()
	var listed, running sync.WaitGroup
	for range s.copies {
		for _, v := range taskViews() {
			sub := &taskSubscriber{view: v, final: fmt.Sprint(finalPrefix, len(s.subscribers)), http: s.streams,
				node: func(rng *rand.Rand) string { return s.node(v.release, rng) }, first: sync.OnceFunc(listed.Done)}
			listed.Add(1)
			rng := s.random(subscriberPart + uint64(len(s.subscribers)))
			s.subscribers = append(s.subscribers, sub)
			running.Go(func() { sub.run(subscribing, rng) })
		}
	}
	limit := time.AfterFunc(patience, stop)
	listed.Wait() // a list that follows the writes would hide what events have missed
	limit.Stop()
	err := s.write(ctx, load{writers: rollingWriters, step: s.step, done: s.acknowledged.Load, total: s.writes,
		faults: []fault{{"rolls of a release", s.rolls, s.roll}}})
	if err == nil {
		err = s.finishWrites(ctx)
	}
	if err != nil {
		stop()
	}
	defer time.AfterFunc(patience, stop).Stop()
	running.Wait()
	return err
}

// roll kills the nodes of a release and starts them again, one after the other.
func (s *rollingUpdate) roll(ctx context.Context, _ *rand.Rand) error {
	release := []string{server.OldRelease, server.NewRelease, server.PolicyRelease}[s.rolled%3]
	s.rolled++
	for i := range releases {
		if releases[i] == release {
			if err := s.Restart(ctx, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// node returns the URL of a random node of a release that is up, or "".
func (s *rollingUpdate) node(release string, rng *rand.Rand) string {
	for _, i := range rng.Perm(len(releases)) {
		if releases[i] == release && s.URL(i) != "" {
			return s.URL(i)
		}
	}
	return ""
}

// finishWrites makes the last writes. The old release changes and deletes items that the new one has
// written, so that views of the control differ for certain. By chance that is only likely. Then each
// subscriber gets its final item.
func (s *rollingUpdate) finishWrites(ctx context.Context) error {
	const friday = `{"text":"b","due":"friday"}`
	write := func(release, method, id, media, body string) error {
		w := request{method, server.TasksPath + "/" + id, media, body, "last-" + method + id}
		a, err := s.persistTask(ctx, rand.New(rand.NewPCG(0, 0)), w, release)
		if err == nil && !a.OK() {
			err = a.Unexpected(w.String())
		}
		return err
	}
	if err := errors.Join(
		write(server.NewRelease, http.MethodPut, "0", client.JSON, friday),
		write(server.NewRelease, http.MethodPut, "1", client.JSON, friday),
		write(server.OldRelease, http.MethodPatch, "0", client.MergePatch, `{"text":"c"}`),
		write(server.OldRelease, http.MethodDelete, "1", "", "")); err != nil {
		return err
	}
	for _, sub := range s.subscribers {
		if err := write(sub.view.release, http.MethodPut, sub.final, client.JSON, sub.view.match); err != nil {
			return err
		}
	}
	return nil
}

// compare compares what a subscriber has with the list.
func (s *rollingUpdate) compare(ctx context.Context, sub *taskSubscriber) error {
	switch {
	case sub.err != nil || !sub.ended:
		s.Add(history.Unexpected, 1, "%v: it has not received all events: %v", sub, sub.err)
		return nil
	case sub.listed > 1 && sub.view.release != server.PolicyRelease:
		s.Add(history.Unexpected, 1, "%v: its cursor has expired", sub) // its list hides what it has missed
	}
	want, _, err := sub.list(ctx, s.node(sub.view.release, rand.New(rand.NewPCG(0, 0))))
	if err != nil {
		return err
	}
	wrong := diffTasks(want, sub.tasks)
	for _, text := range wrong {
		s.Add(history.Torn, 1, "%v: %s", sub, text)
	}
	if len(wrong) > 0 {
		s.differ++
	}
	return nil
}

func (s *rollingUpdate) judge() {
	s.line("%d writes acknowledged, %d without an outcome; %d with a key, and %d of them replayed by the other release",
		s.acknowledged.Load(), s.unknown.Load(), s.keyed.Load(), s.replayed.Load())
	events, resumed, listed := 0, 0, 0
	for _, sub := range s.subscribers {
		events, resumed, listed = events+sub.events, resumed+sub.resumed, listed+sub.listed
	}
	s.line("%d subscribers received %d events, resumed %d times and listed %d times; %d have what they would list",
		len(s.subscribers), events, resumed, listed, len(s.subscribers)-s.differ)
	s.fail(s.Check())
	s.failIf(s.replayed.Load() == 0 && s.control == nil, "no request was replayed")
}
