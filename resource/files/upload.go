package files

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	mathrand "math/rand/v2"
	"os"
	"time"
)

// upload is a file in tmp: content that has no name yet. It is locked as long as somebody works on it, which is how a sweep
// tells it from debris.
type upload struct {
	folder *Folder
	file   *os.File
	path   string // empty once it has its name
	sum    []byte // SHA-256 of the content
}

// receive writes all of r to a new file and syncs it. An error of r is returned as it is.
func (f *Folder) receive(ctx context.Context, r io.Reader) (*upload, error) {
	up, err := f.newUpload()
	if err != nil {
		return nil, err
	}
	const chunk = 128 << 10
	sum := sha256.New()
	_, err = io.CopyBuffer(io.MultiWriter(up.file, sum), reading{ctx, r}, make([]byte, chunk))
	if err == nil {
		err = up.file.Sync()
	}
	if err != nil {
		up.discard()
		return nil, err
	}
	up.sum = sum.Sum(nil)
	return up, nil
}

// reading ends with its context.
type reading struct {
	ctx context.Context
	r   io.Reader
}

func (r reading) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// newUpload makes a file in tmp.
func (f *Folder) newUpload() (*upload, error) {
	for {
		up := &upload{folder: f, path: tempFolder + "/" + rand.Text()}
		var err error
		if up.file, err = f.create(up.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL); err != nil {
			return nil, err
		}
		if err = lockFile(up.file); err == nil {
			var there, mine fs.FileInfo
			there, err = f.root.Lstat(up.path)
			if err == nil {
				mine, err = up.file.Stat()
			}
			if err == nil && os.SameFile(there, mine) {
				return up, nil
			}
		}
		up.discard()
		if !errors.Is(err, fs.ErrNotExist) { // else a sweep came between the two, and took it for debris
			return nil, err
		}
	}
}

// mark gives the file a time that no other content of any name has had, as far as anybody knows, so that what is known of it
// can be found by that. old is what has the name now, nil for nothing. A file system that counts in seconds gets a time
// somewhat in the past if need be.
func (up *upload) mark(name string, old fs.FileInfo) (fs.FileInfo, error) {
	at := time.Now().Truncate(time.Millisecond)
	for ; ; at = at.Add(-2 * time.Second) {
		when := at.Add(-mathrand.N(time.Millisecond))
		if err := up.folder.root.Chtimes(up.path, when, when); err != nil {
			return nil, err
		}
		info, err := up.file.Stat()
		if err != nil {
			return nil, err
		}
		_, taken := up.folder.root.Lstat(metaPath(name, info))
		switch {
		case old != nil && identity(old) == identity(info), taken == nil:
		case errors.Is(taken, fs.ErrNotExist):
			return info, up.file.Sync()
		default:
			return nil, taken
		}
	}
}

// commit gives the file its name, and takes that from what had it before.
func (up *upload) commit(name string) error {
	if err := up.folder.root.Rename(up.path, name); err != nil {
		return err
	}
	up.path = ""
	return nil
}

// discard closes the file, and removes it if it has no name.
func (up *upload) discard() {
	if up.path != "" {
		_ = up.folder.root.Remove(up.path) // or a sweep does it
	}
	_ = up.file.Close() // it has been synced if it is worth anything
}
