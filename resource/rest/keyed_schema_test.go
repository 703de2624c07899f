package rest_test

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"testing"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/rest"
)

// Two releases of a program that share items and records, as during a rolling deployment. The type
// of the new one is memo.

// oldMemo is the memo of the old release, which had no stars and no owner.
type oldMemo struct {
	ID     string `json:"id"`
	Title  string `json:"title" required:"true" minLength:"1" maxLength:"40"`
	Secret string `json:"secret,omitzero" writeOnly:"true"`
}

// oldTidyIn is the input of a command in the old release.
type oldTidyIn struct {
	Title string `json:"title" required:"true"`
}

func toOld(item resource.Item[memo]) resource.Item[oldMemo] {
	m := item.Value
	return resource.Item[oldMemo]{ID: item.ID, Rev: item.Rev, Modified: item.Modified,
		Value: oldMemo{ID: m.ID, Title: m.Title, Secret: m.Secret}}
}

// oldMemos is the collection of the old release. Its writes keep the fields that it does not have.
type oldMemos struct{ inner resource.Ops[memo] }

func (o oldMemos) Get(ctx context.Context, id string) (resource.Item[oldMemo], error) {
	item, err := o.inner.Get(ctx, id)
	return toOld(item), err
}

func (o oldMemos) List(ctx context.Context, q query.Query) iter.Seq2[resource.Item[oldMemo], error] {
	return func(yield func(resource.Item[oldMemo], error) bool) {
		for item, err := range o.inner.List(ctx, q) {
			if !yield(toOld(item), err) {
				return
			}
		}
	}
}

func (o oldMemos) Create(ctx context.Context, v oldMemo) (resource.Item[oldMemo], error) {
	item, err := o.inner.Create(ctx, memo{ID: v.ID, Title: v.Title, Secret: v.Secret})
	return toOld(item), err
}

func (o oldMemos) Insert(ctx context.Context, id string, v oldMemo) (resource.Item[oldMemo], error) {
	item, err := o.inner.Insert(ctx, id, memo{ID: v.ID, Title: v.Title, Secret: v.Secret})
	return toOld(item), err
}

func (o oldMemos) Replace(ctx context.Context, id string, rev resource.Rev,
	v oldMemo) (resource.Item[oldMemo], error) {
	now, err := o.inner.Get(ctx, id)
	if err != nil {
		return resource.Item[oldMemo]{}, err
	}
	now.Value.Title, now.Value.Secret = v.Title, v.Secret
	item, err := o.inner.Replace(ctx, id, rev, now.Value)
	return toOld(item), err
}

func (o oldMemos) Delete(ctx context.Context, id string, rev resource.Rev) error {
	return o.inner.Delete(ctx, id, rev)
}

// releases returns both releases over one database with one item, 1.
func (d *desk) releases(t *testing.T) (before, after http.Handler) {
	t.Helper()
	if _, err := d.store.Insert(t.Context(), "1", memo{ID: "1", Title: "first", Stars: 1, Owner: "ann"}); err != nil {
		t.Fatal(err)
	}
	serve := func(parts ...resource.Part) http.Handler {
		return byCaller(rest.New(resource.NewCatalog(&resource.CatalogOptions{Idempotency: d.keeper(),
			Principal: caller, Logger: slog.New(slog.DiscardHandler)}, parts...), nil))
	}
	ops := resource.OpsOf[oldMemo](oldMemos{d.ops()})
	ops.Transactions = d.ops().Transactions
	tidy := func(ctx context.Context, title string) (nothing, error) {
		_, err := d.store.Create(ctx, memo{Title: title})
		return nothing{}, err
	}
	before = serve(ops.Resource("memos", &resource.Options[oldMemo]{Public: true}),
		command.New("memos/tidy", func(ctx context.Context, in oldTidyIn) (nothing, error) { return tidy(ctx, in.Title) },
			&command.Options[oldTidyIn]{Public: true, Transactions: d.db}))
	after = serve(d.ops().Resource("memos", &d.opts),
		command.New("memos/tidy", func(ctx context.Context, in tidyIn) (nothing, error) { return tidy(ctx, in.Title) },
			&command.Options[tidyIn]{Public: true, Transactions: d.db}))
	return before, after
}

// TestRule141TwoReleases: a retry at another release is replayed. The type of the new one has more
// fields: one of them has a default.
func TestRule141TwoReleases(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line, media, content string
		status                     int
	}{
		{"create", "POST /memos", jsonBody, `{"title":"a"}`, 201},
		{"create with an id", "PUT /memos/x", jsonBody, `{"title":"a","secret":"s"}`, 201},
		{"replace", "PUT /memos/1", jsonBody, `{"title":"b"}`, 200},
		{"patch", "PATCH /memos/1", mergeBody, `{"title":"b"}`, 200},
		{"delete", "DELETE /memos/1", jsonBody, "", 204},
		{"batch", "POST /memos", batchBody, operations(`{"op":"create","value":{"title":"a"}}`,
			`{"op":"replace","id":"1","value":{"title":"b"}}`), 200},
		{"command", "POST /memos/tidy", jsonBody, `{"title":"a"}`, 200},
	}
	for _, tt := range tests {
		for _, direction := range []string{"new after old", "old after new"} {
			t.Run(tt.name+", "+direction, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t, idempotency.ExactlyOnce)
				first, second := d.releases(t)
				if direction == "old after new" {
					first, second = second, first
				}
				fields := []string{asAnn, keyField("k"), tt.media, "", tt.content}
				want(t, send(t, first, tt.line, fields...), tt.status)
				n := d.count(t)
				want(t, send(t, second, tt.line, fields...), tt.status, "Idempotency-Replayed: true")
				same(t, "number of memos", n, d.count(t))
				fields[4] = `{"title":"other"}`
				if tt.media == batchBody {
					fields[4] = operations(`{"op":"create","value":{"title":"other"}}`)
				}
				if tt.name != "delete" {
					want(t, send(t, second, tt.line, fields...), 422)
				}
			})
		}
	}
}

