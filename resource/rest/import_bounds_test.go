package rest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// importer serves villages and their import.
func importer(t testing.TB, ops resource.Ops[village], opts *resource.Options[village]) http.Handler {
	t.Helper()
	villages := ops.Resource("villages", opts)
	return catalog(t, villages, command.NewImport("villages/import", villages))
}

type village struct {
	ID   string `json:"id"`
	Name string `json:"name" required:"true"`
}

// A few bytes of gzip may contain a huge number of empty lines. Reading them ends with the request.
func TestRule063ImportEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	zw := gzip.NewWriter(&zipped)
	if _, err := zw.Write(bytes.Repeat([]byte("\n"), 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	h := importer(t, resource.OpsOf(memory.New[village](nil)), nil)
	for _, line := range []string{"POST /villages/import", "POST /villages/import?atomic=true"} {
		ctx, cancel := context.WithDeadline(t.Context(), modified) // an expired context
		defer cancel()
		r := request(t, line, "Content-Type: application/x-ndjson", "Content-Encoding: gzip", "", zipped.String())
		wantProblem(t, sent(h, r.WithContext(ctx)), problem.Unavailable)
	}
}

// The number of errors that the response lists is limited.
func TestRule064ImportAnswer(t *testing.T) {
	t.Parallel()
	h := importer(t, resource.OpsOf(memory.New[village](nil)), nil)
	var line strings.Builder
	line.WriteString(`{"id":"a"`)
	for i := range 100 {
		fmt.Fprintf(&line, `,"%d%s":0`, i, strings.Repeat("x", 1000))
	}
	line.WriteString("}\n")
	res := send(t, h, "POST /villages/import", "Content-Type: application/x-ndjson", "", strings.Repeat(line.String(), 20))
	want(t, res, http.StatusOK)
	got := value[struct {
		Rejected []struct {
			Problem struct {
				Errors []any `json:"errors"`
			} `json:"problem"`
		} `json:"rejected"`
	}](t, res).Rejected
	if len(got) != 20 || len(got[19].Problem.Errors) < 5 || len(res.body) > 20<<13 {
		t.Errorf("%d lines in %d bytes", len(got), len(res.body))
	}
}

// TestTombstonesOutliveImports: an import does not create deleted items again, even if the store
// inserts many at once.
func TestTombstonesOutliveImports(t *testing.T) {
	t.Parallel()
	ops := resource.OpsOf(memory.New[village](nil))
	ops.Deleted = nil
	insertMany := ops.InsertMany
	ops.InsertMany = func(ctx context.Context, items []resource.Item[village]) error {
		for _, item := range items {
			if item.ID == "a" {
				t.Error("the store is not asked whether it was deleted")
			}
		}
		return insertMany(ctx, items)
	}
	h := importer(t, ops.WithTombstones(memory.NewTombstones(), false), nil)
	want(t, send(t, h, "PUT /villages/a", jsonBody, "", `{"name":"A"}`), http.StatusCreated)
	want(t, send(t, h, "DELETE /villages/a"), http.StatusNoContent)
	res := send(t, h, "POST /villages/import", "Content-Type: application/x-ndjson", "", `{"id":"a","name":"B"}`)
	want(t, res, http.StatusOK)
	if !strings.Contains(res.body, `"created":0`) {
		t.Errorf("answer %s", res.body)
	}
	wantProblem(t, send(t, h, "GET /villages/a"), problem.Gone)
}

// twice runs each transaction twice, and rolls back the first attempt.
type twice struct{ tx.Runner }

func (r twice) InTx(ctx context.Context, fn func(context.Context) error) error {
	if !tx.Active(ctx) {
		_ = r.Runner.InTx(ctx, func(ctx context.Context) error {
			if err := fn(ctx); err != nil {
				return err
			}
			return tx.ErrUnavailable
		})
	}
	return r.Runner.InTx(ctx, fn)
}

// TestImportRunsAgain: hooks receive the line, not their own changes from the previous attempt.
func TestImportRunsAgain(t *testing.T) {
	t.Parallel()
	ops := resource.OpsOf(memory.New[village](nil))
	runner := twice{ops.Transactions()}
	ops.Transactions = func() tx.Runner { return runner }
	h := importer(t, ops, &resource.Options[village]{Before: func(_ context.Context, _ resource.Op, _, after *village) error {
		after.Name += "!"
		return nil
	}})
	res := send(t, h, "POST /villages/import", "Content-Type: application/x-ndjson", "", `{"id":"a","name":"A"}`)
	want(t, res, http.StatusOK)
	wantBody(t, send(t, h, "GET /villages/a"), http.StatusOK, `{"id":"a","name":"A!"}`)
}
