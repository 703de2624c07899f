package sqlrecordstest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	background "github.com/stoa-go/stoa/resource/job"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

type tidied struct {
	Made int `json:"made"`
}

// serveRecords serves orders and all other operations with keys from one database. With a single
// writer, an operation outside the transaction would deadlock. In debug mode the database reports
// such operations.
func serveRecords(t *testing.T, e sqltest.Engine) (http.Handler, *sqltable.Table[order]) {
	t.Helper()
	db := e.Open(t, &sqltx.Options{Debug: true, Attempts: 1 << 30}) // none is to give up, however many others there are
	table, err := orders(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	jobTable := sqltable.New[background.Job](db, "jobs", nil)
	if err := jobTable.CreateTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	jobs := background.New("jobs", jobTable.Ops(), &background.Options{Alone: true})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		if err := jobs.Drain(ctx); err != nil {
			t.Error(err)
		}
	})
	tidy := func(ctx context.Context, in order) (tidied, error) {
		_, err := table.Ops().Create(ctx, order{What: in.What})
		return tidied{1}, err
	}
	seen := func(ctx context.Context, _ resource.Op, _, _ *order) error { // as an owner is looked up
		for _, err := range table.Ops().List(ctx, query.Query{Limit: 1}) {
			return err
		}
		return nil
	}
	items := table.Ops().Resource("orders", &resource.Options[order]{Authorize: seen})
	keeper := idempotency.New(records(t, db), &idempotency.Options{WaitTimeout: -1})
	return rest.New(resource.NewCatalog(&resource.CatalogOptions{Idempotency: keeper, Principal: func(context.Context) string { return "ann" },
		Logger: slog.New(slog.DiscardHandler)}, items, jobs.Resource(), command.NewImport("orders/import", items),
		command.New("orders/tidy", tidy, &command.Options[order]{Public: true, Transactions: db}),
		command.New("orders/later", tidy, &command.Options[order]{Public: true, Jobs: jobs})), nil), table
}

// send sends a request with a key.
func send(h http.Handler, line, key, kind, content string) *httptest.ResponseRecorder {
	method, target, _ := strings.Cut(line, " ")
	r := httptest.NewRequest(method, target, strings.NewReader(content))
	r.Header.Set("Content-Type", kind)
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestRule142RESTOnSQL: everything that REST can do under a key it does exactly once, in one transaction with its record.
func TestRule142RESTOnSQL(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		h, table := serveRecords(t, e)
		const plain, merge = "application/json", "application/merge-patch+json"
		steps := []struct {
			line, kind, content string
			status, left        int
		}{
			{"PUT /orders/a", plain, `{"what":"tea"}`, 201, 1},
			{"POST /orders", plain, `{"what":"coffee"}`, 201, 2},
			{"PUT /orders/a", plain, `{"what":"milk"}`, 200, 2},
			{"PATCH /orders/a", merge, `{"what":"water"}`, 200, 2},
			{"PATCH /orders/a", merge, `{"what"`, 400, 2},
			{"PATCH /orders/none", merge, `{"what"`, 404, 2},
			{"POST /orders", "application/vnd.stoa.batch+json", `{"operations":[{"op":"create","value":{"what":"a"}},` +
				`{"op":"patch","id":"a","patch":{"what":"b"}}]}`, 200, 3},
			{"POST /orders", "application/vnd.stoa.batch+json", `{"operations":[{"op":"create","value":{"what":"a"}},` +
				`{"op":"patch","id":"none","patch":{"what":"b"}}]}`, 404, 3},
			{"POST /orders/import?atomic=true", "application/x-ndjson", `{"what":"a"}` + "\n" + `{"id":"a","what":"b"}`, 200, 4},
			{"POST /orders/import", "application/x-ndjson", `{"what":"a"}`, 200, 5},
			{"POST /orders/tidy", plain, `{"what":"a"}`, 200, 6},
			{"DELETE /orders/a", plain, "", 204, 5},
		}
		for i, step := range steps {
			key := fmt.Sprintf(`"k%d"`, i)
			first := send(h, step.line, key, step.kind, step.content)
			if first.Code != step.status {
				t.Errorf("%s: %d, want %d: %s", step.line, first.Code, step.status, first.Body)
			}
			again := send(h, step.line, key, step.kind, step.content)
			if first.Code != again.Code {
				t.Errorf("%s again: %d, want %d: %s", step.line, again.Code, first.Code, again.Body)
			}
			if diff := cmp.Diff(first.Body.String(), again.Body.String()); step.status < 300 && diff != "" {
				t.Errorf("%s again (-want +got):\n%s", step.line, diff)
			}
			if replayed := again.Header().Get("Idempotency-Replayed") == "true"; replayed != (step.status < 300) {
				t.Errorf("%s again: replayed %v", step.line, replayed)
			}
			if got := count(t, table); got != step.left {
				t.Errorf("behind %s there are %d orders, want %d", step.line, got, step.left)
			}
		}
		for range 2 {
			if w := send(h, "POST /orders/later", `"job"`, plain, `{"what":"a"}`); w.Code != 202 || w.Header().Get("Location") == "" {
				t.Errorf("a job: %d %s", w.Code, w.Body)
			}
		}
	})
}

