package rest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
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

// TestRule064ImportLimits: content over a limit ends an import with 413 and the number of the items that
// it has stored. An atomic import stores none, and reads its content once.
func TestRule064ImportLimits(t *testing.T) {
	t.Parallel()
	lines := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `{"id":"v%d","name":"V"}`+"\n", i)
		}
		return b.String()
	}
	gzipped := "Content-Encoding: gzip"
	// As compressible as content can be, after 500 items that are not.
	bomb := zip(t, lines(500)+strings.Repeat(strings.Repeat(" ", 1000)+"\n", 3000))
	tests := []struct {
		name    string
		limits  resource.Limits
		fields  []string
		content string
		detail  string // empty: the import succeeds
		limit   int64
		created int
	}{
		{name: "lines", limits: resource.Limits{ImportLines: 700}, content: lines(701), limit: 700, created: 500,
			detail: "The import has more than the limit of 700 lines."},
		{name: "lines that fit", limits: resource.Limits{ImportLines: 700}, content: lines(700), created: 700},
		{name: "lines of CSV", limits: resource.Limits{ImportLines: 700}, limit: 700, created: 500,
			fields:  []string{"Content-Type: text/csv"},
			content: "id,name\n" + strings.ReplaceAll(strings.ReplaceAll(lines(700), `{"id":`, ""), `"name":"V"}`, "V"),
			detail:  "The import has more than the limit of 700 lines."},
		{name: "default of lines", content: strings.Repeat("\n", 2_000_001), limit: 2_000_000,
			detail: "The import has more than the limit of 2000000 lines."},
		{name: "no limit of lines", limits: resource.Limits{ImportLines: -1, ImportBytes: -1},
			content: strings.Repeat("\n", 2_000_001) + lines(1), created: 1},
		// A chunk is read up to the end of a buffer of 64 KiB before it is stored.
		{name: "bytes", limits: resource.Limits{ImportBytes: 100_000}, content: lines(10_000), limit: 100_000,
			created: 2500, detail: "The request body is larger than the limit of 100000 bytes."},
		{name: "decompressed bytes", limits: resource.Limits{ImportBytes: 100_000}, fields: []string{gzipped},
			content: zip(t, lines(10_000)), limit: 100_000, created: 3500,
			detail: "The request body is larger than the limit of 100000 bytes."},
		{name: "expansion", fields: []string{gzipped}, content: bomb, created: 500,
			detail: "The request body is more than 100 times as large as its compressed form. " +
				"Send it uncompressed or in parts."},
		{name: "small expansion", fields: []string{gzipped}, content: zip(t, strings.Repeat(" ", 1<<19)+"\n"+lines(1)),
			created: 1},
	}
	for _, tt := range tests {
		for _, atomic := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, atomic %t", tt.name, atomic), func(t *testing.T) {
				t.Parallel()
				ops, inserted := resource.OpsOf(memory.New[village](nil)), 0
				insertMany := ops.InsertMany
				ops.InsertMany = func(ctx context.Context, items []resource.Item[village]) error {
					inserted += len(items)
					return insertMany(ctx, items)
				}
				villages := ops.Resource("villages", nil)
				h := rest.New(resource.NewCatalog(&resource.CatalogOptions{Limits: tt.limits}, villages,
					command.NewImport("villages/import", villages)), nil)
				fields := append([]string{"Content-Type: application/x-ndjson"}, tt.fields...)
				if len(tt.fields) > 0 && tt.fields[0] == "Content-Type: text/csv" {
					fields = tt.fields
				}
				res := send(t, h, fmt.Sprintf("POST /villages/import?atomic=%t", atomic), append(fields, "", tt.content)...)
				got := value[struct {
					Detail  string `json:"detail"`
					Limit   int64  `json:"limit"`
					Created int    `json:"created"`
				}](t, res)
				created := tt.created
				if tt.detail == "" {
					want(t, res, http.StatusOK)
				} else if wantProblem(t, res, problem.TooLarge); atomic {
					created = 0
				}
				detail := tt.detail
				if detail != "" && created > 0 {
					detail += fmt.Sprintf(" %d items were stored. All lines have ids, so the import can be repeated.", created)
				}
				same(t, "detail", detail, got.Detail)
				same(t, "limit", tt.limit, got.Limit)
				same(t, "created", created, got.Created)
				same(t, "stored", created, strings.Count(send(t, h, "GET /villages", "Accept: application/x-ndjson").body, "\n"))
				if inserted > tt.created+500 {
					t.Errorf("%d items were given to the store", inserted)
				}
			})
		}
	}
}

