package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// honest asks like a good client, again and again, and notes how long the answers take.
type honest struct {
	url   string
	every time.Duration

	mu     sync.Mutex
	took   []time.Duration
	failed int
	first  error
}

// ask goes on until ctx ends, and asks once at least, however late it begins. Every second request has a connection of its
// own: that is what a server has none left for if it gives all of them away.
func (h *honest) ask(ctx context.Context) {
	kept := &http.Client{Timeout: 5 * time.Minute, Transport: &http.Transport{}}
	fresh := &http.Client{Timeout: 5 * time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	defer kept.CloseIdleConnections()
	tick := time.NewTicker(h.every)
	defer tick.Stop()
	for n := 0; n == 0 || ctx.Err() == nil; n++ {
		client := kept
		if n%2 == 1 {
			client = fresh
		}
		began := time.Now()
		err := h.once(client)
		h.note(time.Since(began), err)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

func (h *honest) once(client *http.Client) error {
	res, err := client.Get(h.url)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %d", h.url, res.StatusCode)
	}
	return nil
}

func (h *honest) note(took time.Duration, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.took = append(h.took, took)
	if err != nil {
		h.failed++
		if h.first == nil {
			h.first = err
		}
	}
}

// figures are how many requests there were, and how long half of them and 99 of 100 took at most.
func (h *honest) figures() (n int, p50, p99 time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.Sort(h.took)
	if n = len(h.took); n == 0 {
		return 0, 0, 0
	}
	return n, h.took[n/2], h.took[n*99/100]
}

// during asks while something is done.
func during(ctx context.Context, url string, do func() error) (*honest, error) {
	h := &honest{url: url, every: 10 * time.Millisecond}
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.ask(ctx)
	}()
	err := do()
	stop()
	<-done
	return h, err
}
