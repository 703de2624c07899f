package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// keyedCatalog serves parts with a Guard.
func keyedCatalog(guard *idempotency.Guard, parts ...resource.Part) http.Handler {
	return byCaller(rest.New(resource.NewCatalog(&resource.CatalogOptions{Idempotency: guard, Principal: caller}, parts...), nil))
}

func villages() *resource.Resource {
	return resource.New("villages", memory.New[village](nil), &resource.Options[village]{Public: true})
}

// TestRule141OneGuard: catalogs with one Guard must not have different parts of one name.
func TestRule141OneGuard(t *testing.T) {
	t.Parallel()
	greet := func(name string) resource.Part {
		return command.New(name, letGo, &command.Options[nothing]{Public: true})
	}
	shared := villages()
	tests := []struct {
		name          string
		first, second []resource.Part
		conflict      string // the name of the part; empty if both can have one Guard
	}{
		{"the same resource", []resource.Part{shared}, []resource.Part{shared}, ""},
		{"a view and its base", []resource.Part{shared},
			[]resource.Part{resource.View(shared, func(v village) (village, error) { return v, nil },
				func(v, _ village) (village, error) { return v, nil }, nil)}, ""},
		{"other resources", []resource.Part{villages()}, []resource.Part{villages()}, "villages"},
		{"other names", []resource.Part{shared}, []resource.Part{resource.New("towns", memory.New[village](nil), nil)}, ""},
		{"other files", []resource.Part{shared, blob.New("files", newCellar(), nil)},
			[]resource.Part{shared, blob.New("files", newCellar(), nil)}, "files"},
		{"other files, read-only", []resource.Part{blob.New("files", newCellar(), nil)},
			[]resource.Part{blob.New("files", newCellar(), &blob.Options{ReadOnly: true})}, ""},
		{"commands of two contracts", []resource.Part{shared, greet("villages/greet")},
			[]resource.Part{shared, greet("villages/greet")}, ""},
		{"commands of two services", []resource.Part{greet("villages/greet")}, []resource.Part{greet("villages/greet")},
			"villages/greet"},
		{"imports of one resource", []resource.Part{command.NewImport("villages/import", shared)},
			[]resource.Part{command.NewImport("villages/import", shared)}, ""},
		{"imports of two resources", []resource.Part{command.NewImport("towns/import", shared)},
			[]resource.Part{command.NewImport("towns/import", villages())}, "towns/import"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			guard := idempotency.New(idempotency.NewMemory(nil), nil)
			defer func() {
				want := any(nil)
				if tt.conflict != "" {
					want = "resource: " + tt.conflict + " is in two catalogs with one idempotency.Guard, but is not the " +
						"same part; give one of them a Guard with another Options.Service"
				}
				same(t, "panic", want, recover())
			}()
			keyedCatalog(guard, tt.first...)
			keyedCatalog(guard, tt.second...)
		})
	}
}

// TestRule141KeyOfOneCatalog: one key at two catalogs with resources of one name, which share a store of
// records, creates an item in both. The catalogs of two contracts create one item.
func TestRule141KeyOfOneCatalog(t *testing.T) {
	t.Parallel()
	records := idempotency.NewMemory(nil)
	for _, service := range []string{"", "a", "b"} {
		h := keyedCatalog(idempotency.New(records, &idempotency.Options{Service: service}), villages())
		first := send(t, h, "POST /villages", asAnn, keyField("k"), jsonBody, "", `{"name":"`+service+`V"}`)
		want(t, first, http.StatusCreated)
		replayOf(t, first, send(t, h, "POST /villages", asAnn, keyField("k"), jsonBody, "", `{"name":"`+service+`V"}`))
		same(t, "items", 1, strings.Count(send(t, h, "GET /villages", asAnn).body, `"name"`))
	}
	d := newDesk(t, idempotency.AtMostOnce)
	v2, v1 := d.open(t)
	want(t, send(t, v2, "POST /memos", asAnn, keyField("k"), jsonBody, "", `{"title":"a"}`), http.StatusCreated)
	want(t, send(t, v1, "POST /memos", asAnn, keyField("k"), jsonBody, "", `{"text":"a"}`), http.StatusCreated,
		"Idempotency-Replayed: true")
	same(t, "memos", 1, d.count(t))
}
