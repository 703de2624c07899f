package rest_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

// TestKeyedCopies: of many concurrent copies one is executed. The others receive its response or an
// error that it is in progress.
func TestKeyedCopies(t *testing.T) {
	t.Parallel()
	for _, level := range levels {
		for _, line := range []string{"POST /memos", "PATCH /memos/1", "DELETE /memos/1", "PUT /memos/1"} {
			t.Run(level.String()+"/"+line, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					d := newDesk(t, level)
					d.keep.WaitTimeout, d.keep.Waiters = time.Minute, 8
					if _, err := d.store.Insert(t.Context(), "1", memo{Title: "first"}); err != nil {
						t.Fatal(err)
					}
					h, _ := d.open(t)
					content := jsonBody
					if strings.HasPrefix(line, "PATCH") {
						content = mergeBody
					}
					var wg sync.WaitGroup
					statuses, fresh := make([]int, 64), make([]bool, 64)
					for i := range statuses {
						wg.Go(func() {
							res := send(t, h, line, asAnn, keyField("k"), content, "", `{"title":"a"}`)
							statuses[i] = res.status
							fresh[i] = res.status < 300 && res.header.Get("Idempotency-Replayed") == ""
						})
					}
					wg.Wait()
					n := 0
					for i, status := range statuses {
						if status >= 300 && status != http.StatusConflict {
							t.Errorf("copy %d: status %d", i, status)
						}
						if fresh[i] {
							n++
						}
					}
					wrote := d.calls.reset()
					if n != 1 || wrote["Create"]+wrote["Insert"]+wrote["Replace"]+wrote["Delete"] != 1 {
						t.Errorf("%d answers were the first, and it was done %v", n, wrote)
					}
				})
			})
		}
	}
}

// TestKeyedInFlight: a copy that does not wait is rejected because the first request is in
// progress, and a different request because the key is in use.
func TestKeyedInFlight(t *testing.T) {
	t.Parallel()
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, level)
			at, on := make(chan bool), make(chan bool)
			d.afterWrite = func() error { at <- true; <-on; return nil }
			h, _ := d.open(t)
			done := make(chan *response)
			go func() { done <- send(t, h, "POST /memos", asAnn, keyField("k"), jsonBody, "", `{"title":"a"}`) }()
			<-at
			res := send(t, h, "POST /memos", asAnn, keyField("k"), jsonBody, "", `{"title":"a"}`)
			want(t, res, 409, "Retry-After: 1")
			if !strings.Contains(res.body, "request-in-flight") {
				t.Errorf("it says %s", res.body)
			}
			want(t, send(t, h, "POST /memos", asAnn, keyField("k"), jsonBody, "", `{"title":"b"}`), 422)
			on <- true
			want(t, <-done, 201)
		})
	}
}

// TestKeyedClientGone: a write outside of a transaction is completed after the client has
// disconnected. In a transaction it is rolled back or committed together with its record.
func TestKeyedClientGone(t *testing.T) {
	t.Parallel()
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, level)
			ctx, leave := context.WithCancel(t.Context())
			d.afterWrite = func() error {
				leave()
				if d.level == idempotency.ExactlyOnce {
					return ctx.Err() // as a database does
				}
				return nil
			}
			h, _ := d.open(t)
			fields := []string{asAnn, keyField("k"), jsonBody, "", `{"title":"a"}`}
			func() {
				defer func() { recover() }() // the connection is aborted
				h.ServeHTTP(httptest.NewRecorder(), request(t, "POST /memos", fields...).WithContext(ctx))
			}()
			if kept := d.count(t) == 1; kept != (level < idempotency.ExactlyOnce) {
				t.Errorf("there are %d memos when the client has gone", d.count(t))
			}
			d.afterWrite = nil
			res := send(t, h, "POST /memos", fields...)
			want(t, res, 201)
			if again := res.header.Get("Idempotency-Replayed") != ""; again != (level < idempotency.ExactlyOnce) || d.count(t) != 1 {
				t.Errorf("replayed %v, and there are %d memos", again, d.count(t))
			}
		})
	}
}

