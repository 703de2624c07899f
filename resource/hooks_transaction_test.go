package resource_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

type doctor struct {
	ID     string `json:"id"`
	OnCall bool   `json:"onCall"`
}

// onCall returns the number of doctors on call, in the transaction of ctx.
func onCall(ctx context.Context, doctors *memory.Store[doctor]) (n int) {
	for it, err := range doctors.List(ctx, query.Query{}) {
		if err == nil && it.Value.OnCall {
			n++
		}
	}
	return n
}

// TestHooksSeeOtherWrites sends two requests at once. Each takes a doctor off call, which the hook
// allows if another remains. Without a transaction around hook and write, both hooks see two.
func TestHooksSeeOtherWrites(t *testing.T) {
	t.Parallel()
	ways := []struct {
		name, method, path, media, body, key string
	}{
		{name: "PATCH", method: "PATCH", path: "/doctors/ID", media: "application/merge-patch+json",
			body: `{"onCall":false}`},
		{name: "PUT", method: "PUT", path: "/doctors/ID", media: "application/json", body: `{"onCall":false}`},
		{name: "DELETE", method: "DELETE", path: "/doctors/ID"},
		{name: "with a key", method: "PATCH", path: "/doctors/ID", media: "application/merge-patch+json",
			body: `{"onCall":false}`, key: "key-ID"},
		{name: "batch", method: "POST", path: "/doctors", media: "application/vnd.stoa.batch+json",
			body: `{"operations":[{"op":"patch","id":"ID","patch":{"onCall":false}}]}`},
	}
	for _, outside := range []bool{false, true} {
		for _, way := range ways {
			name := way.name
			if outside {
				name += " with HooksOutsideTx"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					doctors := memory.New[doctor](nil)
					h := serveDoctors(t, doctors, outside)
					var wg sync.WaitGroup
					for _, id := range []string{"1", "2"} {
						body := strings.NewReader(strings.ReplaceAll(way.body, "ID", id))
						r := httptest.NewRequestWithContext(t.Context(), way.method,
							strings.ReplaceAll(way.path, "ID", id), body)
						r.Header.Set("Content-Type", way.media)
						if way.key != "" {
							r.Header.Set("Idempotency-Key", strings.ReplaceAll(way.key, "ID", id))
						}
						wg.Go(func() { h.ServeHTTP(httptest.NewRecorder(), r) })
					}
					wg.Wait()
					want := 1
					if outside && way.name != "batch" {
						want = 0 // the control: both hooks have seen two doctors
					}
					if diff := cmp.Diff(want, onCall(t.Context(), doctors)); diff != "" {
						t.Errorf("doctors on call (-want +got):\n%s", diff)
					}
				})
			})
		}
	}
}

// serveDoctors serves two doctors on call, of which one must stay.
func serveDoctors(t *testing.T, doctors *memory.Store[doctor], outside bool) http.Handler {
	t.Helper()
	for _, id := range []string{"1", "2"} {
		if _, err := doctors.Insert(t.Context(), id, doctor{ID: id, OnCall: true}); err != nil {
			t.Fatal(err)
		}
	}
	r := resource.New("doctors", doctors, &resource.Options[doctor]{
		Public: true, HooksOutsideTx: outside,
		Before: func(ctx context.Context, _ resource.Op, before, _ *doctor) error {
			n := onCall(ctx, doctors)
			time.Sleep(time.Second) // lets the other request reach its hook, if it can
			if before != nil && n < 2 {
				return resource.ErrForbidden
			}
			return nil
		},
	})
	catalog := resource.NewCatalog(&resource.CatalogOptions{
		Idempotency: idempotency.New(idempotency.NewMemory(nil), nil),
		Principal:   func(context.Context) string { return "ann" },
	}, r)
	return rest.New(catalog, nil)
}

// TestGetForUpdate covers the errors of a hook that locks another item.
func TestGetForUpdate(t *testing.T) {
	t.Parallel()
	type lock func(ctx context.Context, r *resource.Resource) error
	get := func(id string) lock {
		return func(ctx context.Context, r *resource.Resource) error {
			_, err := resource.GetForUpdate[doctor](ctx, r, id)
			return err
		}
	}
	tests := []struct {
		name    string
		outside bool
		remove  bool // the capability
		lock    lock
		want    string // of the error; empty for none
	}{
		{name: "other item", lock: get("2")},
		{name: "same item", lock: get("1")},
		{name: "absent", lock: get("3"), want: "get doctors/3: no such item"},
		{name: "outside of a transaction", outside: true, lock: get("2"),
			want: "get doctors/2: GetForUpdate outside of a transaction of the collection"},
		{name: "no Locker", remove: true, lock: get("2"),
			want: "get doctors/2: the collection cannot lock items; it is not a Locker"},
		{name: "another type", lock: func(ctx context.Context, r *resource.Resource) error {
			_, err := resource.GetForUpdate[string](ctx, r, "2")
			return err
		}, want: "get doctors/2: GetForUpdate of string from a collection of resource_test.doctor"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := memory.New[doctor](nil)
			for _, id := range []string{"1", "2"} {
				if _, err := store.Insert(t.Context(), id, doctor{ID: id}); err != nil {
					t.Fatal(err)
				}
			}
			ops := resource.OpsOf(store)
			if tt.remove {
				ops.GetForUpdate = nil
			}
			var r *resource.Resource
			got := "not called"
			r = ops.Resource("doctors", &resource.Options[doctor]{
				Public: true, HooksOutsideTx: tt.outside,
				Before: func(ctx context.Context, _ resource.Op, _, _ *doctor) error {
					got = ""
					if err := tt.lock(ctx, r); err != nil {
						got = err.Error()
					}
					return nil
				},
			})
			if _, _, err := r.Put(t.Context(), "1", []byte(`{"onCall":true}`), nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
