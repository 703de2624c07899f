package sqltabletest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	ncruces "github.com/ncruces/go-sqlite3/driver"
	modernc "modernc.org/sqlite"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

var benchRows = flag.Int("rows", 20_000, "of the table of the benchmarks")

// town is what the benchmarks keep.
type town struct {
	ID         int64  `json:"id" readOnly:"true"`
	Name       string `json:"name"`
	Country    string `json:"country"`
	Population int64  `json:"population"`
}

// openTowns serves a full table by a Catalog and by hand.
func openTowns(b *testing.B, db *sqltx.DB, pool *sql.DB) (stoa, hand http.Handler) {
	b.Helper()
	table := sqltable.New[town](db, "towns", &sqltable.Options{Index: []string{"country"}})
	index := "CREATE INDEX towns_country_population ON towns (country, population DESC, id)"
	err := errors.Join(table.CreateTable(b.Context()), enginetest.Exec(b.Context(), db, index,
		fmt.Sprintf("WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < %d) INSERT INTO towns "+
			"(name, country, population, rev) SELECT 'Town ' || i, 'C' || i %% 50, i * 7919 %% 100003, 'r' || i FROM s", *benchRows), "ANALYZE"))
	if err != nil {
		b.Fatal(err)
	}
	towns := table.Ops().Resource("towns", &resource.Options[town]{Public: true, Query: query.Support{
		Filter: map[string][]query.Op{"country": {query.Eq}}, Sort: []string{"population"}}})
	return rest.New(resource.NewCatalog(nil, towns), nil), byHand(pool, db.Dialect())
}

// pooled opens a database with the default pool of its driver.
func pooled(b *testing.B, e sqltest.Engine) (*sqltx.DB, *sql.DB) {
	pool := sql.OpenDB(e.Connector(b))
	b.Cleanup(func() { pool.Close() })
	pool.SetMaxIdleConns(8)
	return sqltx.New(e.Dialect, pool, nil), pool
}

// hand is a handler written for one table with net/http, encoding/json and database/sql.
type hand struct {
	pool *sql.DB
	d    sqltx.Dialect
}

func byHand(pool *sql.DB, d sqltx.Dialect) http.Handler {
	h := hand{pool, d}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /towns/{id}", h.get)
	mux.HandleFunc("GET /towns", h.list)
	mux.HandleFunc("POST /towns", h.post)
	mux.HandleFunc("PUT /towns/{id}", h.put)
	return mux
}

// text gives a statement the placeholders of the engine.
func (h hand) text(statement string) string {
	if h.d == sqltx.SQLite {
		return strings.ReplaceAll(statement, "$", "?")
	}
	return statement
}

func (h hand) get(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	v := town{ID: id}
	var rev string
	err = h.pool.QueryRowContext(r.Context(), h.text("SELECT name, country, population, rev FROM towns WHERE id = $1"), id).
		Scan(&v.Name, &v.Country, &v.Population, &rev)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		http.NotFound(w, r)
	case err != nil:
		http.Error(w, "", http.StatusInternalServerError)
	default:
		h.send(w, http.StatusOK, rev, v)
	}
}

