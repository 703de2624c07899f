package resource

// Storing the lines of an import: in bulk, or one by one if the store refuses a chunk. Called by
// import.go. It calls write.go for single lines, and publish.go for events of bulk inserts.

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/internal/importresult"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// importRun stores the lines of one import.
//
// A chunk of lines is stored in bulk: one read for the items that exist, one commit for the chunk.
// If the store refuses a write, the chunk is rolled back, since its transaction may be unusable,
// and its lines are stored one by one, each like a request of its own.
type importRun struct {
	r    *Resource
	opts WriteOptions
	done importresult.Result
	// oneByOneFrom is the chunk from which an atomic import stores line by line. It is set for an
	// import in a transaction that its key begins, which is rolled back with errOneByOne and
	// repeated; nil for any other.
	oneByOneFrom *int
	last         int  // the last line of those that were stored or rejected
	unnamed      bool // a line without an id may be stored
}

// endsImport reports whether an error ends the import and does not concern a single line: an error
// of the store, or a caller that must authenticate.
func endsImport(err error) bool {
	status := Problem(err).StatusCode()
	return status >= http.StatusInternalServerError || status == http.StatusUnauthorized
}

// piecewise stores chunk by chunk.
func (im *importRun) piecewise(ctx context.Context, chunks *chunkReader) error {
	for {
		lines, err := chunks.read()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = ctx.Err() // a store may ignore it
		}
		if err == nil {
			im.unnamed = im.unnamed || slices.ContainsFunc(lines,
				func(l importLine) bool { return l.id == "" && l.bad == nil })
			err = im.chunk(ctx, lines)
		}
		if err != nil {
			return err
		}
		im.last = lines[len(lines)-1].n
	}
}

// chunk stores a chunk in bulk or, if the store refuses that, line by line.
func (im *importRun) chunk(ctx context.Context, lines []importLine) error {
	if runner := im.r.core.ops.runner; runner != nil {
		var done *importresult.Result
		err := runner.InTx(ctx, func(ctx context.Context) (err error) {
			done, err = im.bulk(ctx, lines)
			return err
		})
		if err == nil {
			im.done.Add(done)
			return nil
		}
		if endsImport(err) && !errors.Is(err, ErrStale) {
			return err
		}
	}
	for i := range lines {
		if err := im.single(ctx, &lines[i]); err != nil {
			if endsImport(err) {
				return err
			}
			im.done.Reject(lines[i].n, lines[i].more, Problem(err))
		}
	}
	return nil
}

// errRejected rolls back an atomic import of which a line was rejected.
var errRejected = errors.New("line rejected")

// errOneByOne rolls back an atomic import that must be repeated with a chunk stored line by line.
var errOneByOne = errors.New("chunk rejected")

// whole stores all lines in one transaction. again returns a reader that starts at the first line.
// If the store refuses a chunk, the transaction is rolled back and repeated with this chunk stored
// line by line, which identifies the line.
func (im *importRun) whole(ctx context.Context, again func() (*chunkReader, error)) error {
	careful := math.MaxInt
	switch {
	case im.oneByOneFrom != nil:
		careful = *im.oneByOneFrom
	case tx.Active(ctx): // it cannot be rolled back here
		careful = 0
	}
	for {
		at, ended := -1, false // ended by content that cannot be read
		err := im.r.core.ops.runner.InTx(ctx, func(ctx context.Context) error {
			im.done = importresult.Result{}
			chunks, err := again()
			for at = 0; err == nil; at++ {
				var lines []importLine
				if lines, err = chunks.read(); err != nil {
					ended = err != io.EOF
					break
				}
				if err = im.importChunk(ctx, lines, at >= careful); err != nil {
					break
				}
			}
			if err == io.EOF && im.done.Total == 0 {
				return nil
			} else if err == io.EOF {
				return errRejected
			}
			return err
		})
		if err == nil || errors.Is(err, errRejected) || ended || at >= careful ||
			endsImport(err) && !errors.Is(err, ErrStale) {
			return err
		}
		careful = at
		if im.oneByOneFrom != nil {
			*im.oneByOneFrom = at
			return errors.Join(errOneByOne, err)
		}
	}
}

// importChunk stores one chunk of an import that is all or nothing.
func (im *importRun) importChunk(ctx context.Context, lines []importLine, careful bool) error {
	if !careful {
		done, err := im.bulk(ctx, lines)
		if err == nil {
			im.done.Add(done)
		}
		return err
	}
	for i := range lines {
		if err := im.single(ctx, &lines[i]); err != nil {
			if endsImport(err) {
				return err
			}
			im.done.Reject(lines[i].n, lines[i].more, Problem(err))
			return errRejected // the transaction may be good for nothing
		}
	}
	return nil
}

