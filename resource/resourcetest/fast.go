package resourcetest

// Cases of reads without values: JSONLister, RevisionLister and Revisioner. fast_cache.go has the case
// of the cache.

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// fastCases test [resource.FastReads], and the reads of transactions with a cache.
func fastCases() []testCase {
	return []testCase{
		{
			name:  "listjson-list",
			needs: jsonLister,
			contract: "ListJSON returns the items of List for every query: the same ids, revisions, " +
				"modification times and tokens, in the same order. The JSON is that of " +
				"schema.Type.Append or, if Query.Fields is not nil, of schema.Selection.Append, byte " +
				"for byte. The library calls either one, and entity tags promise equal bytes.",
			run: listJSONList,
		},
		{
			name:  "listrevisions-list",
			needs: revisionLister,
			contract: "ListRevisions returns the ids, revisions, modification times and tokens that List " +
				"returns, for every query and in the same order. The library takes the JSON of each item " +
				"from its cache, by the revision.",
			run: listRevisionsList,
		},
		{
			name:  "getrevision-get",
			needs: revisioner,
			contract: "GetRevision returns the id, revision and modification time of Get, or its error: " +
				"ErrNotFound, or ErrGone for a deleted item. It does so immediately after each write. A " +
				"client that has the revision receives 304 in place of the item.",
			run: getRevisionGet,
		},
		{
			name:  "fastreads-transaction",
			needs: fastReader | transactor | filler,
			contract: "ListJSON, ListRevisions and GetRevision return what List and Get return in a " +
				"transaction that has written the items, after its rollback, and after its commit. " +
				"(Every method must use the transaction in its context.)",
			run: fastReadsTransaction,
		},
		{
			name:  "cache-rollback",
			needs: transactor | replacer | filler,
			contract: "A server with a cache returns what Get and List return, in a transaction, " +
				"beside it, and after its rollback, also if the store issues a revision of the transaction " +
				"again. (The context in InTx must carry the transaction, by tx.Begin: the cache is then " +
				"not used. A cache of the store must not keep what a transaction has read.)",
			run: cacheRollback,
		},
	}
}

// row is an item of a list without values.
type row struct {
	id   string
	text string // all but the value, and the JSON if the list has it
}

// newRow returns a row. Times are compared as instants.
func newRow(id string, rev resource.Rev, modified time.Time, next, json string) row {
	return row{id, strings.TrimSpace(fmt.Sprintf("%q rev %q modified %s next %q %s",
		id, rev, modified.UTC().Format(time.RFC3339Nano), next, json))}
}

// fastList is a list without values.
type fastList struct {
	name string
	json bool // the rows have JSON
	call func(ctx context.Context, q query.Query) iter.Seq2[row, error]
}

// fastLists returns those that the collection has.
func (k *kit) fastLists() (lists []fastList) {
	reads := k.ops.FastReads()
	if reads.ListJSON != nil {
		lists = append(lists, fastList{"ListJSON", true,
			func(ctx context.Context, q query.Query) iter.Seq2[row, error] {
				return mapped(reads.ListJSON(ctx, q), func(it resource.ItemJSON) row {
					return newRow(it.ID, it.Rev, it.Modified, it.Next, string(it.JSON))
				})
			}})
	}
	if reads.ListRevisions != nil {
		lists = append(lists, fastList{"ListRevisions", false,
			func(ctx context.Context, q query.Query) iter.Seq2[row, error] {
				return mapped(reads.ListRevisions(ctx, q), func(it resource.Revision) row {
					return newRow(it.ID, it.Rev, it.Modified, it.Next, "")
				})
			}})
	}
	return lists
}

// mapped converts each result of an iterator with fn.
func mapped[V, W any](seq iter.Seq2[V, error], fn func(V) W) iter.Seq2[W, error] {
	return func(yield func(W, error) bool) {
		for v, err := range seq {
			if !yield(fn(v), err) {
				return
			}
		}
	}
}