// TestKeyedPolicy: a caller that has lost access to an item does not receive it with a replay.
func TestKeyedPolicy(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(t *testing.T, d *desk, deny map[string]error)
		status int
	}{
		{"nothing", func(*testing.T, *desk, map[string]error) {}, 201},
		{"hidden", func(_ *testing.T, _ *desk, deny map[string]error) { deny["a"] = resource.ErrForbidden }, 404},
		{"unknown caller", func(_ *testing.T, _ *desk, deny map[string]error) { deny["a"] = resource.ErrUnauthenticated }, 401},
		{"another's now", func(t *testing.T, d *desk, deny map[string]error) {
			deny["b"] = resource.ErrForbidden
			d.rewrite(t, func(m *memo) { m.Title = "b" })
		}, 404},
		{"deleted, and hidden", func(t *testing.T, d *desk, deny map[string]error) {
			deny["a"] = resource.ErrForbidden
			d.rewrite(t, nil)
		}, 404},
		{"deleted", func(t *testing.T, d *desk, _ map[string]error) { d.rewrite(t, nil) }, 201},
		{"out of scope", func(_ *testing.T, d *desk, _ map[string]error) { d.scope = errors.New("no tenant") }, 500},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, idempotency.ExactlyOnce)
			deny := map[string]error{}
			d.opts = resource.Options[memo]{Scope: d.scoped, Authorize: func(_ context.Context, op resource.Op, before, _ *memo) error {
				if op == resource.OpGet {
					return deny[before.Title]
				}
				return nil
			}}
			h, old := d.open(t)
			first := send(t, h, "POST /memos", asAnn, keyField("k"), jsonBody, "", `{"title":"a"}`)
			want(t, first, 201)
			tt.change(t, d, deny)
			again := send(t, h, "POST /memos", asAnn, keyField("k"), jsonBody, "", `{"title":"a"}`)
			if tt.status == 201 {
				replayOf(t, first, again)
			} else if want(t, again, tt.status); again.header.Get("Idempotency-Replayed") != "" || again.header.Get("Location") != "" {
				t.Errorf("the refusal has the header of an answer: %v", again.header)
			}
			want(t, send(t, old, "POST /memos", asAnn, keyField("k"), jsonBody, "", `{"text":"a"}`), tt.status)
		})
	}
}

