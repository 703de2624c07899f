package sqltabletest

import (
	"os"
	osexec "os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// ticket is stored in an existing table of another application.
type ticket struct {
	Number  string    `json:"number" db:"ticket_no" maxLength:"64"`
	Subject string    `json:"subject"`
	OwnerID *string   `json:"ownerId" db:"Owner"`
	Prio    int32     `json:"prio"`
	Weight  float64   `json:"weight" db:"order"`
	Open    bool      `json:"open" db:"is_open"`
	Due     time.Time `json:"due" db:"due_ms"`
	Tags    []string  `json:"tags" sql:"json"`
}

// shownTicket shows what the store and the database fill in.
type shownTicket struct {
	ticket
	Version string    `json:"version" readOnly:"true" db:"row_version"`
	Touched time.Time `json:"touched" readOnly:"true"`
	Source  string    `json:"source" readOnly:"true"`
}

// tickets is that table: with columns of its own that no field knows, and one that fills itself in.
var tickets = map[sqltx.Dialect][]string{
	sqltx.SQLite: {"CREATE TABLE tickets (legacy INTEGER, ticket_no VARCHAR(64) PRIMARY KEY, subject VARCHAR NOT NULL COLLATE NOCASE," +
		"`Owner` TEXT, prio INT NOT NULL, `order` DOUBLE NOT NULL, is_open BOOLEAN NOT NULL, due_ms BIGINT NOT NULL," +
		"tags JSON NOT NULL, row_version TEXT NOT NULL DEFAULT '', touched DATETIME NOT NULL DEFAULT '2024-01-02T03:04:05.000000000Z'," +
		"source TEXT NOT NULL DEFAULT 'web')"},
	sqltx.PostgreSQL: {`CREATE TABLE tickets (legacy int, ticket_no varchar(64) PRIMARY KEY, subject varchar NOT NULL,` +
		`"Owner" text, prio int NOT NULL, "order" float8 NOT NULL, is_open bool NOT NULL, due_ms bigint NOT NULL,` +
		`tags json NOT NULL, row_version text NOT NULL DEFAULT '', touched timestamptz NOT NULL DEFAULT now(),` +
		`source text NOT NULL DEFAULT 'web')`},
}

// ofTickets is the shape with ways of its own to have revisions and ids.
func ofTickets(opts sqltable.Options) shape[ticket] {
	opts.ID = "number"
	opts.Columns = map[string]sqlquery.Column{ // what the tags of ticket cannot declare
		"due": {Name: "due_ms", Kind: sqlquery.Time, Unit: time.Microsecond, NotNull: true},
	}
	if !opts.Forget && !opts.ReadOnly {
		opts.Tombstones = "dead tickets"
	}
	return shape[ticket]{table: "tickets", opts: opts, tables: tickets,
		require: "Inserter Replacer Deleter Counter Aggregator MultiGetter MultiInserter BatchLister BatchCounter Transactor Locker"}
}

// ways are those in which a table without a column for it can have revisions, and those with one.
func ways(d sqltx.Dialect) map[string]sqltable.Options {
	all := map[string]sqltable.Options{
		"a column":              {Rev: "row_version", Modified: "touched"},
		"content and a time":    {Rev: sqltable.Content, Modified: "touched"},
		"forgotten":             {Rev: "row_version", Forget: true, NewID: newNumber()},
		"ids that live again":   {Rev: "row_version", Modified: "touched", Recreate: true, ClientIDs: true},
		"content and new lives": {Rev: sqltable.Content, Modified: "touched", Recreate: true},
	}
	if d == sqltx.PostgreSQL {
		all["xmin"] = sqltable.Options{Rev: sqltable.XMin}
		all["xmin and a time"] = sqltable.Options{Rev: sqltable.XMin, Modified: "touched"}
		all["xmin and new lives"] = sqltable.Options{Rev: sqltable.XMin, Recreate: true}
	}
	return all
}

// newNumber returns what counts ids.
func newNumber() func() string {
	var last atomic.Int64
	return func() string { return "T-" + strconv.FormatInt(last.Add(1), 10) }
}

func TestKitOfTableThatExists(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for name, opts := range ways(e.Dialect) {
			t.Run(name, func(t *testing.T) { ofTickets(opts).run(t, e) })
		}
	})
}

// shown has fields for what the store and the database fill in.
func shown() shape[shownTicket] {
	from := ofTickets(sqltable.Options{Rev: "row_version", Modified: "touched"})
	from.opts.Columns["source"] = sqlquery.Column{Expr: "source"}
	return shape[shownTicket]{table: from.table, opts: from.opts, tables: from.tables, require: from.require}
}

