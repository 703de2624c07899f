package rest_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/job"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// Keys with failing hooks and stores.

// TestKeyedPanicAfterCommit: the record of a committed write is stored even if a hook panics
// afterwards.
func TestKeyedPanicAfterCommit(t *testing.T) {
	t.Parallel()
	d := newDesk(t, idempotency.ExactlyOnce)
	d.opts.After = func(context.Context, resource.Op, *memo, *memo) { panic("told") }
	memos := d.ops().Resource("memos", &d.opts)
	h := byCaller(rest.New(resource.NewCatalog(&resource.CatalogOptions{Idempotency: d.keeper(), Principal: caller,
		Logger: slog.New(slog.DiscardHandler)}, memos), nil))
	fields := []string{asAnn, keyField("k"), jsonBody, "", `{"title":"a"}`}
	want(t, send(t, h, "POST /memos", fields...), 500)
	want(t, send(t, h, "POST /memos", fields...), 201, "Idempotency-Replayed: true")
	if n := d.count(t); n != 1 {
		t.Errorf("there are %d memos", n)
	}
}

// TestKeyedUnavailable: after 503 the request can be retried with the same key, at every level.
func TestKeyedUnavailable(t *testing.T) {
	t.Parallel()
	for _, level := range levels {
		for _, line := range []string{"POST /memos", "PUT /memos/1", "PATCH /memos/1", "DELETE /memos/1"} {
			t.Run(level.String()+"/"+line, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t, level)
				if _, err := d.store.Insert(t.Context(), "1", memo{Title: "first"}); err != nil {
					t.Fatal(err)
				}
				away, ops := true, d.ops()
				get, create := ops.Get, ops.Create
				ops.Get = func(ctx context.Context, id string) (item resource.Item[memo], err error) {
					if away {
						return item, resource.ErrUnavailable
					}
					return get(ctx, id)
				}
				ops.Create = func(ctx context.Context, v memo) (item resource.Item[memo], err error) {
					if away {
						return item, resource.ErrUnavailable
					}
					return create(ctx, v)
				}
				if insert := ops.Insert; insert != nil {
					ops.Insert = func(ctx context.Context, id string, v memo) (item resource.Item[memo], err error) {
						if away {
							return item, resource.ErrUnavailable
						}
						return insert(ctx, id, v)
					}
				}
				h := byCaller(rest.New(resource.NewCatalog(&resource.CatalogOptions{Idempotency: d.keeper(), Principal: caller},
					ops.Resource("memos", &d.opts)), nil))
				content := jsonBody
				if strings.HasPrefix(line, "PATCH") {
					content = mergeBody
				}
				fields := []string{asAnn, keyField("k"), content, "", `{"title":"a"}`}
				want(t, send(t, h, line, fields...), 503, "Retry-After: 1")
				away = false
				if res := send(t, h, line, fields...); res.status >= 300 {
					t.Errorf("when the store is back: %d %s", res.status, res.body)
				}
			})
		}
	}
}

// TestKeyedTooManyJobs: a job that is rejected because of the limit did not start.
func TestKeyedTooManyJobs(t *testing.T) {
	t.Parallel()
	jobs := job.New("jobs", resource.OpsOf(memory.New[job.Job](nil)), &job.Options{Alone: true, Limit: 1})
	on := make(chan bool)
	later := command.New("memos/later", func(context.Context, tidyIn) (tidyOut, error) { <-on; return tidyOut{}, nil },
		&command.Options[tidyIn]{Public: true, Jobs: jobs})
	h := byCaller(rest.New(resource.NewCatalog(&resource.CatalogOptions{Idempotency: newDesk(t, idempotency.AtMostOnce).keeper(),
		Principal: caller}, later, jobs.Resource()), nil))
	first := send(t, h, "POST /memos/later", asAnn, keyField("k"), jsonBody, "", `{"title":"a"}`)
	want(t, first, 202)
	fields := []string{asAnn, keyField("other"), jsonBody, "", `{"title":"a"}`}
	want(t, send(t, h, "POST /memos/later", fields...), 503, "Retry-After: 1")
	close(on)
	for jobState(t, h, first.header.Get("Location")) == job.Running {
	}
	res := send(t, h, "POST /memos/later", fields...)
	for res.status == 503 { // the job has ended and still counts
		res = send(t, h, "POST /memos/later", fields...)
	}
	want(t, res, 202)
}

