package openapi_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/openapi"
)

// update rewrites the golden files: go test ./resource/openapi -run Golden -update
var update = flag.Bool("update", false, "write golden files anew")

// golden compares a document with the file that holds it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("%s: if this is meant, run the test with -update (-want +got):\n%s", name, diff)
	}
}

func TestGoldenPlain(t *testing.T) {
	t.Parallel()
	doc := openapi.New(newShop(t).now, &openapi.Options{REST: shopREST, Title: "Shop",
		Description: "Orders, and who made them."})
	golden(t, "plain.json", full(doc))
}

// TestGoldenParts are documents of what is no collection, each by itself.
func TestGoldenParts(t *testing.T) {
	t.Parallel()
	kept := newJobs()
	tests := []struct {
		file  string
		parts []resource.Part
	}{
		{"commands.json", append(commandsOf(kept), kept.resource())},
		{"blobs.json", filesOf()},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			golden(t, tt.file, full(openapi.New(resource.NewCatalog(nil, tt.parts...), nil)))
		})
	}
}
