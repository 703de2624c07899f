package sqltabletest

import (
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query/sqlquery"
	"github.com/stoa-go/stoa/resource/resourcetest"
	"github.com/stoa-go/stoa/resource/sqltable"
	"github.com/stoa-go/stoa/resource/sqltx"
	"github.com/stoa-go/stoa/resource/sqltx/sqltxtest"
)

// ticket is kept in a table that somebody else has made, long ago.
type ticket struct {
	Number  string    `json:"number" db:"ticket_no" maxLength:"64"`
	Subject string    `json:"subject"`
	OwnerID *string   `json:"ownerId" db:"Owner"`
	Prio    int32     `json:"prio"`
	Weight  float64   `json:"weight" db:"order"`
	Open    bool      `json:"open" db:"is_open"`
	Due     time.Time `json:"due" db:"due_ms"`
	Tags    []string  `json:"tags"`
}

// shownTicket shows what the store and the database fill in.
type shownTicket struct {
	ticket
	Version string    `json:"version" readOnly:"true" db:"row_version"`
	Touched time.Time `json:"touched" readOnly:"true"`
	Source  string    `json:"source" readOnly:"true"`
}

// tickets is that table: with columns of its own that no field knows, and one that fills itself in.
var tickets = map[sqltx.Dialect]string{
	sqltx.SQLite: "CREATE TABLE tickets (legacy INTEGER, ticket_no VARCHAR(64) PRIMARY KEY, subject VARCHAR NOT NULL COLLATE NOCASE," +
		"`Owner` TEXT, prio INT NOT NULL, `order` DOUBLE NOT NULL, is_open BOOLEAN NOT NULL, due_ms BIGINT NOT NULL," +
		"tags JSON NOT NULL, row_version TEXT NOT NULL DEFAULT '', touched DATETIME NOT NULL, source TEXT NOT NULL DEFAULT 'web')",
	sqltx.PostgreSQL: `CREATE TABLE tickets (legacy int, ticket_no varchar(64) PRIMARY KEY, subject varchar NOT NULL,` +
		`"Owner" text, prio int NOT NULL, "order" float8 NOT NULL, is_open bool NOT NULL, due_ms bigint NOT NULL,` +
		`tags json NOT NULL, row_version text NOT NULL DEFAULT '', touched timestamptz NOT NULL, source text NOT NULL DEFAULT 'web')`,
}

// kept says what the tags of ticket cannot say.
func kept() map[string]sqlquery.Column {
	return map[string]sqlquery.Column{
		"due": {Name: "due_ms", Kind: sqlquery.Time, Unit: time.Microsecond, NotNull: true},
	}
}

// revisions are the ways in which a table without a column for it can have revisions, and those with one.
func revisions(d sqltx.Dialect) map[string]sqltable.Options {
	ways := map[string]sqltable.Options{
		"a column":              {Rev: "row_version", Modified: "touched"},
		"content and a time":    {Rev: sqltable.Content, Modified: "touched"},
		"forgotten":             {Rev: "row_version", Modified: "touched", Forget: true, NewID: newNumber()},
		"ids that live again":   {Rev: "row_version", Modified: "touched", Recreate: true, ClientIDs: true},
		"content and new lives": {Rev: sqltable.Content, Modified: "touched", Recreate: true},
	}
	if d == sqltx.PostgreSQL {
		ways["xmin"] = sqltable.Options{Rev: sqltable.XMin, Modified: "touched"}
		ways["xmin and new lives"] = sqltable.Options{Rev: sqltable.XMin, Modified: "touched", Recreate: true}
	}
	return ways
}

// newNumber returns what counts ids.
func newNumber() func() string {
	var last atomic.Int64
	return func() string { return "T-" + strconv.FormatInt(last.Add(1), 10) }
}

func TestKitOfTableThatExists(t *testing.T) {
	onEngines(t, func(t *testing.T, e sqltxtest.Engine) {
		for name, opts := range revisions(e.Dialect) {
			t.Run(name, func(t *testing.T) {
				opts.ID = "number"
				opts.Columns = kept()
				opts.Tombstones = "dead tickets"
				if opts.Forget {
					opts.Tombstones = ""
				}
				run(t, func(t *testing.T) *sqltable.Table[ticket] {
					db := e.Open(t, nil)
					exec(t, db, tickets[e.Dialect])
					table := sqltable.New[ticket](db, "tickets", &opts)
					if err := table.CreateTable(t.Context()); err != nil { // the table of tombstones
						t.Fatal(err)
					}
					return table
				}, resourcetest.Options[ticket]{IDField: "number", Recreates: opts.Recreate,
					Require: []string{"Inserter", "Replacer", "Deleter", "Counter", "MultiGetter", "Grouper", "Transactor"}})
			})
		}
	})
}
