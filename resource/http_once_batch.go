package resource

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/idempotency"
)

// doneOperation is what a record keeps of one operation of a batch.
type doneOperation struct {
	Op     Op             `json:"op"`
	Status int            `json:"status"`
	ID     string         `json:"id"`
	Rev    string         `json:"rev,omitempty"`
	Value  jsontext.Value `json:"value,omitempty"` // of the core
}

// batchOnce answers POST of a batch under a key. What the answer shows is no more than what can be kept.
func (x *call) batchOnce(w *writeRequest, ops []batchOperation, bad error, doc []byte, show func(e *Entry) []byte) error {
	res := x.route.resource
	room := min(maxShown*x.c.opts.Limits.Body, int64(x.c.opts.Once.Options().MaxResult)/2)
	var results []operationResult
	k := x.under(w, "", false, res.meaningOfBatch(ops, bad, doc))
	k.whole = true
	before, err := k.once(func(ctx context.Context) (rec idempotency.Record, err error) {
		if bad != nil {
			return rec, bad
		}
		if results, err = res.together(ctx, ops, room, func(e *Entry) (value, shown []byte) {
			if value = x.valueInHub(e); res.projection.down != nil {
				shown = show(e) // from all there is
			}
			return value, shown
		}); err != nil {
			return rec, err
		}
		return recordOfBatch(res.Name(), results)
	})
	if err != nil {
		return x.refused(err)
	}
	if before != nil {
		if results, err = x.batchAgain(before); err != nil {
			return err
		}
	}
	for i := range results {
		results[i].value = x.translated(&results[i], show)
	}
	return x.sendResults(w, results)
}

// valueInHub returns an item that has been written as JSON, as a record keeps it.
func (x *call) valueInHub(e *Entry) []byte {
	value, err := x.route.resource.core.typ.Append(nil, e.stored)
	if err != nil { // the write stands
		x.report(err)
		return nil
	}
	return value
}

func recordOfBatch(collection string, results []operationResult) (rec idempotency.Record, err error) {
	done := make([]doneOperation, len(results))
	for i := range results {
		r := &results[i]
		done[i] = doneOperation{r.op, r.status, r.entry.ID, string(r.entry.Rev), r.value}
	}
	rec = idempotency.Record{Status: http.StatusOK, Collection: collection, Media: mediaJSON}
	rec.Result, err = json.Marshal(done)
	return rec, err
}

// batchAgain reads the results of a batch that was done before. What the caller may not see any more is left out.
func (x *call) batchAgain(rec *idempotency.Record) ([]operationResult, error) {
	var done []doneOperation
	if rec.Result != nil { // else there were too many for what they are
		if err := json.Unmarshal(rec.Result, &done); err != nil {
			return nil, err
		}
	}
	res := x.route.resource
	if _, err := res.core.scopeOf(x.r.Context()); err != nil {
		return nil, err
	}
	results := make([]operationResult, len(done))
	for i, op := range done {
		r := operationResult{op: op.Op, status: op.Status, entry: Entry{ID: op.ID, Rev: Rev(op.Rev)}, value: op.Value}
		if whole := res.projection.down != nil; r.value != nil && (whole || res.guarded()) {
			r.entry.stored = res.core.typ.New()
			if json.Unmarshal(op.Value, r.entry.stored) != nil || res.core.stillVisible(x.r.Context(), &r.entry, whole) != nil {
				r.value = nil
			}
			r.entry.Value = nil
		}
		results[i] = r
	}
	x.replayed(rec)
	return results, nil
}

// translated makes what show shows of an item that is kept as JSON of the core.
func (x *call) translated(result *operationResult, show func(e *Entry) []byte) []byte {
	res := x.route.resource
	switch {
	case result.value == nil:
		return nil
	case result.shown != nil:
		return result.shown
	}
	e := result.entry
	if e.stored == nil {
		e.stored = res.core.typ.New()
		if err := json.Unmarshal(result.value, e.stored); err != nil {
			x.report(err)
			return nil
		}
	}
	if res.projection.down == nil {
		e.Value = e.stored
	}
	return show(&e)
}

// meaningOfBatch is what a batch means: its operations, each as it would alone.
func (r *Resource) meaningOfBatch(ops []batchOperation, bad error, doc []byte) []byte {
	if bad != nil {
		return idempotency.Meaning(mediaJSON, doc)
	}
	var parts [][]byte
	for i := range ops {
		op := &ops[i]
		var meaning []byte
		switch opNamed(op.Op) {
		case OpCreate:
			_, v, err := r.readNew(op.Value, &op.opts)
			if err != nil {
				v = nil
			}
			meaning = r.meaningOf(v, op.Value)
		case OpReplace:
			meaning = r.meaningOfPut(op.ID, op.Value, &op.opts)
		case OpPatch:
			meaning = idempotency.Meaning(mediaJSON, op.Patch)
		}
		parts = append(parts, []byte(op.Op), []byte(op.ID), []byte(op.IfMatch), meaning)
	}
	sum := idempotency.Fingerprint(parts...)
	return sum[:]
}
