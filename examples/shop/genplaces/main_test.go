package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompressHead(t *testing.T) {
	t.Parallel()
	const sorted = `{"population":3}` + "\n" + `{"population":2}` + "\n" + `{"population":2}` + "\n"
	tests := []struct {
		name, in string
		n        int
		want     string // output, or part of the error
		fails    bool
	}{
		{"head", sorted, 2, `{"population":3}` + "\n" + `{"population":2}` + "\n", false},
		{"all", sorted, 3, sorted, false},
		{"too few", sorted, 4, "only 3 lines", true},
		{"not sorted", `{"population":2}` + "\n" + `{"population":3}`, 2, "line 2", true},
		{"invalid JSON", "place", 1, "line 1", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			err := compressHead(&out, strings.NewReader(tt.in), tt.n)
			if tt.fails {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("the error is %v, want it to contain %q", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, plain(t, &out)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func plain(t *testing.T, r io.Reader) string {
	t.Helper()
	zr, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// The embedded places are a fixed point: the command reproduces the file from itself.
func TestGenerateIsStable(t *testing.T) {
	t.Parallel()
	const carried = "../data/places.jsonl.gz"
	again := filepath.Join(t.TempDir(), "places.jsonl.gz")
	if err := generate(carried, again, 1000); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(carried)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(again)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%d bytes differ from the %d embedded in the shop", len(got), len(want))
	}
}
