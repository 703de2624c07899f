package client

// Sending requests, again if they fail temporarily. Called by resource.go and follow.go.

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/bits"
	mathrand "math/rand/v2"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/stoa-go/stoa/resource/problem"
)

const (
	mediaJSON  = "application/json"
	mediaMerge = "application/merge-patch+json"
	mediaForm  = "application/x-www-form-urlencoded"

	maxContent = 64 << 20 // of a response
	firstWait  = 100 * time.Millisecond
)

// request is a request that can be sent several times.
type request struct {
	method, path string // with the query
	media        string // of content. Default application/json.
	content      []byte
	tag          string // the value of If-Match, or empty
	write        bool   // has an idempotency key
	watched      bool   // lost if no data arrive for Options.Silence
}

// response is a response that is not an error.
type response struct {
	status  int
	header  http.Header
	content []byte
	target  string // method and path, for errors
}

func (r *response) decode(v any) error {
	if err := json.Unmarshal(r.content, v); err != nil {
		media := cmp.Or(r.header.Get("Content-Type"), "unknown type")
		return fmt.Errorf("client: %s: decode the response (%s): %w", r.target, media, err)
	}
	return nil
}

// send sends a request until it is answered, the attempts are used up or ctx ends.
func (c *Client) send(ctx context.Context, r *request) (*response, error) {
	key, ok := ctx.Value(keyOfContext{}).(string)
	if !ok {
		key = newKey()
	}
	for attempt := 1; ; attempt++ {
		resp, err := c.attempt(ctx, r, key)
		if err == nil {
			return resp, nil
		}
		delay, temporary := c.delay(attempt, err)
		if !temporary || attempt == c.opts.Attempts {
			return nil, fmt.Errorf("client: %s %s: %w", r.method, r.path, err)
		}
		if err := wait(ctx, delay); err != nil {
			return nil, fmt.Errorf("client: %s %s: %w", r.method, r.path, err)
		}
	}
}

// attempt sends a request once. An error response is a *problem.Details.
func (c *Client) attempt(ctx context.Context, r *request, key string) (*response, error) {
	do := c.do
	if r.watched {
		do = c.doWatched
	}
	resp, err := do(ctx, r, func(h http.Header) {
		if r.write {
			h.Set("Idempotency-Key", quoted(key))
		}
	})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxContent+1))
	switch {
	case err != nil:
		return nil, &lost{err}
	case len(content) > maxContent:
		return nil, fmt.Errorf("the response has more than %d bytes", maxContent)
	case resp.StatusCode >= 300:
		return nil, refusal(resp, content)
	}
	return &response{resp.StatusCode, resp.Header, content, r.method + " " + r.path}, nil
}

// do sends a request once, with the header fields of all requests and those of set.
func (c *Client) do(ctx context.Context, r *request, set func(http.Header)) (*http.Response, error) {
	if err := checkPath(r.path); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, bytes.NewReader(r.content))
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, c.opts.Header.Clone())
	req.Header.Set("Accept", mediaJSON)
	if r.content != nil {
		req.Header.Set("Content-Type", mediaJSON)
		if r.media != "" {
			req.Header.Set("Content-Type", r.media)
		}
	}
	if r.tag != "" {
		req.Header.Set("If-Match", r.tag)
	}
	set(req.Header)
	for name, values := range req.Header {
		if strings.ContainsFunc(strings.Join(values, ""), unicode.IsControl) {
			return nil, fmt.Errorf("the field %s has a control character", name)
		}
	}
	resp, err := c.opts.HTTP.Do(req)
	switch {
	case err == nil:
		return resp, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case resp != nil: // CheckRedirect has refused, as after 10 redirects
		return nil, err
	}
	return nil, &lost{err}
}

// checkPath refuses a path with a segment that servers and proxies remove. Without it, deleting the
// item ".." would delete what the folder is.
func checkPath(path string) error {
	path, _, _ = strings.Cut(path, "?")
	for segment := range strings.SplitSeq(path[1:], "/") {
		if segment == "" || segment == "." || segment == ".." {
			return fmt.Errorf("%q is not an id or a name", segment)
		}
	}
	return nil
}

// keepMethod returns a client that does not follow a redirect which changes the method: after 301,
// 302 and 303 [http.Client] sends GET, and the response of that would pass for that of the write.
func keepMethod(c *http.Client) *http.Client {
	kept := *c
	kept.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		switch {
		case req.Method != via[0].Method:
			return http.ErrUseLastResponse
		case c.CheckRedirect != nil:
			return c.CheckRedirect(req, via)
		case len(via) >= 10: // as http.Client without CheckRedirect
			return errors.New("stopped after 10 redirects")
		}
		return nil
	}
	return &kept
}

