package sqltabletest

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// counter is incremented by all writers.
type counter struct {
	ID string `json:"id"`
	N  int64  `json:"n"`
	By string `json:"by"`
}

// processes are resources over one database, each as if it had a process to itself: pools and locks of its own.
func processes(t *testing.T, e *enginetest.Engine, n int, opts sqltable.Options) []*resource.Resource {
	t.Helper()
	connector := e.Connector(t)
	var all []*resource.Resource
	for range n {
		pool := sql.OpenDB(connector)
		t.Cleanup(func() { pool.Close() })
		pool.SetMaxOpenConns(4)
		pool.SetMaxIdleConns(4)
		if e.Dialect == sqltx.SQLite {
			pool.SetMaxOpenConns(1)
		}
		table := sqltable.New[counter](sqltx.New(e.Dialect, pool, nil), "counters", &opts)
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		all = append(all, table.Ops().Resource("counters", &resource.Options[counter]{Before: count}))
	}
	return all
}

// count is what makes a patch an increment: it runs again whenever another write came between.
func count(_ context.Context, _ resource.Op, before, after *counter) error {
	if before != nil {
		after.N = before.N + 1
	}
	return nil
}

// increment patches, and repeats when the library gives up after too many conflicts, as a client
// does after 503.
func increment(t *testing.T, r *resource.Resource, by string) error {
	p, err := patch.Parse(patch.MergeType, fmt.Appendf(nil, `{"by":%q}`, by), patch.Limits{})
	if err != nil {
		return err
	}
	for {
		_, err := r.Patch(t.Context(), "c", p, nil)
		if err == nil || resource.Problem(err).StatusCode() != http.StatusServiceUnavailable {
			return err
		}
	}
}

// TestIncrementsAreNotLost has 16 writers increment one counter 50 times each, in one process and in two.
func TestIncrementsAreNotLost(t *testing.T) {
	const writers, each = 16, 50
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		kinds := map[string]sqltable.Options{"a column": {}, "a count": {CountRev: true}, "content": {Rev: sqltable.Content, Modified: "at"}}
		if e.Dialect == sqltx.PostgreSQL {
			kinds["xmin"] = sqltable.Options{Rev: sqltable.XMin}
		}
		for kind, opts := range kinds {
			for n := range 2 {
				t.Run(fmt.Sprintf("%s, processes %d", kind, n+1), func(t *testing.T) {
					all := processes(t, e, n+1, opts)
					if _, _, err := all[0].Put(t.Context(), "c", []byte(`{"n":0}`), nil); err != nil {
						t.Fatal(err)
					}
					var group sync.WaitGroup
					for w := range writers {
						group.Go(func() {
							for i := range each {
								if err := increment(t, all[w%len(all)], fmt.Sprint(w, i)); err != nil {
									t.Error(err)
								}
							}
						})
					}
					group.Wait()
					entry, err := all[0].Get(t.Context(), "c")
					if err != nil {
						t.Fatal(err)
					}
					if got := entry.Value.(*counter).N; got != writers*each {
						t.Errorf("the counter is at %d after %d acknowledged increments: lost %d", got, writers*each, writers*each-got)
					}
				})
			}
		}
	})
}
