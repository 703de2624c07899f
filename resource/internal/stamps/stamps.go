// Package stamps sets the fields of an item that have the tag set: the times and principals of its
// creation and of its last write. Package resource calls it in the write path, before hooks and policy
// see the new value.
package stamps

import (
	"fmt"
	"reflect"
	"time"

	"github.com/stoa-go/stoa/resource/schema"
)

// Fields are the fields of a type that have the tag set. They are safe for concurrent use.
type Fields []*schema.Field

// Of returns the fields of typ with the tag.
func Of(typ *schema.Type) (s Fields) {
	for _, f := range typ.Fields {
		if f.Set != "" {
			s = append(s, f)
		}
	}
	return s
}

// OfPrincipal returns the first field that holds a principal, or nil.
func (s Fields) OfPrincipal() *schema.Field {
	for _, f := range s {
		if f.Set == "createdBy" || f.Set == "modifiedBy" {
			return f
		}
	}
	return nil
}

// Keep gives after, a pointer to an item, the values of before: no document and no function of a view
// changes them.
func (s Fields) Keep(before, after any) {
	for _, f := range s {
		goField(f, after).Set(goField(f, before))
	}
}

// Set sets the fields of after, a pointer to an item that is written at now. before is the current item,
// nil for a new one. principal is called only for a field that holds one.
func (s Fields) Set(before, after any, now time.Time, principal func() string) {
	// PostgreSQL stores microseconds. A finer time would differ between the event and the item.
	now = now.UTC().Truncate(time.Microsecond)
	for _, f := range s {
		created := f.Set == "created" || f.Set == "createdBy"
		switch {
		case before != nil && created:
			goField(f, after).Set(goField(f, before))
		case f.Set == "created":
			set(f, after, now)
		case f.Set == "modified":
			at := now
			if previous, ok := timeOf(f, before); ok && previous.After(now) {
				at = previous // the clock was set back
			}
			set(f, after, at)
		default:
			set(f, after, principal())
		}
	}
}

// timeOf returns the time in a field of v. ok is false without one, as for a new item.
func timeOf(f *schema.Field, v any) (at time.Time, ok bool) {
	if v == nil {
		return time.Time{}, false
	}
	at, ok = f.Get(v).(time.Time)
	return at, ok
}

// set sets a field of v to a time or a name. A nullable field without a name is null. The pointer is a
// new one, because the item before shares the old one.
func set(f *schema.Field, v, value any) {
	field, to := goField(f, v), reflect.ValueOf(value)
	if !f.Nullable {
		field.Set(to.Convert(field.Type()))
		return
	}
	if to.IsZero() {
		field.SetZero()
		return
	}
	p := reflect.New(field.Type().Elem())
	p.Elem().Set(to.Convert(p.Type().Elem()))
	field.Set(p)
}

// goField returns the Go field in v, a pointer to an item. An embedded struct is never a pointer.
func goField(f *schema.Field, v any) reflect.Value {
	return reflect.ValueOf(v).Elem().FieldByIndex(f.Index)
}

// Mistakes returns a text for each tag set that would have no effect or would change the id, and for the
// tags id and unique inside of an item, which have no effect either. id is the JSON name of the id field.
func Mistakes(typ *schema.Type, id string) (found []string) {
	if f := typ.Field(id); f != nil && f.Set != "" {
		found = append(found, fmt.Sprintf("the id field %q has the tag set, which would change the id; "+
			"remove the tag", id))
	}
	seen := map[*schema.Type]bool{typ: true}
	for _, f := range typ.Fields {
		found = append(found, inside(f.Type, seen)...)
	}
	return found
}

// inside returns the mistakes of a type inside of an item. A type may contain itself.
func inside(t *schema.Type, seen map[*schema.Type]bool) (found []string) {
	for t.Elem != nil {
		t = t.Elem
	}
	if seen[t] {
		return nil
	}
	seen[t] = true
	for _, f := range t.Fields {
		tag := ""
		switch {
		case f.Set != "":
			tag = "set"
		case f.Key != nil:
			tag = "id"
		case f.UniqueWith != nil:
			tag = "unique with a list"
		}
		if tag != "" {
			found = append(found, fmt.Sprintf("the field %q of %v has the tag %s, which applies to "+
				"fields of the item itself; remove the tag", f.Name, t.GoType, tag))
		}
		found = append(found, inside(f.Type, seen)...)
	}
	return found
}
