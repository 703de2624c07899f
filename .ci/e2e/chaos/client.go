package main

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// An outcome is what a client knows of its write.
type outcome int

const (
	acknowledged outcome = iota // 2xx: it happened
	refused                     // 3xx and 4xx: it did not
	unknown                     // it may have happened, or may still be about to
)

// answer is what came back. Only one with an outcome other than unknown has a status that says anything.
type answer struct {
	outcome outcome
	status  int
	tag     string // the ETag
	body    []byte
}

// client is all the writers' way to the processes, and counts what they send.
type client struct {
	http  http.Client
	where interface {
		Pick(ctx context.Context, rng *rand.Rand) (string, error)
	}
	requests                  atomic.Int64
	acked, refused, undecided atomic.Int64 // of writes
	internal                  atomic.Int64 // answers of 500, which a shop should have no reason for
}

func newTransport(writers int) *http.Transport {
	return &http.Transport{MaxIdleConnsPerHost: writers, DisableCompression: true}
}

// newClient returns one that waits long: whether a slow write happened would otherwise be unknown more often than need be.
func newClient(f *fleet.Fleet, transport *http.Transport) *client {
	return &client{where: f, http: http.Client{Timeout: 5 * time.Minute, Transport: transport}}
}

// read asks until there is an answer below 500. Each of header is a line such as "Accept: text/html".
func (c *client) read(ctx context.Context, rng *rand.Rand, path string, header ...string) (answer, error) {
	for {
		a, err := c.send(ctx, rng, http.MethodGet, path, "", header)
		if err != nil {
			return a, err
		}
		if a.outcome != unknown {
			return a, nil
		}
		time.Sleep(2 * time.Millisecond) // most of the time it was a connection to somebody who is dead
	}
}

// write sends once. The error is that of ctx: everything else is an outcome.
func (c *client) write(ctx context.Context, rng *rand.Rand, method, path, body string, header ...string) (answer, error) {
	a, err := c.send(ctx, rng, method, path, body, header)
	if err != nil {
		return a, err
	}
	switch a.outcome {
	case acknowledged:
		c.acked.Add(1)
	case refused:
		c.refused.Add(1)
	case unknown:
		c.undecided.Add(1)
	}
	return a, nil
}

// send sends a request to some process; to another, if that one is not there.
func (c *client) send(ctx context.Context, rng *rand.Rand, method, path, body string, header []string) (answer, error) {
	for {
		base, err := c.where.Pick(ctx, rng)
		if err != nil {
			return answer{}, err
		}
		req, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
		if err != nil {
			return answer{}, err
		}
		for _, line := range header {
			name, value, _ := strings.Cut(line, ": ")
			req.Header.Set(name, value)
		}
		a, sent := c.try(req)
		if ctx.Err() != nil {
			return a, ctx.Err()
		}
		if sent {
			c.requests.Add(1)
			return a, nil
		}
		time.Sleep(time.Millisecond)
	}
}

// try reports false if nobody can have seen the request. The transport repeats none that may have been seen, other than
// reads, so that a write is sent once.
func (c *client) try(req *http.Request) (a answer, sent bool) {
	res, err := c.http.Do(req)
	if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" {
		return answer{}, false
	}
	if err != nil {
		return answer{outcome: unknown}, true
	}
	defer res.Body.Close()
	a = answer{status: res.StatusCode, tag: res.Header.Get("ETag")}
	a.body, err = io.ReadAll(res.Body)
	switch {
	case res.StatusCode >= http.StatusInternalServerError:
		a.outcome = unknown
		if res.StatusCode == http.StatusInternalServerError {
			c.internal.Add(1)
		}
	case res.StatusCode >= http.StatusMultipleChoices:
		a.outcome = refused
	case err != nil && req.Method == http.MethodGet:
		a.outcome = unknown // half an answer
	}
	return a, true
}
