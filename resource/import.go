package resource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/internal/ndjson"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/tx"
)

// NewImport returns a command that stores many items at once. It is served at /name, as in "places/import", and takes
// content of the type application/x-ndjson, in gzip if the client likes: each line is an item as POST would take it. What
// has an id that is there already is replaced, as by PUT, and everything else is created. Policy, validation and hooks are
// those of into, line by line, and where into demands If-Match nothing that is there can be replaced.
//
// The answer is 200 with what has become of the lines:
//
//	{"created": 2, "replaced": 1, "rejected": [{"line": 3, "problem": {...}}]}
//
// Lines are counted from 1. An item that is there already just as the line has it counts as replaced, and nothing is
// written. Empty lines are passed over. Of the lines that are rejected the first hundred are told; where there are more,
// the member rejectedTotal is their number. What is no matter of a line, such as a store that is not available, ends the
// import: the answer is its problem, which has created and replaced besides.
//
// Lines are read a few hundred at a time and then forgotten, so the content may be of any length, in constant memory. Each
// line is bounded by Limits.Body, and nothing else is: a handler in front can put an [http.MaxBytesReader] around the
// content. Where the collection is a [Transactor], the lines that are read together are also committed together; if the
// client goes away in the middle, what has been committed stays. To send all of it again does no harm to lines that have an
// id; those without are then there twice.
//
// With ?atomic=true all lines are stored in one transaction, or none: where a line is rejected, the answer is 422 with the
// rejected lines in its problem. The content is then put aside in a temporary file of 1 GiB at most, so that the
// transaction does not wait for the client. It takes a Transactor; elsewhere it is 400. An import that is called inside of
// a transaction is always of that kind.
//
// With an Idempotency-Key the content has a digest (RFC 9530), or else is held in memory and bounded by what the Guard reads.
// What one import did is answered again, also where it came to an end before its last line and something stayed. With
// ?atomic=true it is done exactly once where the items share transactions with the records, as long as it takes no longer than
// they may; otherwise at most once.
//
// It panics if the name is not of the form area/action, or if no items can be created in into.
//
// Its content is a stream, which no value of Go stands for, so [Command.Invoke] has nothing to do and returns a problem, 501.
// Other doors leave it out: it is a Command whose [Command.Into] is not nil.
func NewImport(name string, into *Resource) *Command {
	if !validCommand.MatchString(name) {
		panic(fmt.Sprintf("resource: %q cannot be the name of a command: it is of the form area/action", name))
	}
	if into == nil || !into.Can(OpCreate) {
		panic(fmt.Sprintf("resource: import %s: there is no resource in which items can be created", name))
	}
	return &Command{
		name: name, in: schema.For[struct{}](), out: schema.For[imported](), into: into,
		public: true, // that is, into is asked
		doc:    "Stores the items in the lines of the content: what is there is replaced, and the rest is created.",
		do: func(context.Context, any) (any, error) {
			return nil, problem.New(problem.NotImplemented, "Items are imported from the lines of a POST to /"+name+", and in no other way.")
		},
	}
}

// ImportOptions adjust one import. nil is the zero value.
type ImportOptions struct {
	// WriteOptions are Key, Lenient, MaxDepth and MaxNames; the others are not used.
	WriteOptions
	// Atomic stores all lines in one transaction, or none. It requires a collection that is a [Transactor]. Inside of a
	// transaction every import is atomic.
	Atomic bool
	// Gzip says that the content is compressed.
	Gzip bool
	// MaxLine limits a line, in bytes. Default 1 MiB.
	MaxLine int64
}

// Import stores the items in the lines of content, and returns the answer as JSON. With a Key, content must be a
// [*httpbody.Upload], whose digest identifies it. The command must be one that [NewImport] has made.
func (c *Command) Import(ctx context.Context, content io.Reader, opts *ImportOptions) ([]byte, error) {
	var o ImportOptions
	if opts != nil {
		o = *opts
	}
	o.MaxLine = cmp.Or(o.MaxLine, 1<<20)
	call := importCall{c: c, content: content, opts: &o, run: importRun{r: c.into, opts: o.WriteOptions}}
	call.run.opts.Key = nil
	call.atomic = o.Atomic || tx.Active(ctx) && c.into.core.ops.runner != nil
	if o.Key != nil {
		if err := call.prepareKey(ctx); err != nil {
			return nil, err
		}
	}
	if call.atomic {
		file, err := ndjson.NewTempFile(content, maxTempContent)
		if err != nil {
			return nil, err
		}
		defer file.Remove()
		call.file = file
	}
	err := errOneByOne
	for errors.Is(err, errOneByOne) {
		err = o.Key.Do(ctx, &call)
	}
	if err != nil {
		return nil, err
	}
	return call.answer, nil
}

// importCall is one call of Import. It is a [KeyedWrite].
type importCall struct {
	c       *Command
	content io.Reader
	opts    *ImportOptions
	atomic  bool
	file    *ndjson.TempFile // of an atomic import
	sum     []byte           // of the content, for the fingerprint of the key
	run     importRun
	answer  []byte
}

