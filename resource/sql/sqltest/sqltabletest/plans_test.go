package sqltabletest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// planned has a column of each kind of query.
type planned struct {
	SKU   string  `json:"sku"`
	Title string  `json:"title"`
	Maker *string `json:"maker"`
	Size  *int64  `json:"size"`
	Code  string  `json:"code" unique:"true" maxLength:"64"`
}

// existingPlanned is a table without indexes but those of its keys.
var existingPlanned = map[sqltx.Dialect]string{
	sqltx.PostgreSQL: `CREATE TABLE planned (sku text PRIMARY KEY, title text NOT NULL, maker varchar, size bigint, code text NOT NULL UNIQUE)`,
	sqltx.SQLite: "CREATE TABLE planned (sku TEXT NOT NULL PRIMARY KEY, title TEXT NOT NULL COLLATE NOCASE, maker TEXT, size INTEGER, " +
		"code TEXT NOT NULL UNIQUE, rev TEXT NOT NULL)",
}

var declared = query.Support{
	Sort: []string{"sku", "title", "maker", "size"},
	Filter: map[string][]query.Op{
		"sku":   {query.Eq, query.In, query.Gt},
		"title": {query.Eq, query.Ne, query.StartsWith, query.Contains},
		"maker": {query.Eq, query.NotIn, query.IsNull},
		"size":  {query.Eq, query.Gte, query.IsNull},
		"code":  {query.Eq},
	},
}

// TestCheckPlans compares what CheckWith reports, creates the indexes that it names, and expects that
// it reports nothing but what no index can serve.
func TestCheckPlans(t *testing.T) {
	const contains = "title.contains sorts or reads the whole table: "
	const hint = `, or sort in the collation of the column, by Options.Collation: "default"`
	tests := []struct {
		name string
		opts sqltable.Options
		// what it reports
		sqlite, postgres []string
	}{
		{
			name: "by code point",
			sqlite: []string{
				"sort=title, sort=-title, title, title.startsWith sorts or reads the whole table: " +
					"CREATE INDEX `planned_title_idx` ON `planned` (`title` COLLATE BINARY, `sku` COLLATE BINARY)",
				"sort=maker, sort=-maker, maker, maker.isNull sorts or reads the whole table: " +
					"CREATE INDEX `planned_maker_idx` ON `planned` (`maker` COLLATE BINARY, `sku` COLLATE BINARY)",
				"sort=size, sort=-size, size, size.gte, size.isNull sorts or reads the whole table: " +
					"CREATE INDEX `planned_size_idx` ON `planned` (`size`, `sku` COLLATE BINARY)",
				contains + "no index helps; remove it from the queries of the resource",
			},
			postgres: []string{
				`sort=sku, sort=-sku, sku.gt sorts or reads the whole table: CREATE INDEX "planned_sku_c_idx" ON "planned" ("sku" COLLATE "C")` + hint,
				`sort=title, sort=-title, title.startsWith sorts or reads the whole table: ` +
					`CREATE INDEX "planned_title_c_idx" ON "planned" ("title" COLLATE "C", "sku" COLLATE "C")` + hint,
				`sort=maker, sort=-maker sorts or reads the whole table: ` +
					`CREATE INDEX "planned_maker_c_idx" ON "planned" ("maker" COLLATE "C" NULLS FIRST, "sku" COLLATE "C")` + hint,
				`sort=size, sort=-size, size, size.gte, size.isNull sorts or reads the whole table: ` +
					`CREATE INDEX "planned_size_idx" ON "planned" ("size" NULLS FIRST, "sku" COLLATE "C")`,
				`title sorts or reads the whole table: CREATE INDEX "planned_title_idx" ON "planned" ("title", "sku" COLLATE "C")`,
				contains + `CREATE EXTENSION IF NOT EXISTS pg_trgm; ` +
					`CREATE INDEX "planned_title_trgm_idx" ON "planned" USING gin ("title" gin_trgm_ops)`,
				`maker, maker.isNull sorts or reads the whole table: ` +
					`CREATE INDEX "planned_maker_idx" ON "planned" ("maker" NULLS FIRST, "sku" COLLATE "C")`,
			},
		},
		{
			name: "collation declared", opts: sqltable.Options{Collation: "default"},
			postgres: []string{
				`sort=title, sort=-title, title sorts or reads the whole table: CREATE INDEX "planned_title_idx" ON "planned" ("title", "sku")`,
				`sort=maker, sort=-maker, maker, maker.isNull sorts or reads the whole table: ` +
					`CREATE INDEX "planned_maker_idx" ON "planned" ("maker" NULLS FIRST, "sku")`,
				`sort=size, sort=-size, size, size.gte, size.isNull sorts or reads the whole table: ` +
					`CREATE INDEX "planned_size_idx" ON "planned" ("size" NULLS FIRST, "sku")`,
				`sku.gt sorts or reads the whole table: CREATE INDEX "planned_sku_c_idx" ON "planned" ("sku" COLLATE "C")`,
				`title.startsWith sorts or reads the whole table: ` +
					`CREATE INDEX "planned_title_c_idx" ON "planned" ("title" COLLATE "C", "sku")`,
				contains + `CREATE EXTENSION IF NOT EXISTS pg_trgm; ` +
					`CREATE INDEX "planned_title_trgm_idx" ON "planned" USING gin ("title" gin_trgm_ops)`,
			},
		},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for _, tt := range tests {
			if e.Dialect == sqltx.SQLite && tt.opts.Collation != "" {
				continue
			}
			t.Run(tt.name, func(t *testing.T) {
				db := e.Open(t, nil) // an extension is in one schema of a database
				enginetest.MustExec(t, db, existingPlanned[e.Dialect])
				opts := tt.opts
				opts.ID, opts.Forget = "sku", true
				want := tt.sqlite
				if e.Dialect == sqltx.PostgreSQL {
					opts.Rev, want = sqltable.XMin, tt.postgres
				}
				table := sqltable.New[planned](db, "planned", &opts)
				var got []string
				check := func() (slow []sqltable.Difference) {
					err := table.CheckWith(t.Context(), &sqltable.CheckOptions{Support: declared,
						Warn: func(d sqltable.Difference) { slow = append(slow, d) }})
					if err != nil {
						t.Fatal(err)
					}
					return slow
				}
				slow := check()
				for _, d := range slow {
					got = append(got, d.String())
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("differences (-want +got):\n%s", diff)
				}
				for _, d := range slow {
					for statement := range strings.SplitSeq(d.Fix, "; ") {
						if statement == "" {
							continue
						}
						enginetest.MustExec(t, db, statement)
					}
				}
				for _, d := range check() {
					if d.Fix != "" || e.Dialect == sqltx.PostgreSQL {
						t.Errorf("after the fixes it reports %s\n%s", d, d.Plan)
					}
				}
			})
		}
	})
}

