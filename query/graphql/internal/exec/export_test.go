package exec

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
)

// Listener is a subscription to which a test tells changes by itself.
type Listener struct{ s *subscription }

// Listener returns one; alone writes all of its messages itself, as if nobody else had asked for the same.
func (e *Engine) Listener(p *Plan, variables map[string]jsontext.Value, alone bool) *Listener {
	s, errs := e.newSubscription(p, variables, "")
	if errs != nil {
		panic(errs[0])
	}
	if alone {
		s.key = nil
	}
	return &Listener{s}
}

// Message returns what is told of a change.
func (l *Listener) Message(ctx context.Context, c *feed.Change[resource.Entry]) []byte {
	return l.s.message(ctx, c)
}
