package main

import (
	"context"
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
