package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// The shop is healthy during a long write, and unhealthy without its database.
func TestHealthOfTheDatabase(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShopOn(t, settings{db: open(t)})
			db := s.collections.db
			err := db.runner().InTx(t.Context(), func(context.Context) error {
				// Open the connection first, because this test is not about connection time.
				if n := len(db.pools); n > 0 {
					if err := db.pools[n-1].PingContext(t.Context()); err != nil {
						t.Error(err)
					}
				}
				if w := ask(t, s, "GET", "/health", ""); w.Code != 200 {
					t.Errorf("during a transaction it is %d: %s", w.Code, w.Body)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			if err := db.close(); err != nil {
				t.Fatal(err)
			}
			if w := ask(t, s, "GET", "/health", ""); (w.Code == 503) != (name != "memory") {
				t.Errorf("without a database it is %d: %s", w.Code, w.Body)
			}
		})
	}
}

// The shop is unhealthy if its file is moved, because its writes would not be in the file that others open.
func TestHealthOfAMovedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shop.db")
	s := openShopOn(t, settings{db: path})
	for _, step := range []struct {
		from, to string
		want     int
	}{{path, path, 200}, {path, path + ".old", 503}, {path + ".old", path, 200}} {
		if err := os.Rename(step.from, step.to); err != nil {
			t.Fatal(err)
		}
		if w := ask(t, s, "GET", "/health", ""); w.Code != step.want {
			t.Errorf("with the file at %s it is %d, want %d: %s", filepath.Base(step.to), w.Code, step.want, w.Body)
		}
	}
}