// rewrite changes or, if change is nil, deletes the only memo without the catalog.
func (d *desk) rewrite(t *testing.T, change func(m *memo)) {
	t.Helper()
	for item, err := range d.store.List(t.Context(), query.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		if change == nil {
			err = d.store.Delete(t.Context(), item.ID, item.Rev)
		} else {
			change(&item.Value)
			_, err = d.store.Replace(t.Context(), item.ID, item.Rev, item.Value)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// peeking is a store of records that keeps what is stored in it.
type peeking struct {
	*idempotency.Memory
	mu   sync.Mutex
	seen []idempotency.Record
}

func (p *peeking) Finish(ctx context.Context, id [32]byte, token string, r idempotency.Record, expires time.Time) error {
	p.mu.Lock()
	p.seen = append(p.seen, r)
	p.mu.Unlock()
	return p.Memory.Finish(ctx, id, token, r, expires)
}

// TestKeyedSecrets: a record contains only what clients may see.
func TestKeyedSecrets(t *testing.T) {
	t.Parallel()
	d := newDesk(t, idempotency.ExactlyOnce)
	p := &peeking{Memory: d.keys}
	d.records = p
	h := d.withParts(t)
	const secret = "s3cr3t"
	lines := []struct{ line, kind, content string }{
		{"POST /memos", jsonBody, `{"id":"x","title":"a","secret":"` + secret + `"}`},
		{"PUT /memos/x", jsonBody, `{"title":"b","secret":"` + secret + `"}`},
		{"PATCH /memos/x", mergeBody, `{"secret":"` + secret + `2"}`},
		{"POST /memos", batchBody, operations(`{"op":"create","value":{"title":"a","secret":"` + secret + `"}}`)},
		{"POST /memos/import?atomic=true", linesBody, `{"title":"c","secret":"` + secret + `"}`},
		// its response has a writeOnly member, too
		{"POST /memos/tidy", jsonBody, `{"title":"` + secret + `"}`},
		{"DELETE /memos/x", jsonBody, ""},
	}
	for i, l := range lines {
		res := send(t, h, l.line, asAnn, keyField(secret+strconv.Itoa(i)), l.kind, "", l.content)
		if res.status >= 300 {
			t.Errorf("%s: %d %s", l.line, res.status, res.body)
		}
	}
	if len(p.seen) != len(lines) {
		t.Errorf("there are %d records", len(p.seen))
	}
	for _, r := range p.seen {
		if strings.Contains(string(r.Result), secret) || strings.Contains(string(r.Result), "1234") {
			t.Errorf("a record holds a secret: %s", r.Result)
		}
	}
}

// ageing is a store of records in a former format of items.
type ageing struct{ *idempotency.Memory }

func (a ageing) Finish(ctx context.Context, id [32]byte, token string, r idempotency.Record, expires time.Time) error {
	r.Result = []byte(`{"id":"x","title":{"en":"a"}}`)
	return a.Memory.Finish(ctx, id, token, r, expires)
}

// TestKeyedOldRecords: if a record cannot be decoded any more, the response has the current item.
func TestKeyedOldRecords(t *testing.T) {
	t.Parallel()
	d := newDesk(t, idempotency.ExactlyOnce)
	d.records = ageing{d.keys}
	d.keep.Waiters = -1
	h, old := d.open(t)
	want(t, send(t, h, "POST /memos", asAnn, keyField("k"), jsonBody, "", `{"id":"x","title":"a"}`), 201)
	again := send(t, old, "POST /memos", asAnn, keyField("k"), jsonBody, "", `{"id":"x","text":"a"}`)
	want(t, again, 201, "Idempotency-Replayed: true", "Idempotency-Result: reference")
	same(t, "content", `{"id":"x","text":"a"}`, again.body)
}

// TestKeyedReference: if the result is too large for a record, the response has the current item,
// or none if it was deleted.
func TestKeyedReference(t *testing.T) {
	t.Parallel()
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, level)
			d.keep.MaxResult = 10
			h, _ := d.open(t)
			fields := []string{asAnn, keyField("k"), jsonBody, "", `{"title":"a"}`}
			first := send(t, h, "POST /memos", fields...)
			want(t, first, 201)
			again := send(t, h, "POST /memos", fields...)
			want(t, again, 201, "Idempotency-Replayed: true", "Idempotency-Result: reference")
			same(t, "content", first.body, again.body)
			d.rewrite(t, func(m *memo) { m.Stars = 5 })
			now := send(t, h, "GET "+first.header.Get("Location"))
			again = send(t, h, "POST /memos", fields...)
			want(t, again, 201, "Idempotency-Result: reference", "ETag: "+now.header.Get("ETag"))
			same(t, "content as it is now", now.body, again.body)
			d.rewrite(t, nil)
			again = send(t, h, "POST /memos", fields...)
			want(t, again, 201, "Idempotency-Result: reference", "Location: "+first.header.Get("Location"))
			same(t, "content of what is gone", "", again.body)
		})
	}
}

// TestKeyedHooks: the rejection of a hook may be recorded; After runs once.
func TestKeyedHooks(t *testing.T) {
	t.Parallel()
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, level)
			d.opts.Before = func(ctx context.Context, _ resource.Op, _, after *memo) error {
				d.calls.add("before")
				if after.Title == "declined" {
					idempotency.RecordRefusal(ctx)
					return problem.New(problem.Conflict, "for good")
				}
				after.Owner = "hook"
				return nil
			}
			d.opts.After = func(context.Context, resource.Op, *memo, *memo) { d.calls.add("after") }
			h, _ := d.open(t)
			for _, title := range []string{"a", "declined"} {
				fields := []string{asAnn, keyField(title), jsonBody, "", `{"title":"` + title + `"}`}
				replayOf(t, send(t, h, "POST /memos", fields...), send(t, h, "POST /memos", fields...))
			}
			if n := d.calls.reset(); n["before"] != 2 || n["after"] != 1 {
				t.Errorf("the hooks were called %v", n)
			}
		})
	}
}

