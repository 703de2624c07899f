package files_test

import (
	"testing"

	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/files"
	"github.com/stoa-go/stoa/resource/resourcetest"
)

// open opens a folder.
func open(t testing.TB, dir string, opts *files.Options) *files.Folder {
	t.Helper()
	f, err := files.New(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func TestFolderKeepsTheContract(t *testing.T) {
	t.Parallel()
	resourcetest.RunBlobs(t, func(t *testing.T) blob.Store { return open(t, t.TempDir(), nil) }, nil)
}

func TestFolderThatRemembers(t *testing.T) {
	t.Parallel()
	resourcetest.RunBlobs(t, func(t *testing.T) blob.Store {
		return open(t, t.TempDir(), &files.Options{Remember: true})
	}, &resourcetest.BlobsOptions{Remembers: true})
}
