package resourcetest

// Cases for stores that list their blobs. Called by blobs.go. A store without blob.Lister passes them.

import (
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/blob"
)

// blobListCases test List.
func blobListCases() []blobCase {
	return []blobCase{
		{
			name: "blob-list",
			contract: "List yields every blob with the metadata that Open returns, and without Content. " +
				"Deleted blobs are not part of it.",
			run: func(k *blobKit) { k.ifLister(blobList) },
		},
		{
			name: "blob-list-range",
			contract: "List yields the ids with the Prefix that follow After, in the order of their " +
				"bytes or in reverse. After need not exist. Pages depend on all of it.",
			run: func(k *blobKit) { k.ifLister(blobListRange) },
		},
	}
}

// ifLister calls run if the store is a blob.Lister.
func (k *blobKit) ifLister(run func(k *blobKit, l blob.Lister)) {
	if l, ok := k.store.(blob.Lister); ok {
		run(k, l)
	}
}

// listed returns the blobs of a query.
func (k *blobKit) listed(l blob.Lister, q blob.ListQuery) []*blob.Blob {
	var list []*blob.Blob
	for b, err := range l.List(k.ctx, q) {
		if err != nil || b == nil {
			k.fatalf("List %+v yielded %v and the error %v", q, b, err)
		}
		list = append(list, b)
	}
	return list
}

func blobList(k *blobKit, l blob.Lister) {
	if list := k.listed(l, blob.ListQuery{}); len(list) > 0 {
		k.errorf("List of an empty store yielded %d blobs", len(list))
	}
	for _, id := range []string{"a", "b", "c"} {
		k.put(id, "", k.random(10))
	}
	k.put("b", k.open("b").Rev, k.random(20))
	if err := k.store.Delete(k.ctx, "c", k.open("c").Rev); err != nil {
		k.fatalf("Delete failed: %v", err)
	}
	var ids []string
	for _, b := range k.listed(l, blob.ListQuery{}) {
		ids = append(ids, b.ID)
		if b.Content != nil {
			k.errorf("List yielded %q with Content", b.ID)
		}
		want := k.open(b.ID)
		want.Content = nil
		if diff := cmp.Diff(want, b); diff != "" {
			k.errorf("List yielded other metadata of %q than Open (-Open +List):\n%s", b.ID, diff)
		}
	}
	if diff := cmp.Diff([]string{"a", "b"}, ids); diff != "" {
		k.errorf("ids (-want +got):\n%s", diff)
	}
}

func blobListRange(k *blobKit, l blob.Lister) {
	ids := []string{"a", "a-1", "a-10", "a-2", "b", "é", "z"}
	for _, id := range []int{3, 0, 6, 2, 5, 1, 4} {
		k.put(ids[id], "", k.random(1))
	}
	slices.Sort(ids)
	for _, q := range []blob.ListQuery{{}, {Prefix: "a-"}, {Prefix: "a-1"}, {Prefix: "x"}, {After: "a-1"},
		{After: "a-11"}, {After: "z"}, {After: "é"}, {Prefix: "a", After: "a-10"}, {Prefix: "a-", After: "b"},
		{Prefix: "b", After: "a"}, {After: "0"}} {
		for _, q.Reverse = range []bool{false, true} {
			var want, got []string
			for _, id := range ids {
				before := !q.Reverse && id <= q.After || q.Reverse && id >= q.After
				if strings.HasPrefix(id, q.Prefix) && (q.After == "" || !before) {
					want = append(want, id)
				}
			}
			if q.Reverse {
				slices.Reverse(want)
			}
			for _, b := range k.listed(l, q) {
				got = append(got, b.ID)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				k.errorf("List %+v (-want +got):\n%s", q, diff)
			}
		}
	}
	for range l.List(k.ctx, blob.ListQuery{}) {
		break // the consumer may stop
	}
}
