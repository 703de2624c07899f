package resource

// Storing the lines of an import: in bulk, or one by one if the store refuses a chunk. Called by
// import.go. It calls write.go for single lines, and publish.go for events of bulk inserts.

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/internal/fielderr"
	"github.com/stoa-go/stoa/resource/internal/importresult"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// importRun stores the lines of one import.
//
// A chunk of lines is stored in bulk: one read for the items that exist, one commit for the chunk.
// If the store refuses a write, the chunk is rolled back, since its transaction may be unusable,
// and its lines are stored one by one, each like a request of its own. In an atomic import the bulk and
// each of these lines have a savepoint in place of a transaction.
//
// Chunks do not decide which lines are stored: a line that refers to an unknown item or has the unique value
// of another is tried again after the last line, when the other line is stored.
type importRun struct {
	r      *Resource
	opts   WriteOptions
	done   importresult.Result
	atomic bool
	// ended means that only the commit of an atomic import is left. checkNow makes a repetition check at
	// each line what the database would check at the commit.
	ended, checkNow bool
	later           map[string]*importLine // to be tried again, by id or, without one, by number
	laterSize       int                    // in bytes
	last            int                    // the last line that was stored, rejected or kept for later
	unnamed         bool                   // a line without an id may be stored
	// fileOrder is set when the store refuses new items in the order of their ids, in which one may precede
	// its parent. Later chunks have the order of the lines.
	fileOrder bool
}

// Limits of the lines that are tried again: their bytes in memory, and how often they are tried.
// lineOverhead is about the memory of a line without its document.
const (
	maxLaterBytes = 16 << 20
	maxPasses     = 32
	lineOverhead  = 512
)

// endsImport reports whether an error ends the import and does not concern a single line: an error
// of the store, or a caller that must authenticate.
func endsImport(err error) bool {
	status := Problem(err).StatusCode()
	return status >= http.StatusInternalServerError || status == http.StatusUnauthorized
}

// lines stores chunk by chunk, and last the lines that depend on others.
func (im *importRun) lines(ctx context.Context, chunks *chunkReader) error {
	im.takeLater() // those of an earlier run
	for {
		lines, err := chunks.read()
		if err == io.EOF {
			return im.storeLater(ctx)
		}
		if err == nil {
			im.unnamed = im.unnamed || slices.ContainsFunc(lines,
				func(l importLine) bool { return l.id == "" && l.bad == nil })
			err = im.chunk(ctx, lines)
		}
		if err != nil {
			return err
		}
		last := &lines[len(lines)-1]
		im.last = last.n + last.more
	}
}

// chunk stores a chunk in bulk or, if the store refuses that, line by line.
func (im *importRun) chunk(ctx context.Context, lines []importLine) error {
	if err := ctx.Err(); err != nil { // a store may ignore it
		return err
	}
	ops, depends := &im.r.core.ops, false
	if ops.nester != nil || ops.runner != nil && !im.atomic {
		inTx := im.step
		if !im.atomic {
			inTx = ops.runner.InTx
		}
		var s bulkChunk
		err := inTx(ctx, func(ctx context.Context) error {
			s = bulkChunk{importRun: im}
			return s.store(ctx, lines)
		})
		if err == nil {
			im.done.Created += len(s.ids)
			im.done.Replaced += s.replaced
			for i := range lines {
				if lines[i].decided = true; lines[i].err != nil {
					im.refuse(&lines[i], lines[i].err)
				} else {
					im.supersede(lines[i].id)
				}
			}
			return nil
		}
		if endsImport(err) && !errors.Is(err, ErrStale) {
			return err
		}
		depends = fielderr.DependsOnOthers(err)
	}
	refused := false
	for i := range lines {
		err := im.single(ctx, &lines[i])
		if err != nil && endsImport(err) {
			return err
		}
		if lines[i].decided = true; err == nil {
			im.supersede(lines[i].id)
			continue
		}
		refused = true
		im.refuse(&lines[i], err)
		if im.atomic && ops.nester == nil { // the transaction may be unusable
			return im.reject(im.takeLater())
		}
	}
	im.fileOrder = im.fileOrder || depends && !refused
	return nil
}

// supersede rejects an earlier line with this id that is to be tried again, because it would replace a
// later one.
func (im *importRun) supersede(id string) {
	if l := im.later[id]; l != nil {
		delete(im.later, id)
		im.laterSize -= l.size()
		im.done.Reject(l.n, l.more, Problem(l.err))
	}
}

// step runs fn so that it has no effect if it fails, if the store can do that in an atomic import.
func (im *importRun) step(ctx context.Context, fn func(ctx context.Context) error) error {
	if n := im.r.core.ops.nester; n != nil && im.atomic {
		return n.Nested(ctx, fn)
	}
	return fn(ctx)
}

