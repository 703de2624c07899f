package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/stoa-go/stoa/resource"
)

// Options adjust a [Folder]. The zero value is fine.
type Options struct {
	// Remember notes the names that were deleted, for ever, so that asking for them is 410 and not 404. A name that was
	// deleted can be used again where resource.BlobOptions.AllowRecreate is set.
	Remember bool
}

// Folder is a [resource.BlobStore] over a folder of the file system. It is safe for concurrent use.
type Folder struct {
	root    *os.Root
	opts    Options
	stripes stripes
}

var _ resource.BlobStore = (*Folder)(nil)

// New opens a folder and makes it if it is not there. opts may be nil. It sweeps what a killed process has left, for which
// it looks at each file that was stored here; it writes nothing to a folder in which nothing was ever stored.
func New(dir string, opts *Options) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil { // before umask, as os.Create has it
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{root: root}
	if opts != nil {
		f.opts = *opts
	}
	if err := f.sweep(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Close lets go of the folder. What is being read can be read to its end; nothing else works any more.
func (f *Folder) Close() error { return errors.Join(f.stripes.close(), f.root.Close()) }

// Open returns the file with this name. Its Content is an [*os.File], which stays what it is when the name gets another
// content. SHA256 is known of what Put has stored and of nothing else.
func (f *Folder) Open(ctx context.Context, id string) (*resource.Blob, error) {
	if !servable(id) {
		return nil, resource.ErrNotFound
	}
	for {
		blob, err := f.look(id)
		if !errors.Is(err, errMoved) {
			return blob, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// errMoved says that a name got other content while it was looked at.
var errMoved = errors.New("the file has been replaced meanwhile")

// look opens a file and finds what is known of it. Both together are one state of the name: what is known is never removed
// before the file has another content, and then that is what is looked at next.
func (f *Folder) look(id string) (*resource.Blob, error) {
	file, info, err := f.content(id)
	if err != nil {
		return nil, f.missing(id, err)
	}
	m, err := f.readMeta(id, info)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
		if now, gone := f.root.Lstat(id); gone != nil || !os.SameFile(now, info) ||
			identity(now) != identity(info) {
			err = errMoved
		}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return m.blob(id, info, file), nil
}

// content opens the plain file with this name.
func (f *Folder) content(id string) (*os.File, fs.FileInfo, error) {
	if err := f.plain(id); err != nil { // before it is opened, since to open a pipe may take for ever
		return nil, nil, err
	}
	file, err := f.root.Open(id)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errOther
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// errOther says that something which is no plain file has a name.
var errOther = errors.New("not a plain file")

func (f *Folder) plain(id string) error {
	info, err := f.root.Lstat(id)
	if err == nil && !info.Mode().IsRegular() {
		err = errOther
	}
	return err
}

// missing turns an error of the file system into one of the contract.
func (f *Folder) missing(id string, err error) error {
	switch {
	case errors.Is(err, errOther), unnameable(err):
		return resource.ErrNotFound
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case f.remembers(id):
		return resource.ErrGone
	}
	return resource.ErrNotFound
}

// current is what Put and Delete have to know: the revision of a name, empty if nothing is there, and the file's facts.
func (f *Folder) current(id string) (rev resource.Rev, info fs.FileInfo, err error) {
	info, err = f.root.Lstat(id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, nil
	case err != nil:
		return "", nil, f.missing(id, err)
	case !info.Mode().IsRegular():
		return "", nil, resource.ErrNotFound
	}
	m, err := f.readMeta(id, info)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	return m.blob(id, info, nil).Rev, info, nil
}

// expected checks that a name has the revision that a writer expects; empty expects nothing there. It returns the facts of
// the file that is there, nil for none.
func (f *Folder) expected(id string, expect resource.Rev) (fs.FileInfo, error) {
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

// Delete removes the file. If Options.Remember is set, that is noted first, so that no crash forgets it; the note counts
// only where no file is.
func (f *Folder) Delete(ctx context.Context, id string, expect resource.Rev) error {
	if !servable(id) {
		return resource.ErrNotFound
	}
	unlock, err := f.lock(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	rev, info, err := f.current(id)
	switch {
	case err != nil:
		return err
	case rev == "":
		return f.missing(id, fs.ErrNotExist)
	case rev != expect:
		return resource.ErrStale
	}
	if err := f.remember(id); err != nil {
		return err
	}
	if err := f.root.Remove(id); err != nil {
		return err
	}
	if err := f.sync("."); err != nil {
		return err
	}
	f.forget(id, info)
	return nil
}

// Put stores r under a name, as the package comment tells. What it returns knows the digest.
func (f *Folder) Put(ctx context.Context, id string, expect resource.Rev, mediaType string,
	r io.Reader) (*resource.Blob, error) {
	if !servable(id) {
		return nil, resource.ErrNotFound
	}
	if _, err := f.expected(id, expect); err != nil { // before anything is read
		return nil, err
	}
	up, err := f.receive(ctx, r)
	if err != nil {
		return nil, err
	}
	defer up.discard()
	unlock, err := f.lock(ctx, id)
	if err != nil {
		return nil, err
	}
	defer unlock()
	old, err := f.expected(id, expect)
	if err != nil {
		return nil, err
	}
	m := &meta{Name: id, Rev: string(resource.NewRev()), MediaType: mediaType, SHA256: up.sum}
	info, err := up.mark(id, old)
	if err != nil {
		return nil, err
	}
	if err := f.writeMeta(m, info); err != nil {
		return nil, err
	}
	if err := up.commit(id); err != nil {
		f.forget(id, info)
		return nil, err
	}
	if old != nil {
		f.forget(id, old)
	}
	if err := f.sync("."); err != nil { // it is there, but perhaps not to stay, so it cannot be acknowledged
		return nil, err
	}
	return m.blob(id, info, nil), nil
}
