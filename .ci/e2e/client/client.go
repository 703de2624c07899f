// Package client sends requests to the nodes under test, counts the responses, and subscribes to events over server-sent
// events and WebSocket.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// Lines of a request head.
const (
	JSON       = "Content-Type: application/json"
	MergePatch = "Content-Type: application/merge-patch+json"
	JSONPatch  = "Content-Type: application/json-patch+json"
	NDJSON     = "Accept: application/x-ndjson"
)

// Client sends requests and counts the responses. A write is sent once: the transport repeats none.
type Client struct {
	HTTP http.Client

	requests atomic.Int64
	internal atomic.Int64      // responses of status 500
	writes   [600]atomic.Int64 // responses to writes by status; 0 is none
	noRetry  atomic.Int64      // responses that ask for a retry and have no Retry-After
}

// New returns a Client that keeps so many connections to each node. It waits for five minutes: a slow write that is given up has
// an unknown outcome, which weakens every check.
func New(connections int) *Client {
	return &Client{HTTP: http.Client{Timeout: 5 * time.Minute,
		Transport: &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true}}}
}

// Requests returns the number of requests, and Internal that of responses with status 500.
func (c *Client) Requests() int64 { return c.requests.Load() }
func (c *Client) Internal() int64 { return c.internal.Load() }

// Writes returns the number of writes with a status between two, inclusive. Status 0 is no response.
func (c *Client) Writes(from, to int) (n int64) {
	for status := from; status <= to; status++ {
		n += c.writes[status].Load()
	}
	return n
}

// Check returns an error if a response must not occur at any time: an internal error, or one that asks for a retry without
// Retry-After.
func (c *Client) Check() error {
	if c.internal.Load() > 0 || c.noRetry.Load() > 0 {
		return fmt.Errorf("%d responses of status 500, and %d of 409 or 5xx without Retry-After", c.internal.Load(), c.noRetry.Load())
	}
	return nil
}

// Answer is the response to a request.
type Answer struct {
	Status       int // 0 if there was no response
	Header       http.Header
	Body         []byte
	Err          error // also set if the body is incomplete
	Began, Ended time.Time

	refused bool // no connection was made
}

// Acknowledged reports whether the status promises that the write was done, even if the body is incomplete.
func (a Answer) Acknowledged() bool { return a.Status/100 == 2 }

// OK reports whether the response has a status of 2xx and is complete.
func (a Answer) OK() bool { return a.Acknowledged() && a.Err == nil }

// Unknown reports whether the write may have been done or not.
func (a Answer) Unknown() bool { return a.Err != nil && !a.Acknowledged() || a.Status >= 500 }

// Retry reports whether a request with a key has to be sent again: there was no complete response, the node failed, or another
// request with this key is in progress.
func (a Answer) Retry() bool {
	return a.Err != nil || a.Status >= 500 || a.Status == http.StatusConflict && a.Problem("request-in-flight")
}

// Problem reports whether the body is a problem document of a kind, which is the last part of its type.
func (a Answer) Problem(kind string) bool {
	var problem struct{ Type string }
	return json.Unmarshal(a.Body, &problem) == nil && strings.HasSuffix(problem.Type, "/"+kind)
}

// Tag returns the ETag.
func (a Answer) Tag() string { return a.Header.Get("ETag") }

// Replayed reports whether the response is that of an earlier request with the same key.
func (a Answer) Replayed() bool { return a.Header.Get("Idempotency-Replayed") == "true" }

// RetryAfter reports whether the response has the field Retry-After.
func (a Answer) RetryAfter() bool { return a.Header.Get("Retry-After") != "" }

// Essence is the part of the response that is the same in each replay.
func (a Answer) Essence() string {
	return fmt.Sprintf("%d %s %s %s", a.Status, a.Header.Get("Location"), a.Tag(), a.Body)
}

// Decode decodes a body of JSON. Its error names the request.
func (a Answer) Decode(request string, v any) error {
	if err := errors.Join(a.Err, json.Unmarshal(a.Body, v)); err != nil || !a.OK() {
		return a.Unexpected(request)
	}
	return nil
}

