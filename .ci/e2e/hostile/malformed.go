package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// senders is how many send at a time, and so how many times the largest content a server has to bear at once.
const senders = 16

// malformed sends the whole corpus to every route of a shop.
func malformed(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("malformed", flag.ContinueOnError)
	shop := flags.String("shop", "", "the `program`")
	db := flags.String("db", "memory", "its `database`")
	suite := flags.String("suite", "", "`file` of the JSONTestSuite")
	bound := flags.Int64("bound", 512, "`MiB` of memory that the shop may take")
	every := flags.Int("every", 8, "input goes to older contracts and other names of types, too; 1 is all")
	seed := flags.Uint64("seed", 1, "of what is broken at random")
	if err := flags.Parse(args); err != nil {
		return err
	}
	inputs, err := corpus(*suite, rand.New(rand.NewPCG(*seed, 0)))
	if err != nil {
		return err
	}
	var log safeBuffer
	f := fleet.New(1, &log, *shop, "-addr", "127.0.0.1:0", "-db", *db)
	defer f.KillAll()
	if err := f.Start(ctx); err != nil {
		return err
	}
	found, err := assail(ctx, f.URL(0), inputs, *every)
	if err != nil {
		return err
	}
	found.judgeProcess(f, &log, *bound)
	found.print(out, len(inputs), *seed)
	return found.verdict()
}

// assail is what is done to a server, wherever it runs.
func assail(ctx context.Context, base string, inputs []input, every int) (*damage, error) {
	routes, err := routes(base)
	if err != nil {
		return nil, err
	}
	d := &damage{base: base, routes: len(routes), statuses: map[int]int{}}
	d.client = &http.Client{Timeout: 5 * time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	defer d.client.CloseIdleConnections()
	work := make(chan func())
	var wg sync.WaitGroup
	for range senders {
		wg.Go(func() {
			for do := range work {
				do()
			}
		})
	}
	d.hand(ctx, work, routes, inputs, every)
	close(work)
	wg.Wait()
	if status := d.health(); status != http.StatusOK {
		d.fault("afterwards GET /health is %d", status)
	}
	return d, ctx.Err()
}

// hand gives out all that is to be sent.
func (d *damage) hand(ctx context.Context, work chan<- func(), routes []route, inputs []input, every int) {
	for _, r := range routes {
		of := inputs
		if r.path == "/graphql" {
			of = append(of[:len(of):len(of)], documents()...)
		}
		var all []func()
		for _, in := range of {
			all = append(all, func() {
				for i, s := range r.shapes() {
					if i == 0 || !in.whole {
						d.content(r, in, s, i == 0)
					}
				}
			})
		}
		for _, m := range messages() {
			all = append(all, func() { d.message(r, m) })
		}
		for n, do := range all {
			if ctx.Err() == nil && (!r.again || n%every == 0) {
				work <- do
			}
		}
	}
}

// content sends an input in a shape. Large ones go in chunks, too, as then nobody says how large they are.
func (d *damage) content(r route, in input, s shape, alone bool) {
	content := append(append([]byte(s.front), in.content...), s.back...)
	name := fmt.Sprintf("%s %s %s %.20q: %s", r.method, r.path, r.media, s.front, in.name)
	refuse := in.bad && alone && r.strict()
	d.post(r, bytes.NewReader(content), name, refuse, in.large())
	if len(in.content) > 100_000 {
		d.post(r, io.MultiReader(bytes.NewReader(content)), name+", in chunks", refuse, in.large())
	}
}

func (d *damage) post(r route, content io.Reader, name string, refuse, cut bool) {
	n := d.sent.Add(1)
	target := d.base + r.path
	if r.named {
		target += fmt.Sprintf("/hostile-%d", n%1000)
	}
	req, err := http.NewRequest(r.method, target, content)
	if err != nil {
		d.fault("%s: %v", name, err)
		return
	}
	req.Header.Set("Content-Type", r.media)
	if n%2 == 0 {
		req.Header.Set("Idempotency-Key", fmt.Sprintf("hostile-%d", n))
	}
	res, err := d.client.Do(req)
	if err != nil {
		if !cut { // a server that has enough may close the connection while we are sending still
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
		d.fault("%s: %d, cut off: %v", name, res.StatusCode, err)
	case refuse && res.StatusCode < http.StatusBadRequest:
		d.fault("%s: was taken for JSON: %d", name, res.StatusCode)
	case res.StatusCode >= http.StatusBadRequest && r.path != "/graphql" && media != "application/problem+json":
		d.fault("%s: %d with %q, which is no problem document", name, res.StatusCode, media)
	}
}

func (d *damage) message(r route, m message) {
	d.sent.Add(1)
	if r.named {
		r.path += "/hostile"
	}
	statuses, err := m.send(strings.TrimPrefix(d.base, "http://"), r)
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

func (d *damage) health() int {
	res, err := d.client.Get(d.base + "/health")
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}

// safeBuffer keeps what a process prints.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

var errDamage = errors.New("hostile content did damage")
