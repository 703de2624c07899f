package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/server"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

// Event is one event of the collection of things. An event without Kind is a bookmark.
type Event struct {
	Cursor, Kind, ID string
	N                int // version; 0 after a deletion
	Name             string
	At               time.Time // of receipt
}

// Kinds of events.
const (
	Created = "created"
	Updated = "updated"
	Deleted = "deleted"
)

var (
	// ErrExpired reports that a stream cannot be resumed from a cursor.
	ErrExpired = errors.New("cursor expired")
	// ErrMalformed reports that a text is not a cursor.
	ErrMalformed = errors.New("invalid cursor")
)

// StatusError is the status of a response that is not a stream.
type StatusError int

func (e StatusError) Error() string { return fmt.Sprintf("status %d", int(e)) }

// Stream is a subscription. Close may be called concurrently with Next.
type Stream interface {
	Next() (Event, error)
	Close()
}

// Protocol opens streams. An empty cursor starts at the present.
type Protocol interface {
	Subscribe(ctx context.Context, base, cursor string, v View) (Stream, error)
}

// View filters events. The zero value is everything.
type View struct {
	Lane int  // if it is not 0
	Open bool // open things only
}

// variables are those of the GraphQL subscription.
func (v View) variables(cursor string) map[string]any {
	variables := map[string]any{}
	if cursor != "" {
		variables["after"] = cursor
	}
	switch {
	case v.Open:
		variables["filter"] = map[string]any{"open": map[string]any{"eq": true}}
	case v.Lane > 0:
		variables["filter"] = map[string]any{"lane": map[string]any{"eq": v.Lane}}
	}
	return variables
}

// query is the filter in a URL.
func (v View) query() string {
	switch {
	case v.Open:
		return "open=true"
	case v.Lane > 0:
		return fmt.Sprint("lane=", v.Lane)
	}
	return ""
}

// sse is server-sent events of REST or GraphQL.
type sse struct {
	client  *http.Client
	graphql bool
}

// REST subscribes by server-sent events of the collection.
func REST(l *Link) Protocol { return sse{client: streaming(l)} }

// GraphQLSSE subscribes by server-sent events of GraphQL.
func GraphQLSSE(l *Link) Protocol { return sse{client: streaming(l), graphql: true} }

func streaming(l *Link) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: l.Dial, DisableKeepAlives: true, DisableCompression: true}}
}

func (s sse) Subscribe(ctx context.Context, base, cursor string, v View) (Stream, error) {
	method, url, body := http.MethodGet, base+server.ThingsPath+"?"+v.query(), []byte(nil)
	if s.graphql {
		var err error
		method, url = http.MethodPost, base+"/graphql"
		body, err = json.Marshal(map[string]any{"query": subscription, "variables": v.variables("")})
		if err != nil {
			return nil, err
		}
	}
	stream, err := OpenStream(ctx, s.client, method, url, body, cursor)
	if err != nil {
		return nil, err
	}
	return &sseStream{stream, s.graphql}, nil
}

// EventStream is a response of server-sent events.
type EventStream struct {
	*eventstream.Reader
	body   io.Closer
	cancel context.CancelFunc
}

// OpenStream requests server-sent events after a cursor, if it is not empty. body is JSON.
func OpenStream(ctx context.Context, c *http.Client, method, url string, body []byte, cursor string) (*EventStream, error) {
	ctx, cancel := context.WithCancel(ctx)
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		cancel()
		return nil, err
	}
	req.Header.Set("Accept", eventstream.ContentType)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if cursor != "" {
		req.Header.Set("Last-Event-ID", cursor)
	}
	res, err := c.Do(req)
	if err != nil {
		cancel()
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return &EventStream{eventstream.NewReader(res.Body, nil), res.Body, cancel}, nil
	}
	defer cancel()
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body)
	switch res.StatusCode {
	case http.StatusGone:
		return nil, ErrExpired
	case http.StatusBadRequest:
		return nil, ErrMalformed
	}
	return nil, StatusError(res.StatusCode)
}

// Close may be called concurrently with Next.
func (s *EventStream) Close() {
	s.cancel()
	s.body.Close()
}

type sseStream struct {
	*EventStream
	graphql bool // events are messages of graphql-sse
}

func (s *sseStream) Next() (Event, error) {
	message, err := s.EventStream.Next()
	if err != nil {
		return Event{Cursor: s.LastID()}, err // a bookmark is an id without an event
	}
	if s.graphql {
		if message.Name != "next" { // complete, after an error in the last response
			return Event{}, io.EOF
		}
		return graphqlEvent(message.Data)
	}
	e := Event{Cursor: message.ID, Kind: message.Name, At: time.Now()}
	switch e.Kind {
	case Created, Updated, Deleted:
	default: // an event that gives the reason for the end of the stream
		return e, fmt.Errorf("event %q: %.200s", message.Name, message.Data)
	}
	var v server.Thing
	if err := json.Unmarshal(message.Data, &v); err != nil {
		return e, fmt.Errorf("the data of %q: %w", e.Kind, err)
	}
	e.ID, e.N, e.Name = v.ID, v.N, v.Name
	if e.Kind == Deleted {
		e.N = 0
	}
	return e, e.check()
}

func (e Event) check() error {
	if e.Cursor == "" || e.ID == "" {
		return fmt.Errorf("event %q of %q without a cursor or an id", e.Kind, cmp.Or(e.ID, "nothing"))
	}
	return nil
}