// single stores one line as a request of its own would be.
func (im *importRun) single(ctx context.Context, line *importLine) error {
	var created bool
	var err error
	switch {
	case line.id != "" && (line.bad == nil || im.r.Can(OpReplace)):
		created, err = im.putLine(ctx, line)
	case line.bad != nil:
		err = im.r.wrap(OpCreate, line.id, line.bad)
	default:
		created = true
		_, err = im.r.Create(ctx, line.doc, &im.opts)
	}
	if err == nil {
		im.done.Count(created)
		im.last = max(im.last, line.n)
	}
	return err
}

// putLine stores a line with Put. If the item does not exist, the error is that of the line as a new
// item.
func (im *importRun) putLine(ctx context.Context, line *importLine) (created bool, err error) {
	if im.r.core.ops.replace == nil {
		_, err = im.r.Create(ctx, line.doc, &im.opts)
		return true, err
	}
	_, created, err = im.r.Put(ctx, line.id, line.doc, &im.opts)
	if line.bad != nil && errors.Is(err, ErrNotFound) && !errors.Is(err, errHidden) {
		err = im.r.wrap(OpCreate, line.id, line.bad)
	}
	return created, err
}

// bulk stores a chunk with few calls of the store, in a transaction. Errors before a call of the
// store reject a line. An error of the store is returned, and nothing of the chunk is stored.
func (im *importRun) bulk(ctx context.Context, lines []importLine) (*importresult.Result, error) {
	s := bulkChunk{importRun: im}
	var err error
	if s.known, err = im.known(ctx, lines); err == nil {
		s.scope, err = im.r.core.scopeOf(ctx)
	}
	for i := range lines {
		if err == nil {
			err = s.line(ctx, &lines[i])
		}
	}
	if err == nil {
		s.done.Created = len(s.ids)
		err = im.insert(ctx, s.ids, s.fresh)
	}
	if err != nil {
		return nil, im.r.wrap(OpReplace, "", err)
	}
	return &s.done, nil
}

// bulkChunk is a chunk that bulk stores.
type bulkChunk struct {
	*importRun
	done  importresult.Result
	known map[string]*Entry
	scope query.Filter
	ids   []string // of what is new
	fresh []any
}

// line replaces an item that exists, or checks a new one. An error ends the chunk.
func (s *bulkChunk) line(ctx context.Context, line *importLine) error {
	if cur := s.known[line.id]; cur != nil {
		return s.revise(ctx, line, cur)
	}
	if line.bad != nil && line.id != "" && slices.Contains(s.ids, "") {
		// The store may choose the same id for an earlier line, which this line would then replace.
		// ErrStale makes the import process the lines one by one.
		return ErrStale
	}
	if line.offered { // the transaction runs again
		line.setNew(s.r.readNew(line.doc, &s.opts))
	}
	err := line.bad
	if err == nil {
		line.offered = true
		err = s.r.checkNew(ctx, line.id, line.v)
	}
	if err != nil {
		return s.refuse(line, err)
	}
	s.ids, s.fresh = append(s.ids, line.id), append(s.fresh, line.v)
	return nil
}

// refuse rejects a line before the store is called.
func (s *bulkChunk) refuse(line *importLine, err error) error {
	if err = s.r.wrap(OpReplace, line.id, err); endsImport(err) {
		return err
	}
	s.done.Reject(line.n, line.more, Problem(err))
	return nil
}

// revise replaces an existing item with a line.
func (s *bulkChunk) revise(ctx context.Context, line *importLine, cur *Entry) error {
	r := s.r
	err := r.core.visible(ctx, cur, &s.scope)
	if err == nil {
		err = r.projection.show(cur)
	}
	if err == nil {
		err = s.opts.If.check(r.entityTags(), cur)
	}
	if err != nil {
		return s.refuse(line, err)
	}
	w := writeRequest{r: r, op: OpReplace, id: line.id, doc: line.doc, opts: s.opts}
	v, changed, err := w.revise(ctx, *cur)
	if err != nil {
		return s.refuse(line, err)
	}
	s.done.Replaced++
	if changed {
		_, err = r.replace(ctx, w.op, *cur, v)
	}
	return err
}

