// Package client calls the HTTP API of a Stoa catalog from Go, and keeps what the API promises:
//
//	api, err := client.New("https://shop.example.com/v2", nil)
//	orders := client.NewResource[Order](api, "orders")
//
//	order, err := orders.Create(ctx, &Order{Status: "placed"}) // one effect, however often it is sent
//	order, err = orders.Update(ctx, "42", func(o *Order) error { // no lost updates
//		o.Status = "paid"
//		return nil
//	})
//	for order, err := range orders.List(ctx, query.Query{}) { ... }     // all pages
//	for change, err := range orders.Follow(ctx, cursor, nil) { ... }    // every change, after a crash too
//
// # Writes
//
// Each write has an Idempotency-Key, so it is repeated safely if the connection breaks or the
// server responds with a temporary error. A write that must also survive a crash of the caller needs
// a key that the caller has stored; see [WithKey]. The catalog of the server must have Idempotency and
// Principal; see its start-up report.
//
// # Errors
//
// An error response is a [*problem.Details], found with [errors.As]:
//
//	var details *problem.Details
//	if errors.As(err, &details) && details.Kind == problem.NotFound { ... }
//
// Requests that fail temporarily are repeated with exponential backoff, or after the time of
// Retry-After. These are connections that break, the status codes 408, 425, 429, 502, 503 and 504,
// and a 409 because the first request with the same key has not finished.
//
// All other faults are returned at once: a redirect that would change the method, because the write
// would become a GET; a response that is not JSON, such as the page of a proxy; and an id that is
// empty, "." or "..", which would be the path of something else.
//
// The package depends on net/http and leaves of the library only. Servers need the lists, problem
// details and streams of package rest.
package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options configures a Client. The zero value selects the defaults.
type Options struct {
	// HTTP sends the requests. Default [http.DefaultClient]. Its Timeout also ends streams, so limit
	// requests by their contexts instead. A Transport can add credentials that change.
	HTTP *http.Client
	// Header is added to each request, such as Authorization or API-Version. Default none.
	Header http.Header
	// Attempts limits how often a request is sent. Default 8, which is about 20 seconds. A negative
	// value is no limit: the context ends the attempts.
	Attempts int
	// MaxWait limits the time between two attempts. Default 10s. If Retry-After is longer, the error
	// of the response is returned.
	MaxWait time.Duration
	// PageSize is the number of items in each request of List and Follow. Default: that of the server.
	PageSize int
	// Silence is the time without data after which a response to Follow is considered lost, also
	// before it begins. Default 45s, three times the interval in which the server sends heartbeats.
	// Other requests are limited by their contexts only.
	Silence time.Duration
}

// Client sends requests to one API. It is safe for concurrent use.
type Client struct {
	base string // without a slash at the end
	opts Options
}

// New returns a client of the API at base, an absolute URL such as https://shop.example.com/v2. A
// nil opts selects the defaults.
func New(base string, opts *Options) (*Client, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return nil, fmt.Errorf("client: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("client: %q is not an absolute URL of http or https", base)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("client: %q has a query or a fragment; set Options.Header instead", base)
	}
	c := &Client{base: strings.TrimRight(base, "/")}
	if opts != nil {
		c.opts = *opts
	}
	c.opts.HTTP = keepMethod(cmp.Or(c.opts.HTTP, http.DefaultClient))
	c.opts.Attempts = cmp.Or(c.opts.Attempts, 8)
	c.opts.MaxWait = cmp.Or(max(c.opts.MaxWait, 0), 10*time.Second)
	c.opts.Silence = cmp.Or(max(c.opts.Silence, 0), 45*time.Second)
	return c, nil
}

// Call sends in as JSON to the command name, such as "orders/cancel-stale", and decodes the response
// into out. A nil in is an empty object, and a nil out discards the response.
func (c *Client) Call(ctx context.Context, name string, in, out any) error {
	content := []byte("{}")
	if in != nil {
		var err error
		if content, err = json.Marshal(in); err != nil {
			return fmt.Errorf("client: %s: %w", name, err)
		}
	}
	req := &request{method: http.MethodPost, path: "/" + name, content: content, write: true}
	resp, err := c.send(ctx, req)
	if err != nil || len(resp.content) == 0 {
		return err
	}
	if out == nil {
		out = new(json.RawMessage) // the page of a proxy is no success
	}
	return resp.decode(out)
}

type keyOfContext struct{}

// WithKey returns a context with the idempotency key of the next write: 1 to 255 printable ASCII
// characters. A caller that stores the key before the write, and repeats the write with it after a
// crash, has one effect. Each write needs a key of its own. Without WithKey each write has a new key,
// a UUID of version 7 (RFC 9562).
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyOfContext{}, key)
}
