package ndjson_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/internal/ndjson"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	io.WriteString(zw, text)
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// read returns the lines of content, each with its number, and the error that ended it.
func read(ctx context.Context, content string, maxLine int64, o ndjson.Options) (lines []string, err error) {
	plain, err := ndjson.NewContent(ctx, strings.NewReader(content), o)
	if err != nil {
		return nil, err
	}
	r := ndjson.NewReader(plain, maxLine)
	for {
		line, err := r.Append(nil)
		switch {
		case errors.Is(err, ndjson.ErrTooLong):
			line = []byte("too long")
		case err == io.EOF:
			return lines, nil
		case err != nil:
			return lines, err
		}
		lines = append(lines, fmt.Sprintf("%d %s", r.Line(), line))
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200<<10) // longer than the reader's buffer
	for _, tt := range []struct {
		name, content string
		maxLine       int64
		o             ndjson.Options
		want          []string
	}{
		{"empty", "", 10, ndjson.Options{}, nil},
		{"without an end", "a\nb", 10, ndjson.Options{}, []string{"1 a", "2 b"}},
		{"with an end", "a\nb\n", 10, ndjson.Options{}, []string{"1 a", "2 b"}},
		{"byte order mark", "\ufeffa\n\ufeffb", 10, ndjson.Options{}, []string{"1 a", "2 \ufeffb"}},
		{"CRLF and empty lines", "a\r\n\r\nb\r\n", 10, ndjson.Options{}, []string{"1 a", "2 ", "3 b"}},
		{"too long", "abc\nabcd\nd", 3, ndjson.Options{}, []string{"1 abc", "2 too long", "3 d"}},
		{"very long", "a\n" + long + "\nb", 1000, ndjson.Options{}, []string{"1 a", "2 too long", "3 b"}},
		{"long and allowed", long, 1 << 20, ndjson.Options{}, []string{"1 " + long}},
		{"gzip", zipped(t, "a\nb\n"), 10, ndjson.Options{Gzip: true}, []string{"1 a", "2 b"}},
		{"just fits", "a\nb\n", 10, ndjson.Options{MaxContent: 4}, []string{"1 a", "2 b"}},
	} {
		got, err := read(t.Context(), tt.content, tt.maxLine, tt.o)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: lines (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := read(canceled, "a\n", 10, ndjson.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	broken := zipped(t, strings.Repeat("a\n", 1000))
	for _, tt := range []struct {
		name, content string
		maxLine       int64
		o             ndjson.Options
	}{
		{"no gzip", "a\n", 10, ndjson.Options{Gzip: true}},
		{"broken gzip", broken[:len(broken)/2], 10, ndjson.Options{Gzip: true}},
		{"too much", "a\nb\n", 10, ndjson.Options{MaxContent: 3}},
		{"too much in gzip", broken, 10, ndjson.Options{Gzip: true, MaxContent: 1999}},
	} {
		if _, err := read(t.Context(), tt.content, tt.maxLine, tt.o); err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}

func TestTempFile(t *testing.T) {
	t.Parallel()
	f, err := ndjson.NewTempFile(strings.NewReader("a\nb\n"), 4)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Remove()
	for range 2 {
		r, err := f.Rewind()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != "a\nb\n" {
			t.Errorf("%q, %v", got, err)
		}
	}
	if _, err := ndjson.NewTempFile(strings.NewReader("a\nb\nc"), 4); err == nil {
		t.Error("content over the limit was stored")
	}
}
