package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Files outlive the shop, because they are stored next to its database, and are the same in every
// contract.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := filepath.Join(dir, "shop.db")
	s := open(t, "-db", db)
	var etag string
	exchange{
		name:   "put",
		method: "PUT",
		path:   "/files/hymn.txt",
		header: []string{"Content-Type: text/plain;charset=utf-8"},
		body:   "Sing, goddess",
		status: 201,
		want:   []string{"Location: /files/hymn.txt"},
	}.check(t, s, &etag)
	if kept, err := os.ReadFile(filepath.Join(dir, "shop.files", "hymn.txt")); string(kept) != "Sing, goddess" {
		t.Errorf("in the folder is %q, %v", kept, err)
	}
	s.cmd.Process.Signal(syscall.SIGKILL)
	s.cmd.Wait()
	s = open(t, "-db", db)
	if !strings.Contains(strings.Join(s.report, "\n"), "files: "+filepath.Join(dir, "shop.files")) {
		t.Errorf("the report does not name the folder of files: %q", s.report)
	}
	for _, x := range []exchange{
		{name: "get", method: "GET", path: "/files/hymn.txt", status: 200, holds: []string{"Sing, goddess"},
			want: []string{"Content-Type: text/plain;charset=utf-8", "Content-Length: 13", "ETag: " + etag, "Accept-Ranges: bytes"}},
		{name: "head in an old contract", method: "HEAD", path: "/v1/files/hymn.txt", status: 200, want: []string{"Content-Length: 13"}},
		{name: "range", method: "GET", path: "/files/hymn.txt", header: []string{"Range: bytes=6-", "If-Range: {etag}"},
			status: 206, want: []string{"Content-Range: bytes 6-12/13"}, holds: []string{"goddess"}},
		{name: "stale", method: "PUT", path: "/files/hymn.txt", header: []string{`If-Match: "x"`}, body: "x", status: 412},
		{name: "create only", method: "PUT", path: "/files/hymn.txt", header: []string{"If-None-Match: *"}, body: "x", status: 412},
		{name: "delete", method: "DELETE", path: "/files/hymn.txt", header: []string{"If-Match: {etag}"}, status: 204},
		{name: "gone", method: "GET", path: "/files/hymn.txt", status: 410},
		{name: "again", method: "PUT", path: "/files/hymn.txt", body: "x", status: 201},
		{name: "out of the folder", method: "PUT", path: "/files/..%2Fshop.db", body: "x", status: 404},
	} {
		x.check(t, s, &etag)
	}
	resp, _ := s.send("POST", "/files", "x", "Content-Type: text/plain")
	if location := resp.Header.Get("Location"); resp.StatusCode != 201 ||
		!strings.HasPrefix(location, "/files/") {
		t.Errorf("POST returned %d, Location %q", resp.StatusCode, location)
	}
}

// A shop in memory removes its files, except with the flag -files.
func TestFilesFolder(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new", "folder")
	for name, args := range map[string][]string{"none": {"-db", "memory"}, "its own folder": {"-db", "memory", "-files", folder}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, args...)
			if resp, body := s.send("PUT", "/files/a", "x"); resp.StatusCode != 201 {
				t.Errorf("%d: %s", resp.StatusCode, body)
			}
			s.close(syscall.SIGTERM)
			if left, err := os.ReadDir(s.tmp); len(left) > 0 || err != nil {
				t.Errorf("the folder contains %v, %v", left, err)
			}
			if _, err := os.Stat(filepath.Join(folder, "a")); len(args) > 2 && err != nil {
				t.Error(err)
			}
		})
	}
}
