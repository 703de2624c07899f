package model_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares got with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func reflected(t testing.TB, c *resource.Catalog, opts *model.Options) *model.Schema {
	t.Helper()
	s, err := model.Reflect(c, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestShop(t *testing.T) {
	t.Parallel()
	for contract, catalog := range shop(t) {
		t.Run(contract, func(t *testing.T) {
			t.Parallel()
			golden(t, "shop-"+contract+".txt", dump(reflected(t, catalog, nil), contract == "2.0.0"))
		})
	}
}
