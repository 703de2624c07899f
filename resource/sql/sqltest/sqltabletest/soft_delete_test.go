package sqltabletest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// member is unique in its tenant by email, and everywhere by login and phone.
type member struct {
	ID     string  `json:"id" maxLength:"64"`
	Tenant string  `json:"tenantId"`
	Email  string  `json:"email" unique:"tenantId,shard"`
	Shard  int32   `json:"shard"`
	Login  string  `json:"login" unique:"true"`
	Phone  string  `json:"phone,omitzero" maxLength:"20" unique:"true"`
	Note   *string `json:"note"`
}

// keptMember shows the column of the deletion.
type keptMember struct {
	member
	DeletedAt *time.Time `json:"deletedAt" readOnly:"true"`
}

const softCapabilities = "Replacer Deleter Tombstoner Restorer Counter Aggregator MultiGetter BatchLister BatchCounter Transactor Locker"

// members is a table of another application with these columns, and unique indexes over all rows.
var members = map[sqltx.Dialect][]string{
	sqltx.SQLite: {"CREATE TABLE members (id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, email TEXT NOT NULL," +
		"shard INT NOT NULL, login TEXT NOT NULL UNIQUE, phone TEXT NOT NULL, note TEXT, deleted_at TEXT, rev TEXT NOT NULL," +
		"UNIQUE (shard, email, tenant_id))",
		"CREATE UNIQUE INDEX phones ON members (phone) WHERE phone <> ''"},
	sqltx.PostgreSQL: {"CREATE TABLE members (id text PRIMARY KEY, tenant_id text NOT NULL, email text NOT NULL," +
		"shard int NOT NULL, login text NOT NULL UNIQUE, phone text NOT NULL, note text, deleted_at timestamptz, rev text NOT NULL," +
		"UNIQUE (shard, email, tenant_id))",
		"CREATE UNIQUE INDEX phones ON members (phone) WHERE phone <> ''"},
}

func TestKitOfSoftDelete(t *testing.T) {
	soft := func(opts sqltable.Options) sqltable.Options { opts.SoftDelete = "deleted_at"; return opts }
	text := shape[member]{table: "members", opts: soft(sqltable.Options{Index: []string{"tenantId"}}),
		require: "Creator Inserter MultiInserter " + softCapabilities}
	shown := shape[keptMember]{table: "members", opts: soft(sqltable.Options{Recreate: true, Modified: "changed"}),
		require: "Creator Inserter MultiInserter " + softCapabilities}
	existing := shape[keptMember]{table: "members", opts: soft(sqltable.Options{UniqueDeleted: true}), tables: members,
		require: "Creator Inserter MultiInserter " + softCapabilities}
	existing.kit.UniqueDeleted = true
	numbers := shape[numbered]{table: "numbered", require: "Creator " + softCapabilities,
		opts: soft(sqltable.Options{Rev: "version", CountRev: true, Modified: "updated_at"})}
	uuids := shape[identified]{table: "identified", require: "Creator Inserter MultiInserter " + softCapabilities,
		opts: soft(sqltable.Options{Rev: sqltable.Content, Modified: "changed"})}
	xmin := uuids
	xmin.opts.Rev = sqltable.XMin
	tests := []struct {
		name string
		run  func(t *testing.T, e *enginetest.Engine)
		only sqltx.Dialect
	}{
		{"text", text.run, ""},
		{"a field, recreated", shown.run, ""},
		{"existing, unique among deleted rows", existing.run, ""},
		{"counter", numbers.run, ""},
		{"content", uuids.run, ""},
		{"xmin", xmin.run, sqltx.PostgreSQL},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for _, tt := range tests {
			if tt.only == "" || tt.only == e.Dialect {
				t.Run(tt.name, func(t *testing.T) { tt.run(t, e) })
			}
		}
	})
}

// TestUniqueListOfTable runs the kit over a table of its own with fields that are unique together.
func TestUniqueListOfTable(t *testing.T) {
	enginetest.EachEngine(t, shape[member]{table: "members", require: "Creator Inserter Replacer Deleter Tombstoner"}.run)
}

