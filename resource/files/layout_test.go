package files_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/files"
)

// put stores text under a name.
func put(t testing.TB, f *files.Folder, name string, expect resource.Rev, text string) *blob.Blob {
	t.Helper()
	b, err := f.Put(t.Context(), name, expect, "text/x-test", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// look opens a name and returns what is there.
func look(t testing.TB, f *files.Folder, name string) (*blob.Blob, string) {
	t.Helper()
	b, err := f.Open(t.Context(), name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer b.Content.Close()
	text, err := io.ReadAll(b.Content)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b, string(text)
}

// entries returns the files in a folder, by their paths.
func entries(t testing.TB, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			short, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(short))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return names
}

func TestPlainFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ name, mediaType string }{
		{"page.html", "text/html"}, {"IMAGE.PNG", "image/png"}, {"a.tar.gz", "application/gzip"},
		{"README", ""}, {"odd.xyzzy", ""},
		{"end.", ""}, {"data.json", "application/json"}, {"text", ""}, {"x.application", ""},
	}
	for _, tt := range tests {
		write(tt.name, "content of "+tt.name)
	}
	f := open(t, dir, nil)
	for _, tt := range tests {
		b, text := look(t, f, tt.name)
		if text != "content of "+tt.name || b.Size != int64(len(text)) || b.MediaType != tt.mediaType ||
			b.SHA256 != nil || b.Modified.IsZero() {
			t.Errorf("%s: %+v with %q", tt.name, b, text)
		}
	}
	before := entries(t, dir)
	if len(before) != len(tests) {
		t.Errorf("reading has written: %v", before)
	}
	// Its revision is good for a Put, and another program's change makes it stale.
	plain, _ := look(t, f, "README")
	write("README", "written over by an editor")
	if _, err := f.Put(t.Context(), "README", plain.Rev, "", strings.NewReader("x")); !errors.Is(err,
		resource.ErrStale) {
		t.Errorf("Put over another program's change returned %v", err)
	}
	plain, _ = look(t, f, "README")
	put(t, f, "README", plain.Rev, "stored")
	stored, _ := look(t, f, "README")
	if stored.MediaType != "text/x-test" || stored.SHA256 == nil {
		t.Errorf("stored: %+v", stored)
	}
	write("README", "by an editor")
	if after, _ := look(t, f, "README"); after.Rev == stored.Rev || after.MediaType != "" ||
		after.SHA256 != nil {
		t.Errorf("what another program wrote passes for what was stored: %+v", after)
	}
}

