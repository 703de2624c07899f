package main

// The file collection, in a folder or a temporary one. Its revisions are kept by package files.

import (
	"os"

	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/files"
)

// largestFile is the maximum size of a file, in bytes.
const largestFile = 4 << 30

// folder stores the content of files. It is not part of the database's transactions: content is
// written and renamed before the response, and keyed uploads are at most once.
type folder struct {
	*files.Folder
	path      string
	temporary bool // a new temporary folder
	forgotten bool // removed on close, because the database is in memory
}

// openFolder opens the folder that the flag -files names, by default one next to the database.
func openFolder(path string, db *database) (*folder, error) {
	f := &folder{path: path}
	switch {
	case path != "":
	case db.files != "":
		f.path = db.files
	default:
		var err error
		if f.path, err = os.MkdirTemp("", "shop-files-"); err != nil {
			return nil, err
		}
		f.temporary, f.forgotten = true, db.sql == nil
	}
	var err error
	// Deleted names are recorded, so a client learns by 410 that a file existed. This uses a small
	// file for each of them.
	f.Folder, err = files.New(f.path, &files.Options{Remember: true})
	return f, err
}

// close closes the folder, and removes it if the database is in memory.
func (f *folder) close() error {
	err := f.Close()
	if f.forgotten {
		err = os.RemoveAll(f.path)
	}
	return err
}

// report returns the lines about files in the start-up report.
func (f *folder) report() string {
	text := "files: " + f.path + "\n"
	switch {
	case f.forgotten:
		text += reportWeak(lostAtExit)
	case f.temporary:
		text += reportWeak(
			"the folder is temporary: another shop on this database does not find the files; set -files")
	}
	return text
}

// filesPart serves the files. AllowRecreate lets PUT use the name of a deleted file again. Reads
// are public; a private service returns an error for OpGet as well.
func (c *collections) filesPart() *blob.Collection {
	opts := &blob.Options{MaxSize: largestFile, AllowRecreate: true}
	if c.auth {
		opts.Authorize = c.authorizeFile
	}
	return blob.New("files", c.folder.Folder, opts)
}