func (h hand) send(w http.ResponseWriter, status int, rev string, v any) {
	w.Header().Set("Content-Type", "application/json")
	if rev != "" {
		w.Header().Set("ETag", strconv.Quote(rev))
	}
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func (h hand) list(w http.ResponseWriter, r *http.Request) {
	statement, args := "SELECT id, name, country, population FROM towns ORDER BY id LIMIT 51", []any{}
	if country := r.FormValue("country"); country != "" {
		statement = "SELECT id, name, country, population FROM towns WHERE country = $1 ORDER BY population DESC, id LIMIT 51"
		args = append(args, country)
	}
	rows, err := h.pool.QueryContext(r.Context(), h.text(statement), args...)
	if err != nil {
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	defer rows.Close()
	var list struct {
		Items []town `json:"items"`
		Next  int64  `json:"next,omitempty"`
	}
	for rows.Next() {
		var v town
		if err := rows.Scan(&v.ID, &v.Name, &v.Country, &v.Population); err != nil {
			http.Error(w, "", http.StatusInternalServerError)
			return
		}
		list.Items = append(list.Items, v)
	}
	if len(list.Items) > 50 {
		list.Items, list.Next = list.Items[:50], list.Items[49].ID
	}
	h.send(w, http.StatusOK, "", list)
}

func (h hand) post(w http.ResponseWriter, r *http.Request) {
	var v town
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
		http.Error(w, "", http.StatusBadRequest)
		return
	}
	rev := string(resource.NewRev())
	err := h.pool.QueryRowContext(r.Context(), h.text("INSERT INTO towns (name, country, population, rev) VALUES ($1, $2, $3, $4) RETURNING id"),
		v.Name, v.Country, v.Population, rev).Scan(&v.ID)
	if err != nil {
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	h.send(w, http.StatusCreated, rev, v)
}

// put compares and swaps, so that no update is lost.
func (h hand) put(w http.ResponseWriter, r *http.Request) {
	var v town
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err = errors.Join(err, json.NewDecoder(r.Body).Decode(&v)); err != nil {
		http.Error(w, "", http.StatusBadRequest)
		return
	}
	var old string
	if err := h.pool.QueryRowContext(r.Context(), h.text("SELECT rev FROM towns WHERE id = $1"), id).Scan(&old); err != nil {
		http.NotFound(w, r)
		return
	}
	rev := string(resource.NewRev())
	result, err := h.pool.ExecContext(r.Context(), h.text("UPDATE towns SET name = $1, country = $2, population = $3, rev = $4 WHERE id = $5 AND rev = $6"),
		v.Name, v.Country, v.Population, rev, id, old)
	if n, _ := result.RowsAffected(); err != nil || n == 0 {
		http.Error(w, "", http.StatusServiceUnavailable)
		return
	}
	v.ID = id
	h.send(w, http.StatusOK, rev, v)
}

// BenchmarkByHand sets a Catalog over a table beside handlers that were written by hand for it, in one run. The figure
// is one request without its network.
func BenchmarkByHand(b *testing.B) {
	const body = `{"name":"Athens","country":"GR","population":%d}`
	jobs := []struct {
		name, method, path, body string
		status                   int
	}{
		{"get", "GET", "/towns/%d", "", 200},
		{"page", "GET", "/towns?limit=50", "", 200},
		{"filter and sort", "GET", "/towns?country=C%d&sort=-population&limit=50", "", 200},
		{"insert", "POST", "/towns", body, 201},
		{"replace", "PUT", "/towns/%d", body, 200},
	}
	for _, e := range sqltest.Engines() {
		db, pool := pooled(b, e)
		stoa, hand := openTowns(b, db, pool)
		for _, job := range jobs {
			for name, h := range map[string]http.Handler{"stoa": stoa, "hand": hand} {
				b.Run(e.Name+"/"+job.name+"/"+name, func(b *testing.B) {
					b.ReportAllocs()
					for n := 0; b.Loop(); n++ {
						handle(b, h, job.method, numberedAs(job.path, 1+n%50), numberedAs(job.body, n), job.status)
					}
				})
			}
		}
	}
}

// numberedAs puts a number into a pattern that has a place for one.
func numberedAs(pattern string, n int) string {
	return strings.ReplaceAll(pattern, "%d", strconv.Itoa(n))
}

func handle(tb testing.TB, h http.Handler, method, path, body string, status int) {
	r := httptest.NewRequestWithContext(tb.Context(), method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != status {
		tb.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	io.Copy(io.Discard, w.Body)
}

// named is a connector for drivers that are opened by name only.
type named struct {
	driver driver.Driver
	name   string
}

func (n named) Connect(context.Context) (driver.Conn, error) { return n.driver.Open(n.name) }
func (n named) Driver() driver.Driver                        { return n.driver }

// BenchmarkMixed compares the drivers of SQLite: 16 goroutines, of which one request in five
// replaces a row and the others read a row or a page, on a file in WAL mode with synchronized
// commits.
func BenchmarkMixed(b *testing.B) {
	const pragmas = "?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=foreign_keys(on)"
	drivers := map[string]func(name string) *sql.DB{
		"modernc": func(name string) *sql.DB { return sql.OpenDB(named{&modernc.Driver{}, name}) },
		"ncruces": func(name string) *sql.DB { return sql.OpenDB(named{&ncruces.SQLite{}, name}) },
	}
	for name, open := range drivers {
		b.Run(name, func(b *testing.B) {
			file := "file:" + filepath.Join(b.TempDir(), "bench.db") + pragmas
			writer, readers := open(file), open(file)
			b.Cleanup(func() { writer.Close(); readers.Close() })
			writer.SetMaxOpenConns(1)
			readers.SetMaxOpenConns(8)
			readers.SetMaxIdleConns(8)
			db := sqltx.New(sqltx.SQLite, writer, &sqltx.Options{Readers: readers})
			stoa, _ := openTowns(b, db, writer)
			var turn atomic.Int64
			b.SetParallelism(8) // times two processors
			b.ResetTimer()
			began := processorTime()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					n := int(turn.Add(1))
					switch path := fmt.Sprint("/towns/", 1+n*7919%*benchRows); {
					case n%5 == 0:
						handle(b, stoa, "PUT", path, fmt.Sprintf(`{"name":"New","country":"C1","population":%d}`, n), 200)
					case n%5 == 1:
						handle(b, stoa, "GET", "/towns?country=C1&sort=-population&limit=20", "", 200)
					default:
						handle(b, stoa, "GET", path, "", 200)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
			b.ReportMetric(float64((processorTime()-began).Microseconds())/float64(b.N), "cpu-us/req")
		})
	}
}

// processorTime is what this process has used. Other than the time of a clock, it hardly depends on what else the machine
// is doing.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkPrepared reads one row by its key, as a text that is parsed each time and as a DB does it.
func BenchmarkPrepared(b *testing.B) {
	for _, e := range sqltest.Engines() {
		db, pool := pooled(b, e)
		openTowns(b, db, pool)
		statement := "SELECT name FROM towns WHERE id = " + e.Dialect.Placeholder(1)
		for name, conn := range map[string]sqltx.Conn{"parsed": pool, "kept": db.Reader(b.Context())} {
			b.Run(e.Name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					rows, err := conn.QueryContext(b.Context(), statement, 7)
					if err != nil {
						b.Fatal(err)
					}
					for rows.Next() {
					}
					if err := errors.Join(rows.Err(), rows.Close()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
