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

// notedItem identifies an item in a stored response, so that it can be authorized again before a
// replay.
type notedItem struct {
	Key  string         `json:"key"` // response key of the write
	Of   string         `json:"of"`  // name of the resource
	ID   string         `json:"id"`
	Item jsontext.Value `json:"item,omitempty"`
}

// notes returns a JSON array of the items in the response and a newline, or nil if no item needs
// authorization. A response begins with a brace, so a record with notes can be recognized.
//
// Items of public resources are not notedItem, so most responses are stored unchanged.
func (e *keyedMutation) notes() []byte {
	var list []notedItem
	known := map[[2]string]bool{}
	for s := range e.prepared.Shown() {
		item, guarded := s.Of.Raw().Remember(s.Entry)
		if at := [2]string{s.Of.Name(), s.Entry.ID}; guarded && !known[at] {
			known[at] = true
			list = append(list, notedItem{s.Key, s.Of.Name(), s.Entry.ID, item})
		}
	}
	if list == nil {
		return nil
	}
	doc, err := json.Marshal(list)
	if err != nil { // the values have been marshaled before
		panic(fmt.Sprintf("graphql: marshaling notes of a stored response: %v", err))
	}
	return append(doc, '\n')
}

// notKept is the code of an error for a response that was too large to be stored.
const notKept = "ANSWER_NOT_KEPT"

// Replay restores the response of a record, unless the caller is no longer authorized.
func (e *keyedMutation) Replay(ctx context.Context, rec *idempotency.Record) error {
	answer, key, err := e.recall(ctx, rec)
	switch {
	case err != nil:
		e.k.fresh++
		e.dst = e.refuse(ctx, key, err)
		return nil
	case rec.Reference():
		e.k.reference = true
		answer = withoutData(nil, &gqlerror.Error{Code: notKept,
			Message: "The mutation was executed before, and its result was too long to be stored. " +
				"Query the fields that you need."})
	}
	e.k.replayed++
	e.dst = append(e.dst[:e.start], answer...)
	return nil
}

// recall removes the notes from a stored response. It authorizes the commands and the notedItem items
// again.
func (e *keyedMutation) recall(ctx context.Context,
	rec *idempotency.Record) (answer []byte, key string, err error) {
	if key, err = e.prepared.Permit(ctx); err != nil {
		return nil, key, err
	}
	if !bytes.HasPrefix(rec.Result, []byte{'['}) {
		return rec.Result, "", nil
	}
	doc, answer, _ := bytes.Cut(rec.Result, []byte{'\n'})
	var list []notedItem
	if err := json.Unmarshal(doc, &list); err != nil {
		return nil, e.writes[0].Key, err
	}
	resources := map[string]*resource.Resource{}
	for _, r := range e.k.h.catalog.Resources() {
		resources[r.Name()] = r
	}
	for _, n := range list {
		r := resources[n.Of]
		if r == nil { // the resource has been removed from the catalog
			return nil, n.Key, resource.ErrNotFound
		}
		if err := r.Raw().Recall(ctx, n.ID, n.Item); err != nil {
			return nil, n.Key, err
		}
	}
	return answer, "", nil
}

// refuse appends a response with an error of one field.
func (e *keyedMutation) refuse(ctx context.Context, key string, err error) []byte {
	reply := gqlerror.Of(err)
	if resource.Problem(err).Kind == problem.Internal && reply.Problem != nil {
		e.k.logError(ctx, reply.Problem.Instance, err)
	}
	reply.Path = []any{key}
	return withoutData(e.dst[:e.start], reply)
}

// withoutData appends the response of an executed operation without data.
func withoutData(dst []byte, e *gqlerror.Error) []byte {
	dst = gqlerror.Answer(dst, e)
	return append(dst[:len(dst)-1], `,"data":null}`...)
}
