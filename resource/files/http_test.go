package files_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/files"
	"github.com/stoa-go/stoa/resource/rest"
)

// serve serves a folder at /files.
func serve(t testing.TB, f *files.Folder) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(rest.New(resource.NewCatalog(nil,
		blob.New("files", f, &blob.Options{Public: true, MaxSize: 4 << 30})), nil))
	t.Cleanup(srv.Close)
	return srv
}

// pattern is as many bytes as wanted, made up while they are read.
type pattern struct {
	left int64
	n    byte
	sum  hash.Hash
}

func (p *pattern) Read(b []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	b = b[:min(int64(len(b)), p.left)]
	for i := range b {
		p.n = p.n*31 + 7
		b[i] = p.n
	}
	p.left -= int64(len(b))
	p.sum.Write(b)
	return len(b), nil
}

// TestMemoryIsFlat sends much more up and down than it may allocate: 64 MiB, and 2 GiB if STOA_LONG is set.
func TestMemoryIsFlat(t *testing.T) { // not parallel: what others allocate would count
	size := int64(64 << 20)
	if os.Getenv("STOA_LONG") != "" {
		size = 2 << 30
	}
	srv := serve(t, open(t, t.TempDir(), nil))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)

	up := &pattern{left: size, sum: sha256.New()}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, srv.URL+"/files/large", up)
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = size
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusCreated {
		t.Fatalf("PUT: %s", res.Status)
	}
	down, err := http.Get(srv.URL + "/files/large")
	if err != nil {
		t.Fatal(err)
	}
	defer down.Body.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, down.Body)
	if err != nil || n != size || !bytes.Equal(sum.Sum(nil), up.sum.Sum(nil)) {
		t.Errorf("%d of %d bytes came back (%v), the same: %v", n, size, err,
			bytes.Equal(sum.Sum(nil), up.sum.Sum(nil)))
	}

	runtime.ReadMemStats(&after)
	// client and server together, and everything that was allocated counts, collected or not
	const most = 16 << 20
	allocated := after.TotalAlloc - before.TotalAlloc
	t.Logf("%d MiB up and down: %d KiB allocated", size>>20, allocated>>10)
	if allocated > most {
		t.Errorf("%d bytes allocated for %d up and down, want %d at most", allocated, size, most)
	}
}

// breaking cuts a connection off when so much has been written to it.
type breaking struct {
	net.Listener
	after *atomic.Int64 // negative: never
}

func (l breaking) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return breakingConn{c, l.after}, err
}

type breakingConn struct {
	net.Conn
	after *atomic.Int64
}

func (c breakingConn) Write(p []byte) (int, error) {
	if left := c.after.Load(); left >= 0 {
		if int64(len(p)) > left {
			n, _ := c.Conn.Write(p[:left])
			c.after.Store(-1)
			c.Conn.Close()
			return n, errors.New("cut off")
		}
		c.after.Add(-int64(len(p)))
	}
	return c.Conn.Write(p)
}

// TestCurlResumes sends a file up with curl, has the download break, and lets curl resume it.
func TestCurlResumes(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("without curl:", err)
	}
	const size = 3 << 20
	dir := t.TempDir()
	source, target := filepath.Join(dir, "source"), filepath.Join(dir, "target")
	content, err := io.ReadAll(&pattern{left: size, sum: sha256.New()})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(source, content, 0o600); err != nil {
		t.Fatal(err)
	}
	var after atomic.Int64
	after.Store(-1)
	srv := httptest.NewUnstartedServer(rest.New(resource.NewCatalog(nil,
		blob.New("files", open(t, filepath.Join(dir, "f"), nil), nil)), nil))
	srv.Listener = breaking{srv.Listener, &after}
	srv.Start()
	t.Cleanup(srv.Close)
	curl := func(args ...string) (string, error) {
		t.Helper()
		args = append([]string{"-sS", "--max-time", "60", "--noproxy", "*"}, args...)
		out, err := exec.CommandContext(t.Context(), "curl",
			append(args, srv.URL+"/files/thing.bin")...).CombinedOutput()
		return string(out), err
	}
	status := []string{"-o", os.DevNull, "-w", "%{http_code}"}
	if out, err := curl(append(status, "-T", source)...); err != nil || out != "201" {
		t.Fatalf("upload: %s, %v", out, err)
	}
	if out, err := curl(append(status, "-T", source, "-H", "If-None-Match: *")...); err != nil ||
		out != "412" {
		t.Fatalf("conditional upload: %s, %v", out, err)
	}
	head, err := curl("-I")
	if err != nil || !strings.Contains(head, fmt.Sprintf("Content-Length: %d", size)) ||
		!strings.Contains(head, "Accept-Ranges: bytes") {
		t.Fatalf("HEAD: %s, %v", head, err)
	}
	after.Store(size / 3)
	if out, err := curl("-o", target); err == nil {
		t.Fatalf("the download did not break: %s", out)
	}
	part, err := os.Stat(target)
	if err != nil || part.Size() == 0 || part.Size() >= size {
		t.Fatalf("%v, %v", part, err)
	}
	if out, err := curl("-C", "-", "-o", target, "-w", "%{http_code}"); err != nil || out != "206" {
		t.Fatalf("resumed: %s, %v", out, err)
	}
	if got, err := os.ReadFile(target); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d of %d bytes came, %v", len(got), len(content), err)
	}
	if out, err := curl("-r", "-5", "-o", target, "-w", "%{http_code}"); err != nil || out != "206" {
		t.Errorf("range: %s, %v", out, err)
	}
}

// TestSendfile checks that a file gets to net/http as a file, which is what it takes for the kernel to send it.
func TestSendfile(t *testing.T) {
	t.Parallel()
	f := open(t, t.TempDir(), nil)
	put(t, f, "a", "", "content")
	b, err := f.Open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Content.Close()
	if _, ok := b.Content.(*os.File); !ok {
		t.Errorf("Content is a %T", b.Content)
	}
	w := &readerFrom{ResponseRecorder: httptest.NewRecorder()}
	rest.New(resource.NewCatalog(nil, blob.New("files", f, nil)), nil).ServeHTTP(w,
		httptest.NewRequest("GET", "/files/a", nil))
	limited, ok := w.source.(*io.LimitedReader)
	if !ok {
		t.Fatalf("ReadFrom was given a %T", w.source)
	}
	if _, ok := limited.R.(*os.File); !ok {
		t.Errorf("ReadFrom was given a %T", limited.R)
	}
}

type readerFrom struct {
	*httptest.ResponseRecorder
	source io.Reader
}

func (w *readerFrom) ReadFrom(r io.Reader) (int64, error) {
	w.source = r
	return io.Copy(w.ResponseRecorder, r)
}

// BenchmarkDownload compares with the file server of the standard library.
func BenchmarkDownload(b *testing.B) {
	const size = 16 << 20
	dir := b.TempDir()
	f := open(b, dir, nil)
	if _, err := f.Put(b.Context(), "a", "", "", &pattern{left: size, sum: sha256.New()}); err != nil {
		b.Fatal(err)
	}
	peer := httptest.NewServer(http.StripPrefix("/files", http.FileServer(http.Dir(dir))))
	b.Cleanup(peer.Close)
	for name, srv := range map[string]*httptest.Server{"folder": serve(b, f), "net-http": peer} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				res, err := http.Get(srv.URL + "/files/a")
				if err != nil {
					b.Fatal(err)
				}
				if n, err := io.Copy(io.Discard, res.Body); n != size || err != nil {
					b.Fatal(n, err)
				}
				res.Body.Close()
			}
		})
	}
}
