package resource

// Batches: operations on one collection that are carried out together or not at all. Called by
// protocols. It calls batch_read.go to read the document, write.go for each operation, and
// idempotency.go for the key.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/internal/retry"
	"github.com/stoa-go/stoa/resource/internal/safe"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// BatchOptions adjust a batch. nil is the zero value.
type BatchOptions struct {
	// WriteOptions are those of each operation, and Key that of the batch. If and NewID are not
	// used: the document has the preconditions.
	WriteOptions
	// MaxOperations limits the operations of the batch (413 if there are more), and of each JSON
	// Patch in it. Default 1000.
	MaxOperations int
	// MaxResult limits the JSON of all results together, in bytes; later results have none. Default
	// 8 MiB. With a Key it is at most half of what a record can hold.
	MaxResult int64
	// PatchFormats are additional formats of patches, for the member patchType of an operation. Those
	// that are not JSON are ignored. Default none.
	PatchFormats []patch.Format
	// Minimal leaves the JSON out of all results.
	Minimal bool
	// Report receives the error of an item that was written and cannot be encoded. Nil means that
	// it is not reported.
	Report func(error)
}

// BatchResult is the result of one operation.
type BatchResult struct {
	Op      Op // as in the document: OpReplace also if it created the item
	ID      string
	Rev     Rev // of a deleted item, the last one
	Created bool
	// JSON is the item in the projection of the Resource; nil if it is left out or cannot be shown.
	JSON []byte

	stored []byte // JSON of the stored type, and its revision, for the record of a key
	rev    Rev
	entry  Entry
}

// Batch carries out the operations of a JSON document in order, in one transaction:
//
//	{"operations": [
//		{"op": "create",  "value": {...}},
//		{"op": "replace", "id": "7", "ifMatch": "\"tag\"", "value": {...}},
//		{"op": "patch",   "id": "7", "patch": {...}},
//		{"op": "delete",  "id": "9"}
//	]}
//
// A patch that is an object is a merge patch (RFC 7396), and one that is an array is a JSON Patch
// (RFC 6902). With PatchFormats a patch operation may have the member patchType, the media type of its
// patch. Each operation is carried out like the method of Resource for it, with policy, hooks
// and preconditions, and reads what the operations before it have written. The first that fails
// rolls back all, and there are no results: [Problem] of its error has the extension "operation",
// the index, and pointers into the document. Batch joins a transaction of ctx. It panics if the
// collection has no transactions; see [Description].Batches.
func (r *Resource) Batch(ctx context.Context, doc []byte, opts *BatchOptions) ([]BatchResult, error) {
	r.requireRunner("Batch")
	ctx = r.inCatalog(ctx)
	b := batchRequest{r: r, doc: doc}
	if opts != nil {
		b.opts = *opts
	}
	if b.opts.MaxResult == 0 {
		b.opts.MaxResult = 8 << 20
	}
	reader := batchReader{r: r, opts: b.opts.WriteOptions, limits: patchLimits(&b.opts),
		formats: b.opts.PatchFormats}
	reader.opts.Key, reader.opts.If, reader.opts.NewID = nil, Preconditions{}, ""
	b.operations, b.invalid = reader.read(doc)
	if key := b.opts.Key; key != nil {
		key.Atomic = true
		b.opts.MaxResult = min(b.opts.MaxResult, int64(key.catalog.opts.Idempotency.Options().MaxResult)/2)
	}
	b.begun = time.Now()
	err := b.opts.Key.Do(ctx, &b)
	if b.ended && r.core.refusedAtCommit(ctx, err) {
		b.checkNow, b.refusal, b.begun = true, err, time.Now()
		err = b.opts.Key.Do(ctx, &b)
	}
	if err != nil {
		return nil, err
	}
	if b.opts.Key != nil {
		for i := range b.results {
			b.results[i].JSON = b.shownAgain(&b.results[i])
		}
	}
	return b.results, nil
}

