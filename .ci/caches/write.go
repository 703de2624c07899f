package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// A write changes the note of an order, which both contracts show.
type write struct {
	method, path, contentType string
	body                      string // with a place for the note
}

var writes = []write{
	{http.MethodPatch, "/orders/1", "application/merge-patch+json", `{"note": %q}`},
	{http.MethodPut, "/orders/2", jsonType, `{"note": %q, "lines": [{"itemId": 3, "qty": 10}]}`},
}

// staleness is how many of the voices that asked after a write were told what was there before it.
type staleness struct {
	method       string
	stale, asked int
}

// write asks for an order with every voice that gets one, changes it through the cache, and asks again. What comes then
// is nobody's mistake here: RFC 9111 section 4.4 wants a cache to forget what was written to, and most do not. Squid
// forgets which variants there are, but keeps them: whoever asks first gets the new one, the others find theirs again.
func (c *client) write(ctx context.Context, s subject, w write) (staleness, error) {
	note := s.cache + " " + w.method
	if _, err := c.countStale(ctx, s.shop+w.path, note); err != nil {
		return staleness{}, err
	}
	req, err := http.NewRequestWithContext(ctx, w.method, s.shop+w.path, strings.NewReader(fmt.Sprintf(w.body, note)))
	if err != nil {
		return staleness{}, err
	}
	req.Header.Set("Content-Type", w.contentType)
	status, _, body, err := c.send(req, voice{header: apiVersion, value: "2.0.0"})
	if err != nil {
		return staleness{}, err
	}
	if status != http.StatusOK && status != http.StatusNoContent {
		return staleness{}, fmt.Errorf("status %d: %s", status, body)
	}
	result, err := c.countStale(ctx, s.shop+w.path, note)
	result.method = w.method
	return result, err
}

func (c *client) countStale(ctx context.Context, url, note string) (staleness, error) {
	var s staleness
	for _, v := range voices {
		if v.status != http.StatusOK {
			continue
		}
		_, _, body, err := c.get(ctx, url, v)
		if err != nil {
			return s, err
		}
		var got struct {
			Note string `json:"note"`
		}
		if err := json.Unmarshal(body, &got); err != nil {
			return s, err
		}
		s.asked++
		if got.Note != note {
			s.stale++
		}
	}
	return s, nil
}
