package files

// Uploads: a file in tmp that is written, synced, dated and renamed. Put calls receive without a
// lock, and setUniqueTime and commit with the lock of the name.

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

	"github.com/stoa-go/stoa/resource/internal/modified"
)

// upload is a file in tmp with content that has no name yet. It is locked while it is in use, so that
// sweep can distinguish it from an abandoned one.
type upload struct {
	folder *Folder
	file   *os.File
	path   string // empty after commit
	sum    []byte // SHA-256 of the content
}

// receive writes r to a new file and syncs it. An error of r is returned unchanged.
func (f *Folder) receive(ctx context.Context, r io.Reader) (*upload, error) {
	up, err := f.newUpload()
	if err != nil {
		return nil, err
	}
	const chunk = 128 << 10
	sum := sha256.New()
	_, err = io.CopyBuffer(io.MultiWriter(up.file, sum), contextReader{ctx, r}, make([]byte, chunk))
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

// contextReader stops reading when its context is done.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// newUpload creates and locks a file in tmp.
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
		// Otherwise a sweep removes it, or removed it before it was locked; try again.
		if !errors.Is(err, fs.ErrNotExist) && err != errLocked {
			return nil, err
		}
	}
}

// setUniqueTime gives the file a modification time that no other content of the name has, because
// metadata is found by it. Its second is after that of the content before; see package modified. old is
// the file that has the name now, or nil. If the file system stores seconds only, the time may be
// somewhat in the past.
func (up *upload) setUniqueTime(name string, old fs.FileInfo, s *stripe) (fs.FileInfo, error) {
	now := time.Now()
	previous := s.lastDeletion(now) // perhaps of another name
	if old != nil {
		previous = old.ModTime()
	}
	// Random below the millisecond: two Puts in the same millisecond then differ without a second attempt.
	latest, step := now.Truncate(time.Millisecond).Add(-time.Millisecond), -2*time.Second
	at := modified.Next(latest, previous).Truncate(time.Millisecond)
	if at.After(latest) { // a time that is rounded up could be taken
		step = -step
	}
	for ; ; at = at.Add(step) {
		when := at.Add(mathrand.N(time.Millisecond))
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

// commit renames the file, replacing the one with that name.
func (up *upload) commit(name string) error {
	if err := up.folder.root.Rename(up.path, name); err != nil {
		return err
	}
	up.path = ""
	return nil
}

// discard closes the file, and removes it if it was not committed.
func (up *upload) discard() {
	if up.path != "" {
		_ = up.folder.root.Remove(up.path) // if this fails, a sweep removes it
	}
	_ = up.file.Close() // a committed file has been synced
}
