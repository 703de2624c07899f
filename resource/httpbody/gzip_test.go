package httpbody_test

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/httpbody"
)

func TestShouldGzip(t *testing.T) {
	t.Parallel()
	tests := []struct {
		accept string // Accept-Encoding
		size   int
		want   bool
	}{
		{"gzip", 1024, true},
		{"gzip", 1023, false},
		{"gzip, identity;q=0", 1, true},
		{"identity", 1 << 20, false},
		{"br", 1 << 20, false},
	}
	for _, tt := range tests {
		if got := httpbody.ShouldGzip(header.AcceptEncoding([]string{tt.accept}), tt.size); got != tt.want {
			t.Errorf("%q, %d bytes: %t, want %t", tt.accept, tt.size, got, tt.want)
		}
	}
}

// TestAppendGzip checks that equal bodies have equal encodings, regardless of the previous use of a
// writer.
func TestAppendGzip(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("an item of a list, ", 1000)
	want := httpbody.AppendGzip(nil, []byte(text))
	if got := unzip(t, want); got != text {
		t.Fatal("another text is compressed")
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			httpbody.AppendGzip(nil, []byte(strings.Repeat("x", i)))
			got := httpbody.AppendGzip([]byte("before "), []byte(text))
			if rest, ok := bytes.CutPrefix(got, []byte("before ")); !ok || !bytes.Equal(rest, want) {
				t.Error("the same body is compressed to other octets")
			}
		})
	}
	wg.Wait()
}

func TestGzipWriter(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a line\n", 10_000)
	var out bytes.Buffer
	zw := httpbody.NewGzipWriter(&out)
	if _, err := io.WriteString(zw, text); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Errorf("the second Close returns %v", err)
	}
	if _, err := zw.Write([]byte("more")); err == nil {
		t.Error("Write after Close returns no error")
	}
	if got := unzip(t, out.Bytes()); got != text {
		t.Error("another text is compressed")
	}
	if !bytes.Equal(out.Bytes(), httpbody.AppendGzip(nil, []byte(text))) {
		t.Error("AppendGzip compresses to other octets")
	}
}
