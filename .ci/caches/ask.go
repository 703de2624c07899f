package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// connections is how many clients ask at once, so that the cache is filled and read at the same time.
const connections = 8

// client asks over a bounded number of connections.
type client struct{ http.Client }

func newClient() *client {
	return &client{http.Client{
		Timeout: 2 * time.Minute,
		// Without compression there is one variant less to confuse.
		Transport: &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true},
	}}
}

// tally is what came of many questions.
type tally struct {
	requests, hits, wrongBodies, wrongHeads int
	examples                                []string // the first few of what was wrong
}

// ask waits until the cache serves, warms it with each question once, and asks n times with each voice. An error is a
// question without an answer. What is wrong in warming counts, though the request itself does not.
func (c *client) ask(ctx context.Context, base string, n int) (tally, error) {
	if err := c.await(ctx, base+"/health"); err != nil {
		return tally{}, err
	}
	warm, err := c.askEach(ctx, base, plan(len(paths)))
	if err != nil {
		return tally{}, err
	}
	t, err := c.askEach(ctx, base, plan(n))
	t.wrongBodies += warm.wrongBodies
	t.wrongHeads += warm.wrongHeads
	t.examples = append(warm.examples, t.examples...)
	return t, err
}

// await polls until url is answered with 200, for some minutes at most.
func (c *client) await(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for {
		status, _, _, err := c.get(ctx, url, voice{})
		if err == nil && status == http.StatusOK {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s was never ready: status %d, %v", url, status, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// askEach puts all questions in their order, so many at a time as there are connections. The first that is not answered
// ends it.
func (c *client) askEach(ctx context.Context, base string, questions []question) (tally, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var (
		t    tally
		mu   sync.Mutex
		wg   sync.WaitGroup
		todo = make(chan question)
	)
	for range connections {
		wg.Go(func() {
			for q := range todo {
				status, head, body, err := c.get(ctx, base+q.path, q.voice)
				if err != nil {
					stop(err)
					continue
				}
				mu.Lock()
				t.add(q, status, head, body)
				mu.Unlock()
			}
		})
	}
	for _, q := range questions {
		todo <- q
	}
	close(todo)
	wg.Wait()
	return t, context.Cause(ctx)
}

func (t *tally) add(q question, status int, head http.Header, body []byte) {
	t.requests++
	if isHit(head) {
		t.hits++
	}
	bodyErr, headErr := q.judgeBody(status, body), q.judgeHead(head)
	if bodyErr != nil {
		t.wrongBodies++
	}
	if headErr != nil {
		t.wrongHeads++
	}
	if (bodyErr != nil || headErr != nil) && len(t.examples) < 3 {
		t.examples = append(t.examples, fmt.Sprintf("%s %s: body: %v; head: %v\n  %v\n  %.300s",
			q.voice.name, q.path, bodyErr, headErr, head, body))
	}
}

// isHit reports whether an answer came out of a cache, by what each cache says of it: nginx in the field that its
// configuration adds, Squid in one of its own, and Varnish by the number of the request that brought the answer, beside
// that of this request.
func isHit(h http.Header) bool {
	return h.Get("X-Cache-Status") == "HIT" ||
		strings.HasPrefix(h.Get("X-Cache"), "HIT ") ||
		len(strings.Fields(h.Get("X-Varnish"))) == 2
}

func (c *client) get(ctx context.Context, url string, v voice) (int, http.Header, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, nil, err
	}
	return c.send(req, v)
}

// send returns what is answered to a request in a voice. An answer of 500 and above is an error: then nothing can be judged.
func (c *client) send(req *http.Request, v voice) (int, http.Header, []byte, error) {
	if v.header != "" {
		req.Header.Set(v.header, v.value)
	}
	req.Host = "127.0.0.1" // where the shop is; it answers for no other
	res, err := c.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err == nil && res.StatusCode >= http.StatusInternalServerError {
		err = fmt.Errorf("%s %s: %s: %.300s", req.Method, req.URL, res.Status, body)
	}
	return res.StatusCode, res.Header, body, err
}

// withoutVary is a proxy that passes everything on as it is, only that no response tells what it depends on.
func withoutVary(to *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
		},
		ModifyResponse: func(res *http.Response) error {
			res.Header.Del("Vary")
			return nil
		},
		Transport: &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true},
	}
}
