package tombstone_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/tombstone"
)

type Note struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// withoutMemory is a store that does not know what it has deleted.
func withoutMemory() resource.Ops[Note] {
	ops := resource.OpsOf(memory.New(&memory.Options[Note]{Recreate: true}))
	get, remove := ops.Get, ops.Delete
	forget := func(err error) error {
		if errors.Is(err, resource.ErrGone) {
			return resource.ErrNotFound
		}
		return err
	}
	ops.Get = func(ctx context.Context, id string) (resource.Item[Note], error) {
		item, err := get(ctx, id)
		return item, forget(err)
	}
	ops.Delete = func(ctx context.Context, id string, rev resource.Rev) error { return forget(remove(ctx, id, rev)) }
	ops.Deleted = nil
	return ops
}

func ExampleRemember() {
	ops := tombstone.Remember(withoutMemory(), memory.NewTombstones(), false)
	h := resource.NewCatalog(nil, resource.FromOps("notes", ops, nil))
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodGet} {
		r := httptest.NewRequest(method, "/notes/1", strings.NewReader(`{"text":"water the plants"}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		fmt.Println(method, w.Code)
	}
	// Output:
	// PUT 201
	// DELETE 204
	// GET 410
}
