package resourcetest

import (
	"reflect"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// valueCases test extreme values and aliasing between the store and its callers.
func valueCases() []testCase {
	return []testCase{
		{
			name:  "value-edges",
			needs: filler,
			contract: "A value is returned as it was sent: empty text, spaces at the ends, any " +
				"Unicode text without normalization, the smallest and the largest numbers, null and " +
				"empty lists. (A float64 loses digits of large integers, a column of fixed width " +
				"cuts text.)",
			run: func(k *kit) { k.roundTrips(max(len(extremeTexts), k.Items/4), extreme) },
		},
		{
			name:  "value-hard",
			needs: filler,
			contract: "A store may reject a value that it cannot store, such as U+0000 in a text of " +
				"PostgreSQL, 1 MiB of text, or an integer above the largest int64. It must not store " +
				"a different value.",
			run: func(k *kit) { k.roundTrips(6, hard) },
		},
		{
			name:  "alias-stored",
			needs: filler,
			contract: "A store keeps a copy of the value. The caller may then modify its lists, maps " +
				"and pointers, and that is not a write.",
			run: aliasStored,
		},
		{
			name: "alias-returned",
			contract: "A returned value belongs to the caller, which may modify it: the library " +
				"decodes requests into it. A store that returns its own lists, maps or pointers " +
				"would be changed without a write.",
			run: aliasReturned,
		},
	}
}

// roundTrips stores n values of a style, by Create or Insert and by Replace, and compares what it
// reads.
func (k *kit) roundTrips(n int, st style) {
	if k.New != nil {
		k.notef("skipped: Options.New generates the values")
		return
	}
	last := k.put(k.fresh())
	for range n {
		sent := k.styled(st)
		it, err := k.tryPut(k.ctx, sent)
		switch {
		case err == nil:
			k.sameValue(sent, it.Value, "the result of the write")
			k.sameValue(sent, k.get(it.ID).Value, "the result of Get")
		case st == hard:
			k.notef("rejected: %v", err)
		default:
			k.errorf("storing %s failed: %v", brief(k.document(sent)), err)
		}
		if k.ops.Replace == nil {
			continue
		}
		v := k.replacement(k.styled(st), last.Value)
		if next, err := k.ops.Replace(k.ctx, last.ID, last.Rev, v); err == nil {
			last = k.vet(next, "Replace")
			k.sameValue(v, k.get(last.ID).Value, "the result of Get after Replace")
		} else if st != hard {
			k.errorf("storing %s failed: %v", brief(k.document(v)), err)
		}
	}
}

// unchanged checks that an item still equals its document. Times are compared as instants: a store
// may return them in another location than it did before.
func (k *kit) unchanged(id, document, why string) {
	it := k.get(id)
	was, err := k.typ.Decode([]byte(document), &schema.DecodeOptions{Mode: schema.Stored})
	if err == nil && k.typ.Equal(was, it.Value) || k.document(it.Value) == document {
		return
	}
	k.errorf("the stored item changed when %s was modified: it was %s and is %s",
		why, brief(document), brief(k.document(it.Value)))
}

// scribbled modifies the lists, maps and pointers of a value in place. It reports whether there were any.
func scribbled(v any) bool { return scribble(reflect.ValueOf(v).Elem(), false) }

// aliasStored modifies a value after it was passed to the store. The document taken before detects
// a store that kept a reference.
func aliasStored(k *kit) {
	sent := k.fresh()
	it := k.put(sent)
	before := it
	document := k.document(before.Value)
	if !scribbled(sent) {
		k.notef("values of this type share no memory")
		return
	}
	k.unchanged(it.ID, document, "the value given to Create or Insert")
	if k.ops.Replace == nil {
		return
	}
	next := k.changed(k.get(it.ID).Value)
	it = k.replace(k.get(it.ID), next)
	document = k.document(it.Value)
	scribbled(next)
	k.unchanged(it.ID, document, "the value given to Replace")
}

// aliasReturned modifies the result of each method, and reads the item after each.
func aliasReturned(k *kit) {
	items := k.fill(2, distinct)
	if len(items) == 0 {
		return
	}
	it := k.get(items[0].ID)
	document := k.document(it.Value)
	if !scribbled(items[0].Value) {
		k.notef("values of this type share no memory")
		return
	}
	k.unchanged(it.ID, document, "the result of Create or Insert")
	again := k.get(it.ID)
	scribbled(again.Value)
	k.unchanged(it.ID, document, "the result of Get")
	listed := k.all()
	if k.ops.GetMany != nil {
		many, err := k.drain(k.ops.GetMany(k.ctx, []string{it.ID}), "GetMany")
		k.must(err, "GetMany")
		listed = append(listed, many...)
	}
	listed = append(listed, k.list(k.ordered(query.Query{Limit: 1}))...)
	for i := range listed {
		scribbled(listed[i].Value)
	}
	k.unchanged(it.ID, document, "the result of List or GetMany")
	if k.ops.Replace != nil {
		k.aliasReplaced(it)
	}
}

// aliasReplaced is aliasReturned for the result of Replace.
func (k *kit) aliasReplaced(it resource.Item[any]) {
	next := k.replace(it, k.changed(it.Value))
	document := k.document(next.Value)
	scribbled(next.Value)
	k.unchanged(it.ID, document, "the result of Replace")
}