// TestRule142ManyKeysOneItem: writers with keys of their own, all of one item, and each with its copy: every one is done, and
// done once.
func TestRule142ManyKeysOneItem(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		h, table := serveRecords(t, e)
		if w := send(h, "PUT /orders/a", `"k"`, "application/json", `{"what":"x"}`); w.Code != 201 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		statuses := map[int]int{}
		fresh := 0
		for i := range 40 {
			wg.Go(func() {
				key := fmt.Sprintf(`"k%d"`, i/2)
				w := send(h, "PATCH /orders/a", key, "application/merge-patch+json", fmt.Sprintf(`{"what":"%d"}`, i/2))
				mu.Lock()
				defer mu.Unlock()
				statuses[w.Code]++
				if w.Code == 200 && w.Header().Get("Idempotency-Replayed") == "" {
					fresh++
				}
			})
		}
		wg.Wait()
		if fresh != 20 || statuses[200]+statuses[409] != 40 {
			t.Errorf("%d were done, and the answers were %v", fresh, statuses)
		}
		if got := count(t, table); got != 1 {
			t.Errorf("there are %d orders", got)
		}
	})
}

type account struct {
	ID    string `json:"id"`
	Email string `json:"email" unique:"true"`
}

type invitation struct {
	Emails []string `json:"emails"`
}

type invited struct {
	Stored int `json:"stored"`
}

// TestCommandIgnoresTakenValues: a command with Transactions that continues after a refused write has the
// same result with a key and without, over each store. A refusal that is recorded after such a write is replayed.
func TestCommandIgnoresTakenValues(t *testing.T) {
	serve := func(db tx.Runner, ops resource.Ops[account], store idempotency.Store) http.Handler {
		invite := func(ctx context.Context, in invitation) (out invited, err error) {
			for _, email := range in.Emails {
				_, err := ops.Create(ctx, account{Email: email})
				switch {
				case err == nil:
					out.Stored++
				case resource.Problem(err).StatusCode() >= http.StatusInternalServerError:
					return out, err
				}
			}
			return out, nil
		}
		register := func(ctx context.Context, in invitation) (invited, error) {
			idempotency.RecordRefusal(ctx)
			_, err := ops.Create(ctx, account{Email: in.Emails[0]})
			return invited{1}, err
		}
		opts := &command.Options[invitation]{Public: true, Transactions: db}
		return rest.New(resource.NewCatalog(&resource.CatalogOptions{
			Idempotency: idempotency.New(store, &idempotency.Options{WaitTimeout: -1}),
			Principal:   func(context.Context) string { return "ann" },
			Logger:      slog.New(slog.DiscardHandler),
		}, ops.Resource("accounts", &resource.Options[account]{Public: true}),
			command.New("accounts/invite", invite, opts), command.New("accounts/register", register, opts)), nil)
	}
	try := func(t *testing.T, h http.Handler) {
		type answer struct {
			Status   int
			Replayed bool
		}
		var got []answer
		call := func(line, key, content string) string {
			w := send(h, line, key, "application/json", content)
			got = append(got, answer{w.Code, w.Header().Get("Idempotency-Replayed") == "true"})
			return w.Body.String()
		}
		const taken = `{"emails":["a@b.example"]}`
		bodies := []string{
			call("POST /accounts/invite", "", `{"emails":["a@b.example","c@b.example","a@b.example","d@b.example"]}`),
			call("POST /accounts/invite", `"1"`, `{"emails":["e@b.example","a@b.example","f@b.example"]}`),
			call("POST /accounts/invite", `"2"`, taken),
			call("POST /accounts/invite", `"1"`, `{"emails":["e@b.example","a@b.example","f@b.example"]}`),
		}
		if diff := cmp.Diff([]string{`{"stored":3}`, `{"stored":2}`, `{"stored":0}`, `{"stored":2}`}, bodies); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		for _, key := range []string{"", `"3"`, `"3"`} {
			call("POST /accounts/register", key, taken)
		}
		want := []answer{{200, false}, {200, false}, {200, false}, {200, true}, {409, false}, {409, false}, {409, true}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("responses (-want +got):\n%s", diff)
		}
	}
	t.Run("memory", func(t *testing.T) {
		db := memory.NewDB()
		store := memory.New[account](&memory.Options[account]{DB: db})
		try(t, serve(db, resource.OpsOf(store), idempotency.NewMemory(&idempotency.MemoryOptions{Runner: db})))
	})
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		db := e.Open(t, &sqltx.Options{Debug: true})
		table := sqltable.New[account](db, "accounts", nil)
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		try(t, serve(db, table.Ops(), records(t, db)))
	})
}
