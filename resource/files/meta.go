package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/go-json-experiment/json"

	"github.com/stoa-go/stoa/resource"
)

// meta is what is known of one content of one name and cannot be seen on the file. It is written once, before the content has
// the name, and removed when the name has another.
type meta struct {
	Name      string `json:"name"`
	Rev       string `json:"rev"`
	MediaType string `json:"mediaType"`
	SHA256    []byte `json:"sha256"`
}

func metaPath(name string, info fs.FileInfo) string {
	return metaFolder + "/" + keyOf(name) + "-" + identity(info)
}

// readMeta returns what is known; the error is [fs.ErrNotExist] if nothing is.
func (f *Folder) readMeta(name string, info fs.FileInfo) (*meta, error) {
	text, err := f.root.ReadFile(metaPath(name, info))
	if err != nil {
		return nil, err
	}
	var m meta
	if err := json.Unmarshal(text, &m); err != nil || m.Rev == "" {
		return nil, fmt.Errorf("what is known of the file is damaged: %s: %w", metaPath(name, info), err)
	}
	if fold(m.Name) != fold(name) {
		return nil, fs.ErrNotExist
	}
	return &m, nil
}

// writeMeta writes what is known, to stay.
func (f *Folder) writeMeta(m *meta, info fs.FileInfo) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return f.writeControl(metaPath(m.Name, info), text)
}

// forget removes what is known of a content that has no name any more. If that fails the next sweep does it.
func (f *Folder) forget(name string, info fs.FileInfo) { _ = f.root.Remove(metaPath(name, info)) }

// blob is a file with what is known of it. m is nil where nothing is: then the file speaks for itself.
func (m *meta) blob(name string, info fs.FileInfo, content *os.File) *resource.Blob {
	b := &resource.Blob{ID: name, Modified: info.ModTime(), Size: info.Size()}
	if content != nil { // else Content would be a nil pointer that is not nil
		b.Content = content
	}
	if m == nil {
		b.Rev, b.MediaType = resource.Rev("plain-"+identity(info)+inode(info)), typeByName(name)
		return b
	}
	b.Rev, b.MediaType, b.SHA256 = resource.Rev(m.Rev), m.MediaType, m.SHA256
	return b
}

// remember notes that a name was deleted, if that is wanted.
func (f *Folder) remember(name string) error {
	if !f.opts.Remember {
		return nil
	}
	return f.writeControl(gonePath(name), []byte(name))
}

// remembers reports whether a name was deleted. It is asked where there is no file.
func (f *Folder) remembers(name string) bool {
	_, err := f.root.Lstat(gonePath(name))
	return f.opts.Remember && err == nil
}

// writeControl writes a file below .stoa, to stay. It is there in part after a crash, so nothing may count on it before this
// has returned.
func (f *Folder) writeControl(path string, text []byte) error {
	file, err := f.create(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return f.sync(parent(path))
}