// refuse rejects a line, or has it tried again if another line may remove the reason.
func (im *importRun) refuse(line *importLine, err error) {
	if im.laterSize+line.size() > maxLaterBytes || !fielderr.DependsOnOthers(err) {
		im.done.Reject(line.n, line.more, Problem(err))
		return
	}
	im.supersede(line.id)
	im.laterSize += line.size()
	kept := *line // in memory that the next chunk does not use
	kept.doc, kept.v, kept.offered, kept.err, kept.decided = bytes.Clone(line.doc), nil, true, err, false
	im.later[cmp.Or(line.id, "\x00"+strconv.Itoa(line.n))] = &kept
}

// takeLater removes and returns the lines that are to be tried again, in their order.
func (im *importRun) takeLater() (lines []importLine) {
	for _, l := range im.later {
		lines = append(lines, *l)
	}
	slices.SortFunc(lines, func(a, b importLine) int { return a.n - b.n })
	im.later, im.laterSize = map[string]*importLine{}, 0
	return lines
}

// storeLater tries the lines again that depend on others, as long as that stores some of them. It begins
// with the last one, because a parent often follows all of its children, and then reverses the order.
func (im *importRun) storeLater(ctx context.Context) error {
	left := -1
	for pass := 0; ; pass++ {
		lines := im.takeLater()
		if len(lines) == 0 || len(lines) == left || pass == maxPasses {
			return im.reject(lines)
		}
		if left = len(lines); pass%2 == 0 {
			slices.Reverse(lines)
		}
		for len(lines) > 0 {
			chunk := lines[:min(chunkLines, len(lines))]
			lines = lines[len(chunk):]
			if err := im.chunk(ctx, chunk); err != nil {
				im.breakOff(chunk, lines, err)
				return err
			}
		}
	}
}

// breakOff accounts for the lines of a chunk that ended the import with err, and for those after it, which
// were not tried. If the outcome of the chunk is unknown, im.last is before its lines.
func (im *importRun) breakOff(chunk, left []importLine, err error) {
	for i := range chunk {
		if l := &chunk[i]; !l.decided && errors.Is(err, tx.ErrOutcomeUnknown) {
			im.last = min(im.last, l.n-1)
		} else if !l.decided {
			im.done.Reject(l.n, l.more, Problem(err))
		}
	}
	for i := range left {
		im.done.Reject(left[i].n, left[i].more, Problem(err))
	}
}

// reject rejects the lines that were to be tried again. If a line is rejected, the error of an atomic import
// is errRejected.
func (im *importRun) reject(lines []importLine) error {
	for _, l := range lines {
		im.done.Reject(l.n, l.more, Problem(l.err))
	}
	if im.atomic && im.done.Total > 0 {
		return errRejected
	}
	return nil
}

// errRejected rolls back an atomic import of which a line was rejected.
var errRejected = errors.New("line rejected")

// whole stores all lines in one transaction. It may run several times, so open starts at the first line.
func (im *importRun) whole(ctx context.Context, open func(context.Context) (*chunkReader, error)) error {
	return im.r.core.ops.runner.InTx(ctx, func(ctx context.Context) error {
		im.done, im.ended = importresult.Result{}, false
		chunks, err := open(ctx)
		if err == nil && im.checkNow {
			err = im.r.core.ops.nester.CheckNow(ctx)
		}
		if err == nil {
			err = im.lines(ctx, chunks)
		}
		im.ended = err == nil
		return err
	})
}

// refusedAtCommit reports whether err is the error of a commit that refuses what was written, so that a
// repetition with [tx.Nester.CheckNow] can find the write. The caller has written everything.
func (c *core) refusedAtCommit(ctx context.Context, err error) bool {
	return err != nil && !endsImport(err) && c.ops.nester != nil && !tx.Active(ctx)
}