// Unexpected returns an error that describes the response.
func (a Answer) Unexpected(request string) error {
	if a.Err != nil {
		return fmt.Errorf("%s: status %d, %.300s: %w", request, a.Status, a.Body, a.Err)
	}
	return fmt.Errorf("%s: status %d, %.300s", request, a.Status, a.Body)
}

// Lines decodes a body of newline-delimited JSON.
func Lines[T any](request string, a Answer) (items []T, err error) {
	if !a.OK() {
		return nil, a.Unexpected(request)
	}
	for line := range strings.Lines(string(a.Body)) {
		var v T
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			return nil, fmt.Errorf("%s: %w in %s", request, err, line)
		}
		items = append(items, v)
	}
	return items, nil
}

// Send sends a request once. Each of header is a line such as "If-Match: x".
func (c *Client) Send(ctx context.Context, method, url, body string, header ...string) Answer {
	began := time.Now()
	a := c.exchange(ctx, method, url, body, header)
	a.Began, a.Ended = began, time.Now()
	if a.refused {
		a.Status = 0
	}
	c.count(method, a)
	return a
}

func (c *Client) count(method string, a Answer) {
	c.requests.Add(1)
	if a.Status == http.StatusInternalServerError {
		c.internal.Add(1)
	}
	if method == http.MethodGet {
		return
	}
	c.writes[a.Status].Add(1)
	if a.Status != 0 && !a.RetryAfter() && (a.Status >= 500 || a.Status == http.StatusConflict && a.Problem("request-in-flight")) {
		c.noRetry.Add(1)
	}
}

// exchange gives each write a body that cannot be read twice. Otherwise net/http repeats writes with an Idempotency-Key.
func (c *Client) exchange(ctx context.Context, method, url, body string, header []string) Answer {
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return Answer{Err: err}
	}
	if method != http.MethodGet {
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	res, err := c.HTTP.Do(req)
	if err != nil {
		dial := (*net.OpError)(nil)
		return Answer{Err: err, refused: errors.As(err, &dial) && dial.Op == "dial"}
	}
	defer res.Body.Close()
	a := Answer{Status: res.StatusCode, Header: res.Header}
	a.Body, a.Err = io.ReadAll(res.Body)
	return a
}

// Picker chooses a node for a request, as fleet.Fleet does.
type Picker interface {
	Pick(ctx context.Context, rng *rand.Rand) (string, error)
}

// SendAny sends a request to a random node. If the connection is refused, no node has seen the request, and it is sent to
// another. The error is that of ctx.
func (c *Client) SendAny(ctx context.Context, nodes Picker, rng *rand.Rand, method, path, body string, header ...string) (Answer, error) {
	for {
		base, err := nodes.Pick(ctx, rng)
		if err != nil {
			return Answer{}, err
		}
		began := time.Now()
		a := c.exchange(ctx, method, base+path, body, header)
		a.Began, a.Ended = began, time.Now()
		if ctx.Err() != nil {
			return a, ctx.Err()
		}
		if !a.refused {
			c.count(method, a)
			return a, nil
		}
		time.Sleep(time.Millisecond)
	}
}

// ReadAny reads from random nodes until it gets a complete response below 500.
func (c *Client) ReadAny(ctx context.Context, nodes Picker, rng *rand.Rand, path string, header ...string) (Answer, error) {
	for {
		a, err := c.SendAny(ctx, nodes, rng, http.MethodGet, path, "", header...)
		if err != nil || a.Err == nil && a.Status < 500 {
			return a, err
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// Read reads until it gets a complete response below 500, for up to five minutes.
func (c *Client) Read(ctx context.Context, url string, header ...string) (a Answer) {
	Await(ctx, url, 20*time.Millisecond, func() bool {
		a = c.Send(ctx, http.MethodGet, url, "", header...)
		return a.Err == nil && a.Status < 500
	})
	return a
}

// Await calls done, with pauses, until it returns true, for up to five minutes. The error has the text of what is awaited.
func Await(ctx context.Context, what string, pause time.Duration, done func() bool) error {
	for limit := time.Now().Add(5 * time.Minute); !done(); Pause(ctx, pause) {
		if ctx.Err() != nil || time.Now().After(limit) {
			return errors.Join(fmt.Errorf("not within five minutes: %s", what), ctx.Err())
		}
	}
	return nil
}

// Pause waits for d, or until ctx is done.
func Pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
