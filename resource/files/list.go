package files

// The list of a folder. The file system returns names in no order, so each call reads all names and
// sorts the first of them. Called by package blob.

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
)

// listed is how many names are sorted and kept in memory at a time. A list of more files reads the
// folder again for each of these.
const listed = 10_000

// List implements [blob.Lister]. It reads the names of all files of the folder, and the metadata of
// those that the caller consumes.
func (f *Folder) List(ctx context.Context, q blob.ListQuery) iter.Seq2[*blob.Blob, error] {
	return func(yield func(*blob.Blob, error) bool) {
		for {
			names, err := f.nextNames(ctx, q)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, name := range names {
				b, err := f.stat(ctx, name)
				if errors.Is(err, resource.ErrNotFound) || errors.Is(err, resource.ErrGone) {
					continue // no regular file, or deleted since
				}
				if !yield(b, err) || err != nil {
					return
				}
			}
			if len(names) < listed {
				return
			}
			q.After = names[len(names)-1]
		}
	}
}

// nextNames returns the first names of a query, in order.
func (f *Folder) nextNames(ctx context.Context, q blob.ListQuery) ([]string, error) {
	d, err := f.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var names []string
	for {
		some, err := d.Readdirnames(1000)
		for _, name := range some {
			if q.Contains(name) && servable(name) {
				names = append(names, name)
			}
		}
		if len(names) > 2*listed {
			names = firstNames(names, q.Reverse)
		}
		switch {
		case err == io.EOF:
			return firstNames(names, q.Reverse), nil
		case err != nil:
			return nil, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
}

// firstNames sorts names and returns the first of them, without repetitions: a name may be read
// twice if files are stored at the same time.
func firstNames(names []string, reverse bool) []string {
	slices.Sort(names)
	names = slices.Compact(names)
	if reverse {
		slices.Reverse(names)
	}
	return names[:min(len(names), listed)]
}

// stat returns the metadata of a file without opening its content.
func (f *Folder) stat(ctx context.Context, name string) (*blob.Blob, error) {
	for {
		b, err := f.statOnce(name)
		if !errors.Is(err, errReplaced) {
			return b, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// statOnce returns the metadata of a file, or errReplaced if it has been replaced.
func (f *Folder) statOnce(name string) (*blob.Blob, error) {
	info, err := f.root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, f.missingError(name, err)
	}
	m, err := f.readMetaOf(name, info)
	if err != nil {
		return nil, err
	}
	return m.blob(name, info, nil), nil
}

// readMetaOf returns the metadata of a file that was found before. It returns nil if there is none,
// and errReplaced if the file has been replaced. The metadata of a content is removed only after the
// file has been replaced, so if it is missing and the file is still the same, there is none.
func (f *Folder) readMetaOf(name string, info os.FileInfo) (*meta, error) {
	m, err := f.readMeta(name, info)
	if !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	// SameFile alone is not enough: the inode of a removed file can be used again at once.
	now, gone := f.root.Lstat(name)
	if gone != nil || !os.SameFile(now, info) || identity(now) != identity(info) {
		return nil, errReplaced
	}
	return nil, nil
}