// single stores one line as a request of its own would be.
func (im *importRun) single(ctx context.Context, line *importLine) error {
	var created bool
	err := im.step(ctx, func(ctx context.Context) (err error) {
		switch {
		case line.id != "" && (line.bad == nil || im.r.Can(OpReplace)):
			created, err = im.putLine(ctx, line)
		case line.bad != nil:
			err = im.r.wrap(OpCreate, line.id, line.bad)
		default:
			created = true
			_, err = im.r.Create(ctx, line.doc, &im.opts)
		}
		return err
	})
	if err == nil {
		im.done.Count(created)
		im.last = max(im.last, line.n+line.more)
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

// bulkChunk is a chunk that is stored with few calls of the store, in a transaction. Errors before a call of
// the store refuse a line. An error of the store is returned, and nothing of the chunk is stored.
type bulkChunk struct {
	*importRun
	replaced int
	known    map[string]*Entry
	scope    query.Filter
	ids      []string // of what is new
	fresh    []any
}

// store stores a chunk. Items that exist are written in the order of their ids, and then new ones: concurrent
// imports of the same items do not wait for each other, which PostgreSQL notices after a second only.
func (s *bulkChunk) store(ctx context.Context, lines []importLine) (err error) {
	if s.known, err = s.importRun.known(ctx, lines); err == nil {
		s.scope, err = s.r.core.scopeOf(ctx)
	}
	var known, fresh []*importLine
	for i := range lines {
		if lines[i].err = nil; s.known[lines[i].id] != nil {
			known = append(known, &lines[i])
		} else {
			fresh = append(fresh, &lines[i])
		}
	}
	slices.SortFunc(known, func(a, b *importLine) int { return strings.Compare(a.id, b.id) })
	for _, line := range append(known, fresh...) {
		if err == nil {
			err = s.line(ctx, line)
		}
	}
	if err == nil {
		err = s.insert(ctx)
	}
	if err != nil {
		return s.r.wrap(OpReplace, "", err)
	}
	return nil
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
	if line.offered && line.bad == nil { // the transaction runs again
		line.setNew(s.r.readNew(line.doc, &s.opts))
	}
	err := line.bad
	if err == nil {
		line.offered = true
		err = s.r.checkNew(ctx, line.id, line.v)
	}
	if err != nil {
		return s.refuseLine(line, err)
	}
	s.ids, s.fresh = append(s.ids, line.id), append(s.fresh, line.v)
	return nil
}

// refuseLine refuses a line once the chunk is stored.
func (s *bulkChunk) refuseLine(line *importLine, err error) error {
	if err = s.r.wrap(OpReplace, line.id, err); endsImport(err) {
		return err
	}
	line.err = err
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
		return s.refuseLine(line, err)
	}
	w := writeRequest{r: r, op: OpReplace, id: line.id, doc: line.doc, opts: s.opts}
	v, changed, err := w.revise(ctx, *cur)
	if err != nil {
		return s.refuseLine(line, err)
	}
	s.replaced++
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

// insert stores the new items, in one call if the store can. Items without an id are stored one by one.
func (s *bulkChunk) insert(ctx context.Context) error {
	c := s.r.core
	if c.ops.insertMany == nil {
		return s.insertEach(ctx, s.ids, s.fresh)
	}
	chosen, mine := s.ids[:0:0], s.fresh[:0:0]
	for i, id := range s.ids {
		if id != "" {
			chosen, mine = append(chosen, id), append(mine, s.fresh[i])
		} else if err := s.insertEach(ctx, s.ids[i:i+1], s.fresh[i:i+1]); err != nil {
			return err
		}
	}
	if len(chosen) == 0 {
		return nil
	}
	if !s.fileOrder {
		values := make(map[string]any, len(chosen))
		for i, id := range chosen {
			values[id] = mine[i]
		}
		slices.Sort(chosen)
		for i, id := range chosen {
			mine[i] = values[id]
		}
	}
	if err := c.ops.insertMany(ctx, chosen, mine); err != nil {
		return err
	}
	return s.publishInserted(ctx, chosen)
}

// publishInserted publishes the events of items that were stored in one call, and runs their hooks.
func (im *importRun) publishInserted(ctx context.Context, ids []string) error {
	c, o := im.r.core, im.r.core.publisher.Load()
	if c.ops.after == nil && o == nil {
		return nil
	}
	b := c.ops.newBuffer() // not released: a hook may keep its arguments
	if err := c.fetchMany(ctx, ids, b); err != nil {
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
		if err := o.publish(ctx, c, all...); err != nil {
			return err
		}
	}
	for i := range rows {
		c.afterCommit(ctx, OpCreate, nil, rows[i].stored)
	}
	return nil
}

// insertEach inserts items one by one, for stores without InsertMany and to find the item that a
// failed chunk contains. The id of a deleted item that can be restored is ErrGone, because Put, which
// stores the lines of a failed chunk, decides about it.
func (im *importRun) insertEach(ctx context.Context, ids []string, values []any) error {
	c := im.r.core
	for i, id := range ids {
		e, err := c.write(ctx, storeChange{kind: feed.Created, id: id,
			recreate: c.allowRecreate && !c.keepsDeleted, after: values[i]})
		if err != nil {
			return err
		}
		c.afterCommit(ctx, OpCreate, nil, e.stored)
	}
	return nil
}

// unfinished returns the error of an import that was rolled back or ended before its last line.
func (im *importRun) unfinished(err error) error {
	if errors.Is(err, errRejected) {
		d := problem.New(problem.Invalid,
			"No line was stored, because some lines are not valid; see rejected.")
		d.Extensions = im.done.Members()
		return d
	}
	unknown, cause := errors.Is(err, tx.ErrOutcomeUnknown), err
	if im.atomic || im.done.Created+im.done.Replaced == 0 && !unknown {
		return err
	}
	_ = im.reject(im.takeLater())
	d := Problem(err)
	if unknown && !im.unnamed { // repeating the import decides it
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