func TestWhatIsNotServed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	outside, dir := t.TempDir(), t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o644),
		os.WriteFile(filepath.Join(dir, "inside"), []byte("inside"), 0o644),
		os.WriteFile(filepath.Join(dir, ".hidden"), []byte("hidden"), 0o644),
		os.Mkdir(filepath.Join(dir, "folder"), 0o755),
		os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "absolute")),
		os.Symlink("../"+filepath.Base(outside)+"/secret", filepath.Join(dir, "relative")),
		os.Symlink("inside", filepath.Join(dir, "within")),
		os.Symlink(outside, filepath.Join(dir, "away")),
		os.Symlink("nowhere", filepath.Join(dir, "dangling")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	f := open(t, dir, nil)
	put(t, f, "ordinary", "", "x")
	for _, name := range []string{"absolute", "relative", "within", "away", "dangling", "folder", ".hidden",
		".stoa", ".", "..",
		"away/secret", `away\secret`, "../secret", ".stoa/meta", "folder/", "a\x00b",
		strings.Repeat("n", 256), "\xff"} {
		if b, err := f.Open(t.Context(), name); !errors.Is(err, resource.ErrNotFound) {
			t.Errorf("Open(%q) gave %v, %v", name, b, err)
		}
		if _, err := f.Put(t.Context(), name, "", "", strings.NewReader("x")); !errors.Is(err,
			resource.ErrNotFound) {
			t.Errorf("Put(%q) returned %v", name, err)
		}
		if err := f.Delete(t.Context(), name, "x"); !errors.Is(err, resource.ErrNotFound) {
			t.Errorf("Delete(%q) returned %v", name, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(outside, "secret")); string(text) != "secret" {
		t.Errorf("outside: %q, %v", text, err)
	}
	if got := entries(t, outside); len(got) != 1 {
		t.Errorf("outside there are %v", got)
	}
}

// TestReplacedWhileOpened: a file that another program replaces after the check of its name is served if
// it is a regular file, and otherwise not found. The target of a link is never served.
func TestReplacedWhileOpened(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := func(target string) func(path string) error {
		return func(path string) error { return os.Symlink(target, path) }
	}
	tests := []struct {
		name string
		by   func(path string) error
		want string // the content; empty: not found
	}{
		{"link out of the folder", link(outside), ""},
		{"link to another file", link("other"), ""},
		{"link to nothing", link("nowhere"), ""},
		{"link to itself", link("a"), ""},
		{"folder", func(path string) error { return os.Mkdir(path, 0o755) }, ""},
		{"nothing", func(string) error { return nil }, ""},
		{"file", func(path string) error { return os.WriteFile(path, []byte("new"), 0o644) }, "new"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, name := range []string{"a", "other"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			f, calls := open(t, dir, nil), 0
			f.SetOpening(func(id string) {
				if calls++; calls > 1 {
					return
				}
				// Kept, so that the new file has another identity.
				if err := os.Rename(filepath.Join(dir, id), filepath.Join(dir, "before")); err != nil {
					t.Error(err)
				}
				if err := tt.by(filepath.Join(dir, id)); err != nil {
					t.Error(err)
				}
			})
			b, err := f.Open(t.Context(), "a")
			if tt.want == "" {
				if !errors.Is(err, resource.ErrNotFound) {
					t.Errorf("Open returned %v, %v", b, err)
				}
			} else if err != nil {
				t.Error(err)
			} else {
				defer b.Content.Close()
				text, err := io.ReadAll(b.Content)
				if diff := cmp.Diff(tt.want, string(text)); diff != "" || err != nil {
					t.Errorf("content (-want +got):\n%s%v", diff, err)
				}
			}
			if calls == 0 {
				t.Error("the file was not replaced while it was opened")
			}
		})
	}
}

// TestNothingRemains counts the files that a life of a name leaves.
func TestNothingRemains(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := open(t, dir, &files.Options{Remember: true})
	b := put(t, f, "a", "", "one")
	for range 5 {
		b = put(t, f, "a", b.Rev, "more")
	}
	if _, err := f.Put(t.Context(), "a", "stale", "", strings.NewReader("x")); !errors.Is(err,
		resource.ErrStale) {
		t.Error(err)
	}
	if _, err := f.Put(t.Context(), "b", "", "",
		io.MultiReader(strings.NewReader("x"), broken{})); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	count := func() map[string]int {
		n := map[string]int{}
		for _, path := range entries(t, dir) {
			n[filepath.ToSlash(filepath.Dir(path))]++
		}
		delete(n, ".stoa/locks")
		return n
	}
	if diff := cmp.Diff(map[string]int{".": 1, ".stoa/meta": 1}, count()); diff != "" {
		t.Errorf("alive (-want +got):\n%s", diff)
	}
	if err := f.Delete(t.Context(), "a", b.Rev); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{".stoa/gone": 1}, count()); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBroken }

func TestReopened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := files.New(dir, &files.Options{Remember: true})
	if err != nil {
		t.Fatal(err)
	}
	stored, dead := put(t, first, "a", "", "one"), put(t, first, "dead", "", "x")
	if err := first.Delete(t.Context(), "dead", dead.Rev); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	f := open(t, dir, &files.Options{Remember: true})
	got, text := look(t, f, "a")
	got.Content = nil
	if diff := cmp.Diff(stored, got); diff != "" || text != "one" {
		t.Errorf("%q (-stored +got):\n%s", text, diff)
	}
	if _, err := f.Open(t.Context(), "dead"); !errors.Is(err, resource.ErrGone) {
		t.Errorf("what was deleted: %v", err)
	}
	if _, err := open(t, dir, nil).Open(t.Context(), "dead"); !errors.Is(err, resource.ErrNotFound) {
		t.Errorf("what was deleted, where that is not to be remembered: %v", err)
	}
}

