package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// The scenario malformed sends malformed content to each write route of the shop: the JSONTestSuite and mutants of it, content that
// is too large, too deep, not UTF-8 or not HTTP, and expensive GraphQL documents. There must be no panic and no status of 5xx, what is
// not JSON must be refused with a problem document, and the memory of the shop is bounded.

// senders is the number of concurrent requests, and so of the largest contents in the memory of the shop.
const senders = 16

// memoryBound is the memory that the shop may take, in MiB.
const memoryBound = 512

// coverage selects requests. The full size is {1, 1}.
type coverage struct {
	older int // one of so many inputs goes to older versions and alternative media types, too
	large int // one of so many large inputs goes to each route
}

// malformedContent sends the inputs to each route of the present version of the API, and some to older versions.
func malformedContent(ctx context.Context, e *env) error {
	suite, err := jsonTestSuite(ctx, e)
	if err != nil {
		return err
	}
	inputs, err := corpus(suite, e.random(0), size(e, 60, 200))
	if err != nil {
		return err
	}
	d := &damage{trial: trial{title: "malformed content", engine: sqlite, command: []string{shop}}}
	d.do = func(ctx context.Context) error {
		routes, err := findRoutes(d.URL(0))
		if err != nil {
			return err
		}
		if err := d.sendAll(ctx, routes, inputs, size(e, coverage{24, 4}, coverage{1, 1})); err != nil {
			return err
		}
		log, err := os.ReadFile(e.log.Name())
		if err != nil {
			return err
		}
		d.checkNode(string(log))
		d.judge(len(inputs))
		return nil
	}
	return e.try(ctx, &d.trial)
}

// jsonTestSuite installs the JSONTestSuite from npm, and returns its cases as JSON.
func jsonTestSuite(ctx context.Context, e *env) ([]byte, error) {
	if err := install(ctx, []string{"npm"}, "nodejs", "npm"); err != nil {
		return nil, err
	}
	folder := filepath.Join(e.dir, "jsontestsuite")
	if err := os.CopyFS(folder, os.DirFS("jsontestsuite")); err != nil {
		return nil, err
	}
	var out []byte
	var err error
	for _, wait := range []time.Duration{0, 5 * time.Second, 30 * time.Second} {
		time.Sleep(wait)
		if out, err = exec.CommandContext(ctx, "npm", "ci", "--prefix", folder, "--ignore-scripts").CombinedOutput(); err == nil {
			return exec.CommandContext(ctx, "node", filepath.Join(folder, "suite.mjs")).Output()
		}
	}
	return nil, fmt.Errorf("npm ci: %w\n%s", err, out)
}

// damage is what malformed content did to a server.
type damage struct {
	trial
	http   *http.Client
	routes int
	sent   atomic.Int64
	memory uint64 // bytes at most
	panics int

	mu       sync.Mutex
	statuses map[int]int // 0 is a closed connection
}

func (d *damage) count(status int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.statuses[status]++
}

func (d *damage) fault(format string, args ...any) { d.Add(history.Unexpected, 1, format, args...) }

// sendAll sends all inputs to all routes of a server.
func (d *damage) sendAll(ctx context.Context, routes []writeRoute, inputs []input, c coverage) error {
	d.routes, d.statuses = len(routes), map[int]int{}
	d.http = &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	defer d.http.CloseIdleConnections()
	requests := func(yield func(malformedRequest) bool) {
		for i, r := range routes {
			for n, request := range d.requests(r, inputs) {
				skip := r.again && n%c.older != 0 || request.large && (n+i)%c.large != 0
				if !skip && !yield(request) {
					return
				}
			}
		}
	}
	err := share(ctx, senders, requests, func(_ int, request malformedRequest) error {
		request.send()
		return nil
	})
	if res, err := d.http.Get(d.URL(0) + "/health"); err != nil || res.StatusCode != http.StatusOK {
		d.fault("GET /health fails afterwards: %v", err)
	} else {
		res.Body.Close()
	}
	return err
}

// malformedRequest sends an input to a route, in all its shapes.
type malformedRequest struct {
	send  func()
	large bool
}

// requests returns all requests to a route.
func (d *damage) requests(r writeRoute, inputs []input) (all []malformedRequest) {
	if r.path == "/graphql" {
		inputs = append(slices.Clip(inputs), documents()...)
	}
	for _, in := range inputs {
		all = append(all, malformedRequest{large: len(in.content) > 100_000, send: func() {
			for i, s := range r.shapes() {
				if i == 0 || !in.whole {
					d.content(r, in, s, i == 0)
				}
			}
		}})
	}
	for _, m := range messages() {
		all = append(all, malformedRequest{send: func() { d.message(r, m) }})
	}
	return all
}

