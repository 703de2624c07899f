package files

import (
	"context"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
)

// sweep removes what killed processes have left: uploads that nobody works on any more, and what is known of contents that
// no name has. Nothing depends on that, so what cannot be removed stays.
func (f *Folder) sweep() error {
	names, err := f.list(tempFolder)
	if err != nil {
		return err
	}
	for _, name := range names {
		f.sweepUpload(tempFolder + "/" + name)
	}
	if names, err = f.list(metaFolder); err != nil {
		return err
	}
	for _, name := range names {
		if len(name) < 32 || f.live(name) {
			continue
		}
		// Perhaps its file is about to get the name, by another process: that holds the lock then.
		unlock, err := f.lockKey(context.Background(), name)
		if err != nil { // it is no file of ours, or stays until the next time
			continue
		}
		if !f.live(name) {
			_ = f.root.Remove(metaFolder + "/" + name)
		}
		unlock()
	}
	return nil
}

// sweepUpload removes an upload unless somebody holds its lock.
func (f *Folder) sweepUpload(path string) {
	file, err := f.root.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer file.Close()
	if tryLockFile(file) {
		_ = f.root.Remove(path)
	}
}

// live reports whether a file of meta is about the present content of its name. One that is torn is not: its name comes
// after it has been synced.
func (f *Folder) live(entry string) bool {
	text, err := f.root.ReadFile(metaFolder + "/" + entry)
	var m meta
	if err != nil || json.Unmarshal(text, &m) != nil || !servable(m.Name) {
		return false
	}
	info, err := f.root.Lstat(m.Name)
	return err == nil && strings.TrimPrefix(metaPath(m.Name, info), metaFolder+"/") == entry
}