// doWatched is do for a response that is lost if no data arrive for Options.Silence. Its body is a
// *watched.
func (c *Client) doWatched(ctx context.Context, r *request, set func(http.Header)) (*http.Response, error) {
	inner, cancel := context.WithCancel(ctx)
	w := &watched{cancel: cancel, silence: c.opts.Silence}
	w.timer = time.AfterFunc(w.silence, func() {
		w.silent.Store(true)
		cancel()
	})
	resp, err := c.do(inner, r, set)
	if err != nil {
		w.timer.Stop()
		cancel()
		if ctx.Err() == nil && w.silent.Load() {
			err = &lost{w.err()}
		}
		return nil, err
	}
	w.body, resp.Body = resp.Body, w
	return resp, nil
}

// watched is the body of a response to doWatched.
type watched struct {
	body    io.ReadCloser
	timer   *time.Timer
	cancel  context.CancelFunc
	silence time.Duration
	silent  atomic.Bool // the timer has canceled the request
}

func (w *watched) err() error { return fmt.Errorf("no data for %v", w.silence) }

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	if n > 0 {
		w.timer.Reset(w.silence)
	}
	if err != nil && w.silent.Load() {
		err = w.err() // not context.Canceled, which would seem to be that of the caller
	}
	return n, err
}

func (w *watched) Close() error {
	w.timer.Stop()
	w.cancel()
	return w.body.Close()
}

// lost is an error of the connection. The server may have carried out the request.
type lost struct{ cause error }

func (e *lost) Error() string { return e.cause.Error() }
func (e *lost) Unwrap() error { return e.cause }

// delay reports whether an error is temporary, and the time until the next attempt.
func (c *Client) delay(attempt int, err error) (time.Duration, bool) {
	backoff := min(firstWait<<min(attempt-1, 20), c.opts.MaxWait)
	backoff = backoff/2 + mathrand.N(backoff/2+1)
	var broken *lost
	if errors.As(err, &broken) {
		return backoff, true
	}
	var d *problem.Details
	if !errors.As(err, &d) {
		return 0, false
	}
	switch d.StatusCode() {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	case http.StatusConflict:
		if d.Kind != problem.InFlight {
			return 0, false
		}
	default:
		return 0, false
	}
	asked := retryAfter(d.Header.Get("Retry-After"), time.Now())
	return max(asked, backoff), asked <= c.opts.MaxWait
}

// retryAfter parses Retry-After (RFC 9110 section 10.2.3): seconds or a date. It is zero if the
// value is missing or invalid.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil {
		if high, low := bits.Mul64(seconds, uint64(time.Second)); high == 0 && low < 1<<62 {
			return time.Duration(low)
		}
		return 1 << 62
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// refusal returns the error of a response that is not a success: problem details, or a text for a
// status code that is no error in HTTP.
func refusal(resp *http.Response, content []byte) error {
	if resp.StatusCode >= http.StatusBadRequest {
		return details(resp, content)
	}
	if at := resp.Header.Get("Location"); at != "" {
		return fmt.Errorf("the response %q redirects to %s, which is not followed", resp.Status, at)
	}
	return fmt.Errorf("unexpected response %q", resp.Status)
}

// details returns the problem details of an error response (RFC 9457). If the content has none, as
// the content of a proxy, the kind follows from the status code.
func details(resp *http.Response, content []byte) *problem.Details {
	d := &problem.Details{Status: resp.StatusCode, Header: resp.Header}
	var wire struct {
		Type     string              `json:"type"`
		Detail   string              `json:"detail"`
		Instance string              `json:"instance"`
		Errors   []problem.Violation `json:"errors"`
	}
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if media == problem.MediaType && json.Unmarshal(content, &wire) == nil {
		d.Kind, d.Detail, d.Instance, d.Errors = kind(wire.Type), wire.Detail, wire.Instance, wire.Errors
		d.Extensions = extensions(content)
		return d
	}
	for k := range problem.Kinds() {
		if k.Status() == resp.StatusCode {
			d.Kind = k
			break
		}
	}
	return d
}

// kind returns the kind of a type URI: that of the library, or the URI itself.
func kind(uri string) problem.Kind {
	for k := range problem.Kinds() {
		if k.URI() == uri {
			return k
		}
	}
	return problem.Kind(uri)
}

// extensions returns the members of problem details that RFC 9457 does not define.
func extensions(content []byte) map[string]any {
	var all map[string]any
	if json.Unmarshal(content, &all) != nil {
		return nil
	}
	for _, name := range []string{"type", "title", "status", "detail", "instance", "errors"} {
		delete(all, name)
	}
	return all
}

// newKey returns a UUID of version 7 (RFC 9562 section 5.7).
func newKey() string {
	var id [16]byte
	rand.Read(id[6:])
	var now [8]byte
	binary.BigEndian.PutUint64(now[:], uint64(time.Now().UnixMilli()))
	copy(id[:6], now[2:])
	id[6] = 0x70 | id[6]&0x0f
	id[8] = 0x80 | id[8]&0x3f
	text := hex.EncodeToString(id[:])
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// quoted returns a String of RFC 9651 section 3.3.3.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
