package resourcetest

// Fields with the tag set. Package resource sets them, so a collection stores them as any other field:
// the kit generates their values, and compares them.

import (
	"reflect"

	"github.com/stoa-go/stoa/resource/internal/stamps"
	"github.com/stoa-go/stoa/resource/schema"
)

// isAssigned reports whether the store or the kit sets a field: the kit can then neither choose nor
// compare its value.
func (s *setup) isAssigned(f *schema.Field) bool {
	return s.isKey(f) || f.ReadOnly && f.Set == ""
}

// stamps returns the fields with the tag set that the kit generates.
func (s *setup) stamps() stamps.Fields { return stamps.Of(s.typ) }

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
