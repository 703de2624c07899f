package exec

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
)

// Listener is a subscription to which a test passes changes.
type Listener struct{ s *subscription }

// Listener returns one. If alone is set, it does not share messages with other subscriptions.
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

// Message returns the message for a change.
func (l *Listener) Message(ctx context.Context, c *feed.Change[resource.Entry]) []byte {
	return l.s.message(ctx, c)
}

// Kept prepares a run of a plan, ends it, and returns how many maps of arguments the run keeps, and
// whether it keeps that of variables.
func (e *Engine) Kept(p *Plan, variables map[string]jsontext.Value) (arguments int, values bool) {
	r := e.begin(p)
	r.prepare(variables)
	r.end()
	for _, a := range r.argued[:cap(r.argued)] {
		if a.made != nil {
			arguments++
		}
	}
	return arguments, r.values != nil
}