// requireRunner panics if the collection has no transactions, which method needs.
func (r *Resource) requireRunner(method string) {
	if r.core.ops.runner == nil {
		panic(fmt.Sprintf("resource: %s of %s needs a collection with transactions; see Description.Batches",
			method, r.Name()))
	}
}

// batchRequest is one call of Batch. It is a [KeyedWrite].
type batchRequest struct {
	r          *Resource
	doc        []byte
	opts       BatchOptions
	operations []batchOperation
	invalid    error // why there are none
	results    []BatchResult

	begun    time.Time
	attempts int
	ended    bool // only the commit is left
	// checkNow makes Do look for the operation that the commit has refused with this error.
	checkNow bool
	refusal  error
}

// Do carries out all operations, or none.
//
// The transaction may run more than once. If the runner does not detect concurrent writes, ErrStale
// is retried here, like the write of a single item. The keyed locks of ids are not used: clients choose
// the order of operations, so two batches could wait for each other. They can still do so for the row
// locks of a database. A repeated attempt therefore locks the rows in the order of their ids, and
// retry.Timeout limits it.
//
// Each written item is encoded at once, and nothing else of it is kept: a short batch can patch a
// large item a thousand times.
func (b *batchRequest) Do(ctx context.Context) (err error) {
	if b.invalid != nil {
		return b.invalid
	}
	attempt := func() error { return b.r.core.ops.runner.InTx(ctx, b.attempt) }
	if tx.Active(ctx) {
		return attempt()
	}
	limited, cancel := context.WithTimeout(ctx, retry.Timeout)
	defer cancel()
	return retryStale(limited, attempt)
}

// attempt executes all operations in order, within the transaction of ctx. It may run again after a
// conflict, so it begins with empty results. Results are encoded here, while the items are those of
// the transaction.
func (b *batchRequest) attempt(ctx context.Context) error {
	b.ended = false
	if b.attempts++; b.attempts > 1 {
		limited, cancel := context.WithDeadline(ctx, b.begun.Add(retry.Timeout))
		defer cancel()
		ctx = limited
		if err := b.lock(ctx); err != nil {
			return err
		}
	}
	if b.checkNow {
		return b.findRefused(ctx)
	}
	b.results = make([]BatchResult, 0, len(b.operations))
	left := b.opts.MaxResult
	for i := range b.operations {
		result, err := b.r.carryOut(ctx, &b.operations[i])
		if err != nil {
			return &operationError{i, &b.operations[i], err}
		}
		if result.Op != OpDelete && left > 0 {
			stored, shown := b.encode(&result.entry)
			if left -= int64(len(stored) + len(shown)); left >= 0 {
				result.stored, result.JSON = stored, shown
			}
		}
		result.conceal(b.r)
		result.entry = Entry{}
		b.results = append(b.results, result)
	}
	b.ended = true
	return nil
}

// lock locks the items of the operations, if the store can, in the order of their ids.
func (b *batchRequest) lock(ctx context.Context) error {
	var ids []string
	for i := range b.operations {
		if id := b.operations[i].ID; b.r.core.ops.lock != nil && id != "" && b.r.core.id.Canonical(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		err := b.r.core.ops.lock(ctx, id)
		if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrGone) {
			return err
		}
	}
	return nil
}

// findRefused returns the error of the first operation that the commit has refused. An operation may depend
// on a later one until the commit, so the refused ones are repeated until no other one succeeds.
func (b *batchRequest) findRefused(ctx context.Context) error {
	nester := b.r.core.ops.nester
	var left []int
	for i := range b.operations {
		left = append(left, i)
	}
	err := nester.CheckNow(ctx)
	for refused := -1; err == nil; refused = len(left) {
		var first error
		left = slices.DeleteFunc(left, func(i int) bool {
			op := &b.operations[i]
			err := nester.Nested(ctx, func(ctx context.Context) error {
				_, err := b.r.carryOut(ctx, op)
				return err
			})
			if err != nil && first == nil {
				first = &operationError{i, op, err}
			}
			return err == nil
		})
		if err := ctx.Err(); err != nil {
			return err // and not that of an operation
		}
		if first == nil || len(left) == refused {
			return cmp.Or(first, b.refusal)
		}
	}
	return err
}

