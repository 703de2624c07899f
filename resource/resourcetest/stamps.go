package resourcetest

// Fields with the tag set. Package resource sets them, so a collection stores them as any other field:
// the kit generates their values, and compares them. If Options.Served is true, a server sets them, and
// the case set-fields compares its results.

import (
	"reflect"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/internal/stamps"
	"github.com/stoa-go/stoa/resource/schema"
)

// stampCases test the fields with the tag set.
func stampCases() []testCase {
	return []testCase{{
		name:  "set-fields",
		needs: filler,
		contract: "A server sets the fields with the tag set: created and modified are times of every " +
			"item, a change keeps created and createdBy, and modified is later than before. Only a time " +
			"of whole seconds may be the same. A store that omits such a column returns a zero time.",
		run: setFields,
	}}
}

// isAssigned reports whether the store, the server or the kit sets a field: the kit can then neither
// choose nor compare its value.
func (s *setup) isAssigned(f *schema.Field) bool {
	return s.isKey(f) || f.ReadOnly && (f.Set == "" || s.Served)
}

// stamps returns the fields with the tag set that the kit generates.
func (s *setup) stamps() stamps.Fields {
	if s.Served {
		return nil
	}
	return stamps.Of(s.typ)
}

// addStamps sets the fields with the tag set of the nth value, unless Options.New has.
func (s *setup) addStamps(v any, n int) {
	for _, f := range s.stamps() {
		if field := settable(reflect.ValueOf(v).Elem(), f.Index); field.IsZero() {
			b := s.distinct("text", n)
			b.field(field, f)
		}
	}
}

// replacement returns v as package resource sends it to replace an item: with the id of the item, and
// with the fields that only its creation sets.
func (k *kit) replacement(v, item any) any {
	v = k.clone(v)
	for _, f := range k.stamps() {
		if ofCreation(f) {
			k.copyField(f, v, item)
		}
	}
	return k.identified(v, k.id.Text(item))
}

// renewStamps gives v other values in the fields that every write sets.
func (k *kit) renewStamps(v any) {
	fields := k.stamps()
	if len(fields) == 0 {
		return
	}
	fresh := k.fresh()
	for _, f := range fields {
		if !ofCreation(f) {
			k.copyField(f, v, fresh)
		}
	}
}

// ofCreation reports whether only the creation of an item sets a field.
func ofCreation(f *schema.Field) bool { return f.Set == "created" || f.Set == "createdBy" }

// setFields stores and replaces an item through the server. It waits before each change, because the
// times have a precision.
func setFields(k *kit) {
	fields := stamps.Of(k.typ)
	switch {
	case len(fields) == 0:
		k.notef("no field has the tag set")
		return
	case !k.Served:
		k.notef("the other cases compare the fields with the tag set, because Options.Served is false")
		return
	}
	it := k.put(k.fresh())
	for _, f := range fields {
		if at, isTime := k.timeOf(f, it); isTime && at.IsZero() {
			k.errorf("a new item has no %s, which has the tag set:%q", f.Name, f.Set)
		}
	}
	for range 3 {
		if k.ops.Replace == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
		next := k.replace(it, k.changed(it.Value))
		k.sameItem(next, k.get(it.ID), "Get after Replace")
		for _, f := range fields {
			was, is := k.fieldOf(&it, f.Name), k.fieldOf(&next, f.Name)
			switch {
			case ofCreation(f) && query.Compare(was, is) != 0:
				k.errorf("Replace changed %s from %v to %v: it has the tag set:%q", f.Name, was, is, f.Set)
			case f.Set == "modified" && !follows(was, is):
				k.errorf("Replace changed %s from %v to %v, want a later time: it has the tag set:%q",
					f.Name, was, is, f.Set)
			}
		}
		it = next
	}
}

// follows reports whether a change may replace the time was by is. They may be equal if a store has whole
// seconds or minutes.
func follows(was, is any) bool {
	if order := query.Compare(was, is); order != 0 {
		return order < 0
	}
	at, isTime := is.(time.Time)
	return isTime && at.Nanosecond() == 0
}

// timeOf returns the time in a field, which is zero for null. isTime is false for other fields.
func (k *kit) timeOf(f *schema.Field, it resource.Item[any]) (at time.Time, isTime bool) {
	if f.Set != "created" && f.Set != "modified" {
		return at, false
	}
	at, _ = k.fieldOf(&it, f.Name).(time.Time)
	return at, true
}
