package sqltabletest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// memo belongs to a tenant. Nothing in the program restricts it: only policies of the database do.
type memo struct {
	ID     string  `json:"id" maxLength:"64"`
	Tenant string  `json:"tenant"`
	Text   string  `json:"text"`
	Parent *string `json:"parentId"`
}

// tenantKey is the context key of the tenant, which a header field selects.
type tenantKey struct{}

func tenantOf(ctx context.Context) string {
	tenant, _ := ctx.Value(tenantKey{}).(string)
	return tenant
}

// as returns the context of a tenant.
func as(t testing.TB, tenant string) context.Context {
	return context.WithValue(t.Context(), tenantKey{}, tenant)
}

// session is Options.Session of the tests.
func session(ctx context.Context) (map[string]string, error) {
	tenant := tenantOf(ctx)
	if tenant == "" {
		return nil, resource.ErrForbidden
	}
	return map[string]string{"app.tenant": tenant}, nil
}

// memos is a table with policies, and a program that serves it.
type memos struct {
	http.Handler
	db      *sqltx.DB
	table   *sqltable.Table[memo]
	records *enginetest.Recorder
}

// openMemos creates the tables as a superuser, and serves them as a role to which the policies apply. size
// is the number of connections; the statements of a single one are recorded.
func openMemos(t *testing.T, size int) *memos {
	t.Helper()
	address := sqltest.PostgreSQL(t)
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	owner := sql.OpenDB(stdlib.GetConnector(*config))
	t.Cleanup(func() { owner.Close() })
	admin := sqltx.New(sqltx.PostgreSQL, owner, nil)
	role := fmt.Sprintf("stoa_tenant_%d_%s", os.Getpid(), config.Database[strings.LastIndexByte(config.Database, '_')+1:])
	enginetest.MustExec(t, admin, "CREATE ROLE "+role+" NOBYPASSRLS", "GRANT ALL ON SCHEMA public TO "+role)
	t.Cleanup(func() {
		owner.Exec("DROP OWNED BY " + role)
		owner.Exec("DROP ROLE " + role)
	})
	config.RuntimeParams["role"] = role
	m := &memos{records: &enginetest.Recorder{Connector: stdlib.GetConnector(*config)}}
	pool := sql.OpenDB(sqltx.Guard(stdlib.GetConnector(*config)))
	if size == 1 { // a recorder keeps broken connections in the pool, so it is not for canceled statements
		pool = sql.OpenDB(m.records)
	}
	t.Cleanup(func() { pool.Close() })
	pool.SetMaxOpenConns(size)
	m.db = sqltx.New(sqltx.PostgreSQL, pool, &sqltx.Options{Session: session, Debug: true, Idle: -1, Attempts: 1 << 30})
	m.table = sqltable.New[memo](m.db, "memos", nil)
	log, keys := sqlfeed.New(m.db, nil), sqlrecords.New(m.db, nil)
	// The role owns the tables, which FORCE makes subject to the policies as well. No context has a tenant.
	err = errors.Join(m.table.CreateTable(t.Context()), log.CreateTable(t.Context()), keys.CreateTable(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	enginetest.MustExec(t, admin, "ALTER TABLE memos_deleted ADD tenant text NOT NULL",
		"ALTER TABLE memos_deleted ALTER tenant SET DEFAULT current_setting('app.tenant')")
	for _, table := range []string{"memos", "memos_deleted"} {
		enginetest.MustExec(t, admin, "ALTER TABLE "+table+" ENABLE ROW LEVEL SECURITY",
			"ALTER TABLE "+table+" FORCE ROW LEVEL SECURITY",
			"CREATE POLICY tenant ON "+table+" USING (tenant = current_setting('app.tenant', true))")
	}
	if err := m.table.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := feed.New(log, nil)
	t.Cleanup(func() { f.Close() })
	c := resource.NewCatalog(&resource.CatalogOptions{Principal: tenantOf, Feed: f,
		Idempotency: idempotency.New(keys, nil), Logger: slog.New(slog.DiscardHandler)},
		m.table.Ops().Resource("memos", &resource.Options[memo]{Query: m.table.Support(), Public: true,
			Relations: []resource.Relation[memo]{{Name: "parent", Target: "memos", Field: "parentId"},
				{Name: "children", Target: "memos", By: "parentId"}}}))
	mux := http.NewServeMux()
	mux.Handle("/", rest.New(c, nil))
	mux.Handle("/graphql", graphql.New(c, nil))
	m.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tenantKey{}, r.Header.Get("Tenant"))))
	})
	return m
}

