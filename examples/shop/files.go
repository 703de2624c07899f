package main

import (
	"context"
	"os"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/files"
)

// largestFile is how many bytes a file may have.
const largestFile = 4 << 30

// folder is where the bytes of files are.
type folder struct {
	*files.Folder
	path      string
	temporary bool // nobody will find it again
	forgotten bool // it is removed at the end, as the database is
}

// openFolder opens what -files names, or else a folder beside the database.
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
	f.Folder, err = files.New(f.path, &files.Options{Remember: true})
	return f, err
}

// close lets go of it.
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
		text += reportWeak("the folder is temporary: another shop on this database does not find the files; set -files")
	}
	return text
}

func (c *collections) filesPart() *blob.Collection {
	opts := &blob.Options{MaxSize: largestFile, AllowRecreate: true}
	if c.auth {
		opts.Authorize = func(ctx context.Context, op resource.Op, _, _ *blob.Blob) error {
			if op == resource.OpGet {
				return nil
			}
			return c.mustBe(ctx, customer, clerk, admin)
		}
	}
	return blob.New("files", c.folder.Folder, opts)
}