// TestCopiedFolder restores a backup that keeps times, and one that does not.
func TestCopiedFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := open(t, dir, nil)
	stored := put(t, f, "a", "", "one")
	for _, keep := range []bool{true, false} {
		to := t.TempDir()
		if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		at := stored.Modified
		if !keep {
			at = at.Add(time.Hour)
		}
		if err := os.Chtimes(filepath.Join(to, "a"), at, at); err != nil {
			t.Fatal(err)
		}
		b, text := look(t, open(t, to, nil), "a")
		if text != "one" || (b.Rev == stored.Rev) != keep || (b.MediaType == "text/x-test") != keep {
			t.Errorf("times kept: %v: %+v with %q", keep, b, text)
		}
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := open(t, dir, nil)
	b := put(t, f, "a", "", "one")
	meta, err := filepath.Glob(filepath.Join(dir, ".stoa", "meta", "*"))
	if err != nil || len(meta) != 1 {
		t.Fatalf("%v, %v", meta, err)
	}
	text, err := os.ReadFile(meta[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		// of a content that has been replaced
		"meta/" + filepath.Base(meta[0]) + "x": text,
		// of a name that has been deleted
		"meta/" + strings.Repeat("0", 32) + "-1-1":  bytes.ReplaceAll(text, []byte(`"a"`), []byte(`"gone"`)),
		"meta/" + strings.Repeat("1", 32) + "-torn": text[:len(text)/2],
		"meta/" + strings.Repeat("2", 32) + "-climbing": bytes.ReplaceAll(text, []byte(`"a"`),
			[]byte(`"../a"`)),
		"tmp/LEFTOVER": []byte("half of an upl"),
	} {
		if err := os.WriteFile(filepath.Join(dir, ".stoa", name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// An upload that is in progress is not removed.
	hold, inside := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		_, err := f.Put(t.Context(), "slow", "", "text/slow",
			io.MultiReader(strings.NewReader("slow"), waiting{inside, hold}))
		done <- err
	}()
	<-inside
	second := open(t, dir, nil)
	close(hold)
	if err := <-done; err != nil {
		t.Errorf("an upload, while another process swept: %v", err)
	}
	if b, text := look(t, second, "slow"); text != "slow" || b.MediaType != "text/slow" {
		t.Errorf("%+v with %q", b, text)
	}
	slow, _ := look(t, second, "slow")
	if err := second.Delete(t.Context(), "slow", slow.Rev); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, path := range entries(t, dir) {
		if !strings.HasPrefix(path, ".stoa/locks/") {
			left = append(left, path)
		}
	}
	if diff := cmp.Diff([]string{".stoa/meta/" + filepath.Base(meta[0]), "a"}, left); diff != "" {
		t.Errorf("after a sweep (-want +got):\n%s", diff)
	}
	if after, _ := look(t, second, "a"); after.Rev != b.Rev {
		t.Error("the sweep took what is known of a file that is there")
	}
}

// TestSweepOfStrangers: a file of another program does not prevent that the folder is opened.
func TestSweepOfStrangers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := open(t, dir, nil)
	put(t, f, "a", "", "one")
	stranger := filepath.Join(dir, ".stoa", "meta", "somebody has put a note into this folder.txt")
	if err := os.WriteFile(stranger, []byte("?"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, text := look(t, open(t, dir, nil), "a"); text != "one" {
		t.Errorf("the file says %q", text)
	}
	if _, err := os.Stat(stranger); err != nil {
		t.Error(err)
	}
}

// waiting reports that it was read, and ends when the test permits.
type waiting struct {
	inside, hold chan struct{}
}

func (w waiting) Read([]byte) (int, error) {
	close(w.inside)
	<-w.hold
	return 0, io.EOF
}

func TestNewFails(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := files.New(file, nil); err == nil {
		t.Errorf("New made a folder %v of a file", f)
	}
	deep := filepath.Join(filepath.Dir(file), "a", "b")
	put(t, open(t, deep, nil), "x", "", "y")
}

// TestReproducibleFiles: the seconds 0 and 1 of Unix time are no dates.
func TestReproducibleFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := open(t, dir, nil)
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	srv := serve(t, f)
	for second, want := range []string{"", "", `,"modified":"1970-01-01T00:00:02Z"`} {
		if err := os.Chtimes(path, time.Time{}, time.Unix(int64(second), 0)); err != nil {
			t.Fatal(err)
		}
		res, err := http.Get(srv.URL + "/files")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if diff := cmp.Diff(`{"items":[{"id":"a","size":1`+want+`}]}`, string(body)); diff != "" || err != nil {
			t.Errorf("second %d (-want +got):\n%s%v", second, diff, err)
		}
		res.Body.Close()
	}
}

// TestDamagedMetadata: a file with damaged metadata is one of another program, and the damage is logged once.
func TestDamagedMetadata(t *testing.T) {
	t.Parallel()
	text := func(text string) func(path string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	for _, tt := range []struct {
		name   string
		damage func(path string) error
	}{
		{"empty", text("")},
		{"zeros", text("\x00\x00\x00")},
		{"cut off", text(`{"name":"a","rev":"x`)},
		{"no revision", text(`{"name":"a"}`)},
		{"short digest", text(`{"name":"a","rev":"x","sha256":"AAAA"}`)},
		{"folder", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var log bytes.Buffer
			f := open(t, dir, &files.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			put(t, f, "a", "", "x")
			paths := entries(t, dir)
			i := slices.IndexFunc(paths, func(path string) bool { return strings.HasPrefix(path, ".stoa/meta/") })
			if err := tt.damage(filepath.Join(dir, paths[i])); err != nil {
				t.Fatal(err)
			}
			put(t, f, "b", "", "y")
			var names []string
			for b, err := range f.List(t.Context(), blob.ListQuery{}) {
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, b.ID+" "+b.MediaType)
			}
			if diff := cmp.Diff([]string{"a ", "b text/x-test"}, names); diff != "" {
				t.Errorf("list (-want +got):\n%s", diff)
			}
			b, content := look(t, f, "a")
			if content != "x" {
				t.Errorf("the content is %q", content)
			}
			if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), paths[i]) {
				t.Errorf("%d lines in the log, want one:\n%s", n, &log)
			}
			b = put(t, f, "a", b.Rev, "new")
			if got, _ := look(t, f, "a"); got.MediaType != "text/x-test" || got.Rev != b.Rev {
				t.Errorf("after Put: %+v", got)
			}
			if err := f.Delete(t.Context(), "a", b.Rev); err != nil {
				t.Error(err)
			}
		})
	}
}
