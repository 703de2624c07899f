package files

// Folder and the operations of [blob.Store]. upload.go writes contents, meta.go metadata and
// records of deletions, and lock.go excludes other writers of a name.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/tx"
)

// Options configures a [Folder]. Nil means the zero value.
type Options struct {
	// Remember records the names of deleted files forever, so that requests for them are 410 and
	// not 404. Such a name can be used again if blob.Options.AllowRecreate is set. Default
	// false.
	Remember bool
	// Logger receives damaged metadata. Default [slog.Default].
	Logger *slog.Logger
}

// Folder is a [blob.Store] in a folder of the file system. It is safe for concurrent use.
type Folder struct {
	root    *os.Root
	opts    Options
	stripes stripes
	damaged sync.Map        // paths of metadata that was logged
	opening func(id string) // of tests: between the check of a name and its opening
}

var (
	_ blob.Store  = (*Folder)(nil)
	_ blob.Lister = (*Folder)(nil)
)

// New opens a folder and creates it if necessary. opts may be nil. New removes the temporary files
// of killed processes, and reads the metadata of every stored file for that. It writes nothing to a
// folder without .stoa.
func New(dir string, opts *Options) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil { // before umask, like os.Create
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{root: root}
	for i := range f.stripes {
		f.stripes[i].turn = make(chan struct{}, 1)
	}
	if opts != nil {
		f.opts = *opts
	}
	f.opts.Logger = cmp.Or(f.opts.Logger, slog.Default())
	if err := f.sweep(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Close closes the folder. Files that are open can still be read; all other operations fail.
func (f *Folder) Close() error { return errors.Join(f.stripes.close(), f.root.Close()) }

// Open opens the file named id. Its Content is an [*os.File], which does not change if the file is
// replaced. SHA256 is set only for files that Put has stored. The error is [resource.ErrNotFound],
// [resource.ErrGone] with Options.Remember, or one of the file system.
func (f *Folder) Open(ctx context.Context, id string) (*blob.Blob, error) {
	if !servable(id) {
		return nil, resource.ErrNotFound
	}
	// A writer that replaces the file again and again may cause repetitions, but each needs a new
	// Put.
	for {
		blob, err := f.openOnce(id)
		if !errors.Is(err, errReplaced) {
			return blob, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// errReplaced reports that the file was replaced between opening it and reading its metadata.
var errReplaced = errors.New("files: file was replaced while it was opened")

// openOnce opens a file and reads its metadata.
func (f *Folder) openOnce(id string) (*blob.Blob, error) {
	file, info, err := f.openRegular(id)
	if err != nil {
		return nil, f.missingError(id, err)
	}
	m, err := f.readMetaOf(id, info)
	if err != nil {
		file.Close()
		return nil, err
	}
	return m.blob(id, info, file), nil
}

// openRegular opens the regular file with this name. The name may be replaced between the check and the
// opening, also by a symbolic link, which [os.Root] follows. The error is then errReplaced.
func (f *Folder) openRegular(id string) (*os.File, fs.FileInfo, error) {
	checked, err := f.checkRegular(id) // check first, because opening a pipe may block
	if err != nil {
		return nil, nil, err
	}
	if f.opening != nil {
		f.opening(id)
	}
	file, err := f.root.Open(id)
	if err != nil {
		switch _, now := f.checkRegular(id); {
		case now != nil: // such as a link that leads out of the folder
			err = now
		case errors.Is(err, fs.ErrNotExist): // there is a file again
			err = errReplaced
		}
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !os.SameFile(checked, info) {
		err = errReplaced
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// errNotRegular reports a file that is not a regular file.
var errNotRegular = errors.New("files: not a regular file")

// checkRegular uses Lstat, so a symbolic link is not regular, wherever it leads.
func (f *Folder) checkRegular(id string) (fs.FileInfo, error) {
	info, err := f.root.Lstat(id)
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	return info, err
}

// missingError converts an error of the file system to one of package resource.
func (f *Folder) missingError(id string, err error) error {
	switch {
	case errors.Is(err, errNotRegular), isInvalidName(err):
		return resource.ErrNotFound
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case f.isMarkedDeleted(id):
		return resource.ErrGone
	}
	return resource.ErrNotFound
}

// current returns the revision and the info of a file. The revision is empty if there is no file.
func (f *Folder) current(id string) (rev resource.Rev, info fs.FileInfo, err error) {
	info, err = f.root.Lstat(id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, nil
	case err != nil:
		return "", nil, f.missingError(id, err)
	case !info.Mode().IsRegular():
		return "", nil, resource.ErrNotFound
	}
	m, err := f.readMeta(id, info)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	return m.blob(id, info, nil).Rev, info, nil
}

// checkRevision checks that a file has the expected revision; empty expects no file. It returns the
// info of the file, or nil if there is none.
func (f *Folder) checkRevision(id string, expect resource.Rev) (fs.FileInfo, error) {
	rev, info, err := f.current(id)
	switch {
	case err != nil:
		return nil, err
	case rev == expect:
		return info, nil
	case expect == "":
		return nil, resource.ErrExists
	}
	return nil, resource.ErrStale
}

// writeError converts an error of a write to a file system that is full or read-only. full is the
// error for the former.
func writeError(err, full error) error {
	switch {
	case err == nil, errors.Is(err, tx.ErrOutcomeUnknown):
		return err
	case isFull(err):
		return fmt.Errorf("%w: %w", full, err)
	case isReadOnly(err):
		return fmt.Errorf("%w: %w", resource.ErrUnavailable, err)
	}
	return err
}

// Delete removes the file. With Options.Remember, the deletion is recorded first, so that a crash
// cannot lose it; the record has no effect while the file exists. On a full file system, which has
// no space for the record, the error is [resource.ErrUnavailable].
func (f *Folder) Delete(ctx context.Context, id string, expect resource.Rev) error {
	return writeError(f.delete(ctx, id, expect), resource.ErrUnavailable)
}

// delete is Delete with the errors of the file system.
func (f *Folder) delete(ctx context.Context, id string, expect resource.Rev) error {
	if !servable(id) {
		return resource.ErrNotFound
	}
	stripe, err := f.lock(ctx, id)
	if err != nil {
		return err
	}
	defer stripe.unlock()
	rev, info, err := f.current(id)
	switch {
	case err != nil:
		return err
	case rev == "":
		return f.missingError(id, fs.ErrNotExist)
	case rev != expect:
		return resource.ErrStale
	}
	// Order: record, file, sync, metadata. Metadata without a file is removed by the next sweep.
	if err := f.markDeleted(id); err != nil {
		return err
	}
	if err := f.root.Remove(id); err != nil {
		return err
	}
	stripe.deleted(time.Now())
	if err := f.sync("."); err != nil { // the file is removed, but it may reappear after a crash
		return fmt.Errorf("%w: %w", tx.ErrOutcomeUnknown, err)
	}
	f.removeMeta(id, info)
	return nil
}

// Put stores the content of r under a name, as described in the package documentation. The returned
// blob has a SHA256 and no Content. An error of r is returned unchanged. The error is
// [blob.ErrFull] if the file system or a quota is full, and [resource.ErrUnavailable] if the file
// system is read-only.
func (f *Folder) Put(ctx context.Context, id string, expect resource.Rev, mediaType string,
	r io.Reader) (*blob.Blob, error) {
	b, err := f.put(ctx, id, expect, mediaType, r)
	return b, writeError(err, blob.ErrFull)
}

// put is Put with the errors of the file system.
func (f *Folder) put(ctx context.Context, id string, expect resource.Rev, mediaType string,
	r io.Reader) (*blob.Blob, error) {
	if !servable(id) {
		return nil, resource.ErrNotFound
	}
	if _, err := f.checkRevision(id, expect); err != nil { // fail before r is read
		return nil, err
	}
	// Without the lock, because an upload may take as long as the client wants. The revision is
	// checked again under the lock.
	up, err := f.receive(ctx, r)
	if err != nil {
		return nil, err
	}
	defer up.discard()
	stripe, err := f.lock(ctx, id)
	if err != nil {
		return nil, err
	}
	defer stripe.unlock()
	old, err := f.checkRevision(id, expect)
	if err != nil {
		return nil, err
	}
	m := &meta{Name: id, Rev: string(resource.NewRev()), MediaType: mediaType, SHA256: up.sum}
	info, err := up.setUniqueTime(id, old, stripe)
	if err != nil {
		return nil, err
	}
	// Before the rename, which makes the content visible: a reader must find the metadata of each
	// content.
	if err := f.writeMeta(m, info); err != nil {
		return nil, err
	}
	if err := up.commit(id); err != nil {
		f.removeMeta(id, info)
		return nil, err
	}
	if old != nil {
		f.removeMeta(id, old)
	}
	if err := f.sync("."); err != nil { // the content is in place, but it may be lost in a crash
		return nil, fmt.Errorf("%w: %w", tx.ErrOutcomeUnknown, err)
	}
	return m.blob(id, info, nil), nil
}
