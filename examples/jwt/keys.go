package main

// A limit of the requests for the keys of the issuer.

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"time"
)

// keysEvery is the time for which a response of the issuer is used again. A new key is refused at most as
// long.
const keysEvery = 10 * time.Second

// keyRequests sends a request to the issuer at most once in keysEvery. In between it repeats the response,
// or the error, because go-oidc asks for the keys for each token with an unknown key or a wrong signature.
type keyRequests struct {
	now func() time.Time

	mu   sync.Mutex
	last map[string]issuerResponse // by URL: the configuration and the keys
}

type issuerResponse struct {
	at      time.Time
	head    *http.Response
	content []byte
	err     error
}

// RoundTrip implements [http.RoundTripper].
func (k *keyRequests) RoundTrip(r *http.Request) (*http.Response, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	url := r.URL.String()
	last, ok := k.last[url]
	if now := k.now(); !ok || now.Sub(last.at) >= keysEvery {
		last = issuerResponse{at: now}
		if last.head, last.err = http.DefaultTransport.RoundTrip(r); last.err == nil {
			last.content, last.err = io.ReadAll(io.LimitReader(last.head.Body, 1<<20))
			last.head.Body.Close()
		}
		if k.last == nil {
			k.last = map[string]issuerResponse{}
		}
		k.last[url] = last
	}
	if last.err != nil {
		return nil, last.err
	}
	resp := *last.head
	resp.Request, resp.Body = r, io.NopCloser(bytes.NewReader(last.content))
	return &resp, nil
}
