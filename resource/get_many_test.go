package resource_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// TestGetMany checks which items GetMany returns for each id, from stores that read many items at once
// and from those that do not.
func TestGetMany(t *testing.T) {
	t.Parallel()
	type thing struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	for _, batched := range []bool{true, false} {
		store := memory.New[thing](nil)
		for _, id := range []string{"a", "b", "hidden"} {
			if _, err := store.Insert(t.Context(), id, thing{id, "of " + id}); err != nil {
				t.Fatal(err)
			}
		}
		ops := resource.OpsOf(store)
		if calls := ops.GetMany; !batched {
			ops.GetMany = nil
		} else if calls == nil {
			t.Fatal("the store is no MultiGetter")
		}
		r := ops.Resource("things", &resource.Options[thing]{
			Authorize: func(_ context.Context, _ resource.Op, before, _ *thing) error {
				if before != nil && before.ID == "hidden" {
					return resource.ErrForbidden
				}
				return nil
			}})
		resource.NewCatalog(nil, r)
		page, err := r.GetMany(t.Context(), []string{"b", "none", "a", "hidden", "b", ""})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range 6 {
			text := "none"
			if ends := page.Ends(i); len(ends) > 0 {
				text = page.Entries[ends[0]].Value.(*thing).Text
			}
			got = append(got, text)
		}
		page.Release()
		if diff := cmp.Diff([]string{"of b", "none", "of a", "none", "of b", "none"}, got); diff != "" {
			t.Errorf("batched %t: items (-want +got):\n%s", batched, diff)
		}
	}
}
