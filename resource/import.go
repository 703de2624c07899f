package resource

// Imports: many items as lines of NDJSON or rows of CSV. Called by protocols. It calls
// import_read.go for the lines, import_run.go to store them, and idempotency.go for the key.

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net/http"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/csv"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/internal/importresult"
	"github.com/stoa-go/stoa/resource/internal/ndjson"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/tx"
)

// ImportOptions adjust one import. nil is the zero value.
type ImportOptions struct {
	// WriteOptions are Key, Lenient, MaxDepth and MaxNames; the others are not used.
	WriteOptions
	// Atomic stores all lines in one transaction. Lines that are rejected roll back all, and are in
	// the error (422): all of them if the Runner of the collection is a [tx.Nester], and otherwise
	// those up to the first that the store refuses. Import panics if the collection has no transactions; see
	// [Description].Batches. Inside of a transaction every import is atomic.
	Atomic bool
	// Merge changes only the members that a line has in an item that exists, each as a whole, as
	// [Resource.Patch] does: hooks and policy get [OpPatch]. Without it the other members get their
	// defaults, as by Put, so a part of the columns of an export would clear the rest.
	Merge bool
	// CSV is the form of content that is CSV. nil: the content is NDJSON.
	CSV *csv.Dialect
	// Columns are the names of the columns of CSV without a header row. Default: the members that
	// clients can read, in the order of the schema. A name that is not a member is an error.
	Columns []string
	// Gzip means that the content is compressed.
	Gzip bool
	// MaxLine limits a line or a row, in bytes. Default 1 MiB. A longer one is rejected (413).
	MaxLine int64
	// MaxLines limits the lines, and MaxBytes the content in bytes, also after decompression. Default
	// 2,000,000 lines and 1 GiB; negative means no limit. More content ends the import (413), and so does
	// compressed content that is longer than 1 MiB and more than 100 times its compressed bytes.
	MaxLines int
	MaxBytes int64
}

// Import stores the items in the lines of content, which is NDJSON, and returns the result as JSON;
// command.NewImport describes it. An item with an existing id is replaced, as by [Resource.Put], and
// any other is created, as by [Resource.Create], with validation, policy and hooks for each line.
// If the resource requires If-Match, no existing item can be replaced.
//
// With [ImportOptions].CSV each row is an item; package csv describes its cells. The lines of the
// result are those at which rows begin. A header row with a column that is not a member ends the
// import before it begins, unless Lenient is set, which ignores the column.
//
// A few hundred lines at a time are in memory and, if the collection is a [Transactor], are
// committed together. A line that depends on others is tried again at the end. A line that is rejected
// is in the result. Any other error, such as of the store or of a client that disconnects, ends the
// import, and the lines that have been committed remain: its problem has their numbers. Sending all
// lines again is safe for items with ids; items without ids are created twice.
//
// With a Key, content must be a [*httpbody.Upload], so that its digest identifies it. Content with a digest
// is copied to a temporary file and verified before any line is stored. A keyed import does not end with the
// request. If it ends early, its key is free again if all lines have ids; otherwise the problem is recorded.
func (r *Resource) Import(ctx context.Context, content io.Reader, opts *ImportOptions) ([]byte, error) {
	ctx = r.inCatalog(ctx)
	var o ImportOptions
	if opts != nil {
		o = *opts
	}
	if o.Atomic {
		r.requireRunner("an atomic Import")
	}
	o.MaxLine = cmp.Or(o.MaxLine, 1<<20)
	o.MaxLines, o.MaxBytes = cmp.Or(o.MaxLines, maxImportLines), cmp.Or(o.MaxBytes, maxImportBytes)
	if o.MaxLines < 0 {
		o.MaxLines = math.MaxInt
	}
	if o.MaxBytes < 0 {
		o.MaxBytes = math.MaxInt64 - 1 // one more byte is read to find out that there is more
	}
	lines := WriteOptions{Lenient: o.Lenient, MaxDepth: o.MaxDepth, MaxNames: o.MaxNames, merge: o.Merge}
	call := importCall{content: content, opts: &o, run: importRun{r: r, opts: lines,
		atomic: o.Atomic || tx.Active(ctx) && r.core.ops.runner != nil}}
	if o.Key != nil {
		if err := call.prepareKey(ctx); err != nil {
			return nil, err
		}
	}
	upload, ok := content.(*httpbody.Upload)
	if call.run.atomic || ok && upload.HasDigest() {
		file, err := ndjson.NewTempFile(content, o.MaxBytes)
		if err != nil {
			return nil, err
		}
		defer file.Remove()
		call.file = file
	}
	err := o.Key.Do(ctx, &call)
	if call.run.ended && r.core.refusedAtCommit(ctx, err) {
		call.run.checkNow = true // to find the lines
		err = o.Key.Do(ctx, &call)
	}
	if err != nil {
		return nil, err
	}
	return call.answer, nil
}