// content sends an input in a shape. Large ones are sent in chunks, too, because then the size is not announced.
func (d *damage) content(r writeRoute, in input, s shape, alone bool) {
	content := append(append([]byte(s.front), in.content...), s.back...)
	name := fmt.Sprintf("%s %s %s %.20q: %s", r.method, r.path, r.media, s.front, in.name)
	refuse := in.bad && alone && r.strict()
	d.post(r, bytes.NewReader(content), name, refuse, in.large())
	if len(in.content) > 100_000 {
		d.post(r, io.MultiReader(bytes.NewReader(content)), name+", in chunks", refuse, in.large())
	}
}

// post sends a request. With mayClose the server may close the connection before it has read the content.
func (d *damage) post(r writeRoute, content io.Reader, name string, refuse, mayClose bool) {
	n := d.sent.Add(1)
	target := d.URL(0) + r.path
	if r.named {
		target += fmt.Sprintf("/malformed-%d", n%1000)
	}
	req, err := http.NewRequest(r.method, target, content)
	if err != nil {
		d.fault("%s: %v", name, err)
		return
	}
	req.Header.Set("Content-Type", r.media)
	if n%2 == 0 {
		req.Header.Set("Idempotency-Key", fmt.Sprintf("malformed-%d", n))
	}
	res, err := d.http.Do(req)
	if err != nil {
		if !mayClose {
			d.fault("%s: %v", name, err)
		}
		d.count(0)
		return
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	d.count(res.StatusCode)
	switch media := res.Header.Get("Content-Type"); {
	case res.StatusCode >= http.StatusInternalServerError:
		d.fault("%s: %d %.200s", name, res.StatusCode, body)
	case err != nil:
		d.fault("%s: %d, incomplete: %v", name, res.StatusCode, err)
	case refuse && res.StatusCode < http.StatusBadRequest:
		d.fault("%s: was accepted as JSON: %d", name, res.StatusCode)
	case res.StatusCode >= http.StatusBadRequest && r.path != "/graphql" && media != "application/problem+json":
		d.fault("%s: %d with %q, not a problem document", name, res.StatusCode, media)
	}
}

func (d *damage) message(r writeRoute, m message) {
	d.sent.Add(1)
	if r.named {
		r.path += "/malformed"
	}
	statuses, err := m.send(strings.TrimPrefix(d.URL(0), "http://"), r)
	if err != nil {
		d.fault("%s %s: %s: %v", r.method, r.path, m.name, err)
	}
	if len(statuses) == 0 {
		d.count(0)
	}
	for _, status := range statuses {
		if status == expected[m.name] {
			continue
		}
		d.count(status)
		if status >= http.StatusInternalServerError {
			d.fault("%s %s: %s: %d", r.method, r.path, m.name, status)
		}
	}
}

// checkNode checks the memory and the log of the process.
func (d *damage) checkNode(log string) {
	var err error
	if _, d.memory, err = server.MemoryOf(d.PID(0)); err != nil {
		d.fault("the process has ended: %v", err)
	}
	if d.memory > memoryBound<<20 {
		d.fault("%d MiB of memory, and the limit is %d", d.memory>>20, memoryBound)
	}
	d.panics = strings.Count(log, "panic") + strings.Count(log, "goroutine ")
	if d.panics > 0 {
		d.fault("panic: %.2000s", log)
	}
}

func (d *damage) judge(inputs int) {
	d.title = fmt.Sprintf("%d inputs, %d GraphQL documents, %d messages, %d routes: %d requests", inputs, len(documents()),
		len(messages()), d.routes, d.sent.Load())
	fives := 0
	var counts []string
	for _, status := range slices.Sorted(maps.Keys(d.statuses)) {
		if status >= http.StatusInternalServerError {
			fives += d.statuses[status]
		}
		counts = append(counts, fmt.Sprintf("%d: %d", status, d.statuses[status]))
	}
	d.line("responses by status, 0 if the connection was closed: %s", strings.Join(counts, ", "))
	d.line("panics %d, status 5xx %d, memory at most %d MiB with %d senders", d.panics, fives, d.memory>>20, senders)
}

// suiteCase is a case of the JSONTestSuite.
type suiteCase struct{ Name, Input string }

// corpus is the JSONTestSuite, as a JSON list of names and texts, mutants of it, and the other inputs.
func corpus(suite []byte, rng *rand.Rand, mutants int) ([]input, error) {
	var cases []suiteCase
	if err := json.Unmarshal(suite, &cases); err != nil {
		return nil, fmt.Errorf("the JSONTestSuite: %w", err)
	}
	if len(cases) < 300 {
		return nil, fmt.Errorf("%d cases, and the JSONTestSuite has more than 300", len(cases))
	}
	var all []input
	for _, c := range cases {
		all = append(all, input{name: c.Name, content: []byte(c.Input), bad: strings.HasPrefix(c.Name, "n_")})
	}
	for i := range mutants {
		of := cases[rng.IntN(len(cases))]
		content := mutant(rng, of.Input, cases[rng.IntN(len(cases))].Input)
		all = append(all, input{name: fmt.Sprintf("mutant %d of %s", i, of.Name), content: content})
	}
	return slices.Concat(all, encodings(), meanings(), sizes()), nil
}
