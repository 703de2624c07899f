package files_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

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

// TestModifiedDoesNotDecrease stores new content in place of one from the future, as after the clock was set back. The
// date of the first new content is later, and further ones keep it, because it has not been sent.
func TestModifiedDoesNotDecrease(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := open(t, dir, nil)
	put(t, f, "a", "", "old")
	future := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "a"), future, future); err != nil {
		t.Fatal(err)
	}
	previous, _ := look(t, f, "a")
	want := previous.Modified.Unix() + 1
	for range 20 {
		previous = put(t, f, "a", previous.Rev, "new")
		if got := previous.Modified.Unix(); got != want {
			t.Fatalf("the new content is from the second %d, want %d", got, want)
		}
	}
}