// TestKeyedImportWholly: an atomic import with a key uses InsertMany, has the time limit of an
// import, and reports as many errors as one without a key.
func TestKeyedImportWholly(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, content string
		status        int
	}{
		{"all well", strings.Repeat(`{"title":"a"}`+"\n", 700), 200},
		{"bad lines", `{"title":7}` + "\n" + strings.Repeat(`{"title":"a"}`+"\n", 600) + `{}`, 422},
		{"a line that the store refuses", strings.Repeat(`{"title":"a"}`+"\n", 600) + `{"id":"x","title":"taken"}`, 422},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, idempotency.ExactlyOnce)
			d.keep.TransactionTimeout = 1 // nanosecond: the limit does not apply to imports
			ops := d.ops()
			insertMany, insert := ops.InsertMany, ops.Insert
			ops.InsertMany = func(ctx context.Context, items []resource.Item[memo]) error {
				d.calls.add("InsertMany")
				if len(items) > 0 && items[len(items)-1].Value.Title == "taken" {
					return resource.Taken("title")
				}
				return insertMany(ctx, items)
			}
			ops.Insert = func(ctx context.Context, id string, v memo) (item resource.Item[memo], err error) {
				if v.Title == "taken" {
					return item, resource.Taken("title")
				}
				return insert(ctx, id, v)
			}
			memos := ops.Resource("memos", &d.opts)
			h := byCaller(rest.New(resource.NewCatalog(&resource.CatalogOptions{Idempotency: d.keeper(), Principal: caller}, memos,
				command.NewImport("memos/import", memos)), nil))
			plain := send(t, h, "POST /memos/import?atomic=true", linesBody, "", tt.content)
			before := d.calls.reset()
			keyed := send(t, h, "POST /memos/import?atomic=true", asAnn, keyField("k"), linesBody, "", tt.content)
			want(t, keyed, tt.status)
			same(t, "answer", plain.body, keyed.body)
			same(t, "calls", before, d.calls.reset())
		})
	}
}

// peeked is a contract that shows only whether a memo has a secret.
type peeked struct {
	ID     string `json:"id"`
	Locked bool   `json:"locked" readOnly:"true"`
}

// TestKeyedViewOfSecrets: a replay has the same value for a member that is derived from a secret,
// although no record contains the secret.
func TestKeyedViewOfSecrets(t *testing.T) {
	t.Parallel()
	tests := []struct{ line, kind, content string }{
		{"PATCH /memos/1", mergeBody, `{}`},
		{"PUT /memos/1", jsonBody, `{"id":"1"}`},
		{"POST /memos", batchBody, operations(`{"op":"patch","id":"1","patch":{}}`)},
	}
	for _, tt := range tests {
		for _, scoped := range []bool{false, true} {
			d := newDesk(t, idempotency.ExactlyOnce)
			if d.opts.Public = !scoped; scoped {
				d.opts.Scope = d.scoped
			}
			if _, err := d.store.Insert(t.Context(), "1", memo{Title: "a", Secret: "s3cr3t"}); err != nil {
				t.Fatal(err)
			}
			view := resource.View(d.ops().Resource("memos", &d.opts),
				func(m memo) (peeked, error) { return peeked{m.ID, m.Secret != ""}, nil },
				func(_ peeked, base memo) (memo, error) { return base, nil }, nil)
			h := byCaller(rest.New(resource.NewCatalog(&resource.CatalogOptions{Idempotency: d.keeper(), Principal: caller}, view), nil))
			plain := send(t, h, tt.line, asAnn, tt.kind, "", tt.content)
			if !strings.Contains(plain.body, `"locked":true`) {
				t.Fatalf("%s: %d %s", tt.line, plain.status, plain.body)
			}
			for range 2 {
				res := send(t, h, tt.line, asAnn, keyField("k"), tt.kind, "", tt.content)
				same(t, tt.line+" with a key", plain.body, res.body)
			}
		}
	}
}

// TestRequiredEverywhere: if keys are required, every kind of write without a key is rejected.
func TestRequiredEverywhere(t *testing.T) {
	t.Parallel()
	d := newDesk(t, idempotency.ExactlyOnce)
	d.keep.Required = true
	if _, err := d.store.Insert(t.Context(), "1", memo{Title: "first"}); err != nil {
		t.Fatal(err)
	}
	h := d.withParts(t)
	for _, tt := range []struct{ line, kind, content string }{
		{"POST /memos", jsonBody, `{"title":"a"}`},
		{"PUT /memos/1", jsonBody, `{"title":"a"}`},
		{"PATCH /memos/1", mergeBody, `{"title":"a"}`},
		{"DELETE /memos/1", jsonBody, ""},
		{"POST /memos", batchBody, operations(`{"op":"create","value":{"title":"a"}}`)},
		{"POST /memos/import", linesBody, `{"title":"a"}`},
		{"POST /memos/import?atomic=true", linesBody, `{"title":"a"}`},
		{"POST /memos/tidy", jsonBody, `{"title":"a"}`},
		{"POST /memos/later", jsonBody, `{"title":"a"}`},
		{"POST /files", "Content-Type: image/png", "hello"},
		{"PUT /files/x", "Content-Type: image/png", "hello"},
		{"DELETE /files/x", "Content-Type: image/png", ""},
	} {
		res := send(t, h, tt.line, asAnn, tt.kind, "", tt.content)
		want(t, res, 400)
		if !strings.Contains(res.body, "idempotency-key-missing") {
			t.Errorf("%s: %s", tt.line, res.body)
		}
	}
	same(t, "calls", map[string]int(nil), d.calls.reset())
	want(t, send(t, h, "GET /memos/1", asAnn), 200)
	want(t, send(t, h, "OPTIONS /memos/1", asAnn), 204)
}
