package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/bench/internal/report"
)

// TestDocuments checks that pictures, tables and sentences of the documents are those of results.json.
// If it fails after a change of results.json, run: go run -C examples/bench ./all -draw
func TestDocuments(t *testing.T) {
	t.Parallel()
	results, err := report.Load("../results.json")
	if err != nil || len(results.Figures) == 0 {
		t.Fatalf("results.json: %d figures, %v", len(results.Figures), err)
	}
	for _, d := range documents(results) {
		old, err := os.ReadFile(filepath.Join("../../..", filepath.FromSlash(d.name)))
		if err != nil {
			t.Fatal(err)
		}
		text, err := d.text(string(old))
		if err != nil {
			t.Errorf("%s: %v", d.name, err)
		}
		if diff := cmp.Diff(text, string(old)); diff != "" {
			t.Errorf("%s is not written from results.json (-want +got):\n%s", d.name, diff)
		}
	}
}

func TestReplaceAll(t *testing.T) {
	t.Parallel()
	const text = "# Title\n\n| job | a |\n|---|--:|\n| old | 1 |\n| older | 2 |\nText.\n\nStated: 5.\n"
	newTable := table([][]string{{"job", "b"}, {"new", "3"}})
	tests := []struct {
		name   string
		blocks []block
		want   string // empty means an error
	}{
		{"table", []block{newTable}, "# Title\n\n| job | b |\n|---|--:|\n| new | 3 |\nText.\n\nStated: 5.\n"},
		{"line", []block{{"Stated: ", []string{"Stated: 7."}}}, strings.Replace(text, "5", "7", 1)},
		{"no results", []block{table([][]string{{"other", "b"}})}, text},
		{"missing table", []block{table([][]string{{"other", "b"}, {"new", "3"}})}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := replaceAll(text, tt.blocks...)
			if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != (tt.want == "") {
				t.Errorf("%v, text (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestRun builds and runs a benchmark at a small size. It is not parallel, because it changes the
// working directory.
func TestRun(t *testing.T) {
	t.Chdir("..")
	file := filepath.Join(t.TempDir(), "results.json")
	args := []string{"-small", "-only", "rest", "-results", file, "-root", ""}
	if err := run(t.Context(), args, io.Discard); err != nil {
		t.Fatal(err)
	}
	results, err := report.Load(file)
	if err != nil || results.Date == "" {
		t.Errorf("results of %q, %v", results.Date, err)
	}
	for _, tableName := range []string{"rest", "sockets"} {
		if got := results.Jobs(tableName); len(got) != 6 {
			t.Errorf("jobs of %s: %q", tableName, got)
		}
	}
	// A second run draws the documents from the file.
	root := t.TempDir()
	for name, text := range map[string]string{
		"README.md": allocationsSentence(results).begin,
		"examples/bench/README.md": "| job of REST in process |\n\n| job of REST over sockets |\n\n| job of GraphQL |\n\n" +
			"| way from PostgreSQL |\n\n" + measuredSentence(results).begin,
		".github/images/speed.svg": "",
	} {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(t.Context(), []string{"-draw", "-results", file, "-root", root}, io.Discard); err != nil {
		t.Fatal(err)
	}
	picture, err := os.ReadFile(filepath.Join(root, ".github", "images", "speed.svg"))
	if err != nil || !strings.Contains(string(picture), "<desc") || !strings.Contains(string(picture), note) {
		t.Errorf("picture: %v, %.300s", err, picture)
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"more"}, {"-only", "absent"}, {"-unknown"}} {
		if err := run(t.Context(), append(args, "-root", ""), io.Discard); err == nil {
			t.Errorf("run(%q) succeeded", args)
		}
	}
}
