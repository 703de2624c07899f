package files

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"

	"github.com/go-json-experiment/json"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
)

// meta is the metadata of one content of one name. It is written once, before the content gets the
// name, and removed after it has been replaced.
type meta struct {
	Name      string `json:"name"`
	Rev       string `json:"rev"`
	MediaType string `json:"mediaType"`
	SHA256    []byte `json:"sha256"`
}

// metaPath returns the path of the metadata. It contains the identity of the file, so a file that
// was replaced by other means has none.
func metaPath(name string, info fs.FileInfo) string {
	return metaFolder + "/" + keyOf(name) + "-" + identity(info)
}

// readMeta returns the metadata of a file; [fs.ErrNotExist] if there is none, or if it is damaged: the file
// is then one of another program. The damage is logged once.
func (f *Folder) readMeta(name string, info fs.FileInfo) (*meta, error) {
	path := metaPath(name, info)
	text, err := f.root.ReadFile(path)
	if err != nil && !isDamage(err) {
		return nil, err
	}
	var m meta
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil || m.Rev == "" || len(m.SHA256) != sha256.Size {
		if _, known := f.damaged.LoadOrStore(path, true); !known {
			f.opts.Logger.Error("files: metadata is damaged and ignored", "path", path, "error", err)
		}
		return nil, fs.ErrNotExist
	}
	// The key is half of a hash and may be that of another name, if only in theory.
	if fold(m.Name) != fold(name) {
		return nil, fs.ErrNotExist
	}
	return &m, nil
}

// writeMeta writes and syncs the metadata of a file.
func (f *Folder) writeMeta(m *meta, info fs.FileInfo) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return f.writeControl(metaPath(m.Name, info), text)
}

// removeMeta removes the metadata of a replaced or deleted content. If that fails, the next sweep
// does it.
func (f *Folder) removeMeta(name string, info fs.FileInfo) { _ = f.root.Remove(metaPath(name, info)) }

// blob returns the blob of a file. m may be nil; then revision and media type are derived from the
// file. The prefix plain- keeps derived revisions apart from those of meta.
func (m *meta) blob(name string, info fs.FileInfo, content *os.File) *blob.Blob {
	b := &blob.Blob{ID: name, Modified: info.ModTime(), Size: info.Size()}
	if content != nil { // a nil *os.File would make Content not nil
		b.Content = content
	}
	if m == nil {
		b.Rev, b.MediaType = resource.Rev("plain-"+identity(info)+inode(info)), typeByName(name)
		return b
	}
	b.Rev, b.MediaType, b.SHA256 = resource.Rev(m.Rev), m.MediaType, m.SHA256
	return b
}

// markDeleted records the deletion of a name if Options.Remember is set.
func (f *Folder) markDeleted(name string) error {
	if !f.opts.Remember {
		return nil
	}
	return f.writeControl(gonePath(name), []byte(name))
}

// isMarkedDeleted reports whether the deletion of a name was recorded. It is meaningful only if the
// file does not exist.
func (f *Folder) isMarkedDeleted(name string) bool {
	_, err := f.root.Lstat(gonePath(name))
	return f.opts.Remember && err == nil
}

// writeControl writes and syncs a file below .stoa. After a crash the file may be incomplete, so it
// must not be used before writeControl has returned.
func (f *Folder) writeControl(path string, text []byte) error {
	file, err := f.create(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		_ = f.root.Remove(path) // incomplete, for example because the disk is full
		return err
	}
	return f.sync(parent(path))
}