// TestCheckPlansSoftDelete: an index for rows that are not deleted serves the queries.
func TestCheckPlansSoftDelete(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, existingPlanned[e.Dialect], "ALTER TABLE planned ADD COLUMN deleted_at "+
			map[sqltx.Dialect]string{sqltx.SQLite: "TEXT", sqltx.PostgreSQL: "timestamptz"}[e.Dialect],
			"CREATE UNIQUE INDEX planned_live ON planned (code) WHERE deleted_at IS NULL")
		opts := &sqltable.Options{ID: "sku", SoftDelete: "deleted_at", Rev: "rev"}
		if e.Dialect == sqltx.PostgreSQL {
			opts.Rev, opts.Collation = sqltable.XMin, "default"
		}
		table := sqltable.New[planned](db, "planned", opts)
		support := query.Support{Sort: []string{"size"}, Filter: map[string][]query.Op{"size": {query.Eq}, "title": {query.Eq}}}
		for round, want := range []int{2, 0} {
			var slow []sqltable.Difference
			err := table.CheckWith(t.Context(), &sqltable.CheckOptions{Support: support,
				Warn: func(d sqltable.Difference) { slow = append(slow, d) }})
			if err != nil || len(slow) != want {
				t.Fatalf("round %d: %v, differences %v; want %d", round, err, slow, want)
			}
			for _, d := range slow {
				if !strings.HasSuffix(d.Fix, " IS NULL") {
					t.Errorf("the index %s is not partial", d.Fix)
				}
				enginetest.MustExec(t, db, d.Fix)
			}
		}
	})
}

// TestCheckOwnTable: a table of this package with its indexes has no differences.
func TestCheckOwnTable(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		table := sqltable.New[planned](e.OpenSchema(t), "planned", &sqltable.Options{
			ID: "sku", Index: []string{"title", "maker", "size"}})
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		s := declared
		s.Filter = map[string][]query.Op{"title": {query.Eq, query.StartsWith}, "maker": {query.IsNull}, "size": {query.Lt}}
		if err := table.CheckWith(t.Context(), &sqltable.CheckOptions{Support: s}); err != nil {
			t.Error(err)
		}
	})
}

