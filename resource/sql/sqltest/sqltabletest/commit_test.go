package sqltabletest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

type author struct {
	ID string `json:"id"`
}

// volume has the constraints that Django makes: the database checks them at the commit.
type volume struct {
	ID       string  `json:"id"`
	AuthorID *string `json:"authorId"`
	Sequel   *string `json:"sequel"`
	Slot     *int64  `json:"slot"`
}

// olderVolume is a volume with other names.
type olderVolume struct {
	ID       string  `json:"id"`
	WriterID *string `json:"writerId"`
}

// library serves volumes and authors, each with hooks in transactions, a log of events or keys.
func library(t *testing.T, e *enginetest.Engine, hooks, logged, view bool) http.Handler {
	t.Helper()
	db := e.OpenSchema(t)
	unique := ""
	if e.Dialect == sqltx.PostgreSQL {
		unique = ", UNIQUE (slot) DEFERRABLE INITIALLY DEFERRED"
	}
	enginetest.MustExec(t, db, "CREATE TABLE authors (id text PRIMARY KEY, rev text NOT NULL)",
		"CREATE TABLE volumes (id text PRIMARY KEY, "+
			"author_id text REFERENCES authors (id) DEFERRABLE INITIALLY DEFERRED, "+
			"sequel text REFERENCES volumes (id) DEFERRABLE INITIALLY DEFERRED, "+
			"slot bigint, rev text NOT NULL"+unique+")")
	authors := sqltable.New[author](db, "authors", &sqltable.Options{Forget: true})
	volumes := sqltable.New[volume](db, "volumes", &sqltable.Options{Forget: true})
	log, keys := sqlfeed.New(db, nil), sqlrecords.New(db, nil)
	for _, create := range []func(context.Context) error{log.CreateTable, keys.CreateTable} {
		if err := create(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	opts := &resource.Options[volume]{Public: true}
	if hooks {
		opts.Before = func(context.Context, resource.Op, *volume, *volume) error { return nil }
	}
	logger := slog.New(slog.DiscardHandler)
	catalog := &resource.CatalogOptions{Logger: logger, Idempotency: idempotency.New(keys, nil),
		Principal: func(context.Context) string { return "ann" }}
	if logged {
		f := feed.New(log, nil)
		t.Cleanup(func() { f.Close() })
		catalog.Feed = f
	}
	r := volumes.Ops().Resource("volumes", opts)
	if view {
		r = resource.View(r,
			func(v volume) (olderVolume, error) { return olderVolume{v.ID, v.AuthorID}, nil },
			func(old olderVolume, v volume) (volume, error) {
				v.ID, v.AuthorID = old.ID, old.WriterID
				return v, nil
			}, &resource.ViewOptions{Fields: map[string]string{"writerId": "authorId"}})
	}
	return rest.New(resource.NewCatalog(catalog, r, command.NewImport("volumes/import", r),
		authors.Ops().Resource("authors", &resource.Options[author]{Public: true})), nil)
}

// TestRule138ConstraintsAtCommit: a constraint that the database checks at the commit is the client's mistake, in
// whatever transaction the write is. SQLite reports neither the column nor the row.
func TestRule138ConstraintsAtCommit(t *testing.T) {
	const batch, lines = "application/vnd.stoa.batch+json", "application/x-ndjson"
	const one = `{"op":"create","value":{"id":"a","authorId":"ann"}},`
	tests := []struct {
		name, line, kind, content string
		want, sqlite              string
		postgres                  bool // SQLite has no such constraint
	}{
		{"create", "POST /volumes", "application/json", `{"authorId":"nobody"}`,
			"422 invalid-content /authorId unknown", "422 invalid-content  unknown", false},
		{"put", "PUT /volumes/x", "application/json", `{"authorId":"nobody"}`,
			"422 invalid-content /authorId unknown", "422 invalid-content  unknown", false},
		{"patch", "PATCH /volumes/first", "application/merge-patch+json", `{"sequel":"none"}`,
			"422 invalid-content /sequel unknown", "422 invalid-content  unknown", false},
		{"taken", "POST /volumes", "application/json", `{"slot":1}`, "409 conflict /slot taken", "", true},
		{"delete", "DELETE /authors/ann", "", "", "409 conflict", "409 conflict", false},
		{"delete what its own table refers to", "DELETE /volumes/second", "", "",
			"409 conflict", "409 conflict", false},
		{"batch", "POST /volumes", batch, `{"operations":[` + one + `{"op":"create","value":{"authorId":"nobody"}}]}`,
			"422 invalid-content /operations/1/value/authorId unknown", "422 invalid-content  unknown", false},
		{"batch with a later parent", "POST /volumes", batch,
			`{"operations":[{"op":"create","value":{"id":"b","sequel":"a"}},` + one +
				`{"op":"patch","id":"a","patch":{"slot":1}}]}`,
			"409 conflict /operations/2/patch/slot taken", "", true},
		{"batch that is right", "POST /volumes", batch,
			`{"operations":[{"op":"create","value":{"id":"b","sequel":"a"}},` +
				strings.TrimSuffix(one, ",") + `]}`, "200", "200", false},
		{"import", "POST /volumes/import", lines,
			`{"id":"a","authorId":"ann"}` + "\n" + `{"id":"b","authorId":"nobody"}` + "\n" + `{"id":"c"}`,
			"2 0; 2: 422 /authorId unknown", "2 0; 2: 422  unknown", false},
		{"import of what exists", "POST /volumes/import", lines,
			`{"id":"a"}` + "\n" + `{"id":"first","sequel":"none"}`,
			"1 0; 2: 422 /sequel unknown", "1 0; 2: 422  unknown", false},
		{"atomic import", "POST /volumes/import?atomic=true", lines,
			`{"id":"a","sequel":"d"}` + "\n" + `{"id":"b","authorId":"nobody"}` + "\n" + `{"id":"d"}`,
			"2: 422 /authorId unknown", "422 invalid-content  unknown", false},
		{"atomic import that is right", "POST /volumes/import?atomic=true", lines,
			`{"id":"a","sequel":"b"}` + "\n" + `{"id":"b","sequel":"a"}`, "2 0", "2 0", false},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for _, where := range []struct {
			name                 string
			hooks, logged, keyed bool
		}{
			{"alone", false, false, false}, {"with a hook", true, false, false},
			{"with a log", false, true, false}, {"with a key", false, false, true},
			{"with all", true, true, true},
		} {
			for _, tt := range tests {
				want, isImport := tt.want, strings.HasSuffix(tt.line, "import")
				inTx := tt.kind == batch || strings.Contains(tt.line, "atomic") || where.hooks || where.logged ||
					where.keyed && !isImport // without a transaction the error is that of the statement
				if e.Dialect == sqltx.SQLite && inTx {
					want = tt.sqlite
				}
				if e.Dialect == sqltx.SQLite && tt.postgres {
					continue
				}
				t.Run(where.name+"/"+tt.name, func(t *testing.T) {
					h := library(t, e, where.hooks, where.logged, false)
					sendTo(t, h, "PUT /authors/ann", "application/json", `{}`, "")
					sendTo(t, h, "PUT /volumes/second", "application/json", `{"authorId":"ann"}`, "")
					sendTo(t, h, "PUT /volumes/first", "application/json", `{"slot":1,"sequel":"second"}`, "")
					key := ""
					if where.keyed {
						key = `"k"`
					}
					w := sendTo(t, h, tt.line, tt.kind, tt.content, key)
					got := fmt.Sprint(w.Code)
					if tt.kind == lines && (w.Code == 200 || strings.Contains(w.Body.String(), `"rejected"`)) {
						got = importSummary(t, w, new(int))
					} else if w.Code >= 400 {
						got = summary(t, w.Code, w.Body.String())
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s %s (-want +got):\n%s\n%s", tt.line, tt.content, diff, w.Body)
					}
				})
			}
		}
	})
}

// TestRule138ConstraintsAtCommitInView: the violation names the member of the view, also if the transaction is that of
// a key.
func TestRule138ConstraintsAtCommitInView(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			t.Skip("SQLite does not report the column")
		}
		for name, key := range map[string]string{"without a key": "", "with a key": `"k"`} {
			h := library(t, e, true, true, true)
			w := sendTo(t, h, "POST /volumes", "application/json", `{"writerId":"nobody"}`, key)
			got := summary(t, w.Code, w.Body.String())
			if diff := cmp.Diff("422 invalid-content /writerId unknown", got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
}

// sendTo sends a request, with a key unless that is empty.
func sendTo(t *testing.T, h http.Handler, line, kind, content, key string) *httptest.ResponseRecorder {
	t.Helper()
	method, target, _ := strings.Cut(line, " ")
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(content))
	if r.Header.Set("Content-Type", kind); kind == "" {
		r.Body = http.NoBody
		r.Header.Del("Content-Type")
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
