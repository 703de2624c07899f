package middleware

// Reading the sessions of many streams at once. sessions.go calls readBatched.

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
)

// sessionBatch is one read. An event authorizes all streams at once: calls that arrive during a read
// are collected for the next one. A result is therefore never older than its call, so revoked
// permissions take effect at once. With 1,000 streams, an event needs a few reads and not 1,000.
type sessionBatch[T any] struct {
	tokens map[string]bool
	done   chan struct{} // closed when found and err are set
	found  map[string]Session[T]
	err    error
}

// readBatched is readSession in a batch.
func (s *Sessions[T]) readBatched(ctx context.Context, token string) (Session[T], error) {
	b := s.addToBatch(token)
	select {
	case <-b.done:
	case <-ctx.Done():
		return Session[T]{}, ctx.Err()
	}
	if b.err != nil {
		return Session[T]{}, b.err
	}
	return s.valid(b.found, token)
}

// addToBatch adds a token to the next batch, and starts readBatches if it is not running.
func (s *Sessions[T]) addToBatch(token string) *sessionBatch[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		s.next = &sessionBatch[T]{tokens: map[string]bool{}, done: make(chan struct{})}
	}
	s.next.tokens[token] = true
	if !s.busy {
		s.busy = true
		go s.readBatches()
	}
	return s.next
}

// readBatches reads batches until no call is waiting. A read does not use the context of a caller,
// because one caller must not cancel it for the others.
func (s *Sessions[T]) readBatches() {
	for b := s.nextBatch(); b != nil; b = s.nextBatch() {
		s.readBatch(b)
	}
}

// readBatch reads one batch. A panic of find is an error, because it is no panic of a request.
func (s *Sessions[T]) readBatch(b *sessionBatch[T]) {
	ctx, cancel := context.WithTimeout(context.Background(), s.opts.ReadTimeout)
	defer cancel()
	defer close(b.done)
	defer func() {
		if v := recover(); v != nil {
			b.err = fmt.Errorf("middleware: find panicked: %v", v)
		}
	}()
	b.found, b.err = s.find(ctx, slices.Collect(maps.Keys(b.tokens)))
}

// nextBatch returns the next batch, or nil if no call is waiting. It yields first, so that goroutines
// that are about to call addToBatch are part of the batch.
func (s *Sessions[T]) nextBatch() *sessionBatch[T] {
	runtime.Gosched()
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.next
	s.next, s.busy = nil, b != nil
	return b
}