// TestCheckSoftDelete asks Check about unique indexes of existing tables.
func TestCheckSoftDelete(t *testing.T) {
	const covers = "unique among deleted rows, too, so a value of a deleted item is taken (409): " +
		"add WHERE deleted_at IS NULL to the index, or set Options.UniqueDeleted"
	tests := []struct {
		name string
		opts sqltable.Options
		also []string
		want []string // the faults
	}{
		{"all rows, declared", sqltable.Options{SoftDelete: "deleted_at", UniqueDeleted: true}, nil, nil},
		{"all rows, not declared", sqltable.Options{SoftDelete: "deleted_at"}, nil,
			[]string{"columns tenant_id, shard, email are " + covers, "column login is " + covers}},
		{"without soft deletion", sqltable.Options{Forget: true}, nil, nil},
		{"no column", sqltable.Options{SoftDelete: "gone_at", UniqueDeleted: true}, nil,
			[]string{"there is no column gone_at for the store; no field uses deleted_at: set Options.SoftDelete"}},
		{"a column that is never NULL", sqltable.Options{SoftDelete: "deleted_at", UniqueDeleted: true},
			[]string{"DROP TABLE members", `CREATE TABLE members (id text PRIMARY KEY, tenant_id text NOT NULL, email text NOT NULL,
				shard int NOT NULL, login text NOT NULL UNIQUE, phone text NOT NULL, note text,
				deleted_at TIMETYPE NOT NULL, rev text NOT NULL, UNIQUE (email, tenant_id, shard))`},
			[]string{"column deleted_at is NOT NULL, but the store can be null"}},
		{"partial indexes", sqltable.Options{SoftDelete: "deleted_at"},
			[]string{"DROP TABLE members", `CREATE TABLE members (id text PRIMARY KEY, tenant_id text NOT NULL, email text NOT NULL,
				shard int NOT NULL, login text NOT NULL, phone text NOT NULL, note text, deleted_at TIMETYPE, rev text NOT NULL)`,
				"CREATE UNIQUE INDEX a ON members (email, shard, tenant_id) WHERE deleted_at IS NULL",
				"CREATE UNIQUE INDEX b ON members (login) WHERE deleted_at IS NULL"}, nil},
		{"no index", sqltable.Options{SoftDelete: "deleted_at"},
			[]string{"DROP TABLE members", `CREATE TABLE members (id text PRIMARY KEY, tenant_id text NOT NULL, email text NOT NULL,
				shard int NOT NULL, login text NOT NULL, phone text NOT NULL, note text, deleted_at TIMETYPE, rev text NOT NULL)`,
				"CREATE UNIQUE INDEX a ON members (email, shard) WHERE deleted_at IS NULL"},
			[]string{"columns tenant_id, shard, email are not unique, but field Email is tagged so",
				"column login is not unique, but field Login is tagged so"}},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				db := e.OpenSchema(t)
				enginetest.MustExec(t, db, members[e.Dialect]...)
				typ := map[sqltx.Dialect]string{sqltx.SQLite: "TEXT", sqltx.PostgreSQL: "timestamptz"}[e.Dialect]
				for _, statement := range tt.also {
					enginetest.MustExec(t, db, strings.ReplaceAll(statement, "TIMETYPE", typ))
				}
				err := sqltable.New[member](db, "members", &tt.opts).Check(t.Context())
				var got []string
				if err != nil {
					got = strings.Split(err.Error(), "\n\t")[1:]
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("Check (-want +got):\n%s", diff)
				}
			})
		}
	})
}

// TestSoftDeleteAgreesWithMemory does the same random writes in memory and in a table, and compares each
// answer.
func TestSoftDeleteAgreesWithMemory(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for _, recreate := range []bool{false, true} {
			t.Run(fmt.Sprint("recreate ", recreate), func(t *testing.T) { agree(t, e, recreate) })
		}
	})
}

func agree(t *testing.T, e *enginetest.Engine, recreate bool) {
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	table := shape[member]{table: "members", opts: sqltable.Options{SoftDelete: "deleted_at", Recreate: recreate,
		Modified: "changed", Now: clock}}.open(t, e).Ops()
	store := resource.OpsOf(memory.New[member](&memory.Options[member]{SoftDelete: true, Recreate: recreate, Now: clock}))
	rng := rand.New(rand.NewPCG(19, 4))
	both := [2]resource.Ops[member]{store, table}
	revs := [2]map[string]resource.Rev{{}, {}}
	done := map[string]int{}
	for step := range 400 {
		now = now.Add(time.Duration(rng.IntN(5)-1) * time.Second) // which is set back at times
		id := fmt.Sprint("m", rng.IntN(6))
		v := member{ID: id, Tenant: fmt.Sprint(rng.IntN(2)), Email: fmt.Sprint(rng.IntN(3)), Shard: int32(rng.IntN(2)),
			Login: fmt.Sprint(rng.IntN(9)), Phone: []string{"", "1", "2"}[rng.IntN(3)]}
		op := rng.IntN(4)
		var said [2]string
		for i, ops := range both {
			said[i] = outcome(t.Context(), ops, op, id, v, revs[i])
		}
		if diff := cmp.Diff(said[0], said[1]); diff != "" {
			t.Fatalf("step %d: operation %d of %s (-memory +table):\n%s", step, op, id, diff)
		}
		_, failure, _ := strings.Cut(strings.SplitN(said[0], "\n", 2)[0], "UTC")
		done[fmt.Sprint(op, failure)]++
	}
	t.Logf("operations and their errors: %v", done)
	for op := range 4 {
		if done[fmt.Sprint(op)] < 5 {
			t.Errorf("operation %d has succeeded %d times only: %v", op, done[fmt.Sprint(op)], done)
		}
	}
}