// importSchema is the schema of the result.
var importSchema = schema.For[importresult.Result]()

// importCall is one call of Import. It is a [KeyedWrite].
type importCall struct {
	content io.Reader
	opts    *ImportOptions
	file    *ndjson.TempFile // of an atomic import, or of content with a digest
	sum     []byte           // of the content, for the fingerprint of the key
	run     importRun
	answer  []byte
}

// prepareKey reads what the key needs of the content, and gives the import the time that it needs.
func (call *importCall) prepareKey(ctx context.Context) (err error) {
	key := call.opts.Key
	upload, ok := call.content.(*httpbody.Upload)
	if !ok {
		return errors.New("resource: content of an import with a key must be an *httpbody.Upload")
	}
	if call.sum, err = key.Digest(ctx, upload); err != nil {
		return err
	}
	key.Atomic = true
	if call.run.atomic && key.levels.Create == idempotency.ExactlyOnce { // a long transaction
		key.extend(ctx)
	}
	return nil
}

// Do imports the content: from its file in one transaction, otherwise chunk by chunk.
func (call *importCall) Do(ctx context.Context) (err error) {
	im := &call.run
	im.done = importresult.Result{}
	if im.atomic {
		err = im.whole(ctx, call.open)
	} else if chunks, openErr := call.open(ctx); openErr != nil {
		err = openErr
	} else {
		err = im.lines(ctx, chunks)
	}
	if err != nil {
		return im.unfinished(err)
	}
	call.answer, err = importSchema.Append(nil, im.done.Response())
	return err
}

// open returns a reader of the lines, from the first one.
func (call *importCall) open(ctx context.Context) (*chunkReader, error) {
	content := call.content
	if call.file != nil {
		var err error
		if content, err = call.file.Rewind(); err != nil {
			return nil, err
		}
	}
	plain, err := ndjson.NewContent(ctx, content, ndjson.Options{Gzip: call.opts.Gzip,
		MaxContent: call.opts.MaxBytes})
	if err != nil {
		return nil, err
	}
	c := &chunkReader{
		maxLine:  call.opts.MaxLine,
		maxLines: call.opts.MaxLines,
		r:        call.run.r,
		opts:     &call.run.opts,
		ids:      map[string]bool{},
	}
	return c, c.begin(plain, call.opts)
}

// Content returns the digest of the content. The lines are not read before they are stored, so
// imports in different contracts are not compared.
func (call *importCall) Content(ctx context.Context) KeyedContent {
	return KeyedContent{Sent: call.sum, Contract: call.run.r.projection.contract(ctx)}
}

// Creates reports whether the import is atomic, which has a guarantee of its own.
func (call *importCall) Creates() bool { return call.run.atomic }

// Record returns the answer, with as many of the rejected lines as can be recorded.
func (call *importCall) Record() (rec idempotency.Record, err error) {
	rec = idempotency.Record{Status: http.StatusOK, Media: mediaJSON, Result: call.answer}
	done := call.run.done
	for err == nil && len(rec.Result) > call.opts.Key.maxResult() && len(done.Rejected) > 0 {
		done.Rejected = done.Rejected[:len(done.Rejected)-1]
		rec.Result, err = importSchema.Append(nil, done.Response())
	}
	return rec, err
}

// Replay restores the answer.
func (call *importCall) Replay(_ context.Context, rec *idempotency.Record) error {
	if rec.Reference() {
		return rec.NotKept()
	}
	call.answer = rec.Result
	return nil
}

// Defaults of ImportOptions.
const (
	maxImportLines = 2_000_000
	maxImportBytes = 1 << 30
)
