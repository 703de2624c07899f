package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// frame is one thing that somebody hears. One without a kind says only how far it has come.
type frame struct {
	cursor, kind, id string
	n                int // 0 of what was deleted
	name             string
	at               time.Time // when it was read
}

// What can happen to an item.
const (
	created = "created"
	updated = "updated"
	deleted = "deleted"
)

// errExpired is what somebody is told whose cursor nothing can go on from, and errMalformed whose cursor is none.
var (
	errExpired   = errors.New("the cursor has expired")
	errMalformed = errors.New("that is no cursor")
)

// statusError is an answer that is no stream.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("status %d", int(e)) }

// stream is what one hears. It is for one goroutine, but for close.
type stream interface {
	// next waits for a frame.
	next() (frame, error)
	close()
}

// ear opens streams. An empty cursor is now.
type ear interface {
	listen(ctx context.Context, base, cursor string, v view) (stream, error)
}

// view is what somebody wants to hear of. The zero value is everything.
type view struct {
	lane int // of this one only, if it is not 0
	open bool
}

// variables are those of the subscription.
func (v view) variables(cursor string) map[string]any {
	variables := map[string]any{}
	if cursor != "" {
		variables["after"] = cursor
	}
	switch {
	case v.open:
		variables["filter"] = map[string]any{"open": map[string]any{"eq": true}}
	case v.lane > 0:
		variables["filter"] = map[string]any{"lane": map[string]any{"eq": v.lane}}
	}
	return variables
}

// String is the filter in a URL.
func (v view) String() string {
	switch {
	case v.open:
		return "open=true"
	case v.lane > 0:
		return fmt.Sprint("lane=", v.lane)
	}
	return ""
}
