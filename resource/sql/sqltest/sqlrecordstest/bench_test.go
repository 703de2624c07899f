package sqlrecordstest

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

var (
	benchRequests = flag.Int("requests", 500, "of each way in each round of BenchmarkKeyedPOST")
	benchRounds   = flag.Int("rounds", 3, "of BenchmarkKeyedPOST")
)

// The ways to create an order, in the order of the table.
const (
	noKey       = "no key"
	oneCommit   = "one transaction"
	threeCommit = "three commits"
	replayed    = "replay"
	benchers    = 16 // clients at once
)

// bench is a catalog by each of the ways, over one database.
type bench struct {
	by   map[string]http.Handler
	last atomic.Int64 // key
}

// durable opens a database with commits on disk: SQLite with full synchronization, PostgreSQL with
// its settings.
func durable(b *testing.B, e sqltest.Engine) (writer, readers *sql.DB) {
	name, url := "pgx", ""
	if e.Dialect == sqltx.PostgreSQL {
		url = sqltest.PostgreSQL(b)
	} else {
		name = map[string]string{"modernc": "sqlite", "ncruces": "sqlite3"}[e.Name]
		url = "file:" + filepath.Join(b.TempDir(), "bench.db") + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)"
	}
	open := func(connections int) *sql.DB {
		pool, err := sql.Open(name, url)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { pool.Close() })
		pool.SetMaxOpenConns(connections)
		pool.SetMaxIdleConns(connections)
		return pool
	}
	if e.Dialect == sqltx.PostgreSQL {
		return open(benchers), nil
	}
	return open(1), open(4)
}

// openBench makes the catalogs. That of three commits has its records in the same database by the same connections, and
// nothing else that the other has not; but it does not know that, and commits the claim, the order and the record.
func openBench(b *testing.B, e sqltest.Engine) *bench {
	b.Helper()
	writer, readers := durable(b, e)
	db := sqltx.New(e.Dialect, writer, &sqltx.Options{Readers: readers})
	table, err := orders(b.Context(), db)
	if err != nil {
		b.Fatal(err)
	}
	bn := &bench{by: map[string]http.Handler{}}
	catalog := func(way string, db *sqltx.DB) {
		store := sqlrecords.New(db, &sqlrecords.Options{Table: strings.ReplaceAll(way, " ", "_")})
		if err := store.CreateTable(b.Context()); err != nil {
			b.Fatal(err)
		}
		keeper := idempotency.New(store, &idempotency.Options{Quota: 1_000_000, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
		bn.by[way] = rest.New(resource.NewCatalog(&resource.CatalogOptions{Idempotency: keeper, Principal: func(context.Context) string { return "ann" }},
			table.Ops().Resource("orders", &resource.Options[order]{Public: true})), nil)
	}
	catalog(oneCommit, db)
	catalog(threeCommit, sqltx.New(e.Dialect, writer, &sqltx.Options{Readers: readers}))
	bn.by[noKey], bn.by[replayed] = bn.by[oneCommit], bn.by[oneCommit]
	return bn
}

// post creates an order by a way, with a key unless it is empty.
func (bn *bench) post(way, key string) error {
	r := httptest.NewRequest("POST", "/orders", strings.NewReader(`{"what":"tea"}`))
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set(idempotency.KeyField, key)
	}
	w := httptest.NewRecorder()
	bn.by[way].ServeHTTP(w, r)
	if again := w.Header().Get(idempotency.ReplayedField) != ""; w.Code != http.StatusCreated || again != (way == replayed) {
		return fmt.Errorf("%s: %d, replayed %t: %s", way, w.Code, again, w.Body)
	}
	return nil
}

// run makes all requests of one round by a way, 16 at a time, and returns how many there are in a second.
func (bn *bench) run(b *testing.B, way string) float64 {
	base := bn.last.Add(int64(*benchRequests)) - int64(*benchRequests)
	if way == replayed { // of what was created in the round before
		base = 0
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for range benchers {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(*benchRequests); n = next.Add(1) {
				key := strconv.FormatInt(base+n, 10)
				if way == noKey {
					key = ""
				}
				if err := bn.post(way, key); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return float64(*benchRequests) / time.Since(began).Seconds()
}

// BenchmarkKeyedPOST prints a table of requests per second, the median of some rounds in which the ways take turns. How to run it
// is in the comment of the package.
func BenchmarkKeyedPOST(b *testing.B) {
	ways := []string{oneCommit, threeCommit, noKey, replayed}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer out.Flush()
	fmt.Fprintf(out, "\n%d POSTs, %d at a time, requests/s\t%s\tone : three\t\n", *benchRequests, benchers, strings.Join(ways, "\t"))
	for _, e := range sqltest.Engines() {
		b.Run(e.Name, func(b *testing.B) {
			bn := openBench(b, e)
			for b.Loop() {
				rates := map[string][]float64{}
				for range *benchRounds {
					for _, way := range ways {
						rates[way] = append(rates[way], bn.run(b, way))
					}
				}
				fmt.Fprintf(out, "%s\t", e.Name)
				for _, way := range ways {
					slices.Sort(rates[way])
					fmt.Fprintf(out, "%.0f\t", median(rates[way]))
				}
				fmt.Fprintf(out, "%.2f\t\n", median(rates[oneCommit])/median(rates[threeCommit]))
			}
		})
	}
}

func median(sorted []float64) float64 { return sorted[len(sorted)/2] }
