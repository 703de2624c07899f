package files

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// sweep removes the files of killed processes: abandoned uploads and metadata of contents that no
// longer exist. These do no harm, so errors of single files are ignored.
func (f *Folder) sweep() error {
	names, err := f.readNames(tempFolder)
	if err != nil {
		return err
	}
	for _, name := range names {
		f.sweepUpload(tempFolder + "/" + name)
	}
	if names, err = f.readNames(metaFolder); err != nil {
		return err
	}
	// For all of them: a stopped process that has locked a name delays the start of others only by this.
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, name := range names {
		// The length of a key. The check without the lock avoids a lock for each stored file.
		if len(name) < 32 || f.isCurrent(name) {
			continue
		}
		// Another process may be about to rename its file; then it holds the lock.
		stripe, err := f.lockKey(ctx, name)
		if err != nil { // not a metadata file, or retried by the next sweep
			continue
		}
		if !f.isCurrent(name) {
			_ = f.root.Remove(metaFolder + "/" + name)
		}
		stripe.unlock()
	}
	return nil
}

// sweepUpload removes an upload unless a process has locked it.
func (f *Folder) sweepUpload(path string) {
	file, err := f.root.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer file.Close()
	if lockFile(file) == nil {
		_ = f.root.Remove(path)
	}
}

// isCurrent reports whether a metadata file describes the current content of its name. An
// incomplete one does not, because the content is renamed after the metadata has been synced.
func (f *Folder) isCurrent(entry string) bool {
	text, err := f.root.ReadFile(metaFolder + "/" + entry)
	var m meta
	if err != nil || json.Unmarshal(text, &m) != nil || !servable(m.Name) {
		return false
	}
	info, err := f.root.Lstat(m.Name)
	return err == nil && strings.TrimPrefix(metaPath(m.Name, info), metaFolder+"/") == entry
}