// TestKeyedBatchIsWhole: the rejection of a hook is not recorded if earlier operations have to be
// rolled back.
func TestKeyedBatchIsWhole(t *testing.T) {
	t.Parallel()
	d := newDesk(t, idempotency.ExactlyOnce)
	d.opts.Before = func(ctx context.Context, _ resource.Op, _, after *memo) error {
		if after.Title == "declined" {
			idempotency.RecordRefusal(ctx)
			return problem.New(problem.Conflict, "for good")
		}
		return nil
	}
	h, _ := d.open(t)
	for range 2 {
		res := send(t, h, "POST /memos", asAnn, keyField("k"), batchBody, "", operations(
			`{"op":"create","value":{"title":"a"}}`, `{"op":"create","value":{"title":"declined"}}`))
		want(t, res, 409, "Idempotency-Replayed:")
		if n := d.count(t); n != 0 {
			t.Errorf("there are %d memos", n)
		}
	}
	want(t, send(t, h, "POST /memos", asAnn, keyField("k"), batchBody, "", operations(`{"op":"create","value":{"title":"a"}}`)), 200)
}

// TestKeyedIdentity: if the id is derived from the key, a retry finds the item of an aborted
// attempt. A key that is reused after its expiry does not find the item of another request.
func TestKeyedIdentity(t *testing.T) {
	t.Parallel()
	d := newDesk(t, idempotency.ByIdentity)
	now := time.Now()
	d.keep.Now = func() time.Time { return now }
	h, _ := d.open(t)
	fields := []string{asAnn, keyField("k"), jsonBody, "", `{"title":"a"}`}
	d.afterWrite = func() error { return errors.New("cut off") }
	want(t, send(t, h, "POST /memos", fields...), 500)
	d.afterWrite = nil
	found := send(t, h, "POST /memos", fields...)
	want(t, found, 201)
	if n := d.count(t); n != 1 || found.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("there are %d memos", n)
	}
	now = now.Add(48 * time.Hour)
	other := send(t, h, "POST /memos", asAnn, keyField("k"), jsonBody, "", `{"title":"b"}`)
	want(t, other, 201)
	if n := d.count(t); n != 2 || other.header.Get("Location") == found.header.Get("Location") {
		t.Errorf("there are %d memos, the second at %s", n, other.header.Get("Location"))
	}
}

// TestKeyedUploads: content without a digest is buffered, so its size is limited. Content with a
// digest need not be read again.
func TestKeyedUploads(t *testing.T) {
	t.Parallel()
	d := newDesk(t, idempotency.AtMostOnce)
	d.keep.MaxBody = 10
	h := d.withParts(t)
	const png = "Content-Type: image/png"
	long := strings.Repeat("x", 11)
	digest := func(of string) string { return "Content-Digest: sha-256=:" + digestOf(of) + ":" }
	res := send(t, h, "POST /files", asAnn, keyField("a"), png, "", long)
	want(t, res, 413)
	if !strings.Contains(res.body, "Content-Digest") {
		t.Errorf("it says %s", res.body)
	}
	first := send(t, h, "POST /files", asAnn, keyField("a"), png, digest(long), "", long)
	want(t, first, 201)
	replayOf(t, first, send(t, h, "POST /files", asAnn, keyField("a"), png, digest(long), "", "")) // not even sent
	want(t, send(t, h, "POST /files", asAnn, keyField("a"), png, digest("x"), "", "x"), 422)
	want(t, send(t, h, "POST /files", asAnn, keyField("b"), png, digest("y"), "", long), 400) // nothing was stored
	want(t, send(t, h, "POST /files", asAnn, keyField("b"), png, digest("y"), "", "y"), 201, "Idempotency-Replayed:")
	want(t, send(t, h, "POST /memos/import", asAnn, keyField("c"), linesBody, "", `{"title":"`+long+`"}`), 413)
	line := `{"title":"` + long + `"}`
	want(t, send(t, h, "POST /memos/import", asAnn, keyField("c"), linesBody, digest(line), "", line), 200)
}

