package files

// Access to the control files below .stoa, and syncs of folders. All paths are relative to the
// [os.Root] of the Folder.

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"runtime"
)

// parent returns the folder of a path.
func parent(name string) string { return path.Dir(name) }

// gonePath returns the path of the record of a deletion. Names are case-sensitive here. Unlike
// keyOf it does not fold the name: the deletion of a must not make A gone.
func gonePath(name string) string {
	sum := sha256.Sum256([]byte(name))
	return goneFolder + "/" + hex.EncodeToString(sum[:16])
}

// create opens a file below .stoa and creates its folders if necessary. The folders are created
// late, so that a folder that is only read stays unchanged.
func (f *Folder) create(name string, flags int) (*os.File, error) {
	file, err := f.root.OpenFile(name, flags, 0o666)
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	for _, dir := range []string{control, parent(name)} {
		if err := f.root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if err := f.sync(parent(dir)); err != nil {
			return nil, err
		}
	}
	return f.root.OpenFile(name, flags, 0o666)
}

// sync syncs a folder, so that created, renamed and removed names survive a crash. Windows does not
// support it.
func (f *Folder) sync(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := f.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// readNames returns the names in a folder below .stoa; nil if the folder does not exist.
func (f *Folder) readNames(dir string) ([]string, error) {
	d, err := f.root.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names, err := d.Readdirnames(-1)
	return names, errors.Join(err, d.Close())
}