// checkFastList compares a list without values with List.
func (k *kit) checkFastList(ctx context.Context, l fastList, q query.Query, when string) bool {
	where := fmt.Sprintf("%s %s%s", l.name, show(q), when)
	var got, want []string
	err := drainTo(k, l.call(ctx, q), where, func(r row) { got = append(got, r.text) })
	if err != nil {
		k.errorf("%s failed: %v", where, err)
		return false
	}
	encode := k.typ.Append
	if q.Fields != nil {
		selection, err := k.typ.Select(q.Fields)
		k.must(err, "Selecting fields")
		encode = selection.Append
	}
	q.Fields = nil
	items, err := k.drain(k.ops.List(ctx, q), "List")
	if err != nil {
		k.errorf("List %s%s failed: %v", show(q), when, err)
		return false
	}
	for _, it := range items {
		var text []byte
		if l.json {
			text, err = encode(nil, it.Value)
			k.must(err, "Encoding a value that List returned")
		}
		want = append(want, newRow(it.ID, it.Rev, it.Modified, it.Next, string(text)).text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		k.errorf("%s differs from List (-List +%s):\n%s", where, l.name, brief(diff))
		return false
	}
	return true
}

// randomQuery returns a query with a random filter, order, limit and position, and for lists with JSON
// with random fields. whole is a list of all items.
func (k *kit) randomQuery(s samples, whole []resource.Item[any], fields bool) (q query.Query) {
	if k.able.has(sorter) {
		sorts := k.sorts()
		q.Sort = sorts[k.rng.IntN(len(sorts))]
	}
	q = k.ordered(q)
	if k.able.has(filterer) && k.rng.IntN(3) > 0 {
		q.Filter = k.tree(s, k.rng.IntN(3))
	}
	if k.rng.IntN(2) == 0 {
		q.Limit = 1 + k.rng.IntN(len(whole)+2)
	}
	if len(whole) > 0 && k.rng.IntN(3) == 0 {
		if at := whole[k.rng.IntN(len(whole))]; !k.able.has(natural) || at.Next != "" {
			q = k.after(q, at)
		}
	}
	if fields && k.rng.IntN(2) == 0 {
		q.Fields = k.randomFields(q.Sort)
	}
	return q
}

// randomFields returns random fields and, as package resource does, those of the order and of the id.
func (k *kit) randomFields(sort []query.Order) (names []string) {
	for _, f := range k.typ.Fields {
		if !f.WriteOnly && k.rng.IntN(3) == 0 {
			names = append(names, f.Name)
		}
	}
	for _, o := range append(slices.Clip(sort), k.byKey(false)...) {
		if !slices.Contains(names, o.Field) {
			names = append(names, o.Field)
		}
	}
	return names
}

// fillForLists stores values of which many are equal or null, and extreme ones, unless the store rejects
// them. It returns the whole list.
func (k *kit) fillForLists() []resource.Item[any] {
	k.fill(max(20, k.Items/4), clustered)
	for range 5 {
		if k.able.has(filler) {
			k.tryPut(k.ctx, k.styled(extreme)) // value-edges reports errors
		}
	}
	items := k.all()
	if len(items) == 0 {
		k.notef("skipped: the collection is read-only and empty, so no item of a list was compared")
	}
	return items
}

// listJSONList compares random queries.
func listJSONList(k *kit) { k.checkFastLists("ListJSON") }

// listRevisionsList is listJSONList for lists without JSON.
func listRevisionsList(k *kit) { k.checkFastLists("ListRevisions") }

// checkFastLists compares random queries of one list with List, up to the first that differs. It replaces
// an item after the first, so that revisions differ in age.
func (k *kit) checkFastLists(name string) {
	whole := k.fillForLists()
	for _, l := range k.fastLists() {
		if l.name != name {
			continue
		}
		same := k.checkFastList(k.ctx, l, k.ordered(query.Query{}), "")
		if k.ops.Replace != nil && len(whole) > 1 {
			k.replace(whole[1], k.changed(whole[1].Value))
			same = same && k.checkFastList(k.ctx, l, k.ordered(query.Query{}), " after Replace")
			whole = k.all()
		}
		s := k.collectSamples(k.withOthers(whole))
		for range max(100, k.Items) {
			same = same && k.checkFastList(k.ctx, l, k.randomQuery(s, whole, l.json), "")
		}
	}
}

// checkRevision compares GetRevision with Get.
func (k *kit) checkRevision(ctx context.Context, id, when string) {
	it, err := k.ops.Get(ctx, id)
	got, gotErr := k.ops.FastReads().GetRevision(ctx, id)
	if err != nil || gotErr != nil {
		alike := (err == nil) == (gotErr == nil)
		for _, kind := range []error{resource.ErrNotFound, resource.ErrGone} {
			alike = alike && errors.Is(err, kind) == errors.Is(gotErr, kind)
		}
		if !alike {
			k.errorf("GetRevision of %s%s returned %s, but Get returned %s",
				short(id), when, quoted(gotErr), quoted(err))
		}
		return
	}
	it = k.vet(it, "Get")
	want, found := newRow(it.ID, it.Rev, it.Modified, "", ""), newRow(got.ID, got.Rev, got.Modified, "", "")
	if want != found {
		k.errorf("GetRevision of %s%s returned %s, but Get returned %s",
			short(id), when, found.text, want.text)
	}
}

// getRevisionGet compares unknown, existing and deleted ids before and after each write.
func getRevisionGet(k *kit) {
	ids, plain := k.unknownIDs()
	k.ids.Add(100) // so that Insert does not use one of the unknown ids
	items := k.fill(3, distinct)
	for _, it := range items {
		ids = append(ids, it.ID)
	}
	if plain && len(items) > 0 {
		ids = append(ids, resembling(items[0].ID)...)
	}
	check := func(when string) {
		for _, id := range ids {
			k.checkRevision(k.ctx, id, when)
		}
	}
	check("")
	if !k.able.has(filler) {
		return
	}
	ids = append(ids, k.put(k.fresh()).ID)
	check(" after a new item")
	if k.ops.Replace != nil {
		for range 2 {
			items[0] = k.replace(items[0], k.changed(items[0].Value))
			check(" after Replace")
		}
	}
	if k.ops.InsertMany != nil && k.ops.Insert != nil {
		more := k.newItems(3)
		for _, it := range more {
			ids = append(ids, it.ID)
		}
		k.must(k.ops.InsertMany(k.ctx, more), "InsertMany")
		check(" after InsertMany")
	}
	if k.ops.Delete == nil {
		return
	}
	k.remove(items[1])
	check(" after Delete")
	if k.ops.Restore != nil {
		_, err := k.ops.Restore(k.ctx, items[1].ID)
		k.must(err, "Restore of a deleted item")
		check(" after Restore")
	}
	if k.ops.Insert != nil {
		k.remove(items[2])
		k.ops.Insert(k.ctx, items[2].ID, k.identified(k.fresh(), items[2].ID)) // may be ErrGone
		check(" after Insert of a deleted id")
	}
}

// checkFastReads compares all reads without values with Get of ids, and with a list of all items.
func (k *kit) checkFastReads(ctx context.Context, ids []string, when string) {
	if k.ops.FastReads().GetRevision != nil {
		for _, id := range ids {
			k.checkRevision(ctx, id, when)
		}
	}
	for _, l := range k.fastLists() {
		k.checkFastList(ctx, l, k.ordered(query.Query{}), when)
	}
}

// fastReadsTransaction compares reads in a transaction that is rolled back, and in one that is committed.
func fastReadsTransaction(k *kit) {
	items := k.fill(3, distinct)
	ids := idsOf(items)
	for _, result := range []error{errRollback, nil} {
		var after []resource.Item[any]
		err := k.inTx(k.ctx, func(ctx context.Context) (err error) {
			if after, err = k.change(ctx, items); err != nil {
				return err
			}
			k.checkFastReads(ctx, append(idsOf(after), ids...), " in the transaction that wrote the item")
			return result
		})
		when := " after the commit"
		if result == nil {
			k.must(err, "a transaction without a conflict")
		} else {
			k.wantError(err, "InTx with a function that failed", errRollback)
			when = " after the rollback"
		}
		k.checkFastReads(k.ctx, append(idsOf(after), ids...), when)
	}
}

// idsOf returns the ids of items.
func idsOf(items []resource.Item[any]) []string {
	ids := make([]string, len(items))
	for i, it := range items {
		ids[i] = it.ID
	}
	return ids
}
