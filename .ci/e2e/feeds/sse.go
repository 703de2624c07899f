package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

// sse listens to the collection by server-sent events, in REST or in GraphQL.
type sse struct {
	client  *http.Client
	graphql bool
}

func newSSE(l *line) ear        { return sse{client: streaming(l)} }
func newGraphQLSSE(l *line) ear { return sse{client: streaming(l), graphql: true} }

func streaming(l *line) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: l.dial, DisableKeepAlives: true, DisableCompression: true}}
}

func (s sse) request(ctx context.Context, base string, v view) (*http.Request, error) {
	if !s.graphql {
		return http.NewRequestWithContext(ctx, http.MethodGet, base+path+"?"+v.String(), nil)
	}
	body, err := json.Marshal(map[string]any{"query": subscription, "variables": v.variables("")})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/graphql", bytes.NewReader(body))
	if err == nil {
		req.Header.Set("Content-Type", plainJSON)
	}
	return req, err
}

func (s sse) listen(ctx context.Context, base, cursor string, v view) (stream, error) {
	ctx, cancel := context.WithCancel(ctx)
	req, err := s.request(ctx, base, v)
	if err != nil {
		cancel()
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	if cursor != "" {
		req.Header.Set("Last-Event-ID", cursor)
	}
	res, err := s.client.Do(req)
	if err != nil {
		cancel()
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		defer cancel()
		defer res.Body.Close()
		io.Copy(io.Discard, res.Body)
		switch res.StatusCode {
		case http.StatusGone:
			return nil, errExpired
		case http.StatusBadRequest:
			return nil, errMalformed
		}
		return nil, statusError(res.StatusCode)
	}
	return &sseStream{res.Body, eventstream.NewReader(res.Body, nil), cancel, s.graphql}, nil
}

type sseStream struct {
	body   io.ReadCloser
	reader *eventstream.Reader
	cancel context.CancelFunc
	// graphql says that the events are messages of graphql-sse.
	graphql bool
}

func (s *sseStream) close() {
	s.cancel()
	s.body.Close()
}

func (s *sseStream) next() (frame, error) {
	e, err := s.reader.Next()
	if err != nil {
		// A place may have come without an event.
		return frame{cursor: s.reader.LastID()}, err
	}
	if s.graphql {
		return messageOf(e)
	}
	f := frame{cursor: e.ID, kind: e.Name, at: time.Now()}
	switch f.kind {
	case created, updated, deleted:
	default: // an event that says why the stream ends
		return f, fmt.Errorf("event %q: %.200s", e.Name, e.Data)
	}
	var v thing
	if err := json.Unmarshal(e.Data, &v); err != nil {
		return f, fmt.Errorf("the data of %q: %w", f.kind, err)
	}
	f.id, f.n, f.name = v.ID, v.N, v.Name
	if f.kind == deleted {
		f.n = 0
	}
	return f, missing(f)
}

// messageOf reads an event of graphql-sse. What is refused is told in an answer, and the stream is complete then.
func messageOf(e eventstream.Event) (frame, error) {
	if e.Name != "next" {
		return frame{}, io.EOF
	}
	return frameOf(e.Data)
}

// missing says what a frame has to have.
func missing(f frame) error {
	if f.cursor == "" || f.id == "" {
		return fmt.Errorf("a frame %q of %q without %s", f.kind, cmp.Or(f.id, "nothing"), "a cursor or an id")
	}
	return nil
}
