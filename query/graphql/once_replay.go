package graphql

import (
	"bytes"
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// noted is what a record keeps of an item that its answer shows, so that policy can be asked about it again.
type noted struct {
	Key  string         `json:"key"` // of the write that leads to it
	Of   string         `json:"of"`  // the resource
	ID   string         `json:"id"`
	Item jsontext.Value `json:"item,omitempty"`
}

// notes returns the JSON array of what is noted, with a line break behind it; nothing if there is nothing to note. An answer
// begins with a brace, so the two can be told apart.
//
// What everybody may see is not noted, so that most answers are kept as they are.
func (e *errand) notes() []byte {
	var list []noted
	known := map[[2]string]bool{}
	for s := range e.prepared.Shown() {
		item, guarded := s.Of.Remember(s.Entry)
		if at := [2]string{s.Of.Name(), s.Entry.ID}; guarded && !known[at] {
			known[at] = true
			list = append(list, noted{s.Key, s.Of.Name(), s.Entry.ID, item})
		}
	}
	if list == nil {
		return nil
	}
	doc, err := json.Marshal(list)
	if err != nil { // it is made of what has been written as JSON before
		panic(fmt.Sprintf("graphql: items cannot be noted: %v", err))
	}
	return append(doc, '\n')
}

// notKept is the code of an answer that was too long to be kept.
const notKept = "ANSWER_NOT_KEPT"

// Replay restores the answer of a record, unless the caller may not have it any more.
func (e *errand) Replay(ctx context.Context, rec *idempotency.Record) error {
	answer, key, err := e.recall(ctx, rec)
	switch {
	case err != nil:
		e.k.fresh++
		e.dst = e.refuse(ctx, key, err)
		return nil
	case rec.Reference():
		e.k.reference = true
		answer = withoutData(nil, &gqlerror.Error{Code: notKept,
			Message: "This was done before, and its answer was too long to be kept. Ask for what you " +
				"need of it."})
	}
	e.k.replayed++
	e.dst = append(e.dst[:e.start], answer...)
	return nil
}

// recall takes the notes off an answer, and asks policy again: about the commands, and about every item that the answer
// shows something of.
func (e *errand) recall(ctx context.Context, rec *idempotency.Record) (answer []byte, key string, err error) {
	if key, err = e.prepared.Permit(ctx); err != nil {
		return nil, key, err
	}
	if !bytes.HasPrefix(rec.Result, []byte{'['}) {
		return rec.Result, "", nil
	}
	doc, answer, _ := bytes.Cut(rec.Result, []byte{'\n'})
	var list []noted
	if err := json.Unmarshal(doc, &list); err != nil {
		return nil, e.writes[0].Key, err
	}
	resources := map[string]*resource.Resource{}
	for _, r := range e.k.h.catalog.Resources() {
		resources[r.Name()] = r
	}
	for _, n := range list {
		r := resources[n.Of]
		if r == nil { // the program has changed since
			return nil, n.Key, resource.ErrNotFound
		}
		if err := r.Recall(ctx, n.ID, n.Item); err != nil {
			return nil, n.Key, err
		}
	}
	return answer, "", nil
}

// refuse appends an answer that has nothing but an error of one of the fields.
func (e *errand) refuse(ctx context.Context, key string, err error) []byte {
	told := gqlerror.Of(err)
	if resource.Problem(err).Kind == problem.Internal && told.Problem != nil {
		e.k.logError(ctx, told.Problem.Instance, err)
	}
	told.Path = []any{key}
	return withoutData(e.dst[:e.start], told)
}

// withoutData appends an answer to what was executed, with nothing but an error.
func withoutData(dst []byte, e *gqlerror.Error) []byte {
	dst = gqlerror.Answer(dst, e)
	return append(dst[:len(dst)-1], `,"data":null}`...)
}