// TestReplayOfAnotherRelease: a record of another release may lack fields, so a replay shows the
// current item, and the recorded one only if the item was deleted.
func TestReplayOfAnotherRelease(t *testing.T) {
	t.Parallel()
	d := newDesk(t, idempotency.ExactlyOnce)
	before, after := d.releases(t)
	fields := []string{asAnn, keyField("k"), jsonBody, "", `{"title":"b"}`}
	want(t, send(t, before, "PUT /memos/1", fields...), 200)

	res := send(t, after, "PUT /memos/1", fields...)
	want(t, res, 200, "Idempotency-Replayed: true", "Idempotency-Result:")
	same(t, "content", `{"id":"1","title":"b","stars":1,"owner":"ann"}`, res.body)

	want(t, send(t, after, "PATCH /memos/1", mergeBody, "", `{"stars":2}`), 200)
	now := send(t, after, "GET /memos/1")
	res = send(t, after, "PUT /memos/1", fields...)
	want(t, res, 200, "Idempotency-Replayed: true", "Idempotency-Result: reference")
	same(t, "content after a change", now.body, res.body)
	res = send(t, before, "PUT /memos/1", fields...)
	want(t, res, 200, "Idempotency-Replayed: true", "Idempotency-Result:")
	same(t, "content at the first release", `{"id":"1","title":"b"}`, res.body)

	want(t, send(t, after, "DELETE /memos/1"), 204)
	res = send(t, after, "PUT /memos/1", fields...)
	want(t, res, 200, "Idempotency-Replayed: true")
	same(t, "content after the deletion", `{"id":"1","title":"b","stars":3}`, res.body)
}

// halved shows the stars of a memo as half as many.
type halved struct {
	ID    string `json:"id"`
	Title string `json:"title" required:"true"`
	Stars int64  `json:"stars" default:"1"`
}

func toHalved(m memo) (halved, error) { return halved{m.ID, m.Title, m.Stars / 2}, nil }

func fromHalved(v halved, base memo) (memo, error) {
	base.Title, base.Stars = v.Title, 2*v.Stars
	return base, nil
}

// TestRule141MeaningOfContracts: requests in two contracts are compared by what they write. Members
// that neither names, such as defaults, do not count.
func TestRule141MeaningOfContracts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, new, old string
		status         int
	}{
		{"same meaning", `{"title":"a","stars":4}`, `{"title":"a","stars":2}`, 201},
		{"same JSON, another meaning", `{"title":"a","stars":4}`, `{"title":"a","stars":4}`, 422},
		{"different defaults", `{"title":"a"}`, `{"title":"a"}`, 201},
		{"default given in one", `{"title":"a","stars":2}`, `{"title":"a"}`, 201},
		{"another value than the default", `{"title":"a","stars":4}`, `{"title":"a"}`, 422},
		{"default of the other", `{"title":"a"}`, `{"title":"a","stars":1}`, 422},
		{"a member that the other cannot have", `{"title":"a","owner":"x"}`, `{"title":"a"}`, 422},
		{"its zero value", `{"title":"a","owner":""}`, `{"title":"a"}`, 201},
		{"another title", `{"title":"a","stars":4}`, `{"title":"b","stars":2}`, 422},
		{"not valid", `{"title":"a","stars":4}`, `{"title":"a","stars":"2"}`, 422},
	}
	for _, tt := range tests {
		for _, order := range []string{"old second", "new second"} {
			if order == "new second" && tt.name == "not valid" {
				continue
			}
			t.Run(tt.name+", "+order, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t, idempotency.ExactlyOnce)
				memos := d.ops().Resource("memos", &d.opts)
				keeper := d.keeper()
				serve := func(r *resource.Resource) http.Handler {
					return byCaller(rest.New(resource.NewCatalog(&resource.CatalogOptions{Idempotency: keeper,
						Principal: caller}, r), nil))
				}
				first, second := serve(memos), serve(resource.View(memos, toHalved, fromHalved, nil))
				a, b := tt.new, tt.old
				if order == "new second" {
					first, second, a, b = second, first, b, a
				}
				want(t, send(t, first, "POST /memos", asAnn, keyField("k"), jsonBody, "", a), 201)
				for range 2 { // the response to a retry does not change what is compared
					res := send(t, second, "POST /memos", asAnn, keyField("k"), jsonBody, "", b)
					want(t, res, tt.status)
					if replayed := res.header.Get("Idempotency-Replayed") == "true"; replayed != (tt.status == 201) {
						t.Errorf("replayed: %v", replayed)
					}
				}
				want(t, send(t, first, "POST /memos", asAnn, keyField("k"), jsonBody, "", a), 201,
					"Idempotency-Replayed: true")
				same(t, "number of memos", 1, d.count(t))
			})
		}
	}
}
