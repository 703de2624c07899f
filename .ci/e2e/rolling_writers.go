package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// sharedTasks is the number of tasks that writers change: few, so that the writes of the releases
// follow each other.
const sharedTasks = 40

// newTaskWrite returns a random write of a release. Both releases accept those of the old one.
func newTaskWrite(release string, rng *rand.Rand) request {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	text := fmt.Sprintf(`"text":%q`, pick("a", "b", "c"))
	due := fmt.Sprintf(`"due":%s`, pick(`"friday"`, `"monday"`, `"secret"`, "null"))
	doc, patch := "{"+text+"}", "{"+text+"}"
	if release == server.NewRelease {
		doc = pick("{"+text+","+due+"}", doc)
		patch = pick("{"+due+"}", patch)
	}
	path := fmt.Sprint(server.TasksPath, "/", rng.IntN(sharedTasks))
	switch rng.IntN(10) {
	case 0:
		return request{method: http.MethodPost, path: server.TasksPath, media: client.JSON, body: doc}
	case 1, 2:
		return request{method: http.MethodDelete, path: path}
	case 3, 4, 5:
		return request{method: http.MethodPut, path: path, media: client.JSON, body: doc}
	default:
		return request{method: http.MethodPatch, path: path, media: client.MergePatch, body: patch}
	}
}

// step makes a write at a random release. A fifth have a key and are repeated at the other release.
func (s *rollingUpdate) step(ctx context.Context, _ int, rng *rand.Rand) error {
	n := s.sent.Add(1)
	release, other := server.OldRelease, server.NewRelease
	if rng.IntN(2) == 0 {
		release, other = other, release
	}
	if rng.IntN(5) == 0 {
		return s.writeKeyed(ctx, rng, n, release, other)
	}
	base := s.node(release, rng)
	if base == "" {
		return pauseBeforeRetry(ctx, rng)
	}
	w := newTaskWrite(release, rng)
	return s.record(w, s.sendRequest(ctx, base, w))
}

// record counts the response to a write. The error is that of one that must not be.
func (s *rollingUpdate) record(w request, a client.Answer) error {
	switch {
	case a.OK():
		s.acknowledged.Add(1)
	case a.Err != nil || a.Unknown():
		s.unknown.Add(1)
	case a.Status != http.StatusNotFound && a.Status != http.StatusGone:
		return a.Unexpected(w.String() + " " + w.body)
	}
	return nil
}

// writeKeyed makes a write at a node of a release, and repeats it with its key at one of another.
func (s *rollingUpdate) writeKeyed(ctx context.Context, rng *rand.Rand, n int64, from, to string) error {
	w := newTaskWrite(server.OldRelease, rng)
	w.key = fmt.Sprint("key-", n)
	if w.method == http.MethodPost {
		w.body = fmt.Sprintf(`{"text":%q}`, w.key)
	}
	first, err := s.persistTask(ctx, rng, w, from)
	if err != nil {
		return err
	}
	if err := s.record(w, first); err != nil || !first.OK() {
		return err
	}
	s.keyed.Add(1)
	second, err := s.persistTask(ctx, rng, w, to)
	switch {
	case err != nil:
		return err
	case second.Status != first.Status || !second.Replayed():
		s.Add(history.Changed, 1, "%v %s: status %d at the release %q, then %d at the release %q: %.300s",
			w, w.body, first.Status, from, second.Status, to, second.Body)
	default:
		s.replayed.Add(1)
	}
	if w.method == http.MethodPost {
		s.created.Store(w.key, true)
	}
	return nil
}

// persistTask sends a write with a key to nodes of a release until it is answered.
func (s *rollingUpdate) persistTask(ctx context.Context, rng *rand.Rand, w request, release string) (client.Answer, error) {
	for {
		if base := s.node(release, rng); base != "" {
			if a := s.sendRequest(ctx, base, w); !a.Retry() {
				return a, nil
			}
		}
		if err := pauseBeforeRetry(ctx, rng); err != nil {
			return client.Answer{}, err
		}
	}
}

// countCreated counts the items that were created with a key. Each has the key as its text.
func (s *rollingUpdate) countCreated(ctx context.Context) error {
	a := s.Read(ctx, s.node(server.NewRelease, s.random(checkPart))+server.TasksPath, client.NDJSON)
	tasks, err := client.Lines[server.NewTask]("GET "+server.TasksPath, a)
	if err != nil {
		return err
	}
	found := map[string]int{}
	for _, v := range tasks {
		found[v.Text]++
	}
	s.created.Range(func(key, _ any) bool {
		switch n := found[key.(string)]; {
		case n == 0:
			s.Add(history.Lost, 1, "the item of %v", key)
		case n > 1:
			s.Add(history.Duplicate, n-1, "%d items of %v", n, key)
		}
		return true
	})
	return nil
}
