package resource

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// Batches reports whether several writes can be one: whether POST also takes a list of operations that stand or fall
// together. The collection is a [Transactor] then, and one in which items are created. The content is of the type
// application/vnd.stoa.batch+json:
//
//	{"operations": [
//		{"op": "create",  "value": {...}},
//		{"op": "replace", "id": "7", "ifMatch": "\"tag\"", "value": {...}},
//		{"op": "patch",   "id": "7", "patch": {...}},
//		{"op": "delete",  "id": "9"}
//	]}
//
// A patch that is an object is a merge patch (RFC 7396), and one that is an array is a JSON Patch (RFC 6902). Each is done
// as the same request alone would be, with policy, hooks and conditions, in this order, and sees what those before it have
// done; the answer has a result for each. The first that is refused takes back all: the answer is its problem, with the
// index of the operation beside. The items in an answer are eight times Limits.Body together at most: behind that they are
// left out, as with Prefer: return=minimal. With an Idempotency-Key they are half of what a record can hold at most, and the
// key stands for the whole batch.
func (r *Resource) Batches() bool { return r.core.ops.runner != nil && r.Can(OpCreate) }

// operationResult is what became of one operation.
type operationResult struct {
	entry  Entry // without its Value
	op     Op
	status int    // what the operation would have been answered with alone
	value  []byte // as JSON; nil if it is not shown
	shown  []byte // as JSON for the client, where value is not that
}

// operationError is the refusal of one operation, for which all others have been taken back.
type operationError struct {
	index int
	op    *batchOperation
	err   error
}

func (e *operationError) Error() string { return e.err.Error() }
func (e *operationError) Unwrap() error { return e.err }

// together carries out all operations in their order, or none. Each sees what those before it have done.
//
// The transaction may run more than once. That of a runner which does not see by itself that others were faster is run
// again here, like the loop of a single write. Locks of single ids are not taken: in which order a client names the ids
// is nobody's choice but its own, and two batches would wait for each other.
//
// show makes JSON of an item that has been written, at once, so that nothing else of it is kept: a short batch can patch a
// large item a thousand times. Once there is more than room for, the rest is not shown.
func (r *Resource) together(
	ctx context.Context, ops []batchOperation, room int64, show func(e *Entry) (value, shown []byte),
) (results []operationResult, err error) {
	attempt := func() error {
		return r.core.ops.runner.InTx(ctx, func(ctx context.Context) error {
			results = results[:0]
			left := room
			for i := range ops {
				result, err := r.carryOut(ctx, &ops[i])
				if err != nil {
					return &operationError{i, &ops[i], err}
				}
				if result.op != OpDelete && left > 0 {
					value, shown := show(&result.entry)
					if left -= int64(len(value) + len(shown)); left >= 0 {
						result.value, result.shown = value, shown
					}
				}
				result.entry.Value, result.entry.stored = nil, nil
				results = append(results, result)
			}
			return nil
		})
	}
	if tx.Active(ctx) {
		err = attempt()
		return results, err
	}
	patience, cancel := context.WithTimeout(ctx, retryTimeout)
	defer cancel()
	err = retryStale(patience, attempt)
	return results, err
}

// carryOut does one operation, as the method of [Resource] for it does.
func (r *Resource) carryOut(ctx context.Context, op *batchOperation) (operationResult, error) {
	done := operationResult{op: opNamed(op.Op), status: http.StatusOK}
	var out Outcome
	var err error
	switch done.op {
	case OpCreate:
		done.status = http.StatusCreated
		done.entry, err = r.Create(ctx, op.Value, &op.opts)
	case OpReplace:
		if done.entry, out, err = r.Put(ctx, op.ID, op.Value, &op.opts); out == Created {
			done.status = http.StatusCreated
		}
	case OpPatch:
		done.entry, _, err = r.Patch(ctx, op.ID, op.change, &op.opts)
	case OpDelete:
		done.status = http.StatusNoContent
		done.entry, err = r.Delete(ctx, op.ID, &op.opts)
		if r.core.repeatedDelete == http.StatusNoContent && errors.Is(err, ErrGone) {
			done.entry, err = Entry{ID: op.ID}, nil
		}
	}
	return done, err
}

// problem is what to tell the client about the refusal: what it would have been told if the operation had come alone,
// with pointers into the batch, and which operation it was.
func (e *operationError) problem(told *problem.Details) *problem.Details {
	d := *told
	d.Extensions = map[string]any{"operation": e.index}
	for name, v := range told.Extensions {
		d.Extensions[name] = v
	}
	at := "/operations/" + strconv.Itoa(e.index)
	d.Errors = slices.Clone(d.Errors)
	for i := range d.Errors {
		if v := &d.Errors[i]; v.Parameter == "" && v.Header == "" {
			e.relocate(at, v)
		}
	}
	return &d
}

// relocate puts a violation of a document that came alone into the batch.
func (e *operationError) relocate(at string, v *problem.Violation) {
	switch {
	case e.op.Value != nil:
		v.Pointer = at + "/value" + v.Pointer
	case e.op.Patch == nil:
		v.Pointer = at
	case v.Operation != nil:
		v.Pointer = patchPointer(at+"/patch", *v.Operation)
	case e.op.Patch.Kind() == '{':
		v.Pointer = at + "/patch" + v.Pointer
	default: // it is about what the operations of a JSON Patch have made of the item: the batch has no such place
		if v.Pointer != "" {
			v.Detail = strings.TrimPrefix(v.Pointer, "/") + " of the result: " + v.Detail
		}
		v.Pointer = at + "/patch"
	}
}