// do sends a request of a tenant. The lines of header are field names and values.
func (m *memos) do(tenant, line, kind, body string, header ...string) *httptest.ResponseRecorder {
	method, target, _ := strings.Cut(line, " ")
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Tenant", tenant)
	if body != "" {
		r.Header.Set("Content-Type", kind)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	m.ServeHTTP(w, r)
	return w
}

const (
	plain   = "application/json"
	merge   = "application/merge-patch+json"
	batched = "application/vnd.stoa.batch+json"
)

// TestRowSecurity sends the requests of two tenants. Their rows are separated by policies only.
func TestRowSecurity(t *testing.T) {
	t.Parallel()
	m := openMemos(t, 4)
	for _, tenant := range []string{"ann", "bob"} {
		for i := range 3 {
			body := fmt.Sprintf(`{"id":"%s-%d","tenant":"%s","text":"of %s","parentId":"ann-0"}`, tenant, i, tenant, tenant)
			if w := m.do(tenant, "POST /memos", plain, body); w.Code != 201 {
				t.Fatalf("POST of %s: %d %s", tenant, w.Code, w.Body)
			}
		}
	}
	graph := func(document string) string { return `{"query":"` + strings.ReplaceAll(document, `"`, `\"`) + `"}` }
	tests := []struct {
		name, tenant, line, kind, body string
		status                         int
		has, lacks                     string // in the response body
	}{
		{name: "read", tenant: "ann", line: "GET /memos/ann-0", status: 200, has: "of ann"},
		{name: "read another's", tenant: "bob", line: "GET /memos/ann-0", status: 404},
		{name: "without a tenant", line: "GET /memos/ann-0", status: 403},
		{name: "list without a tenant", line: "GET /memos", status: 403},
		{name: "list", tenant: "bob", line: "GET /memos", status: 200, has: "bob-2", lacks: "ann-1"},
		{name: "count", tenant: "bob", line: "GET /memos?limit=1", status: 200, has: `"total":3`},
		{name: "expand another's", tenant: "bob", line: "GET /memos/bob-0?expand=parent", status: 200, lacks: "of ann"},
		{name: "expand", tenant: "ann", line: "GET /memos/ann-0?expand=children", status: 200, has: "ann-2", lacks: "of bob"},
		{name: "create for another", tenant: "bob", line: "POST /memos", kind: plain,
			body: `{"id":"b","tenant":"ann","text":"forged"}`, status: 403, lacks: "policy"},
		{name: "put for another", tenant: "bob", line: "PUT /memos/b", kind: plain,
			body: `{"tenant":"ann","text":"forged"}`, status: 403},
		{name: "give away", tenant: "bob", line: "PATCH /memos/bob-0", kind: merge, body: `{"tenant":"ann"}`, status: 403},
		{name: "change another's", tenant: "bob", line: "PATCH /memos/ann-0", kind: merge, body: `{"text":"x"}`, status: 404},
		{name: "delete another's", tenant: "bob", line: "DELETE /memos/ann-0", status: 404},
		{name: "batch", tenant: "bob", line: "POST /memos", kind: batched,
			body: `{"operations":[{"op":"create","value":{"id":"c","tenant":"bob","text":"x"}},` +
				`{"op":"create","value":{"id":"d","tenant":"ann","text":"x"}}]}`, status: 403},
		{name: "rolled back", tenant: "bob", line: "GET /memos/c", status: 404},
		{name: "batch of another's", tenant: "bob", line: "POST /memos", kind: batched,
			body: `{"operations":[{"op":"patch","id":"ann-0","patch":{"text":"x"}}]}`, status: 404},
		{name: "GraphQL", tenant: "bob", line: "POST /graphql", kind: plain,
			body:   graph(`{ memos { nodes { id parent { text } children { text } } } memo(id: "ann-0") { text } }`),
			status: 200, has: "bob-0", lacks: "of ann"},
		{name: "GraphQL mutation for another", tenant: "bob", line: "POST /graphql", kind: plain,
			body:   graph(`mutation { createMemo(input: {id: "e", tenant: "ann", text: "forged"}) { id } }`),
			status: 200, has: "FORBIDDEN"},
		{name: "GraphQL mutation", tenant: "bob", line: "POST /graphql", kind: plain,
			body: graph(`mutation { createMemo(input: {id: "f", tenant: "bob", text: "mine"}) { text } }`), status: 200, has: "mine"},
		{name: "delete", tenant: "bob", line: "DELETE /memos/f", status: 204},
		{name: "deleted", tenant: "bob", line: "GET /memos/f", status: 410},
		{name: "deleted, for another", tenant: "ann", line: "GET /memos/f", status: 404},
	}
	for _, tt := range tests {
		w := m.do(tt.tenant, tt.line, tt.kind, tt.body, "Prefer", "count=exact")
		body := w.Body.String()
		if w.Code != tt.status || !strings.Contains(body, tt.has) || tt.lacks != "" && strings.Contains(body, tt.lacks) {
			t.Errorf("%s: %s of %q: %d, want %d with %q without %q:\n%s",
				tt.name, tt.line, tt.tenant, w.Code, tt.status, tt.has, tt.lacks, body)
		}
	}
}

// TestRowSecurityReplays repeats requests under one key of two tenants: each receives its own response.
func TestRowSecurityReplays(t *testing.T) {
	t.Parallel()
	m := openMemos(t, 4)
	for _, tenant := range []string{"ann", "bob"} {
		body := `{"tenant":"` + tenant + `","text":"of ` + tenant + `"}`
		first := m.do(tenant, "POST /memos", plain, body, "Idempotency-Key", `"k"`)
		again := m.do(tenant, "POST /memos", plain, body, "Idempotency-Key", `"k"`)
		if first.Code != 201 || again.Header().Get("Idempotency-Replayed") != "true" {
			t.Errorf("%s: %d, then %v: %s", tenant, first.Code, again.Header(), first.Body)
		}
		if diff := cmp.Diff(first.Body.String(), again.Body.String()); diff != "" || !strings.Contains(diff+again.Body.String(), "of "+tenant) {
			t.Errorf("%s, again (-want +got):\n%s", tenant, diff)
		}
		if n, err := m.table.Ops().Count(as(t, tenant), query.Query{}); n != 1 || err != nil {
			t.Errorf("%s has %d memos, %v; want 1", tenant, n, err)
		}
	}
	denied := `{"tenant":"ann","text":"forged"}`
	for range 2 {
		if w := m.do("bob", "POST /memos", plain, denied, "Idempotency-Key", `"l"`); w.Code != 403 {
			t.Errorf("a denied write with a key: %d %s", w.Code, w.Body)
		}
	}
}

// TestRowSecurityConcurrent has two tenants on a pool of two connections, with rows that are read to their
// end, that are abandoned, and with contexts that end.
func TestRowSecurityConcurrent(t *testing.T) {
	t.Parallel()
	m := openMemos(t, 2)
	ops := m.table.Ops()
	for _, tenant := range []string{"ann", "bob"} {
		for i := range 20 {
			id := fmt.Sprintf("%s-%d", tenant, i)
			if _, err := ops.Insert(as(t, tenant), id, memo{ID: id, Tenant: tenant}); err != nil {
				t.Fatal(err)
			}
		}
	}
	var all sync.WaitGroup
	for worker := range 8 {
		tenant := []string{"ann", "bob"}[worker%2]
		all.Go(func() {
			for i := range 40 {
				ctx, cancel := context.WithCancel(as(t, tenant))
				n := 0
				for it, err := range ops.List(ctx, query.Query{Sort: []query.Order{{Field: "id"}}}) {
					if err != nil && ctx.Err() == nil {
						t.Error(err)
					}
					if err == nil && it.Value.Tenant != tenant {
						t.Errorf("%s reads %v", tenant, it.Value)
					}
					if n++; i%4 == 1 && n == 5 {
						break
					}
					if i%4 == 2 && n == 5 {
						cancel()
					}
				}
				if n != 20 && i%4 != 1 && i%4 != 2 {
					t.Errorf("%s reads %d rows, want 20", tenant, n)
				}
				err := m.db.InTx(as(t, tenant), func(ctx context.Context) error {
					count, err := ops.Count(ctx, query.Query{})
					if err == nil && count != 20 {
						t.Errorf("%s counts %d rows, want 20", tenant, count)
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	all.Wait()
	// Nothing is left on the connections.
	for range 4 {
		ctx := sqltx.WithoutSession(t.Context())
		if n, err := ops.Count(ctx, query.Query{}); n != 0 || err != nil {
			t.Errorf("without variables %d rows are visible, %v; want none", n, err)
		}
	}
}

// TestRowSecurityStatements shows what Session adds to a statement and to a transaction.
func TestRowSecurityStatements(t *testing.T) {
	t.Parallel()
	m := openMemos(t, 1)
	ctx := as(t, "ann")
	const set = "SELECT set_config($1::text, $2::text, true)"
	tests := []struct {
		name string
		do   func() error
		want []string // the beginning of each
	}{
		{"count", func() error { _, err := m.table.Ops().Count(ctx, query.Query{}); return err },
			[]string{"BEGIN", set, "SELECT count(*)", "COMMIT"}},
		{"insert", func() error { _, err := m.table.Ops().Insert(ctx, "a", memo{ID: "a", Tenant: "ann"}); return err },
			[]string{"BEGIN", set, "INSERT INTO", "COMMIT"}},
		{"transaction", func() error {
			return m.db.InTx(ctx, func(ctx context.Context) error {
				_, err := m.table.Ops().Get(ctx, "a")
				_, again := m.table.Ops().Get(ctx, "a")
				return errors.Join(err, again)
			})
		}, []string{"BEGIN", set, "SELECT", "SELECT", "COMMIT"}},
	}
	for _, tt := range tests {
		ran, _ := m.records.During(func() {
			if err := tt.do(); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		})
		ok := len(ran) == len(tt.want) || len(ran) == len(tt.want)-1 // the recorder does not see every COMMIT
		for i := range ran {
			ok = ok && strings.HasPrefix(ran[i].Text, tt.want[i])
		}
		if !ok {
			t.Errorf("%s runs\n%s\nwant %q", tt.name, enginetest.Texts(ran), tt.want)
		}
	}
}