// TestCheckSmallTable: an index that the engine does not use for a few rows is not suggested again.
func TestCheckSmallTable(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for _, rows := range []string{"", "INSERT INTO planned (sku, title, maker, code, rev) VALUES ('a', 'A', NULL, '1', '1'), ('b', 'B', NULL, '2', '1')"} {
			db := e.OpenSchema(t)
			enginetest.MustExec(t, db, existingPlanned[e.Dialect])
			opts := &sqltable.Options{ID: "sku", SoftDelete: "deleted_at", Rev: "rev"}
			at, nulls := "TEXT", ""
			if e.Dialect == sqltx.PostgreSQL {
				opts.Collation = "default"
				at, nulls = "timestamptz", " NULLS FIRST"
				enginetest.MustExec(t, db, "ALTER TABLE planned ADD COLUMN rev text NOT NULL")
			}
			enginetest.MustExec(t, db, "ALTER TABLE planned ADD COLUMN deleted_at "+at,
				"CREATE UNIQUE INDEX planned_live ON planned (code) WHERE deleted_at IS NULL",
				"CREATE INDEX planned_size ON planned (size"+nulls+") WHERE deleted_at IS NULL",
				"CREATE INDEX planned_maker ON planned (maker"+nulls+", sku)")
			if rows != "" {
				enginetest.MustExec(t, db, rows)
			}
			enginetest.MustExec(t, db, "ANALYZE planned")
			equal := []query.Op{query.Eq, query.In}
			support := query.Support{Sort: []string{"sku", "code", "size", "maker"},
				Filter: map[string][]query.Op{"sku": equal, "code": equal, "size": equal, "maker": append(equal, query.IsNull)}}
			err := sqltable.New[planned](db, "planned", opts).CheckWith(t.Context(), &sqltable.CheckOptions{Support: support})
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// TestCheckOperatorClass: an index of another operator class serves no list.
func TestCheckOperatorClass(t *testing.T) {
	type noted struct {
		ID   string `json:"id"`
		Note string `json:"note"`
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			return // SQLite has no operator classes
		}
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, "CREATE TABLE notes (id text PRIMARY KEY, note text NOT NULL, rev text NOT NULL)",
			"CREATE INDEX notes_note ON notes (note text_pattern_ops)")
		table := sqltable.New[noted](db, "notes", &sqltable.Options{Forget: true, Collation: "default"})
		err := table.CheckWith(t.Context(), &sqltable.CheckOptions{Support: query.Support{Sort: []string{"note"}}})
		if err == nil || !strings.Contains(err.Error(), "sort=note") {
			t.Errorf("CheckWith: %v; want sort=note", err)
		}
	})
}

// TestCheckRefuses checks which differences are errors and which are warnings.
func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	const missing, slow = "there is no column code for field Code", "sort=size, sort=-size sorts or reads the whole table"
	tests := []struct {
		name          string
		broken        bool
		warn, warnAll bool
		err, warnings string // contained
	}{
		{name: "slow", err: slow},
		{name: "slow, warned", warn: true, warnings: slow},
		{name: "broken", broken: true, err: missing},
		{name: "broken, warned", broken: true, warn: true, err: missing},
		{name: "broken, all warned", broken: true, warn: true, warnAll: true, warnings: missing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := postgres().Open(t, nil)
			enginetest.MustExec(t, db, existingPlanned[sqltx.PostgreSQL])
			if tt.broken {
				enginetest.MustExec(t, db, "ALTER TABLE planned DROP code")
			}
			table := sqltable.New[planned](db, "planned", &sqltable.Options{ID: "sku", Forget: true, Rev: sqltable.XMin})
			warnings := ""
			opts := &sqltable.CheckOptions{Support: query.Support{Sort: []string{"size"}}, WarnAll: tt.warnAll}
			if tt.warn {
				opts.Warn = func(d sqltable.Difference) { warnings += d.String() + "\n" }
			}
			err := table.CheckWith(t.Context(), opts)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if !strings.Contains(text, tt.err) || (text == "") != (tt.err == "") {
				t.Errorf("error %q, want %q", text, tt.err)
			}
			if !strings.Contains(warnings, tt.warnings) || (warnings == "") != (tt.warnings == "") {
				t.Errorf("warnings %q, want %q", warnings, tt.warnings)
			}
		})
	}
}

// TestCheckPlansOfView: a view has no indexes.
func TestCheckPlansOfView(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, existingPlanned[e.Dialect], "CREATE VIEW shown AS SELECT * FROM planned")
		table := sqltable.New[planned](db, "shown", &sqltable.Options{ID: "sku", ReadOnly: true})
		var got []string
		err := table.CheckWith(t.Context(), &sqltable.CheckOptions{Support: query.Support{Sort: []string{"size"}},
			Warn: func(d sqltable.Difference) { got = append(got, d.String()) }})
		const fix = " sorts or reads the whole table: no index helps; remove it from the queries of the resource"
		if diff := cmp.Diff([]string{"sort=size" + fix, "sort=-size" + fix}, got); diff != "" || err != nil {
			t.Errorf("%v, differences (-want +got):\n%s", err, diff)
		}
	})
}