// outcome carries out one operation, and describes its result and the state after it.
func outcome(
	ctx context.Context, ops resource.Ops[member], op int, id string, v member, revs map[string]resource.Rev,
) string {
	var it resource.Item[member]
	var err error
	switch op {
	case 0:
		it, err = ops.Insert(ctx, id, v)
	case 1:
		it, err = ops.Replace(ctx, id, revs[id], v)
	case 2:
		err = ops.Delete(ctx, id, revs[id])
	case 3:
		it, err = ops.Restore(ctx, id)
	}
	if it.ID != "" {
		revs[id] = it.Rev
	}
	said := fmt.Sprint(it.Value, it.Modified.UTC(), described(err))
	all := query.Query{Sort: []query.Order{{Field: "id"}}}
	for it, err := range ops.List(ctx, all) {
		said += fmt.Sprint("\n", it.Value, it.Modified.UTC(), err)
	}
	n, err := ops.Count(ctx, query.Query{Filter: query.Where("tenantId", query.Eq, "1")})
	at, gone := ops.Deleted(ctx, id)
	_, get := ops.Get(ctx, id)
	return said + fmt.Sprint("\n", n, err, at.UTC(), described(gone), described(get))
}

// described returns the meaning of an error.
func described(err error) string {
	var said []string
	for _, meaning := range []error{resource.ErrNotFound, resource.ErrGone, resource.ErrExists, resource.ErrStale} {
		if errors.Is(err, meaning) {
			said = append(said, meaning.Error())
		}
	}
	d := resource.Problem(err)
	if len(d.Errors) > 0 { // memory reports each taken field, and a database the first
		said = append(said, d.Errors[0].Code)
	}
	if err != nil && said == nil {
		return err.Error()
	}
	return strings.Join(said, ", ")
}

// placeholders and random values of statements.
var unstable = regexp.MustCompile(`\$\d+(::\w+)?|\?\d+`)

// TestSoftDeleteStatements holds the SQL of each operation.
func TestSoftDeleteStatements(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db, records := enginetest.Record(t, e)
		table := sqltable.New[numbered](db, "numbered", &sqltable.Options{SoftDelete: "deleted_at"})
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		ops := table.Ops()
		it, err := ops.Create(t.Context(), numbered{Title: "a"})
		if err != nil {
			t.Fatal(err)
		}
		tests := []struct {
			name string
			run  func(ctx context.Context) error
			want string
		}{
			{"get", func(ctx context.Context) error { _, err := ops.Get(ctx, it.ID); return err },
				`SELECT "rev", "id", "title", "note", "stars", "added", "edited" FROM "numbered" WHERE ("deleted_at" IS NULL AND "id" = ?)`},
			{"count", func(ctx context.Context) error { _, err := ops.Count(ctx, query.Query{}); return err },
				`SELECT count(*) FROM "numbered" WHERE "deleted_at" IS NULL`},
			{"delete", func(ctx context.Context) error { return ops.Delete(ctx, it.ID, it.Rev) },
				`UPDATE "numbered" SET "deleted_at" = ?, "rev" = ? WHERE ("deleted_at" IS NULL AND "id" = ? AND "rev" = ?)`},
			{"deleted", func(ctx context.Context) error { _, err := ops.Deleted(ctx, it.ID); return err },
				`SELECT "deleted_at" FROM "numbered" WHERE "id" = ?`},
			{"restore", func(ctx context.Context) error { _, err := ops.Restore(ctx, it.ID); return err },
				`UPDATE "numbered" SET "deleted_at" = NULL, "rev" = ? WHERE ("id" = ? AND "deleted_at" IS NOT NULL) ` +
					`RETURNING "rev", "id", "title", "note", "stars", "added", "edited"`},
		}
		for _, tt := range tests {
			var err error
			ran, _ := records.During(func() { err = tt.run(t.Context()) })
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			got := unstable.ReplaceAllString(enginetest.Texts(ran), "?")
			// Where the syntax of SQLite differs.
			got = strings.NewReplacer("`rev` COLLATE BINARY", `"rev"`, "`", `"`).Replace(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		}
	})
}