// known returns the existing items of a chunk by id.
func (im *importRun) known(ctx context.Context, lines []importLine) (map[string]*Entry, error) {
	ids := make([]string, 0, len(lines))
	for i := range lines {
		if lines[i].id != "" {
			ids = append(ids, lines[i].id)
		}
	}
	b := im.r.core.ops.newBuffer() // not released: the items outlive this call
	err := im.r.core.fetchMany(ctx, ids, b)
	rows := b.entries()
	known := make(map[string]*Entry, len(rows))
	for i := range rows {
		known[rows[i].ID] = &rows[i]
	}
	return known, err
}

// insert stores new items, in one call if the store can. Items without an id are stored one by one.
func (im *importRun) insert(ctx context.Context, ids []string, values []any) error {
	h := im.r.core
	if h.ops.insertMany == nil {
		return im.insertEach(ctx, ids, values)
	}
	chosen, mine := ids[:0:0], values[:0:0]
	for i, id := range ids {
		if id != "" {
			chosen, mine = append(chosen, id), append(mine, values[i])
		} else if err := im.insertEach(ctx, ids[i:i+1], values[i:i+1]); err != nil {
			return err
		}
	}
	if len(chosen) == 0 {
		return nil
	}
	if err := h.ops.insertMany(ctx, chosen, mine); err != nil {
		return err
	}
	return im.publishInserted(ctx, chosen)
}

// publishInserted publishes the events of items that were stored in one call, and runs their hooks.
func (im *importRun) publishInserted(ctx context.Context, ids []string) error {
	h, o := im.r.core, im.r.core.publisher.Load()
	if h.ops.after == nil && o == nil {
		return nil
	}
	b := h.ops.newBuffer() // not released: a hook may keep its arguments
	if err := h.fetchMany(ctx, ids, b); err != nil {
		return err
	}
	rows := b.entries()
	if o != nil {
		all := make([]pendingEvent, len(rows))
		for i := range rows {
			all[i] = pendingEvent{feed.Created, rows[i].ID, rows[i].Rev, nil, rows[i].stored}
		}
		if len(rows) != len(ids) {
			return storeFault("returned %d of the %d items that it has just stored", len(rows), len(ids))
		}
		if err := o.publish(ctx, h, all...); err != nil {
			return err
		}
	}
	for i := range rows {
		h.afterCommit(ctx, OpCreate, nil, rows[i].stored)
	}
	return nil
}

// insertEach inserts items one by one, for stores without InsertMany and to find the item that a
// failed chunk contains. The id of a deleted item that can be restored is ErrGone, because Put, which
// stores the lines of a failed chunk, decides about it.
func (im *importRun) insertEach(ctx context.Context, ids []string, values []any) error {
	h := im.r.core
	for i, id := range ids {
		e, err := h.write(ctx, storeChange{kind: feed.Created, id: id,
			recreate: h.allowRecreate && !h.keepsDeleted, after: values[i]})
		if err != nil {
			return err
		}
		h.afterCommit(ctx, OpCreate, nil, e.stored)
	}
	return nil
}

// unfinished returns the error of an import that was rolled back or ended before its last line.
func (im *importRun) unfinished(err error, atomic bool) error {
	if errors.Is(err, errRejected) {
		d := problem.New(problem.Invalid,
			"No line was stored, because some lines are not valid; see rejected.")
		d.Extensions = im.done.Members()
		return d
	}
	unknown, cause := errors.Is(err, tx.ErrOutcomeUnknown), err
	if atomic || im.done.Created+im.done.Replaced == 0 && !unknown {
		return err
	}
	d := Problem(err)
	if unknown && !im.unnamed { // a repetition finds out
		d, cause = unavailable("The service is temporarily unavailable."), errors.New(err.Error())
	}
	d = im.done.Unfinished(d, im.last, im.unnamed, unknown)
	return &unfinishedError{errors.Join(d, cause), !im.unnamed}
}

// unfinishedError is the error of an import that was stored in part.
type unfinishedError struct {
	error
	repeatable bool // all lines have ids
}

func (e *unfinishedError) Unwrap() error { return e.error }

// recorded returns the problem for a repetition that must not be carried out. A status code after which
// clients repeat the request becomes 409.
func (e *unfinishedError) recorded() *problem.Details {
	d := *Problem(e)
	if endsImport(&d) {
		d.Kind, d.Status, d.Header = problem.OutcomeUnknown, http.StatusConflict, nil
	}
	return &d
}
