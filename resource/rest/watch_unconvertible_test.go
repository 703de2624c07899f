package rest_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// moody is a text that cannot always be marshaled.
type moody string

func (m moody) MarshalText() ([]byte, error) {
	switch m {
	case "panics as JSON":
		panic("secret")
	case "fails as JSON":
		return nil, errors.New("secret")
	}
	return []byte(m), nil
}

// TestFeedUnconvertible: a change that a contract cannot represent ends its streams permanently, if
// down fails or panics, or if its result does. A client that reconnects receives an expired cursor
// and does not meet the change again. The failure is logged once, and other contracts are not
// affected.
func TestFeedUnconvertible(t *testing.T) {
	type note struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	type shown struct {
		ID   string `json:"id"`
		Text moody  `json:"text"`
	}
	down := func(n note) (shown, error) {
		switch n.Text {
		case "panics":
			panic("secret")
		case "fails":
			return shown{}, errors.New("secret")
		}
		return shown{n.ID, moody(n.Text)}, nil
	}
	for _, text := range []string{"fails", "panics", "fails as JSON", "panics as JSON"} {
		t.Run(text, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var log bytes.Buffer
				f := feed.New(feed.NewMemory(nil), &feed.Options{BufferEvents: 2})
				defer f.Close()
				notes := resource.New("notes", memory.New[note](nil), nil)
				view := resource.View(notes, down, func(s shown, n note) (note, error) { return note{s.ID, string(s.Text)}, nil }, nil)
				opts := &resource.CatalogOptions{Feed: f, Logger: slog.New(slog.NewTextHandler(&log, nil))}
				now, then := rest.New(resource.NewCatalog(opts, notes), nil), rest.New(resource.NewCatalog(opts, view), nil)
				begin := eventCursor(t, then, "GET /notes")
				all := []*stream{open(t, then, "GET /notes", streamType)}
				other := open(t, now, "GET /notes?fields=id", streamType)
				create(t, now, "/notes", `{"id":"a","text":"`+text+`"}`)
				for range 5 { // until the cursor is no longer in the ring buffer
					create(t, now, "/notes", `{"text":"x"}`)
				}
				same(t, "the newest contract", 6, len(other.newEvents()))
				for range 3 {
					all = append(all, open(t, then, "GET /notes", streamType, "Last-Event-ID: "+begin))
				}
				for _, s := range all {
					if events, last := eventsIn(t, s.read()); !s.ended() || s.panicked != nil || len(events) > 0 || last != "expired" {
						t.Errorf("ended %v, panicked %v, heard %q, last id %q", s.ended(), s.panicked, events, last)
					}
				}
				wantProblem(t, send(t, then, "GET /notes", streamType, "Last-Event-ID: expired"), problem.CursorExpired)
				wantFault(t, send(t, then, "GET /notes/a"), problem.Internal)
				if n := strings.Count(log.String(), "event not sent"); n != 1 {
					t.Errorf("%d lines in the log, want one: %.1000s", n, &log)
				}
			})
		})
	}
}

// TestFeedFaults: a failure for one client may be temporary, so the client reconnects, but later
// than after a restart.
func TestFeedFaults(t *testing.T) {
	for _, how := range []string{"fails", "panics"} {
		t.Run(how, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var ill bool
				opts := &resource.Options[order]{Authorize: func(ctx context.Context, op resource.Op, _, _ *order) error {
					switch {
					case !ill || op != resource.OpGet || caller(ctx) != "ann":
						return nil
					case how == "panics":
						panic("secret")
					}
					return errors.New("secret")
				}}
				discard := slog.New(slog.DiscardHandler)
				c := rest.New(resource.NewCatalog(&resource.CatalogOptions{Feed: newFeed(t), Logger: discard},
					resource.New("orders", memory.New[order](nil), opts)), nil)
				h := byToken(c)
				s := open(t, h, "GET /orders?fields=id", streamType, "Authorization: Bearer ann")
				s.read()
				ill = true
				create(t, byTokenOf(h, "bob"), "/orders", `{"customerId":"bob"}`)
				if text := s.read(); !strings.HasPrefix(text, "retry: 2") || len(text) != len("retry: 20000\n\n") {
					t.Errorf("said %q, want to come back in 20 to 30 seconds", text)
				}
				if !s.ended() || s.panicked != http.ErrAbortHandler {
					t.Errorf("ended %v, panicked %v, want to be cut off", s.ended(), s.panicked)
				}
				time.Sleep(time.Minute)
				same(t, "after the end", "", s.read())
			})
		})
	}
}
