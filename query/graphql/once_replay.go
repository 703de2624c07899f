package graphql

import (
	"bytes"
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query/graphql/internal/fault"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// noted is what a record keeps of an item that its answer shows, so that policy can be asked about it again.
type noted struct {
	Write int            `json:"w"` // which of the writes
	ID    string         `json:"id"`
	Item  jsontext.Value `json:"item,omitempty"`
}

// notes returns the JSON array of what is noted, with a line break behind it; nothing if there is nothing to note. An answer
// begins with a brace, so the two can be told apart.
func (e *errand) notes() []byte {
	var list []noted
	for i, shown := range e.prepared.Shown() {
		if shown == nil {
			continue
		}
		if item := e.writes[i].Field.Resource.Remember(shown); item != nil {
			list = append(list, noted{i, shown.ID, item})
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

// replay appends an answer that was given before, unless the caller may not have it any more.
func (e *errand) replay(ctx context.Context, rec *idempotency.Record) []byte {
	answer, key, err := e.recall(ctx, rec)
	switch {
	case err != nil:
		e.x.fresh++
		return e.refuse(key, err)
	case rec.Reference():
		e.x.reference = true
		answer = withoutData(nil, &fault.Error{Code: notKept,
			Message: "This was done before, and its answer was too long to be kept. Ask for what you need of it."})
	}
	e.x.replayed++
	return append(e.dst[:e.start], answer...)
}

// recall takes the notes off an answer, and asks policy again: about the commands, and about the items that were written.
// What is selected from them is shown as it was.
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
	for _, n := range list {
		if n.Write >= len(e.writes) { // whoever has the same fingerprint has the same writes, but records are old
			return nil, "", fmt.Errorf("an answer shows the item of write %d of %d", n.Write, len(e.writes))
		}
		w := &e.writes[n.Write]
		if err := w.Field.Resource.Recall(ctx, n.ID, n.Item); err != nil {
			return nil, w.Key, err
		}
	}
	return answer, "", nil
}

// refuse appends an answer that has nothing but an error of one of the fields.
func (e *errand) refuse(key string, err error) []byte {
	told := fault.Of(err)
	if resource.Problem(err).Kind == problem.Internal && told.Problem != nil {
		e.x.report(told.Problem.Instance, err)
	}
	told.Path = []any{key}
	return withoutData(e.dst[:e.start], told)
}

// withoutData appends an answer to what was executed, with nothing but an error.
func withoutData(dst []byte, e *fault.Error) []byte {
	dst = fault.Answer(dst, e)
	return append(dst[:len(dst)-1], `,"data":null}`...)
}