// TestRule064ImportTexts: the problem of an import names the limit that was exceeded, or the form of the
// content. The limit of another handler, such as middleware.Limit, is that of the content and not of a line.
func TestRule064ImportTexts(t *testing.T) {
	t.Parallel()
	type told struct {
		Detail string `json:"detail"`
		Limit  int64  `json:"limit"`
	}
	lines := "Content-Type: application/x-ndjson"
	line := `{"id":"a","name":"` + strings.Repeat("x", 400) + "\"}\n"
	tooLong := told{"The line is larger than the limit of 300 bytes.", 300}
	outer := told{"The request body is larger than the limit of 1000 bytes.", 1000}
	utf16, gzipped := told{Detail: "The content is UTF-16, but must be UTF-8."}, "Content-Encoding: gzip"
	tests := []struct {
		name    string
		fields  []string
		content string
		problem told   // of the request
		stored  string // added to the detail, unless the import is atomic
		line    told   // of its first rejected line
	}{
		{name: "line", fields: []string{lines}, content: line, line: tooLong},
		{name: "row", fields: []string{csvBody}, content: "id,name\n" + line, line: tooLong},
		{name: "header row", fields: []string{csvBody}, content: line,
			problem: told{"The header row is larger than the limit of 300 bytes.", 300}},
		{name: "outer limit", fields: []string{lines}, content: strings.Repeat(line, 5), problem: outer},
		{name: "outer limit of CSV", fields: []string{csvBody}, content: "id,name\n" + strings.Repeat("a,A\n", 900),
			problem: outer, stored: " 247 items were stored. All lines have ids, so the import can be repeated."},
		{name: "outer limit of gzip", fields: []string{lines, gzipped}, problem: outer,
			content: zip(t, "{}\n") + zip(t, "{}\n") + strings.Repeat(zip(t, "\n"), 100)},
		{name: "UTF-16", fields: []string{lines}, content: "\xff\xfe{\x00}\x00\n\x00", problem: utf16},
		{name: "UTF-16 of CSV", fields: []string{csvBody}, content: "\xfe\xff\x00i\x00d\x00\r\x00\n", problem: utf16},
		{name: "UTF-16 without a mark", fields: []string{csvBody}, content: "i\x00d\x00\r\x00\n\x00", problem: utf16},
		{name: "UTF-16 in the other order", fields: []string{lines}, content: "\x00{\x00}\x00\n", problem: utf16},
	}
	for _, tt := range tests {
		for _, query := range []string{"", "?atomic=true"} {
			t.Run(tt.name+query, func(t *testing.T) {
				t.Parallel()
				villages := resource.New("villages", memory.New[village](nil), nil)
				h := rest.New(resource.NewCatalog(&resource.CatalogOptions{Limits: resource.Limits{Body: 300}}, villages,
					command.NewImport("villages/import", villages)), nil)
				r := request(t, "POST /villages/import"+query, append(tt.fields, "", "x")...)
				r.Body = http.MaxBytesReader(nil, io.NopCloser(strings.NewReader(tt.content)), 1000)
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				got := value[struct {
					told
					Rejected []struct {
						Problem told `json:"problem"`
					} `json:"rejected"`
				}](t, received("POST", w.Result()))
				if tt.line != (told{}) {
					same(t, "line", tt.line, got.Rejected[0].Problem)
				} else {
					want := tt.problem
					if query == "" {
						want.Detail += tt.stored
					}
					same(t, "problem", want, got.told)
				}
			})
		}
	}
}

// TestRule063ImportOfClientThatLeft: a short compressed body becomes many items. The import ends when the
// client disconnects, although the server has all that the client has to send.
func TestRule063ImportOfClientThatLeft(t *testing.T) {
	t.Parallel()
	var content strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&content, `{"id":"v%d","name":"V"}`+"\n", i)
	}
	body := zip(t, content.String())
	ops, stored := resource.OpsOf(memory.New[village](nil)), 0
	insertMany, received, left := ops.InsertMany, false, make(chan struct{})
	ops.InsertMany = func(ctx context.Context, items []resource.Item[village]) error {
		if stored += len(items); stored > len(items) {
			return insertMany(context.WithoutCancel(ctx), items)
		}
		close(left)
		if !received { // net/http would not notice that the client disconnects
			t.Error("the first lines are stored before the body is read")
			return context.Canceled
		}
		<-ctx.Done()
		return insertMany(context.WithoutCancel(ctx), items) // a store that ignores it
	}
	h, done := importer(t, ops, nil), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		r.Body = ending{r.Body, &received}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST /villages/import HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n"+
		"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-left:
	case <-done:
		t.Error("no item was stored")
	}
	conn.Close()
	<-done
	same(t, "items that were given to the store", 500, stored)
}

// ending is a body that records that its end was read.
type ending struct {
	io.ReadCloser
	end *bool
}

func (e ending) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	*e.end = *e.end || err == io.EOF
	return n, err
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