// carryOut carries out one operation.
func (r *Resource) carryOut(ctx context.Context, op *batchOperation) (result BatchResult, err error) {
	result.Op = opNamed(op.Op)
	w := writeRequest{r: r, op: result.Op, id: op.ID, doc: op.Value, patch: op.change, opts: op.opts}
	if w.op == OpCreate {
		w.id = ""
	}
	err = w.run(ctx)
	result.entry, result.Created = w.entry, w.created
	return result, err
}

// conceal sets the id and the revisions of a result from its entry.
func (result *BatchResult) conceal(r *Resource) {
	e := result.entry
	result.rev = e.Rev
	r.projection.conceal(&e, false)
	result.ID, result.Rev = e.ID, e.Rev
}

// encode returns a written item as JSON: of the stored type if a record needs it, and of the
// projection if that is another.
func (b *batchRequest) encode(e *Entry) (stored, shown []byte) {
	if b.opts.Key == nil {
		return nil, b.show(e)
	}
	stored, err := b.r.core.typ.Append(nil, e.stored)
	if err != nil { // the write is not undone
		b.logError(err)
		return nil, nil
	}
	if b.r.projection.down != nil {
		shown = b.show(e)
	}
	return stored, shown
}

// show returns an item as JSON in the projection, and nil if it cannot be shown.
func (b *batchRequest) show(e *Entry) []byte {
	if b.opts.Minimal {
		return nil
	}
	if e.Value == nil {
		if err := b.r.projection.show(e); err != nil { // again, for the reason
			if !errors.Is(err, ErrNotFound) {
				b.logError(err)
			}
			return nil
		}
	}
	doc, err := b.r.projection.typ.Append(nil, e.Value)
	if err != nil {
		b.logError(err)
		return nil
	}
	return doc
}

// shownAgain returns the JSON of a result with known stored JSON.
func (b *batchRequest) shownAgain(result *BatchResult) []byte {
	switch {
	case result.stored == nil:
		return nil
	case result.JSON != nil:
		return result.JSON
	}
	e := Entry{ID: result.ID, Rev: result.Rev, stored: result.entry.stored}
	if e.stored == nil {
		e.stored = b.r.core.typ.New()
		if err := json.Unmarshal(result.stored, e.stored); err != nil {
			b.logError(err)
			return nil
		}
	}
	if b.r.projection.down == nil {
		e.Value = e.stored
	}
	return b.show(&e)
}

// logError reports an error that the client does not see.
func (b *batchRequest) logError(err error) {
	if b.opts.Report != nil {
		b.opts.Report(err)
	}
}

// Content returns what the batch is compared by with others that have its key.
func (b *batchRequest) Content(ctx context.Context) KeyedContent {
	return KeyedContent{
		Sent:     idempotency.CanonicalJSON(b.doc),
		Contract: b.r.projection.contract(ctx),
		Members:  b.members,
	}
}

// members returns the members of all operations.
func (b *batchRequest) members() (all []idempotency.Member) {
	for i := range b.operations {
		op := &b.operations[i]
		prefix := strconv.Itoa(i) + "/"
		change := idempotency.CanonicalJSON(op.Patch)
		all = append(all,
			idempotency.Member{Name: prefix + " op", Value: []byte(op.Op), Sent: true},
			idempotency.Member{Name: prefix + " id", Value: []byte(op.ID), Sent: true},
			idempotency.Member{Name: prefix + " ifMatch", Value: []byte(op.IfMatch), Sent: true},
			idempotency.Member{Name: prefix + " patch", Value: change, Sent: true},
		)
		if op.PatchType != "" {
			all = append(all,
				idempotency.Member{Name: prefix + " patchType", Value: []byte(op.PatchType), Sent: true})
		}
		if op.Value == nil {
			continue
		}
		var v any
		if opNamed(op.Op) == OpCreate {
			v = b.r.readNew(op.Value, &op.opts).value
		} else {
			v = b.r.decodePut(op.ID, op.Value, &op.opts)
		}
		if v == nil { // not valid, so the batch is compared as it was sent
			return nil
		}
		all = append(all, b.r.projection.members(op.Value, v, prefix)...)
	}
	return all
}