// prepareKey reads what the key needs of the content, and gives the import the time that it needs.
func (call *importCall) prepareKey(ctx context.Context) (err error) {
	key := call.opts.Key
	upload, ok := call.content.(*httpbody.Upload)
	if !ok {
		return errors.New("resource: an import with a key needs an httpbody.Upload")
	}
	if call.sum, err = key.Digest(ctx, upload); err != nil {
		return err
	}
	key.Atomic = true
	exact := call.atomic && key.levels.Create == idempotency.ExactlyOnce
	if exact { // a long transaction
		key.extend(ctx)
	}
	if exact && !tx.Active(ctx) {
		call.run.oneByOneFrom = new(int)
		*call.run.oneByOneFrom = math.MaxInt
	}
	return nil
}

// Do imports the content: from its file in one transaction, otherwise chunk by chunk as it is received.
func (call *importCall) Do(ctx context.Context) (err error) {
	im := &call.run
	im.done = imported{}
	if call.file != nil {
		err = im.whole(ctx, func() (*chunkReader, error) {
			content, err := call.file.Rewind()
			if err != nil {
				return nil, err
			}
			return call.chunks(ctx, content, maxTempContent)
		})
	} else {
		var chunks *chunkReader
		if chunks, err = call.chunks(ctx, call.content, 0); err == nil {
			err = im.piecewise(ctx, chunks)
		}
	}
	if err != nil {
		return im.unfinished(err, call.file != nil)
	}
	call.answer, err = call.c.out.Append(nil, im.done.answer())
	return err
}

// chunks returns a reader of the lines, of at most max bytes if that is not zero.
func (call *importCall) chunks(ctx context.Context, content io.Reader, max int64) (*chunkReader, error) {
	lines, err := ndjson.NewReader(ctx, content,
		ndjson.Options{Gzip: call.opts.Gzip, MaxLine: call.opts.MaxLine, MaxContent: max})
	if err != nil {
		return nil, err
	}
	return &chunkReader{Reader: lines, maxLine: call.opts.MaxLine, r: call.run.r, opts: &call.run.opts, ids: map[string]bool{}}, nil
}

// Content returns the digest of the content. The lines are not read before they are stored, so their meaning depends on the
// contract.
func (call *importCall) Content() []byte {
	return append([]byte(call.run.r.projection.name+":"), call.sum...)
}

// Creates reports whether the import is atomic, which has a guarantee of its own.
func (call *importCall) Creates() bool { return call.atomic }

// Record returns the answer.
func (call *importCall) Record() (idempotency.Record, error) {
	return idempotency.Record{Status: http.StatusOK, Media: mediaJSON, Result: call.answer}, nil
}

// Replay restores the answer.
func (call *importCall) Replay(_ context.Context, rec *idempotency.Record) error {
	call.answer = rec.Result
	return nil
}

// maxTempContent limits the content of an atomic import, in bytes as received and as decompressed.
const maxTempContent = 1 << 30

// imported is the answer of an import.
type imported struct {
	Created  int            `json:"created" required:"true" minimum:"0" doc:"How many items are new."`
	Replaced int            `json:"replaced" required:"true" minimum:"0" doc:"How many items were there before."`
	Rejected []rejectedLine `json:"rejected" required:"true" maxItems:"100" doc:"The lines that were not stored, the first hundred of them."`
	Total    int            `json:"rejectedTotal,omitzero" minimum:"0" doc:"How many lines were rejected, if that is more."`
}

// rejectedLine says why a line was not stored.
type rejectedLine struct {
	Line    int              `json:"line" required:"true" minimum:"1" doc:"The number of the line, counted from 1."`
	Problem *problem.Details `json:"problem" required:"true" doc:"What the item would have been answered with alone (RFC 9457)."`
}

// maxRejected is how many lines are told.
const maxRejected = 100

// reject notes a line that was not stored.
func (done *imported) reject(line int, err error) {
	if done.Total++; len(done.Rejected) < maxRejected {
		done.Rejected = append(done.Rejected, rejectedLine{line, brief(Problem(err))})
	}
}

// maxBrief is about how many bytes a problem of one line has.
const maxBrief = 8 << 10

// brief leaves out the last of many violations: a line can have a thousand members that nobody knows, with long names.
func brief(d *problem.Details) *problem.Details {
	room := maxBrief
	for i, v := range d.Errors {
		if room -= len(v.Pointer) + len(v.Detail) + 64; room < 0 {
			short := *d
			short.Errors = d.Errors[:i:i]
			return &short
		}
	}
	return d
}

// count notes a line that was.
func (done *imported) count(out Outcome) {
	if out == Created {
		done.Created++
	} else {
		done.Replaced++
	}
}

// add adds what has become of other lines, which come behind.
func (done *imported) add(more *imported) {
	done.Created += more.Created
	done.Replaced += more.Replaced
	done.Total += more.Total
	done.Rejected = append(done.Rejected, more.Rejected[:min(len(more.Rejected), maxRejected-len(done.Rejected))]...)
}

// answer is what the client is told.
func (done *imported) answer() *imported {
	told := *done
	if told.Rejected == nil {
		told.Rejected = []rejectedLine{}
	}
	if told.Total == len(told.Rejected) {
		told.Total = 0
	}
	return &told
}
