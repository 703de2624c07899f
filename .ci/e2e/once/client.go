package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// answer is what came back of a request.
type answer struct {
	status   int // 0 for none, or half of one
	location string
	tag      string
	body     string
	replayed bool
	later    bool // it says when to ask again
	err      error
}

// done reports whether the answer says that the write was done.
func (a answer) done() bool { return a.status >= 200 && a.status < 300 }

// again reports whether the answer asks for the same request once more: it may have been done, or somebody is at it.
func (a answer) again() bool {
	return a.status == 0 || a.status >= 500 || a.status == http.StatusConflict && a.kind("request-in-flight")
}

// unknown reports whether nobody knows whether the write was done, and asking again will not tell.
func (a answer) unknown() bool { return a.status == http.StatusConflict && a.kind("outcome-unknown") }

// kind compares the last part of the type of a problem.
func (a answer) kind(name string) bool {
	var problem struct{ Type string }
	return json.Unmarshal([]byte(a.body), &problem) == nil && strings.HasSuffix(problem.Type, "/"+name)
}

// essence is what has to be the same each time that the same is asked.
func (a answer) essence() string {
	return fmt.Sprintf("%d %s %s %s", a.status, a.location, a.tag, a.body)
}

// client sends requests and counts them.
type client struct {
	http                                           http.Client
	sent, broken, conflicts, unavailable, internal atomic.Int64 // broken are those without an answer
	curt                                           atomic.Int64 // answers that ask for a repetition and do not say when
}

// verdict is about answers that may come at any time: none is an internal error, and whoever is to come again is told when.
func (c *client) verdict() error {
	if c.internal.Load() > 0 || c.curt.Load() > 0 {
		return fmt.Errorf("%d answers of 500, and %d of 409 or 503 without Retry-After", c.internal.Load(), c.curt.Load())
	}
	return nil
}

func newClient(connections int) *client {
	return &client{http: http.Client{Timeout: 5 * time.Minute,
		Transport: &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true}}}
}

// send sends a write once. No request is repeated by the transport: each has content or a method that it takes for unsafe
// to repeat.
func (c *client) send(ctx context.Context, base string, w *write, die string) answer {
	req, err := http.NewRequestWithContext(ctx, w.method, base+w.path, io.MultiReader(strings.NewReader(w.body)))
	if err != nil {
		return answer{err: err}
	}
	req.ContentLength = int64(len(w.body))
	req.Header.Set("Idempotency-Key", w.key)
	if w.body != "" {
		req.Header.Set("Content-Type", w.media)
	}
	if die != "" {
		req.Header.Set(dieField, die)
	}
	c.sent.Add(1)
	a := c.do(req)
	if a.status != 0 && a.again() && !a.later {
		c.curt.Add(1)
	}
	switch {
	case a.status == 0:
		c.broken.Add(1)
	case a.status == http.StatusInternalServerError:
		c.internal.Add(1)
	case a.status > http.StatusInternalServerError:
		c.unavailable.Add(1)
	case a.status == http.StatusConflict:
		c.conflicts.Add(1)
	}
	return a
}

func (c *client) do(req *http.Request) answer {
	res, err := c.http.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{err: err}
	}
	return answerOf(res, body)
}

func answerOf(res *http.Response, body []byte) answer {
	h := res.Header
	return answer{status: res.StatusCode, location: h.Get("Location"), tag: h.Get("ETag"), body: string(body),
		replayed: h.Get("Idempotency-Replayed") == "true", later: h.Get("Retry-After") != ""}
}

// all reads a collection to its end.
func all[T any](c *client, base, name string) ([]T, error) {
	req, err := http.NewRequest(http.MethodGet, base+"/"+name, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/x-ndjson")
	a := c.do(req)
	if a.status != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %d %s %v", name, a.status, a.body, a.err)
	}
	var items []T
	for line := range strings.Lines(a.body) {
		var v T
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			return nil, fmt.Errorf("GET %s: %w in %s", name, err, line)
		}
		items = append(items, v)
	}
	return items, nil
}
