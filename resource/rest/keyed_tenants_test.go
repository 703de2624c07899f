package rest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// project is an item of a tenant. Callers of these tests are written "tenant", and all have one principal.
type project struct {
	ID     string `json:"id"`
	Tenant string `json:"tenant" readOnly:"true"`
	Name   string `json:"name" required:"true"`
}

// TestRule141KeyOfOneTenant: a user of two tenants sends one key in both. The second request is rejected with
// the name of the field, and the first is replayed in its tenant.
func TestRule141KeyOfOneTenant(t *testing.T) {
	t.Parallel()
	scopes := map[string]func(tenant string) query.Filter{
		"equal": func(tenant string) query.Filter {
			return query.And(query.Where("tenant", query.Eq, tenant), query.Where("name", query.Ne, "secret"))
		},
		"in": func(tenant string) query.Filter { return query.Where("tenant", query.In, tenant) },
	}
	tests := []struct {
		name, line, media, body string
		scope                   string
		second                  int
	}{
		{"create", "POST /projects", jsonBody, `{"name":"a"}`, "equal", 422},
		{"put", "PUT /projects/a", jsonBody, `{"name":"a"}`, "equal", 422},
		{"batch", "POST /projects", batchBody, operations(`{"op":"create","value":{"name":"a"}}`), "equal", 422},
		{"import", "POST /projects/import", linesBody, `{"name":"a"}`, "equal", 422},
		{"create, with another filter", "POST /projects", jsonBody, `{"name":"a"}`, "in", 404},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := memory.NewDB()
			projects := memory.New(&memory.Options[project]{DB: db})
			scope := scopes[tt.scope]
			opts := resource.Options[project]{
				Before: func(ctx context.Context, _ resource.Op, before, after *project) error {
					if before == nil {
						after.Tenant = caller(ctx)
					}
					return nil
				},
				Scope: func(ctx context.Context) (query.Filter, error) { return scope(caller(ctx)), nil },
			}
			items := resource.New("projects", projects, &opts)
			h := byCaller(rest.New(resource.NewCatalog(&resource.CatalogOptions{
				Idempotency: idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Runner: db}), nil),
				Principal:   func(context.Context) string { return "ann" },
			}, items, importOf(items)), nil))
			in := func(tenant string) *response {
				return send(t, h, tt.line, "Caller: "+tenant, keyField("k"), tt.media, "", tt.body)
			}
			first, second := in("acme"), in("bolt")
			if first.status >= 300 {
				t.Fatalf("acme: %d %s", first.status, first.body)
			}
			want(t, second, tt.second)
			if !strings.Contains(second.body, `"header":"Idempotency-Key"`) {
				t.Errorf("the problem has no name of the field: %s", second.body)
			}
			again := in("acme")
			if diff := cmp.Diff(first.body, again.body); diff != "" || again.header.Get("Idempotency-Replayed") != "true" {
				t.Errorf("%d, replay (-first +again):\n%s", again.status, diff)
			}
		})
	}
}

// TestRule077ExistingIsHidden: 409 has the URL of the existing item only if the caller may see the item.
func TestRule077ExistingIsHidden(t *testing.T) {
	t.Parallel()
	opts := resource.Options[project]{
		Before: func(ctx context.Context, _ resource.Op, before, after *project) error {
			if before == nil {
				after.Tenant = caller(ctx)
			}
			return nil
		},
		Scope: func(ctx context.Context) (query.Filter, error) {
			return query.Where("tenant", query.Eq, caller(ctx)), nil
		},
	}
	h := byCaller(rest.New(resource.NewCatalog(nil, resource.New("projects", memory.New[project](nil), &opts)), nil))
	want(t, send(t, h, "POST /projects", "Caller: acme", jsonBody, "", `{"id":"a","name":"a"}`), 201)
	for _, tt := range []struct {
		tenant, media, body, existing string
	}{
		{"acme", jsonBody, `{"id":"a","name":"a"}`, "/projects/a"},
		{"bolt", jsonBody, `{"id":"a","name":"a"}`, ""},
		{"acme", batchBody, operations(`{"op":"create","value":{"id":"a","name":"a"}}`), "/projects/a"},
		{"bolt", batchBody, operations(`{"op":"create","value":{"id":"a","name":"a"}}`), ""},
	} {
		res := send(t, h, "POST /projects", "Caller: "+tt.tenant, tt.media, "", tt.body)
		want(t, res, 409)
		if got := value[details](t, res).Existing; got != tt.existing {
			t.Errorf("%s, %s: existing %q, want %q", tt.tenant, tt.media, got, tt.existing)
		}
	}
}