func TestKitOfFilledColumns(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		s := shown()
		s.run(t, e)
		t.Run("what they hold", func(t *testing.T) {
			ops := s.open(t, e).Ops()
			began := time.Now().Add(-time.Second)
			it, err := ops.Insert(t.Context(), "T-1", shownTicket{Version: "mine", Source: "mine"})
			if err != nil {
				t.Fatal(err)
			}
			if it.Value.Version != string(it.Rev) || it.Value.Source != "web" {
				t.Errorf("the fields show the version %q and the source %q, want the revision %q and the default",
					it.Value.Version, it.Value.Source, it.Rev)
			}
			if !it.Value.Touched.Equal(it.Modified) || it.Modified.Before(began) {
				t.Errorf("the field shows the time %v, want that of the write, %v", it.Value.Touched, it.Modified)
			}
		})
	})
}

// invoice is in a table that counts its writes and numbers its rows.
type invoice struct {
	No     int32  `json:"no" db:"invoice_no" readOnly:"true"`
	Payer  string `json:"payer" maxLength:"4000"`
	Cents  int64  `json:"cents"`
	Status string `json:"status" enum:"open,paid" db:"state"`
}

func ofInvoices() shape[invoice] {
	return shape[invoice]{table: "accounting.invoices",
		opts:    sqltable.Options{ID: "no", Rev: "lock_version", CountRev: true},
		require: "Creator Replacer Deleter Tombstoner Counter Aggregator MultiGetter BatchLister BatchCounter Transactor Locker",
		tables: map[sqltx.Dialect][]string{
			sqltx.PostgreSQL: {"CREATE SCHEMA IF NOT EXISTS accounting", "DROP TABLE IF EXISTS accounting.invoices, accounting.invoices_deleted",
				`CREATE TABLE accounting.invoices (invoice_no serial PRIMARY KEY,
				payer text NOT NULL, cents bigint NOT NULL, state varchar(10) NOT NULL CHECK (state IN ('open', 'paid')),
				lock_version bigint NOT NULL DEFAULT 0)`},
			sqltx.SQLite: {`CREATE TABLE invoices (invoice_no INTEGER PRIMARY KEY AUTOINCREMENT, payer TEXT NOT NULL,
				cents INTEGER NOT NULL, state VARCHAR(10) NOT NULL CHECK (state IN ('open', 'paid')),
				lock_version INT NOT NULL DEFAULT 0)`},
		}}
}

func TestKitOfCountedTableThatExists(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		s := ofInvoices()
		s.kit.Change = func(v invoice) invoice { v.Cents++; return v } // the id is an int32, and made-up values have others
		if e.Dialect == sqltx.SQLite {
			s.table = "main.invoices"
		}
		s.run(t, e)
	})
}

// TestKitOfView reads a view that joins tables of another application.
func TestKitOfView(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		s := ofTickets(sqltable.Options{ReadOnly: true})
		s.table, s.require = "open tickets", "Counter Aggregator MultiGetter BatchLister BatchCounter Transactor"
		s.tables = map[sqltx.Dialect][]string{e.Dialect: append(slices.Clone(tickets[e.Dialect]), rows(e.Dialect),
			"CREATE VIEW "+e.Dialect.Quote("open tickets")+" AS SELECT * FROM tickets WHERE is_open")}
		s.run(t, e)
		if n, err := s.open(t, e).Ops().Count(t.Context(), query.Query{}); n != 40 || err != nil {
			t.Errorf("the view has %d rows, %v; want 40", n, err)
		}
	})
}

// rows lets the engine make 60 tickets, of which 40 are open.
func rows(d sqltx.Dialect) string {
	open, owner := "i % 3 <> 0", "CASE WHEN i % 4 = 0 THEN NULL ELSE 'owner ' || i % 5 END"
	return "WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 60) INSERT INTO tickets (ticket_no, subject, " +
		d.Quote("Owner") + ", prio, " + d.Quote("order") + ", is_open, due_ms, tags) SELECT 'T-' || i, 'Subject ' || i % 7, " +
		owner + ", i % 3, i / 8.0, " + open + ", i * 1000000, '[\"a\"]' FROM s"
}

// TestKitOfContentAlone: without a time in the content a revision repeats with the content, as the
// documentation of Content states. The kit has to report this one failure, so it runs in another
// process.
func TestKitOfContentAlone(t *testing.T) {
	const variable = "SQLTABLETEST_CONTENT_ALONE"
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if os.Getenv(variable) != "" {
			ofTickets(sqltable.Options{Rev: sqltable.Content}).run(t, e)
			return
		}
		cmd := osexec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKitOfContentAlone$/^"+e.Name+"$", "-test.v")
		cmd.Env = append(os.Environ(), variable+"=1")
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Error("the kit passes: then Content keeps every promise, and its documentation is wrong")
		}
		failed := regexp.MustCompile(`--- FAIL: TestKitOfContentAlone/\w+/([\w-]+)`).FindAllStringSubmatch(string(out), -1)
		passed := strings.Count(string(out), "--- PASS: TestKitOfContentAlone/"+e.Name+"/")
		if len(failed) != 1 || failed[0][1] != "replace-revisions" || passed < 40 {
			t.Errorf("%d cases passed and %q failed, want replace-revisions alone:\n%s", passed, failed, out)
		}
	})
}
