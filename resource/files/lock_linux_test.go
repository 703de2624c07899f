package files_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/rest"
)

// lockAll locks all stripes as another process does that was stopped.
func lockAll(t *testing.T, dir string) (unlock func()) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, ".stoa", "locks", "*"))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	var locked []*os.File
	for _, path := range paths {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err == nil {
			err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		}
		if err != nil {
			t.Fatal(err)
		}
		locked = append(locked, f)
	}
	return func() {
		for _, f := range locked {
			f.Close()
		}
	}
}

// TestLockOfStoppedProcess: writers wait for another process until their context ends, or for 10 seconds.
func TestLockOfStoppedProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f := open(t, dir, nil)
		rev := put(t, f, "a", "", "old").Rev
		unlock := lockAll(t, dir)
		h := rest.New(resource.NewCatalog(nil, blob.New("files", f, &blob.Options{Public: true})), nil)
		ask := func(method string) (status int, retry string, after time.Duration) {
			began, w := time.Now(), httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/files/a", strings.NewReader("new")))
			return w.Code, w.Header().Get("Retry-After"), time.Since(began)
		}
		var wg sync.WaitGroup
		for _, method := range []string{"PUT", "DELETE", "PUT"} { // the second and third wait for the first, too
			wg.Go(func() {
				if status, retry, after := ask(method); status != http.StatusServiceUnavailable || retry != "1" || after != 10*time.Second {
					t.Errorf("%s: %d with Retry-After %q after %v, want 503 after 10s", method, status, retry, after)
				}
			})
		}
		wg.Wait()

		canceled, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := f.Put(canceled, "a", rev, "", strings.NewReader("new")); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
		if _, text := look(t, f, "a"); text != "old" {
			t.Errorf("the content is %q", text)
		}
		// Metadata without a file makes the next start wait for the lock.
		for _, path := range entries(t, dir) {
			if meta, ok := strings.CutPrefix(path, ".stoa/meta/"); ok {
				if err := os.WriteFile(filepath.Join(dir, ".stoa", "meta", meta+"-old"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		began := time.Now()
		open(t, dir, nil)
		if d := time.Since(began); d > time.Second {
			t.Errorf("New takes %v", d)
		}

		time.AfterFunc(time.Second, unlock)
		put(t, f, "a", rev, "new")
	})
}

// TestNoDescriptors: without free file descriptors each operation is 503. It is not parallel, because the limit is
// that of the process.
func TestNoDescriptors(t *testing.T) {
	f := open(t, t.TempDir(), nil)
	rev := put(t, f, "a", "", "x").Rev
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	_, opened := f.Open(t.Context(), "a")
	_, stored := f.Put(t.Context(), "a", rev, "", strings.NewReader("y"))
	var listed error
	for _, listed = range f.List(t.Context(), blob.ListQuery{}) {
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"Open": opened, "Put": stored, "List": listed} {
		if got := resource.Problem(err).StatusCode(); !errors.Is(err, syscall.EMFILE) || got != http.StatusServiceUnavailable {
			t.Errorf("%s: %d for %v, want 503", name, got, err)
		}
	}
	put(t, f, "a", rev, "y")
}
