package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/files"
)

// small mounts a file system of 256 KiB. Scenario disk-full of .ci/e2e always runs as root.
func small(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip("mounting a small file system:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestFullFileSystem fills the file system. Writes fail with the error for that, and leave nothing. It is not parallel: a
// process that another test starts has the removed file open until its exec, and so keeps the space.
func TestFullFileSystem(t *testing.T) {
	dir := small(t)
	f := open(t, dir, &files.Options{Remember: true})
	rev := put(t, f, "old", "", "old content").Rev
	before := entries(t, dir)

	large := strings.Repeat("x", 512<<10)
	for _, tt := range []struct {
		id, content string
		expect      resource.Rev
	}{{"new", large, ""}, {"old", large, rev}} {
		_, err := f.Put(t.Context(), tt.id, tt.expect, "text/plain", strings.NewReader(tt.content))
		if !errors.Is(err, blob.ErrFull) || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("Put of %s: %v, want ErrFull and the cause", tt.id, err)
		}
	}
	if diff := cmp.Diff(before, entries(t, dir)); diff != "" {
		t.Errorf("the entries of the folder (-want +got):\n%s", diff)
	}

	fill(t, filepath.Join(dir, ".filler"))
	if err := f.Delete(t.Context(), "old", rev); !errors.Is(err, resource.ErrUnavailable) {
		t.Errorf("Delete: %v, want ErrUnavailable", err)
	}
	if _, text := look(t, f, "old"); text != "old content" {
		t.Errorf("the content is %q", text)
	}
	if err := os.Remove(filepath.Join(dir, ".filler")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, entries(t, dir)); diff != "" {
		t.Errorf("the entries after the space was freed (-want +got):\n%s", diff)
	}
	put(t, f, "new", "", "new content")
	if err := f.Delete(t.Context(), "old", rev); err != nil {
		t.Error(err)
	}
}

// TestReadOnlyFileSystem: writes are rejected, and reads continue.
func TestReadOnlyFileSystem(t *testing.T) {
	t.Parallel()
	dir := small(t)
	writable, err := files.New(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	rev := put(t, writable, "old", "", "old content").Rev
	if err := writable.Close(); err != nil { // it has files open for writing
		t.Fatal(err)
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal("mounting the file system read-only:", err)
	}
	f := open(t, dir, nil)
	_, err = f.Put(t.Context(), "new", "", "text/plain", strings.NewReader("x"))
	if !errors.Is(err, resource.ErrUnavailable) {
		t.Errorf("Put: %v, want ErrUnavailable", err)
	}
	if err := f.Delete(t.Context(), "old", rev); !errors.Is(err, resource.ErrUnavailable) {
		t.Errorf("Delete: %v, want ErrUnavailable", err)
	}
	if _, text := look(t, f, "old"); text != "old content" {
		t.Errorf("the content is %q", text)
	}
}

// fill writes to a file until the file system is full.
func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for size := 1 << 16; size > 0; {
		if _, err := file.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
