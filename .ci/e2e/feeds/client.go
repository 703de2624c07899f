package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// contentType of what is sent.
const (
	plainJSON  = "application/json"
	mergePatch = "application/merge-patch+json"
)

// client sends requests that are over soon.
type client struct{ http *http.Client }

func newClient(most int) *client {
	return &client{&http.Client{Timeout: 5 * time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: most,
		DisableCompression: true}}}
}

// answer is what came back. Its status is 0 if nobody knows what happened.
type answer struct {
	status     int
	tag, place string // ETag and Event-Cursor
	body       []byte
	at         time.Time
	begun      time.Time // when it was asked for
	retry      bool      // it says when to come back
}

// ok is a write that happened, or something that was read.
func (a answer) ok() bool { return a.status >= 200 && a.status < 300 }

// unknown is a write that may have happened.
func (a answer) unknown() bool { return a.status == 0 || a.status >= 500 }

// send sends a request once. Each of header is a line such as "If-Match: x". A request of which there was no answer, or
// half of one, has an answer that says so.
func (c *client) send(ctx context.Context, method, url, body string, header ...string) answer {
	begun := time.Now()
	a := c.exchange(ctx, method, url, body, header)
	a.begun, a.at = begun, time.Now()
	return a
}

func (c *client) exchange(ctx context.Context, method, url, body string, header []string) answer {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return answer{}
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	if method == http.MethodGet {
		req.Body = nil
	}
	res, err := c.http.Do(req)
	if err != nil {
		return answer{}
	}
	defer res.Body.Close()
	a := answer{status: res.StatusCode, tag: res.Header.Get("ETag"), place: res.Header.Get("Event-Cursor"),
		retry: res.Header.Get("Retry-After") != ""}
	if a.body, err = io.ReadAll(res.Body); err != nil {
		return answer{}
	}
	return a
}

// read asks until somebody answers, for some minutes: after a crash there may be nobody for a moment.
func (c *client) read(ctx context.Context, url string) (a answer) {
	for limit := time.Now().Add(5 * time.Minute); ; pauseFor(ctx, 20*time.Millisecond) {
		a = c.send(ctx, http.MethodGet, url, "")
		if !a.unknown() || ctx.Err() != nil || time.Now().After(limit) {
			return a
		}
	}
}

// create creates a thing, and returns it as it is then.
func (c *client) create(ctx context.Context, base string, v thing) (thing, answer, error) {
	content := map[string]any{"name": v.Name, "lane": v.Lane, "n": v.N, "open": v.Open, "note": v.Note}
	text, err := json.Marshal(content)
	if err != nil {
		return v, answer{}, err
	}
	header := []string{"Content-Type: " + plainJSON}
	if v.Name == endName {
		header = append(header, lastField+": true")
	}
	a := c.send(ctx, http.MethodPost, base+path, string(text), header...)
	if a.ok() {
		err = json.Unmarshal(a.body, &v)
	}
	return v, a, err
}

// place returns where the feed is now. A list does not wait for a log that takes its time to say so, as at first, and has no
// cursor then.
func (c *client) place(ctx context.Context, base string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for {
		a := c.send(ctx, http.MethodGet, base+path+"?limit=1", "")
		if a.ok() && a.place != "" {
			return a.place, nil
		}
		if pauseFor(ctx, 20*time.Millisecond); ctx.Err() != nil || !a.ok() && !a.unknown() {
			return "", fmt.Errorf("a list without Event-Cursor: status %d, %.200s: %w", a.status, a.body, ctx.Err())
		}
	}
}

// all returns what is in the collection.
func (c *client) all(ctx context.Context, base string) ([]thing, error) {
	var things []thing
	for next := ""; ; {
		query := "?limit=200"
		if next != "" {
			query += "&after=" + next
		}
		a := c.read(ctx, base+path+query)
		var page struct {
			Items []thing `json:"items"`
			Next  string  `json:"next"`
		}
		if !a.ok() {
			return nil, fmt.Errorf("the list: status %d, %.200s", a.status, a.body)
		}
		if err := json.Unmarshal(a.body, &page); err != nil {
			return nil, fmt.Errorf("the list: %w", err)
		}
		things = append(things, page.Items...)
		if next = page.Next; next == "" {
			return things, nil
		}
	}
}
