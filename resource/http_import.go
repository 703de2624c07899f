package resource

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// maxAside is how much content is put aside for an import that is all or nothing, in bytes as they come and as they come out
// of gzip.
const maxAside = 1 << 30

// importLines answers POST of an import.
func (x *call) importLines() error {
	var w writeRequest
	atomic, err := x.prepareImport(&w)
	if err != nil {
		return err
	}
	im := &importRun{r: x.route.command.into, opts: w.opts}
	atomic = atomic || tx.Active(x.r.Context()) && im.r.core.ops.runner != nil
	var doc []byte
	if w.key != "" {
		doc, err = x.importOnce(&w, im, atomic)
	} else {
		doc, err = x.importNow(im, atomic)
	}
	if err != nil {
		return err
	}
	return x.sendDocument(http.StatusOK, doc, w.enc)
}

// importNow does an import and returns the answer.
func (x *call) importNow(im *importRun, atomic bool) ([]byte, error) {
	aside, err := x.asideIf(atomic)
	if err != nil {
		return nil, err
	}
	defer aside.remove()
	return x.importFrom(x.r.Context(), im, aside)
}

// importFrom does an import, of what has been put aside in one transaction, and else piece by piece as it comes.
func (x *call) importFrom(ctx context.Context, im *importRun, aside *asideFile) (doc []byte, err error) {
	if aside != nil {
		err = im.whole(ctx, func() (*chunkReader, error) {
			if _, err := aside.Seek(0, io.SeekStart); err != nil {
				return nil, err
			}
			return x.chunks(ctx, im, aside, maxAside)
		})
	} else {
		var chunks *chunkReader
		if chunks, err = x.chunks(ctx, im, x.r.Body, 0); err == nil {
			err = im.piecewise(ctx, chunks)
		}
	}
	if err != nil {
		return nil, im.unfinished(err, aside != nil)
	}
	return x.route.command.out.Append(nil, im.done.answer())
}

// prepareImport does what can be done before the content is read.
func (x *call) prepareImport(w *writeRequest) (atomic bool, err error) {
	if err = x.acceptable(); err != nil {
		return false, err
	}
	if w.enc, err = x.encodings(); err != nil {
		return false, err
	}
	if _, err = x.checkContentType(x.route.command.accepts...); err != nil {
		return false, err
	}
	w.media = mediaNDJSON
	w.opts.Lenient = x.lenient(x.prefer())
	w.opts.MaxDepth, w.opts.MaxNames = x.c.opts.Limits.Depth, x.c.opts.Limits.Names
	if atomic, err = x.atomic(w.opts.Lenient); err != nil {
		return false, err
	}
	w.key, err = x.key()
	return atomic, err
}

// atomic reads the query.
func (x *call) atomic(lenient bool) (bool, error) {
	params, err := x.params()
	if err != nil {
		return false, err
	}
	for name := range params {
		if name != "atomic" && !lenient {
			return false, badParameter(name, "unknownParameter", "there is no such parameter here")
		}
	}
	values := params["atomic"]
	switch {
	case len(values) == 0:
		return false, nil
	case len(values) > 1:
		return false, badParameter("atomic", "duplicateParameter", "one value is wanted")
	case values[0] == "false":
		return false, nil
	case values[0] != "true":
		return false, badParameter("atomic", "invalidValue", "must be true or false")
	case x.route.command.into.core.ops.runner == nil:
		return false, badParameter("atomic", "unsupported", "the items are in no store with transactions")
	}
	return true, nil
}

// chunks begins to read lines, of at most so many bytes if that is not zero.
func (x *call) chunks(ctx context.Context, im *importRun, content io.Reader, most int64) (*chunkReader, error) {
	lines, err := openLines(ctx, content, x.gzipped(), x.c.opts.Limits.Body, most)
	if err != nil {
		return nil, err
	}
	return &chunkReader{lineReader: lines, r: im.r, opts: &im.opts, ids: map[string]bool{}}, nil
}

// asideFile is content that has been put aside.
type asideFile struct{ *os.File }

// remove removes it, if there is one.
func (f *asideFile) remove() {
	if f != nil {
		f.Close()
		os.Remove(f.Name())
	}
}

// asideIf puts the content aside for an import that is all or nothing, and returns nil for any other: the transaction may run
// more than once, and should not wait for the client.
func (x *call) asideIf(atomic bool) (*asideFile, error) {
	if !atomic {
		return nil, nil
	}
	file, err := os.CreateTemp("", "stoa-import-")
	if err != nil {
		return nil, err
	}
	aside := &asideFile{file}
	n, err := io.Copy(aside, io.LimitReader(x.r.Body, maxAside+1))
	switch {
	case err != nil:
		err = unreadable(err, maxAside)
	case n > maxAside:
		err = tooLarge(maxAside)
	}
	if err != nil {
		aside.remove()
		return nil, err
	}
	return aside, nil
}

// unfinished answers an import that has come to an end before its last line, or to nothing.
func (im *importRun) unfinished(err error, atomic bool) error {
	if errors.Is(err, errRejected) {
		d := problem.New(problem.Invalid, "Not all lines can be stored, so none has been.")
		told := im.done.answer()
		d.Extensions = map[string]any{"rejected": told.Rejected}
		if told.Total > 0 {
			d.Extensions["rejectedTotal"] = told.Total
		}
		return d
	}
	if atomic || im.done.Created+im.done.Replaced == 0 {
		return err
	}
	d := *Problem(err)
	d.Extensions = map[string]any{"created": im.done.Created, "replaced": im.done.Replaced}
	return &unfinishedError{errors.Join(&d, err)}
}

// unfinishedError is that of an import of which something stays.
type unfinishedError struct{ error }

func (e *unfinishedError) Unwrap() error { return e.error }