// Creates is false: the guarantee of a batch is that of its transaction.
func (b *batchRequest) Creates() bool { return false }

// recordedOperation is what a record keeps of one operation.
type recordedOperation struct {
	Op     Op             `json:"op"`
	Status int            `json:"status"`
	ID     string         `json:"id"`
	Rev    string         `json:"rev,omitempty"`
	Value  jsontext.Value `json:"value,omitempty"` // of the stored type
}

// Record returns the record of the batch.
func (b *batchRequest) Record() (rec idempotency.Record, err error) {
	done := make([]recordedOperation, len(b.results))
	for i := range b.results {
		r := &b.results[i]
		status := http.StatusOK
		switch {
		case r.Created:
			status = http.StatusCreated
		case r.Op == OpDelete:
			status = http.StatusNoContent
		}
		done[i] = recordedOperation{r.Op, status, r.ID, string(r.rev), r.stored}
	}
	rec = idempotency.Record{
		Status:     http.StatusOK,
		Collection: b.r.Name(),
		Media:      mediaJSON,
		Schema:     b.r.core.schemaID,
	}
	rec.Result, err = json.Marshal(done)
	return rec, err
}

// Replay restores the results of a record. Items that the caller may not see any more have no JSON.
func (b *batchRequest) Replay(ctx context.Context, rec *idempotency.Record) error {
	var done []recordedOperation
	if rec.Reference() {
		return rec.NotKept()
	}
	if err := json.Unmarshal(rec.Result, &done); err != nil {
		return err
	}
	if _, err := b.r.core.scopeOf(ctx); err != nil {
		return err
	}
	whole, foreign := b.r.projection.down != nil, b.r.core.foreign(rec.Schema)
	b.results = make([]BatchResult, len(done))
	for i, op := range done {
		r := BatchResult{
			Op:      op.Op,
			Created: op.Status == http.StatusCreated,
			stored:  op.Value,
			entry:   Entry{ID: op.ID, Rev: Rev(op.Rev)},
		}
		if r.stored != nil && (whole || foreign || b.r.guarded()) {
			e := Entry{ID: op.ID, Rev: Rev(op.Rev), stored: b.r.core.typ.New()}
			if json.Unmarshal(op.Value, e.stored) != nil ||
				b.r.core.stillVisible(ctx, &e, whole, foreign) != nil {
				r.stored = nil
			} else if b.r.projection.show(&e) != nil {
				e.Value = nil
			}
			r.entry = e
		}
		r.conceal(b.r)
		b.results[i] = r
	}
	return nil
}

// operationError is the failure of one operation, for which all others were rolled back.
type operationError struct {
	index int
	op    *batchOperation
	err   error
}

func (e *operationError) Error() string { return e.err.Error() }
func (e *operationError) Unwrap() error { return e.err }

// problem returns the problem of the operation, with its index and with pointers into the batch.
func (e *operationError) problem() *problem.Details {
	alone := Problem(e.err)
	d := *alone
	d.Extensions = map[string]any{"operation": e.index}
	maps.Copy(d.Extensions, alone.Extensions)
	at := "/operations/" + strconv.Itoa(e.index)
	d.Errors = slices.Clone(d.Errors)
	for i := range d.Errors {
		if v := &d.Errors[i]; v.Parameter == "" && v.Header == "" {
			e.relocate(at, v)
		}
	}
	return &d
}

// relocate changes the pointer of a violation from the operation's document to the batch.
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
	default: // about the item that a JSON Patch produced: the batch has no such place
		if v.Pointer != "" {
			v.Detail = "at " + safe.Quote(v.Pointer) + " of the patched item: " + v.Detail
		}
		v.Pointer = at + "/patch"
	}
}