// TestGuarantees: the guarantee of a key follows from the capabilities, and is reported.
func TestGuarantees(t *testing.T) {
	t.Parallel()
	const (
		most, identity, exactly = idempotency.AtMostOnce, idempotency.ByIdentity, idempotency.ExactlyOnce
		derived                 = "the id of a new item is derived from the key; otherwise "
	)
	d := newDesk(t, exactly)
	plain := resource.OpsOf[memo](d.store)
	plain.Transactions = nil
	readonly := resource.Ops[memo]{Get: plain.Get, List: plain.List}
	public := &resource.Options[memo]{Public: true}
	c := resource.NewCatalog(&resource.CatalogOptions{Idempotency: idempotency.New(d.keys, nil), Principal: caller},
		resource.New("exact", d.store, public), plain.Resource("named", public),
		resource.New("strange", memory.New[memo](nil), public), resource.New("numbers", memory.New[book](nil), nil),
		readonly.Resource("readonly", public),
		command.New("exact/tidy", letGo, &command.Options[nothing]{Public: true, Transactions: d.db}),
		command.New("named/tidy", letGo, &command.Options[nothing]{Public: true}),
		blob.New("files", newCellar(), nil),
		blob.New("named-files", newCellar(), &blob.Options{NewID: func(string) string { return "x" }}),
		blob.New("seen-files", newCellar(), &blob.Options{ReadOnly: true}))
	same(t, "guarantees", []idempotency.Guarantee{
		{Name: "exact", Create: exactly, Others: exactly, Reason: "the write and its record commit in one transaction"},
		{Name: "named", Create: identity, Others: most, Reason: derived + "the write has no transaction"},
		{Name: "strange", Create: identity, Others: most, Reason: derived + "the write and its record commit in different transactions"},
		{Name: "numbers", Create: most, Others: most, Reason: "the write and its record commit in different transactions"},
		{Name: "exact/tidy", Create: exactly, Others: exactly, Reason: "the write and its record commit in one transaction"},
		{Name: "named/tidy", Create: most, Others: most, Reason: "Options.Transactions is nil"},
		{Name: "files", Create: identity, Others: most, Reason: derived + "the write has no transaction"},
		{Name: "named-files", Create: most, Others: most, Reason: "the write has no transaction"},
	}, c.Guarantees())
	report := c.Report()
	for _, line := range []string{"    keys: exactly once: the write and its record commit in one transaction\n",
		"    keys: once by identity, or at most once: " + derived + "the write has no transaction\n"} {
		if !strings.Contains(report, line) {
			t.Errorf("the report does not say %q:\n%s", line, report)
		}
	}
	for name, level := range map[string]idempotency.Level{"exact": exactly, "named": identity, "exact/tidy": exactly, "nowhere": most, "no/where": most} {
		if got, _ := c.Guarantee(name, true); got != level {
			t.Errorf("%s is worth %v, want %v", name, got, level)
		}
	}
	none := resource.NewCatalog(nil, resource.New("exact", d.store, public))
	if none.Idempotency() != nil || none.Guarantees() != nil || !slices.Contains(strings.Split(none.Report(), "\n"),
		"keys: no CatalogOptions.Idempotency: Idempotency-Key is ignored") {
		t.Errorf("a catalog without keys says %v and\n%s", none.Guarantees(), none.Report())
	}
}

func letGo(context.Context, nothing) (nothing, error) { return nothing{}, nil }

// TestKeysIgnored: without an idempotency store, keys have no effect and no response contradicts
// that.
func TestKeysIgnored(t *testing.T) {
	t.Parallel()
	store := memory.New[memo](nil)
	h := catalog(t, resource.New("memos", store, nil))
	for range 2 {
		want(t, send(t, h, "POST /memos", keyField("k"), jsonBody, "", `{"title":"a"}`), 201, "Idempotency-Replayed:")
	}
}
