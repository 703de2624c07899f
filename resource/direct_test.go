package resource_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/problem"
)

// Calls by Go code, with arguments that no handler passes.

type memo struct {
	ID    string `json:"id"`
	Title string `json:"title" required:"true" minLength:"1" maxLength:"40"`
	Stars int64  `json:"stars" default:"3"`
}

// TestImportIgnoresOptionsOfOneWrite: of its WriteOptions an import uses only those that make sense
// for every line.
func TestImportIgnoresOptionsOfOneWrite(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		take func(*resource.Ops[memo])
	}{
		{"in bulk", func(*resource.Ops[memo]) {}},
		{"one by one", func(o *resource.Ops[memo]) { o.Transactions = nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ops := resource.OpsOf(memory.New[memo](nil))
			tt.take(&ops)
			if _, err := ops.Insert(t.Context(), "a", memo{ID: "a", Title: "a"}); err != nil {
				t.Fatal(err)
			}
			const lines = `{"id":"a","title":"A"}` + "\n" + `{"id":"b","title":"b"}` + "\n" +
				`{"title":"c"}` + "\n" + `{"title":"d"}`
			doc, err := ops.Resource("memos", nil).Import(t.Context(), strings.NewReader(lines),
				&resource.ImportOptions{WriteOptions: resource.WriteOptions{
					If:       resource.Preconditions{IfNoneMatch: header.Tags{Any: true}},
					Existing: true,
					NewID:    "x",
				}})
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Created  int `json:"created"`
				Replaced int `json:"replaced"`
			}
			if err := json.Unmarshal(doc, &got); err != nil {
				t.Fatal(err)
			}
			same(t, "created and replaced", []int{3, 1}, []int{got.Created, got.Replaced})
			n, err := ops.Count(t.Context(), query.Query{})
			if err != nil {
				t.Fatal(err)
			}
			same(t, "items", 4, n)
		})
	}
}

// TestBatchIgnoresNewID: an id that is derived from a key is that of one item, so several creates
// of a batch must not share it.
func TestBatchIgnoresNewID(t *testing.T) {
	t.Parallel()
	ops := resource.OpsOf(memory.New[memo](nil))
	doc := `{"operations":[{"op":"create","value":{"title":"a"}},{"op":"create","value":{"title":"b"}}]}`
	results, err := ops.Resource("memos", nil).Batch(t.Context(), []byte(doc),
		&resource.BatchOptions{WriteOptions: resource.WriteOptions{NewID: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, title := range []string{"a", "b"} {
		item, err := ops.Get(t.Context(), results[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "title", title, item.Value.Title)
	}
}

// TestBatchDepth: the default limit of the nesting is that of a single write.
func TestBatchDepth(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		depth  int
		levels int // of arrays around the value
		code   string
	}{
		{"default", 0, 50, "type"}, // read, and then rejected as a title
		{"default, too deep", 0, 70, "depth"},
		{"limit", 5, 4, "type"},
		{"limit, too deep", 5, 9, "depth"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc := `{"operations":[{"op":"create","value":{"title":` + strings.Repeat("[", tt.levels) +
				strings.Repeat("]", tt.levels) + `}}]}`
			_, err := resource.OpsOf(memory.New[memo](nil)).Resource("memos", nil).Batch(t.Context(), []byte(doc),
				&resource.BatchOptions{WriteOptions: resource.WriteOptions{MaxDepth: tt.depth}})
			if err == nil {
				t.Fatal("the batch was accepted")
			}
			d := resource.Problem(err)
			if len(d.Errors) != 1 || d.Errors[0].Code != tt.code {
				t.Errorf("problem %+v, want the code %s", d, tt.code)
			}
		})
	}
}

// TestPatchUnderKey: the patch itself identifies the request if Key.Content is nil.
func TestPatchUnderKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ media, first, spelled, other string }{
		{patch.MergeType, `{"title":"b","stars":1}`, `{ "stars":1, "title":"\u0062" }`, `{"title":"c","stars":1}`},
		{patch.JSONType, `[{"op":"replace","path":"/title","value":"b"}]`,
			`[{"path":"/title", "op":"replace", "value":"b"}]`, `[{"op":"replace","path":"/title","value":"c"}]`},
	} {
		t.Run(tt.media, func(t *testing.T) {
			t.Parallel()
			ops := resource.OpsOf(memory.New[memo](nil))
			if _, err := ops.Insert(t.Context(), "a", memo{ID: "a", Title: "a"}); err != nil {
				t.Fatal(err)
			}
			memos := ops.Resource("memos", nil)
			guard := idempotency.New(idempotency.NewMemory(nil), nil)
			c := resource.NewCatalog(&resource.CatalogOptions{Idempotency: guard, Principal: func(context.Context) string { return "ann" }}, memos)
			change := func(text string) (replayed bool, err error) {
				p, err := patch.Parse(tt.media, []byte(text), patch.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				key := c.Key("memos", idempotency.Operation{Principal: "ann", Method: "PATCH", Target: "memos/a", Key: "k"})
				_, err = memos.Patch(t.Context(), "a", p, &resource.WriteOptions{Key: key})
				return key.Replayed() != nil, err
			}
			if replayed, err := change(tt.first); replayed || err != nil {
				t.Fatalf("first: replayed %v, %v", replayed, err)
			}
			if replayed, err := change(tt.spelled); !replayed || err != nil {
				t.Errorf("same patch: replayed %v, %v", replayed, err)
			}
			if replayed, err := change(tt.other); replayed || resource.Problem(err).Kind != problem.KeyReused {
				t.Errorf("other patch: replayed %v, %v", replayed, err)
			}
		})
	}
}

func TestIdempotencyNeedsPrincipal(t *testing.T) {
	t.Parallel()
	wantPanic(t, "resource: NewCatalog: CatalogOptions.Idempotency needs Principal, the owner of a key; "+
		"without authentication set a function that returns a constant", func() {
		resource.NewCatalog(&resource.CatalogOptions{Idempotency: idempotency.New(idempotency.NewMemory(nil), nil)})
	})
}

func TestKeyNeedsIdempotency(t *testing.T) {
	t.Parallel()
	c := resource.NewCatalog(nil, resource.New("memos", memory.New[memo](nil), nil))
	wantPanic(t, "resource: Catalog.Key needs CatalogOptions.Idempotency", func() {
		c.Key("memos", idempotency.Operation{Principal: "ann", Method: "POST", Target: "memos", Key: "k"})
	})
}

func TestTransactionsAreRequired(t *testing.T) {
	t.Parallel()
	ops := resource.OpsOf(memory.New[memo](nil))
	ops.Transactions = nil
	memos := ops.Resource("memos", nil)
	const why = " of memos needs a collection with transactions; see Description.Batches"
	wantPanic(t, "resource: Batch"+why, func() {
		_, _ = memos.Batch(t.Context(), []byte(`{"operations":[{"op":"delete","id":"a"}]}`), nil)
	})
	wantPanic(t, "resource: an atomic Import"+why, func() {
		_, _ = memos.Import(t.Context(), strings.NewReader(`{"title":"a"}`), &resource.ImportOptions{Atomic: true})
	})
}
